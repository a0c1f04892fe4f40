//! Networks of two or more hosts: the effect of paths, conditions and interference.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use super::*;
use crate::domains::Division;
use crate::entry::ElementEntry;
use crate::spec::{Condition, Node, Places, Tcp};
use crate::topology::{star, Link, Routing};
use crosswind_engine::{Capacity, Outcome, Packet, Rate};

/// A network with its planner.
pub(crate) struct Planned {
    planner: Planner,
    network: Network,
}

impl Planned {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let mut planner = Planner::new(fabric).unwrap();
        let network = planner.network(Instant::ZERO).unwrap();
        Self { planner, network }
    }

    pub(crate) fn apply(&mut self, at: Instant, condition: &Condition) {
        let plan = self.planner.condition(condition).unwrap();
        self.network.apply(at, plan);
    }

    fn step(&mut self, at: Instant, places: &Places) {
        let plan = self.planner.step(places, None).unwrap();
        self.network.apply(at, plan);
    }
}

impl Deref for Planned {
    type Target = Network;

    fn deref(&self) -> &Network {
        &self.network
    }
}

impl DerefMut for Planned {
    fn deref_mut(&mut self) -> &mut Network {
        &mut self.network
    }
}

pub(super) fn named(network: &Network, name: &str) -> ElementId {
    network.elements().iter().find(|element| element.name == name).expect(name).id
}

/// `n` hosts h0.. with one node n0.. each: 1 Gbit/s, 2 us, 50 kB, no condition.
pub(crate) fn fabric(n: usize) -> Fabric {
    let hosts: Vec<String> = (0..n).map(|i| format!("h{i}")).collect();
    Fabric {
        seed: 7,
        links: star(&hosts, Some(1_000_000_000), 2_000, Some(50_000)),
        hosts,
        switches: vec!["switch".into()],
        routes: Routing::Shortest,
        nodes: (0..n).map(|i| Node { name: format!("n{i}"), host: format!("h{i}") }).collect(),
        mtu_bytes: 1500,
        tcp: Tcp {
            congestion_control: "cubic".into(),
            rto_min_us: 200_000,
            ecn: false,
            socket_buffer_bytes: None,
        },
        merge_window_ns: 20_000,
        wait: None,
        domains: Division::default(),
        faults: false,
        condition: Condition::default(),
    }
}

/// Hosts h0 and h1 on leaf0, h2 and h3 on leaf1, one node each, and two spines; every link as in [`fabric`].
pub(crate) fn leaves_and_spines() -> Fabric {
    let mut fabric = fabric(4);
    fabric.switches = ["leaf0", "leaf1", "spine0", "spine1"].map(str::to_owned).to_vec();
    let join = |a: &str, b: &str| [link(a, b), link(b, a)];
    let hosts = ["leaf0", "leaf0", "leaf1", "leaf1"].into_iter().enumerate();
    fabric.links = hosts.flat_map(|(host, leaf)| join(&format!("h{host}"), leaf)).collect();
    for (leaf, spine) in [("leaf0", "spine0"), ("leaf0", "spine1"), ("leaf1", "spine0"), ("leaf1", "spine1")]
    {
        fabric.links.extend(join(leaf, spine));
    }
    fabric
}

fn link(from: &str, to: &str) -> Link {
    Link::new(from, to, Some(1_000_000_000), 2_000, Some(50_000))
}

pub(crate) fn entry(json: &str) -> ElementEntry {
    serde_json::from_str(json).unwrap()
}

pub(super) fn departures(network: &mut Network, until_ns: u64) -> Vec<(u64, u64)> {
    network.engine().advance(Instant::from_nanos(until_ns));
    let mut due = Vec::new();
    while let Some(outcome) = network.engine().pop() {
        if let Outcome::Departure { due: at, packet, .. } = outcome {
            due.push((packet.tag, at.as_nanos()));
        }
    }
    due
}

// 1500 IP bytes are 1538 wire bytes: 12.304 us at 1 Gbit/s, twice (up and down), and 2 us of propagation twice.
#[test]
fn a_packet_pays_serialisation_and_propagation_on_both_links() {
    let mut network = Network::new(&fabric(2), Instant::ZERO).unwrap();
    let (path, _) = network.path(0, 1, 0);
    network.engine().push(Instant::ZERO, path, Packet::real(1, 1500, 0));
    assert_eq!(departures(&mut network, 1_000_000), vec![(1, 2 * 12_304 + 2 * 2_000)]);
}

#[test]
fn nodes_of_one_host_do_not_use_the_uplink() {
    let mut fabric = fabric(1);
    fabric.nodes.push(Node { name: "n1".into(), host: "h0".into() });
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    let (path, _) = network.path(0, 1, 0);
    network.engine().push(Instant::from_nanos(5), path, Packet::real(1, 1500, 0));
    assert_eq!(departures(&mut network, 1_000_000), vec![(1, 5)]);
}

#[test]
fn a_host_bucket_is_per_node_and_a_switch_bucket_is_shared() {
    for (place, passed) in [("host.egress", 2), ("switch.ingress", 1)] {
        let mut fabric = fabric(2);
        fabric.nodes.push(Node { name: "n2".into(), host: "h0".into() });
        fabric.condition.places = serde_json::from_str(&format!(
            r#"{{"{place}": [{{"police": {{"rate_bps": 8000, "burst_bytes": 1500, "on": ["h0"]}}}}]}}"#
        ))
        .unwrap();
        let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
        for from in [0, 2] {
            let (path, _) = network.path(from, 1, 0);
            network.engine().push(Instant::ZERO, path, Packet::real(from as u64, 1500, 0));
        }
        assert_eq!(departures(&mut network, 1_000_000).len(), passed, "{place}");
    }
}

/// The number of packets that reach `n4`: two senders send the same number each to it, and if `both`, two others to
/// `n5`.
fn arrived_at_n4(place: &str, both: bool) -> usize {
    let mut fabric = fabric(6);
    fabric.condition.places =
        serde_json::from_str(&format!(r#"{{"{place}": [{{"queue": {{"memory_bytes": 15380}}}}]}}"#)).unwrap();
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    for (from, to) in [(0, 4), (1, 4), (2, 5), (3, 5)] {
        let (path, _) = network.path(from, to, 0);
        for _ in 0..if to == 4 || both { 20 } else { 0 } {
            network.engine().push(Instant::ZERO, path, Packet::real(to as u64, 1500, 0));
        }
    }
    departures(&mut network, 1_000_000_000).iter().filter(|packet| packet.0 == 4).count()
}

#[test]
fn a_switch_has_one_memory_for_its_ports_and_every_host_its_own() {
    // In a memory of 10 packets one busy queue holds 5, plus the packet in transmission; with two busy queues each
    // holds fewer.
    assert_eq!(arrived_at_n4("host.egress", false), 2 * 6);
    assert_eq!(arrived_at_n4("host.egress", true), 2 * 6);
    assert!(arrived_at_n4("switch.egress", true) < arrived_at_n4("switch.egress", false));
}

#[test]
fn a_new_condition_takes_effect_at_its_instant() {
    let mut network = Planned::new(&fabric(2));
    let (path, _) = network.path(0, 1, 0);
    network.engine().push(Instant::ZERO, path, Packet::real(1, 1500, 0));
    let condition: Condition =
        serde_json::from_str(r#"{"name": "slow", "places": {"link": [{"delay": {"time_ns": 1000000}}]}}"#)
            .unwrap();
    network.apply(Instant::from_nanos(10), &condition);
    let (path, _) = network.path(0, 1, 0);
    network.engine().push(Instant::from_nanos(100_000), path, Packet::real(2, 1500, 0));
    let due = departures(&mut network, 10_000_000);
    assert_eq!(due, vec![(1, 28_608), (2, 100_000 + 28_608 + 2 * 1_000_000)]);
}

// 1538 wire bytes take 12.304 us of 1 Gbit/s: the second full packet, 20 us later, leaves a gap of 7.696 us.
#[test]
fn a_monitor_measures_at_its_place_with_the_rate_of_the_uplink() {
    let mut fabric = fabric(2);
    fabric.condition.places = serde_json::from_str(
        r#"{"link": [{"monitor": {"what": ["ipg"], "window_ns": 1000000, "burst_gap_ns": 100, "match": {"dscp": [46]},
            "start": {"after_ns": 0}, "on": ["h0"]}}]}"#,
    )
    .unwrap();
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    let (path, _) = network.path(0, 1, 0);
    for (at, dscp) in [(0, 46), (10_000, 0), (20_000, 46)] {
        network.engine().push(Instant::from_nanos(at), path, Packet::real(at, 1500, dscp));
    }
    let gaps: Vec<_> = network
        .elements()
        .iter()
        .filter_map(|element| {
            let readings = network.engine_ref().readings(element.id)?;
            Some((element.name.as_str(), readings.histograms[0].histogram.range()))
        })
        .collect();
    assert_eq!(gaps, [("h0/link.up/0:monitor", Some((7_696, 7_696))), ("h0/link.down/0:monitor", None)]);
}

#[test]
fn interference_over_tcp_yields_to_a_policer_on_the_switch_also_after_a_change() {
    let mut fabric = fabric(2);
    fabric.condition = serde_json::from_str(
        r#"{"name": "i", "interference": [{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 500000000},
            "hold_ns": 10000000000, "pacing_ns": 10000000, "packet_ip_bytes": 1500, "zero": "silence",
            "tcp": {"flows": 2, "congestion_control": "cubic"}}]}"#,
    )
    .unwrap();
    let mut network = Planned::new(&fabric);
    let carried = |network: &mut Network, until_ms: u64| {
        let before = network.engine_ref().totals().ghost;
        network.engine().advance(Instant::from_nanos(until_ms * 1_000_000));
        let after = network.engine_ref().totals().ghost;
        (after.left - before.left, after.dropped - before.dropped)
    };
    // Two directions of 41 667 packets a second, and at least one acknowledgement for every second packet.
    let (left, _) = carried(&mut network, 1_000);
    assert!((100_000..170_000).contains(&left), "{left}");
    let mut policed = fabric.condition.clone();
    policed.places = serde_json::from_str(
        r#"{"switch.ingress": [{"police": {"rate_bps": 100000000, "burst_bytes": 15000}}]}"#,
    )
    .unwrap();
    network.apply(Instant::from_nanos(1_000_000_000), &policed);
    let (left, dropped) = carried(&mut network, 3_000);
    assert!(left < 2 * 2 * 8_334 * 2, "the bucket passes 8 334 packets a second in each direction: {left}");
    assert!(dropped < left / 2, "it yields: {dropped} of {left}");
}

#[test]
fn a_monitor_watches_the_queue_and_the_drops_after_it() {
    let mut fabric = fabric(2);
    let monitor = r#"{"monitor": {"what": ["queue-delay", "drops"], "window_ns": 1000000, "burst_gap_ns": 100, "match": {},
        "start": {"after_ns": 0}}}"#;
    fabric.condition = serde_json::from_str(&format!(
        r#"{{"name": "c", "places": {{
            "host.egress": [{monitor}, {{"police": {{"rate_bps": 8000, "burst_bytes": 4500}}}}],
            "switch.ingress": [{monitor}, {{"mark": {{"dscp": 1}}}}, {{"shape": {{"rate_bps": 8000, "burst_bytes": 1500, "buffer_bytes": null}}}}]}},
          "timeline": [{{"at_ns": 1, "places": {{"switch.ingress": []}}}}]}}"#
    ))
    .unwrap();
    let mut network = Planned::new(&fabric);
    let (path, _) = network.path(0, 1, 0);
    for tag in 0..4 {
        network.engine().push(Instant::ZERO, path, Packet::real(tag, 1500, 0));
    }
    network.engine().advance(Instant::from_nanos(4_000_000_000));
    let read = |network: &Network, name: &str| {
        let readings = network.engine_ref().readings(named(network, name)).unwrap();
        let dropped: u64 = readings.counts.iter().map(|named| named.count).sum();
        (readings.histograms[0].histogram.count(), dropped)
    };
    // After the node's policer, which drops the fourth, the queue is that of the uplink; at the switch it is the
    // shaper.
    assert_eq!(read(&network, "n0/host.egress/0:monitor"), (3, 1));
    assert_eq!(read(&network, "h0/switch.ingress/0:monitor"), (3, 0));
    // When the shaper is removed, so is the monitor before it.
    let step = fabric.condition.timeline[0].places.clone();
    network.step(Instant::from_nanos(5_000_000_000), &step);
    assert_eq!(network.target.watching.len(), 2, "the monitors of the two nodes");
}

#[test]
fn a_queue_is_monitored_only_where_one_follows() {
    let mut fabric = fabric(2);
    let monitor = r#"{"monitor": {"what": ["queue-depth"], "window_ns": 1000000, "burst_gap_ns": 100, "match": {},
        "start": {"after_ns": 0}}}"#;
    fabric.condition.places.host_ingress = Some(vec![entry(monitor)]);
    let refusal = fabric.check().unwrap_err().to_string();
    assert!(refusal.contains("no queue follows it"), "{refusal}");
    let shape = r#"{"shape": {"rate_bps": 8000, "burst_bytes": 1500, "buffer_bytes": null}}"#;
    fabric.condition.places.host_ingress = Some(vec![entry(monitor), entry(shape)]);
    fabric.check().unwrap();
}

#[test]
fn a_match_by_headers_is_a_label_that_its_monitor_checks_for() {
    let mut fabric = fabric(3);
    let monitor = |select: &str| {
        format!(
            r#"{{"monitor": {{"what": ["packet-size"], "window_ns": 1000000, "burst_gap_ns": 100, "match": {select}, "start": {{"after_ns": 0}}}}}}"#
        )
    };
    let (from, port) =
        (monitor(r#"{"from": "n0"}"#), monitor(r#"{"protocol": 6, "destination_port": 5432}"#));
    fabric.condition.places =
        serde_json::from_str(&format!(r#"{{"link": [{from}, {port}, {from}]}}"#)).unwrap();
    let mut network = Planned::new(&fabric);
    let facts = |from, ports| crate::Facts { from, to: 2, protocol: 6, ports };
    let [both, one] = [Some((1, 5432)), None].map(|ports| network.labels(&facts(0, ports)));
    assert!(both != one && one != LabelSet::NONE);
    assert_eq!(network.labels(&facts(1, Some((5432, 1)))), LabelSet::NONE);
    let (path, _) = network.path(0, 2, 0);
    let labels = network.labels(&facts(0, Some((1, 5432))));
    network.engine().push(Instant::ZERO, path, Packet::real(1, 1500, 0).with_labels(labels));
    network.engine().push(Instant::ZERO, path, Packet::real(2, 1500, 0));
    let counted: Vec<u64> = ["h0/link.up/0:monitor", "h0/link.up/1:monitor", "h0/link.up/2:monitor"]
        .iter()
        .map(|&name| network.engine_ref().readings(named(&network, name)).unwrap())
        .map(|readings| readings.histograms[0].histogram.count())
        .collect();
    assert_eq!(counted, [1, 1, 1]);
    // A packet in flight is recognised by a match that stays, whatever other matches are added or removed.
    network.engine().push(Instant::ZERO, path, Packet::real(3, 1500, 0).with_labels(both));
    let mut next = fabric.condition.clone();
    next.places = serde_json::from_str(&format!(r#"{{"link": [{from}, {port}]}}"#)).unwrap();
    network.apply(Instant::from_nanos(1), &next);
    network.engine().advance(Instant::from_nanos(1_000_000_000));
    let down = network.engine_ref().readings(named(&network, "h2/link.down/1:monitor")).unwrap();
    assert_eq!(down.histograms[0].histogram.count(), 2);
}

#[test]
fn each_of_a_hundred_matches_counts_its_own_packets() {
    let mut fabric = fabric(2);
    let monitor = |port: usize| {
        entry(&format!(
            r#"{{"monitor": {{"what": ["packet-size"], "match": {{"destination_port": {port}}}, "on": ["h0"]}}}}"#
        ))
    };
    fabric.condition.places.link = Some((0..100).map(monitor).collect());
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    let (path, _) = network.path(0, 1, 0);
    for port in 0..100 {
        let facts = crate::Facts { from: 0, to: 1, protocol: 17, ports: Some((9, port)) };
        let labels = network.labels(&facts);
        for tag in 0..u64::from(port) % 7 {
            network.engine().push(Instant::ZERO, path, Packet::real(tag, 100, 0).with_labels(labels));
        }
    }
    let counted = |port: usize| {
        let monitor = named(&network, &format!("h0/link.up/{port}:monitor"));
        network.engine_ref().readings(monitor).unwrap().histograms[0].histogram.count()
    };
    assert!((0..100).all(|port| counted(port) == port as u64 % 7));
}

#[test]
fn sources_of_a_replaced_condition_are_remembered_until_the_next_restart() {
    let offers = |bps: u64| -> Condition {
        let text = format!(
            r#"{{"name": "i{bps}", "interference": [{{"between": ["h0", "h1"], "by": "ghost", "rate": {{"constant_bps": {bps}}},
                "hold_ns": 1000, "pacing_ns": 1000, "packet_ip_bytes": 1500, "zero": "silence"}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let ns = Instant::from_nanos;
    let mut network = Planned::new(&fabric(2));
    network.apply(ns(1_000), &offers(5));
    network.engine().advance(ns(3_500));
    network.apply(ns(4_500), &offers(6));
    let none: Condition = serde_json::from_str(r#"{"name": "none"}"#).unwrap();
    network.engine().advance(ns(5_500));
    network.apply(ns(6_000), &none);
    let found: Vec<_> = network
        .offerings()
        .filter(|it| it.name.ends_with("h0->h1"))
        .map(|it| (network.engine_ref().draws(it.id).to_vec(), it.until))
        .collect();
    let drawn = |at_ns: &[u64], bps: u64| at_ns.iter().map(|&at| (ns(at), bps)).collect::<Vec<_>>();
    assert_eq!(
        found,
        [
            (drawn(&[1_000, 2_000, 3_000, 4_000], 5), Some(ns(4_500))),
            (drawn(&[4_500, 5_500], 6), Some(ns(6_000)))
        ]
    );
    network.restart_processes(ns(7_000));
    assert_eq!(network.offerings().count(), 0);
}

#[test]
fn interference_loads_both_directions_and_only_its_pair() {
    let mut fabric = fabric(4);
    fabric.condition = serde_json::from_str(
        r#"{"name": "i", "interference": [{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 100000000},
            "hold_ns": 1000000000, "pacing_ns": 10000000, "packet_ip_bytes": 1500, "zero": "silence"}]}"#,
    )
    .unwrap();
    let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
    network.engine().advance(Instant::from_nanos(1_000_000_000));
    let bytes: HashMap<String, u64> = network
        .elements()
        .iter()
        .map(|element| (element.name.clone(), network.engine_ref().counters(element.id).ghost.departed.bytes))
        .collect();
    for link in ["h0/uplink", "h0/downlink", "h1/uplink", "h1/downlink"] {
        let share = bytes[link] as f64 / 12_500_000.0;
        assert!((0.97..=1.01).contains(&share), "{link} carried {share} of 100 Mbit/s for 1 s");
    }
    assert_eq!(bytes["h2/uplink"], 0);
}

fn driven(entries: &str) -> Fabric {
    let mut fabric = fabric(2);
    fabric.condition.places = serde_json::from_str(&format!(r#"{{"link": [{entries}]}}"#)).unwrap();
    fabric
}

// A packet has 12 304 wire bits: 123.04 us at 100 Mbit/s, 12.304 us at 1 Gbit/s; propagation is 2 us on each link.
#[test]
fn a_capacity_drives_only_the_links_it_names() {
    let steps = r#"{"levels": {"at_ns": [0, 100000], "rate_bps": [100000000, 1000000000]}}"#;
    for (restriction, expected) in [
        // Up, 10 000 bits leave by 100 us and the other 2304 by 102.304; down, all at the higher rate.
        ("", 102_304 + 2_000 + 12_304 + 2_000),
        (r#", "direction": "up""#, 102_304 + 2_000 + 12_304 + 2_000),
        // Down, 8569.6 bits leave from 14.304 to 100 us, and the other 3734.4 in 3.7344 us, rounded up.
        (r#", "on": ["h1"], "direction": "down""#, 103_735 + 2_000),
        (r#", "on": ["h1"], "direction": "up""#, 2 * (12_304 + 2_000)),
    ] {
        let fabric = driven(&format!(r#"{{"capacity": {{"process": {steps}{restriction}}}}}"#));
        let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
        let (path, _) = network.path(0, 1, 0);
        network.engine().push(Instant::ZERO, path, Packet::real(1, 1500, 0));
        assert_eq!(departures(&mut network, 1_000_000), vec![(1, expected)], "{restriction}");
    }
}

#[test]
fn a_process_continues_through_a_change_that_retains_it_and_restarts_with_a_measurement() {
    let process = r#"{"drawn": {"cells": [{"low_bps": 1, "high_bps": 1000000000, "weight": 1}], "grid_bps": 1, "hold_ns": 1000}}"#;
    let capacity = format!(r#"{{"capacity": {{"process": {process}}}}}"#);
    let delay = r#"{"delay": {"time_ns": 5}}"#;
    let mut network = Planned::new(&driven(&capacity));
    network.engine().advance(Instant::from_nanos(2_500));
    let places = driven(&format!("{capacity}, {delay}")).condition.places;
    network.step(Instant::from_nanos(2_500), &places);
    network.engine().advance(Instant::from_nanos(4_500));
    let before = changes(&network, "h0/uplink");
    assert_eq!(before.len(), 5);
    assert_ne!(before, changes(&network, "h0/downlink"), "directions are independent");
    assert_ne!(before, changes(&network, "h1/uplink"), "links are independent");
    network.restart_processes(Instant::from_nanos(10_000));
    network.engine().advance(Instant::from_nanos(14_500));
    let again: Vec<_> = changes(&network, "h0/uplink");
    assert!(again.iter().zip(&before).all(|(now, then)| now.1 == then.1), "{again:?} {before:?}");
    assert_eq!(again[0].0, Instant::from_nanos(10_000));
}

fn changes(network: &Network, link: &str) -> Vec<(Instant, Capacity)> {
    network.levels().into_iter().find(|levels| &*levels.link == link).unwrap().changes
}

#[test]
fn levels_of_replaced_processes_are_kept_and_the_own_rate_follows_the_last() {
    let steps = |at: &str, rates: &str, on: &str| {
        driven(&format!(
            r#"{{"capacity": {{"process": {{"levels": {{"at_ns": [{at}], "rate_bps": [{rates}]}}}}, "on": ["{on}"]}}}}"#
        ))
    };
    let ns = Instant::from_nanos;
    let bps = |rate| Capacity::Rate(Rate::bits_per_second(rate).unwrap());
    let mut network = Planned::new(&steps("0", "5", "h0"));
    network.step(ns(500), &steps("0", "6", "h0").condition.places);
    network.restart_processes(ns(1_000));
    network.step(ns(2_000), &steps("0, 100", "7, 8", "h0").condition.places);
    network.engine().advance(ns(2_500));
    // The same rate again is no change.
    network.step(ns(3_000), &steps("0, 100", "8, null", "h0").condition.places);
    network.engine().advance(ns(3_500));
    network.step(ns(4_000), &steps("0", "9", "h1").condition.places);
    network.step(ns(5_000), &steps("0", "10", "h0").condition.places);
    let (unlimited, own) = (Capacity::Rate(Rate::Unlimited), bps(1_000_000_000));
    assert_eq!(
        changes(&network, "h0/uplink"),
        [
            (ns(1_000), bps(6)),
            (ns(2_000), bps(7)),
            (ns(2_100), bps(8)),
            (ns(3_100), unlimited),
            (ns(4_000), own),
            (ns(5_000), bps(10))
        ]
    );
    assert_eq!(changes(&network, "h1/uplink"), [(ns(4_000), bps(9)), (ns(5_000), own)]);
    let links: Vec<String> = network.levels().iter().map(|levels| levels.link.to_string()).collect();
    assert_eq!(links, ["h0/uplink", "h0/downlink", "h1/uplink", "h1/downlink"]);
}

// A packet takes 123.04 us at 100 Mbit/s and 1.2304 ms at 10 Mbit/s. The links have no rate of their own.
#[test]
fn a_queue_waits_while_another_process_takes_over_its_link_or_processes_restart() {
    let capacity = |bps: u64| {
        let mut fabric = driven(&format!(
            r#"{{"capacity": {{"process": {{"levels": {{"at_ns": [0], "rate_bps": [{bps}]}}}}, "direction": "up"}}}}"#
        ));
        fabric.links.iter_mut().for_each(|link| link.rate_bps = None);
        fabric
    };
    let mut network = Planned::new(&capacity(100_000_000));
    let (path, _) = network.path(0, 1, 0);
    for tag in 0..24 {
        network.engine().push(Instant::ZERO, path, Packet::real(tag, 1500, 0));
    }
    // The first ten have left by 1230.4 us.
    network.restart_processes(Instant::from_nanos(615_200));
    network.step(Instant::from_nanos(1_230_400), &capacity(10_000_000).condition.places);
    let due: Vec<u64> = departures(&mut network, 100_000_000).iter().map(|&(_, due)| due - 4_000).collect();
    let expected = (1..=24).map(|n| if n <= 10 { n * 123_040 } else { 1_230_400 + (n - 10) * 1_230_400 });
    assert_eq!(due, expected.collect::<Vec<u64>>());
    let changes: Vec<Capacity> = changes(&network, "h0/uplink").iter().map(|&(_, level)| level).collect();
    let bps = |rate| Capacity::Rate(Rate::bits_per_second(rate).unwrap());
    assert_eq!(changes, [bps(100_000_000), bps(10_000_000)]);
}
