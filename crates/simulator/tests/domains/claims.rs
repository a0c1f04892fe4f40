//! One, two and four domains, and any that are written out, against one network.

use crosswind_fabric::{Condition, Division, Domains, Fabric, Link, Node, Planner};
use proptest::prelude::*;
use serde_json::{json, Value};

use super::network::{empty, scenario, Arrival, Scenario, FULL_PACKET_A_MICROSECOND, MICROSECOND};
use super::play::{alone, divided, Seen};

fn domains(scenario: &Scenario, division: &Division) -> Option<Domains> {
    let later: Vec<_> = scenario.change.iter().map(|(_, condition)| condition.clone()).collect();
    Domains::of(&scenario.fabric, division, &later, 1).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_domains_decide_as_one_network(scenario in scenario()) {
        let expected = alone(&scenario);
        for wanted in [1, 2, 4] {
            let domains = domains(&scenario, &Division::Count(wanted)).expect("a number can be had");
            prop_assert!(domains.count() <= wanted);
            prop_assert_eq!(&divided(&scenario, &domains).0, &expected, "{} domains", domains.count());
        }
        // Many that are drawn cannot be had.
        if let Some(domains) = domains(&scenario, &scenario.written) {
            prop_assert_eq!(&divided(&scenario, &domains).0, &expected, "{:?}", scenario.written);
        }
    }
}

/// Two hosts on each of two switches, one node each; all links are alike and the two in the middle are cut.
fn two_switches(rate_bps: Option<u64>, delay_ns: u64, condition: Value) -> Scenario {
    let both = |a: &str, b: &str| {
        [
            Link::new(a, b, rate_bps, delay_ns, Some(3 * 1538)),
            Link::new(b, a, rate_bps, delay_ns, Some(3 * 1538)),
        ]
    };
    let ends = [("h0", "s0"), ("h1", "s0"), ("h2", "s1"), ("h3", "s1"), ("s0", "s1")];
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let fabric = Fabric {
        hosts: names(&["h0", "h1", "h2", "h3"]),
        switches: names(&["s0", "s1"]),
        links: ends.iter().flat_map(|(a, b)| both(a, b)).collect(),
        nodes: (0..4).map(|number| Node { name: format!("n{number}"), host: format!("h{number}") }).collect(),
        condition: serde_json::from_value(condition).expect("a condition of this version"),
        ..empty()
    };
    Scenario {
        fabric,
        arrivals: Vec::new(),
        change: None,
        stops: Vec::new(),
        end_ns: 1_000 * MICROSECOND,
        written: Division::Written(vec![names(&["s0"]), names(&["s1"])]),
    }
}

fn arrival(at_us: u64, from: usize, to: usize, count: u32) -> Arrival {
    Arrival { at_ns: at_us * MICROSECOND, from, to, count, ip_bytes: 1500, dscp: 0, port: 0 }
}

fn in_two(scenario: &Scenario) -> (Seen, u64) {
    divided(scenario, &domains(scenario, &scenario.written).expect("these links can be cut"))
}

// Both packets take 1 us and 2 us to their switch. That of h0 goes on for 3 us more, that of h2 comes at that later instant:
// so both are at the port to h3 at 6 us, one from the other domain. The link that was listed first goes first, whichever came first.
#[test]
fn packets_of_two_domains_meet_at_a_port_in_the_order_of_one_network() {
    let mut scenario =
        two_switches(Some(FULL_PACKET_A_MICROSECOND), 2 * MICROSECOND, json!({"name": "none"}));
    scenario.arrivals = vec![arrival(0, 0, 3, 1), arrival(3, 2, 3, 1)];
    let (seen, crossed) = in_two(&scenario);
    assert_eq!(crossed, 1);
    assert_eq!(seen, alone(&scenario));
    let left: Vec<(u32, u64)> = seen.fates.iter().map(|fate| (fate.1 .0, fate.0 / MICROSECOND)).collect();
    // From 6 us on the port sends one after the other, 1 us each, and 2 us to the host. The uplink of h2 is listed before s0->s1.
    assert_eq!(left, [(1, 9), (0, 10)]);
}

#[test]
fn a_train_is_not_carried_whole_over_a_wire_that_another_domain_drives() {
    let driven = json!({"name": "driven", "places": {"link": [{"capacity": {
        "process": {"levels": {"at_ns": [0], "rate_bps": [FULL_PACKET_A_MICROSECOND]}}, "direction": "down", "on": ["h3"]}}]}});
    let mut scenario = two_switches(None, 2 * MICROSECOND, driven);
    scenario.arrivals = vec![arrival(0, 0, 3, 6), arrival(0, 0, 2, 6)];
    let (seen, crossed) = in_two(&scenario);
    assert_eq!(crossed, 12);
    assert_eq!(seen, alone(&scenario));
    // Of six at once one is sent and three wait.
    assert_eq!(seen.fates.iter().filter(|fate| fate.3.starts_with("queue-full")).count(), 2);
}

#[test]
fn packets_under_way_finish_on_the_path_that_they_entered() {
    // The delay in front of h3 is there when the first packet enters, and gone when it arrives.
    let delayed = json!({"name": "delayed", "places": {"link": [{"delay": {"time_ns": 50_000, "on": ["s1"]}}]},
        "timeline": [{"at_ns": 4_000, "places": {"link": []}}]});
    let mut scenario = two_switches(Some(FULL_PACKET_A_MICROSECOND), 2 * MICROSECOND, delayed);
    scenario.arrivals = vec![arrival(0, 0, 3, 1), arrival(5, 0, 3, 1)];
    let (seen, _) = in_two(&scenario);
    assert_eq!(seen, alone(&scenario));
    // Three links of 1 us and 2 us each, and the delay, or not.
    let left: Vec<(u32, u64)> = seen.fates.iter().map(|fate| (fate.1 .0, fate.0 / MICROSECOND)).collect();
    assert_eq!(left, [(1, 14), (0, 59)]);
}

#[test]
fn a_condition_that_binds_hosts_of_two_domains_is_refused() {
    let scenario = two_switches(None, MICROSECOND, json!({"name": "none"}));
    let domains = domains(&scenario, &scenario.written).expect("these links can be cut");
    let bulk: Condition = serde_json::from_value(json!({"name": "bulk", "interference": [{
        "between": ["h1", "h2"], "by": "ghost", "hold_ns": 1_000_000, "pacing_ns": 1_000, "packet_ip_bytes": 1500, "zero": "silence",
        "rate": {"constant_bps": 1_000}, "tcp": {"flows": 1, "congestion_control": "reno"}}]}))
    .expect("a condition of this version");
    let mut planner = Planner::new(&scenario.fabric).expect("sound").divided(domains);
    let refused = planner.condition(&bulk).unwrap_err().to_string();
    assert!(refused.contains("interference between h1 and h2 uses TCP"), "{refused}");
}

// A packet from h0 takes 3 links of 1 us and 2 us each to h3: sent at 0, it is at the gate at 9 us.
#[test]
fn a_gate_in_another_domain_drops_what_was_under_way_when_it_shut() {
    let cuts = json!({"name": "cut", "timeline": [
        {"at_ns": 9_000, "cuts": [{"from": ["n0"], "to": ["n3"]}]}, {"at_ns": 109_000, "cuts": []}]});
    for (cut_us, expected) in [(9, vec![0, 1, 2]), (10, vec![1, 2])] {
        let mut scenario = two_switches(Some(FULL_PACKET_A_MICROSECOND), 2 * MICROSECOND, cuts.clone());
        scenario.fabric.faults = true;
        scenario.fabric.condition.timeline[0].at_ns = cut_us * MICROSECOND;
        // The last one is at the gate when it opens, and those to h2 and from h3 have another gate.
        scenario.arrivals = vec![
            arrival(0, 0, 3, 1),
            arrival(20, 0, 3, 2),
            arrival(40, 0, 2, 1),
            arrival(40, 3, 0, 1),
            arrival(99, 0, 3, 1),
            arrival(100, 0, 3, 1),
        ];
        let (seen, _) = in_two(&scenario);
        assert_eq!(seen, alone(&scenario));
        let lost: Vec<_> = seen.fates.iter().filter(|fate| fate.3.starts_with("partitioned")).collect();
        let keys: Vec<u32> = lost.iter().map(|fate| fate.1 .0).collect();
        // Of the second arrival two packets, and the one that comes 1 us before the gate opens.
        let keys_expected: Vec<u32> = expected
            .iter()
            .flat_map(|&key| match key {
                0 => vec![0],
                1 => vec![1, 1],
                _ => vec![4],
            })
            .collect();
        assert_eq!(keys, keys_expected, "{cut_us} us");
    }
}
