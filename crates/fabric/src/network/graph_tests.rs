//! Networks of several switches: every link on the way, places by name, and several paths.

use super::tests::*;
use super::*;
use crate::spec::Condition;
use crate::topology::Routing;
use crosswind_engine::{Duration, Packet};

/// Arrival times of packets that leave node 0 at 0 for node 3, on the other leaf.
fn over_the_spine(change: impl FnOnce(&mut Fabric)) -> Vec<(u64, u64)> {
    let mut fabric = leaves_and_spines();
    change(&mut fabric);
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    let (path, _) = network.path(0, 3, 0);
    network.engine().push(Instant::ZERO, path, Packet::real(1, 1500, 0));
    departures(&mut network, 1_000_000_000)
}

// Four links: 12.304 us of serialisation and 2 us of propagation on each.
const OVER_THE_SPINE_NS: u64 = 4 * (12_304 + 2_000);

#[test]
fn a_packet_pays_every_link_on_its_way() {
    assert_eq!(over_the_spine(|_| {}), [(1, OVER_THE_SPINE_NS)]);
    let far = |fabric: &mut Fabric| {
        let spine = fabric.links.iter_mut().find(|link| link.name() == "leaf0->spine0").unwrap();
        (spine.rate_bps, spine.delay_ns) = (None, 5_000_000);
    };
    assert_eq!(over_the_spine(far), [(1, OVER_THE_SPINE_NS - 14_304 + 5_000_000)]);
    let lost = |fabric: &mut Fabric| {
        let spine = fabric.links.iter_mut().find(|link| link.name() == "leaf0->spine0").unwrap();
        spine.loss_ppb = Some(1_000_000_000);
    };
    assert_eq!(over_the_spine(lost), []);
}

#[test]
fn jitter_spreads_around_the_delay_of_its_link() {
    let mut fabric = leaves_and_spines();
    fabric.links.iter_mut().for_each(|link| link.rate_bps = None);
    let spine = fabric.links.iter_mut().find(|link| link.name() == "leaf0->spine0").unwrap();
    (spine.delay_ns, spine.jitter_ns) = (5_000_000, Some(100_000));
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    let (path, _) = network.path(0, 3, 0);
    for tag in 0..1000 {
        network.engine().push(Instant::from_nanos(tag * 1_000_000), path, Packet::real(tag, 1500, 0));
    }
    let took: Vec<f64> = departures(&mut network, 2_000_000_000)
        .iter()
        .map(|(tag, at)| (at - tag * 1_000_000) as f64 - 5_006_000.0)
        .collect();
    let mean = took.iter().sum::<f64>() / 1000.0;
    let deviation = (took.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / 1000.0).sqrt();
    assert!(mean.abs() < 20_000.0 && (90_000.0..110_000.0).contains(&deviation), "{mean} {deviation}");
}

#[test]
fn a_place_means_the_links_of_hosts_unless_others_are_named() {
    let delay = |on: &str| format!(r#"{{"delay": {{"time_ns": 1000000{on}}}}}"#);
    let put = |places: String| {
        move |fabric: &mut Fabric| fabric.condition.places = serde_json::from_str(&places).unwrap()
    };
    for (place, on, times) in [
        ("link", "", 2),
        ("link", r#", "on": ["h0"]"#, 1),
        ("link", r#", "on": ["leaf1"]"#, 1),
        ("link", r#", "on": ["leaf0->spine0"]"#, 1),
        ("link", r#", "on": ["spine0->leaf0"]"#, 0),
        ("link", r#", "on": ["h0->leaf0", "leaf0->h0"]"#, 1),
        ("wan", "", 2),
        ("wan", r#", "on": ["leaf0"]"#, 1),
        ("wan", r#", "on": ["spine0->leaf1"]"#, 1),
        ("switch.ingress", "", 1),
        ("switch.egress", r#", "on": ["leaf0->spine0", "h3"]"#, 2),
        ("host.egress", r#", "on": ["leaf0"]"#, 1),
    ] {
        let arrived = over_the_spine(put(format!(r#"{{"{place}": [{}]}}"#, delay(on))));
        assert_eq!(arrived, [(1, OVER_THE_SPINE_NS + times * 1_000_000)], "{place} {on}");
    }
}

#[test]
fn a_queue_before_a_link_between_switches_affects_only_that_link() {
    let mut fabric = leaves_and_spines();
    fabric.condition.places = serde_json::from_str(
        r#"{"switch.egress": [{"queue": {"buffer_packets": 2, "on": ["leaf0->spine0"]}}]}"#,
    )
    .unwrap();
    let slow = fabric.links.iter_mut().find(|link| link.name() == "leaf0->spine0").unwrap();
    slow.rate_bps = Some(1_000_000);
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    let (path, _) = network.path(0, 3, 0);
    for tag in 0..10 {
        network.engine().push(Instant::ZERO, path, Packet::real(tag, 1500, 0));
    }
    // One is in transmission, two wait.
    assert_eq!(departures(&mut network, 1_000_000_000).len(), 3);
}

#[test]
fn flows_of_one_pair_take_different_paths_and_a_condition_changes_none() {
    let mut fabric = leaves_and_spines();
    fabric.routes = Routing::Ecmp;
    let mut network = Planned::new(&fabric);
    let facts = |port| Facts { from: 0, to: 3, protocol: 6, ports: Some((port, 80)) };
    let passed = |network: &mut Network| {
        for port in 0..200 {
            let flow = network.flow(&facts(port));
            let at = network.engine().now();
            let (path, _) = network.path(0, 3, flow);
            network.engine().push(at, path, Packet::real(0, 100, 0));
        }
        let until = network.engine().now() + Duration::from_nanos(100_000_000);
        network.engine().advance(until);
        let wire = named(network, "leaf0->spine0/wire");
        let packets = network.engine_ref().counters(wire).real.departed.packets;
        network.engine().reset_counters();
        packets
    };
    let first = passed(&mut network);
    assert!((70..130).contains(&first), "{first}");
    let now = network.engine().now();
    network.apply(now, &Condition::default());
    assert_eq!(passed(&mut network), first);
}

#[test]
fn a_name_without_a_site_at_its_place_is_refused() {
    let mut fabric = leaves_and_spines();
    fabric.condition.places = serde_json::from_str(
        r#"{"link": [{"mark": {"dscp": 1, "on": ["n0"]}}], "wan": [{"mark": {"dscp": 1, "on": ["h0"]}}],
            "host.egress": [{"mark": {"dscp": 1, "on": ["leaf0->spine0"]}}]}"#,
    )
    .unwrap();
    let wrong = fabric.check().unwrap_err().0;
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(
        wrong.iter().any(|line| line.contains("link: mark on n0: no such host, switch or link")),
        "{wrong:?}"
    );
}
