//! The effect of a condition's elements on the packets of a network, each at its place.

use crosswind_engine::{Instant, Outcome, Packet};

use super::tests::{entry, fabric, Planned};
use crate::{Condition, Network};

/// Departures of four full packets from node 0 at 0, with `element` at its egress.
fn leave(element: &str) -> (Planned, Vec<u64>) {
    let mut fabric = fabric(2);
    fabric.links.iter_mut().for_each(|link| link.rate_bps = None);
    fabric.condition.places.host_egress = Some(vec![entry(element)]);
    let mut network = Planned::new(&fabric);
    let (path, alike) = network.path(0, 1, 0);
    assert!(!alike, "packets of a train leave in sequence");
    for tag in 0..4 {
        network.engine().push(Instant::ZERO, path, Packet::real(tag, 1500, 0));
    }
    network.engine().advance(Instant::from_nanos(1_000_000));
    let mut left = Vec::new();
    while let Some(outcome) = network.engine().pop() {
        if let Outcome::Departure { due, .. } = outcome {
            left.push(due.as_nanos() - 4000); // Two cables.
        }
    }
    (network, left)
}

#[test]
fn a_nodes_credit_lasts_for_its_budget_and_survives_a_new_condition_of_its_kind() {
    let credit = r#"{"credit": {"budget_bits": 24000, "initial_bits": 24000, "high_bps": 12000000000,
        "low_bps": 1200000000, "refill_bps": 1200000000, "buffer_bytes": null}}"#;
    let (mut network, left) = leave(credit);
    // 24 000 -> 12 000; + 1 200 -> 1 200; then 2 400 are too few.
    assert_eq!(left, [0, 1000, 2000, 12_000]);
    let again: Condition =
        serde_json::from_str(&format!(r#"{{"name": "again", "places": {{"host.egress": [{credit}]}}}}"#))
            .unwrap();
    network.apply(Instant::from_nanos(1_000_000), &again);
    let element = network.elements().iter().find(|element| element.name == "n0/host.egress/0:credit");
    assert!(element.is_some(), "the same element continues");
    let as_deployed = credit
        .replace("\"buffer_bytes\"", r#""loop": {"interval_ns": 1000, "reopen_bits": 0}, "buffer_bytes""#);
    let condition = format!(r#"{{"name": "deployed", "places": {{"host.egress": [{as_deployed}]}}}}"#);
    network.apply(Instant::from_nanos(1_000_001), &serde_json::from_str(&condition).unwrap());
    assert!(network.elements().iter().any(|element| element.name == "n0/host.egress/0:credit-loop"));
}

#[test]
fn a_condition_sets_the_initial_content_of_a_bucket() {
    let credit = r#"{"credit": {"budget_bits": 24000, "initial_bits": 24000, "high_bps": 2, "low_bps": 1,
        "refill_bps": 1, "buffer_bytes": null}}"#;
    let mut fabric = fabric(2);
    fabric.condition = serde_json::from_str(&format!(
        r#"{{"name": "left", "places": {{"host.egress": [{credit}], "link": [{credit}]}},
            "held_bits": {{"n0/host.egress/0:credit": 5, "h1/link.up/0:credit": 24001}}}}"#
    ))
    .unwrap();
    let network = Network::new(&fabric, Instant::ZERO).unwrap();
    let first = |name: &str| {
        let element = network.elements().iter().find(|element| element.name == name).expect(name);
        network.engine_ref().credit(element.id).unwrap().first_bits
    };
    assert_eq!(first("n0/host.egress/0:credit"), 5);
    assert_eq!(first("n1/host.egress/0:credit"), 24_000, "its own");
    assert_eq!(first("h1/link.up/0:credit"), 24_000, "at most its budget");
}

#[test]
fn a_pacer_spaces_the_packets_of_a_node() {
    let (_, left) = leave(r#"{"pace": {"rate_bps": 12000000000, "horizon_ns": 3000}}"#);
    assert_eq!(left, [0, 1000, 2000], "the fourth would leave at its horizon");
}

#[test]
fn a_meter_before_a_switch_colours_packets_from_hosts() {
    let mut fabric = fabric(2);
    fabric.condition.places = serde_json::from_str(
        r#"{"switch.ingress": [{"srtcm": {"cir_bps": 8, "cbs_bytes": 1500, "ebs_bytes": 1500, "mode": "aware",
            "yellow": "remark", "red": {"dscp": 1}, "on": ["h0"]}}]}"#,
    )
    .unwrap();
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    let (path, alike) = network.path(0, 1, 0);
    assert!(!alike, "the packets of a train may have different colours");
    for tag in 0..3 {
        network.engine().push(Instant::ZERO, path, Packet::real(tag, 1500, 34));
    }
    network.engine().advance(Instant::from_nanos(1_000_000));
    let dscps: Vec<u8> = std::iter::from_fn(|| network.engine().pop())
        .map(|outcome| match outcome {
            Outcome::Departure { packet, .. } => packet.dscp,
            other => panic!("nothing is dropped or duplicated here: {other:?}"),
        })
        .collect();
    assert_eq!(dscps, [34, 36, 1]);
}
