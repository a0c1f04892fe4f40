//! Cuts: who reaches whom, and from which instant on.

use std::collections::HashSet;

use crosswind_engine::{DropReason, Instant, Outcome};
use proptest::prelude::*;

use super::tests::{entry, fabric};
use super::Network;
use crate::cuts::NodeCut;
use crate::frame::Frame;
use crate::planner::Planner;
use crate::spec::{Condition, Fabric, Places};

/// The links have no rate, so a packet reaches its receiver's gate 4 us after it was sent: two links of 2 us.
const WAY_NS: u64 = 4_000;

fn cutting(n: usize) -> Fabric {
    let mut fabric = fabric(n);
    fabric.links.iter_mut().for_each(|link| link.rate_bps = None);
    Fabric { faults: true, ..fabric }
}

fn cut(from: &[&str], to: &[&str]) -> NodeCut {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    NodeCut { from: names(from), to: names(to), answer: Default::default() }
}

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

struct Cutting {
    planner: Planner,
    network: Network,
}

impl Cutting {
    fn new(fabric: &Fabric) -> Self {
        let mut planner = Planner::new(fabric).unwrap();
        let network = planner.network(Instant::ZERO).unwrap();
        Self { planner, network }
    }

    fn step(&mut self, at_ns: u64, cuts: &[NodeCut]) -> u64 {
        let plan = self.planner.step(&Places::default(), Some(cuts)).unwrap();
        self.network.apply(at(at_ns), plan).at.as_nanos()
    }

    fn by_hand(&mut self, at_ns: u64, cuts: &[NodeCut]) -> u64 {
        let cuts = self.planner.cuts(cuts).unwrap();
        self.network.cut(at(at_ns), cuts).as_nanos()
    }

    /// A packet is sent; the key tells it from others.
    fn send(&mut self, at_ns: u64, from: usize, to: usize, key: u32) {
        let frame = Frame {
            key,
            count: 1,
            ip_bytes: 1500,
            last_ip_bytes: 1500,
            dscp: 0,
            ecn: crosswind_engine::Ecn::NotEct,
        };
        self.network.push(at(at_ns), from, to, 0, &frame);
    }

    /// The keys of packets that arrived and of those that were dropped since the last call, in order.
    fn fates(&mut self, until_ns: u64) -> (Vec<u32>, Vec<u32>) {
        self.network.engine().advance(at(until_ns));
        let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
        while let Some(outcome) = self.network.engine().pop() {
            let key = Frame::key_of(outcome.packet().tag);
            match outcome {
                Outcome::Departure { .. } => arrived.push(key),
                Outcome::Dropped { element, reason, .. } => {
                    assert_eq!(reason, DropReason::Partitioned);
                    assert!(self.network.engine_ref().element_name(element).ends_with("/cut"));
                    dropped.push(key);
                }
                Outcome::Duplicated { .. } => panic!("nothing is duplicated"),
            }
        }
        (arrived, dropped)
    }
}

#[test]
fn a_cut_holds_from_its_instant_on_in_its_direction_and_for_packets_under_way() {
    let mut net = Cutting::new(&cutting(3));
    for sent_ns in [0, 1] {
        for (way, (from, to)) in [(0, 1), (1, 0), (2, 1), (0, 2)].into_iter().enumerate() {
            net.send(sent_ns, from, to, way as u32 + 10 * sent_ns as u32);
        }
    }
    assert_eq!(net.step(WAY_NS + 1, &[cut(&["n0"], &["n1"])]), WAY_NS + 1);
    let (mut arrived, dropped) = net.fates(100_000);
    arrived.sort_unstable();
    // Only what reached n1 from n0 at the instant of the cut is lost, not what did so 1 ns before.
    assert_eq!((arrived, dropped), (vec![0, 1, 2, 3, 11, 12, 13], vec![10]));
    // Healed at that instant, a packet that arrives then passes.
    let healed_ns = 200_000;
    net.send(healed_ns - WAY_NS - 1, 0, 1, 20);
    net.send(healed_ns - WAY_NS, 0, 1, 21);
    assert_eq!(net.step(healed_ns, &[]), healed_ns);
    assert_eq!(net.fates(300_000), (vec![21], vec![20]));
}

#[test]
fn a_cut_that_comes_late_takes_effect_at_the_next_instant() {
    let mut net = Cutting::new(&cutting(2));
    net.send(0, 0, 1, 1);
    assert_eq!(net.fates(WAY_NS), (vec![1], vec![]));
    // What the engine has decided at 4000 ns stands.
    assert_eq!(net.by_hand(WAY_NS - 500, &[cut(&["n0"], &["n1"])]), WAY_NS + 1);
    net.send(WAY_NS, 0, 1, 2);
    assert_eq!(net.fates(100_000), (vec![], vec![2]));
}

#[test]
fn cuts_by_hand_and_of_the_timeline_add_up_and_end_apart() {
    let mut net = Cutting::new(&cutting(3));
    let mut keys = 0;
    let mut reaches = |net: &mut Cutting, at_ns: u64| -> Vec<(usize, usize)> {
        let pairs: Vec<_> =
            (0..3).flat_map(|a| (0..3).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
        let first = keys;
        for &(from, to) in &pairs {
            net.send(at_ns, from, to, keys);
            keys += 1;
        }
        let mut arrived = net.fates(at_ns + 2 * WAY_NS).0;
        arrived.sort_unstable();
        arrived.iter().map(|key| pairs[(key - first) as usize]).collect()
    };
    let all = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
    let without =
        |cut: &[(usize, usize)]| all.iter().copied().filter(|it| !cut.contains(it)).collect::<Vec<_>>();
    assert_eq!(reaches(&mut net, 10_000), all);
    net.step(20_000, &[cut(&["n0"], &["n1", "n2"])]);
    net.by_hand(21_000, &[cut(&["n0", "n1"], &["n0", "n1"])]);
    assert_eq!(reaches(&mut net, 30_000), without(&[(0, 1), (0, 2), (1, 0)]));
    net.step(40_000, &[]);
    assert_eq!(reaches(&mut net, 50_000), without(&[(0, 1), (1, 0)]), "those by hand stay");
    // Another condition begins without cuts, and leaves those by hand.
    net.step(60_000, &[cut(&["n2"], &["n0"])]);
    let plan = net.planner.condition(&Condition { name: "other".into(), ..Condition::default() }).unwrap();
    let applied = net.network.apply(at(61_000), plan);
    assert!(applied.cuts.is_some_and(|cuts| cuts.list().is_empty()), "the change says that it healed");
    assert_eq!(reaches(&mut net, 70_000), without(&[(0, 1), (1, 0)]));
    net.by_hand(80_000, &[]);
    assert_eq!(reaches(&mut net, 90_000), all);
}

#[test]
fn a_timeline_that_begins_again_heals_what_it_had_cut() {
    let mut fabric = cutting(2);
    fabric.condition.timeline = serde_json::from_str(
        r#"[{"at_ns": 1000, "cuts": [{"from": ["n0"], "to": ["n1"], "answer": "reset"}]}, {"at_ns": 9000, "cuts": []}]"#,
    )
    .unwrap();
    let mut net = Cutting::new(&fabric);
    let mut first = net.planner.timeline().unwrap();
    let step = first.step(&mut net.network, 5_000).unwrap();
    assert_eq!((step.due_ns, step.at_ns, step.cuts.unwrap().list().len()), (1_000, 1_000, 1));
    assert!(net.network.answers_with_reset(0, 1) && !net.network.answers_with_reset(1, 0));
    let mut second = net.planner.timeline().unwrap().starting_at(20_000);
    let healed = second.follow(&first, &mut net.network, 20_000).unwrap();
    assert_eq!(healed.cuts.unwrap().list(), []);
    assert!(!net.network.answers_with_reset(0, 1));
    net.send(20_100, 0, 1, 1);
    assert_eq!(net.fates(24_100), (vec![1], vec![]), "its first step is due at 21 us, when it is there");
}

#[test]
fn a_train_stays_one_and_monitors_and_interference_do_not_mind_gates() {
    let mut fabric = cutting(2);
    fabric.condition.places.host_ingress =
        Some(vec![entry(r#"{"monitor": {"what": ["drops"], "match": {"from": "n0"}}}"#)]);
    let mut net = Cutting::new(&fabric);
    assert!(net.network.carries_whole(0, 1, 0, 3), "a gate treats a train alike");
    net.by_hand(10, &[cut(&["n0"], &["n1"])]);
    let facts = crate::Facts { from: 0, to: 1, protocol: 6, ports: Some((1, 2)) };
    let labels = net.network.labels(&facts);
    let frame = Frame {
        key: 1,
        count: 3,
        ip_bytes: 1500,
        last_ip_bytes: 100,
        dscp: 0,
        ecn: crosswind_engine::Ecn::Ect0,
    };
    net.network.push_labelled(at(20), (0, 1, 0), &frame, labels);
    assert_eq!(net.fates(100_000), (vec![], vec![1]));
    let monitor = net.network.elements().iter().find(|it| it.name == "n1/host.ingress/0:monitor").unwrap().id;
    let readings = net.network.engine_ref().readings(monitor).unwrap();
    let drops: Vec<_> = readings.counts.iter().map(|count| (count.name, count.count)).collect();
    assert_eq!(drops, [("partitioned", 3)]);
}

#[test]
fn without_faults_there_are_no_gates_and_a_cut_is_refused() {
    let network = Network::new(&fabric(2), Instant::ZERO).unwrap();
    assert!(network.elements().iter().all(|element| !element.name.ends_with("/cut")));
    let with = Network::new(&cutting(2), Instant::ZERO).unwrap();
    let more: Vec<_> = with.elements().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(more.len(), network.elements().len() + 2);
    assert!(more.ends_with(&["n0/cut", "n1/cut"]), "the others keep their numbers");
    let planner = Planner::new(&fabric(2)).unwrap();
    let refused = planner.cuts(&[cut(&["n0"], &["n1"])]).unwrap_err().to_string();
    assert!(refused.contains("bring it up with `faults: true`"), "{refused}");
}

#[test]
fn cuts_that_say_nothing_sound_are_refused() {
    let planner = Planner::new(&cutting(2)).unwrap();
    for (cuts, expected) in [
        (cut(&["n7"], &["n1"]), "cut: from: there is no node n7; name one of the fabric's nodes"),
        (cut(&["n0", "n0"], &["n1"]), "cut: from: n0 is there twice; name each node once"),
        (cut(&["n0"], &[]), "cut: to: names no node; give at least one"),
        (cut(&["n1"], &["n1"]), "cut: n1 to itself: nothing of that crosses the network; name two nodes"),
    ] {
        assert_eq!(planner.cuts(&[cuts]).unwrap_err().0, [expected]);
    }
    let mut fabric = cutting(2);
    fabric.condition.timeline =
        serde_json::from_str(r#"[{"at_ns": 5, "cuts": [{"from": [], "to": ["n1"]}]}]"#).unwrap();
    assert_eq!(
        fabric.check().unwrap_err().0,
        ["timeline at 5 ns: cuts: from: names no node; give at least one"]
    );
}

proptest! {
    #[test]
    fn a_packet_is_lost_where_its_pair_is_cut_when_it_reaches_its_gate(
        changes in prop::collection::vec(
            (0u64..40, any::<bool>(), prop::collection::vec((0usize..4, 0usize..4), 0..4)), 0..8),
        packets in prop::collection::vec((0u64..40, 0usize..4, 0usize..4), 1..60),
    ) {
        let names = ["n0", "n1", "n2", "n3"];
        let mut net = Cutting::new(&cutting(4));
        // Of events at one instant the changes come first; each has an instant of its own.
        let mut due = changes;
        due.sort_by_key(|change| change.0);
        due.dedup_by_key(|change| change.0);
        due.iter_mut().for_each(|change| change.2.retain(|(from, to)| from != to));
        let mut sent: Vec<_> = packets.into_iter().filter(|(_, from, to)| from != to).collect();
        sent.sort_by_key(|packet| packet.0);
        let mut active: [HashSet<(usize, usize)>; 2] = Default::default();
        let mut expected: Vec<u32> = Vec::new();
        // Packets are sent at whole microseconds and reach their gates 4 us later, as changes come.
        for now in 0..60 {
            for change in due.iter().filter(|change| change.0 + 4 == now) {
                let cuts: Vec<_> = change.2.iter().map(|&(a, b)| cut(&[names[a]], &[names[b]])).collect();
                let at_ns = now * 1_000;
                let effective_ns = if change.1 { net.by_hand(at_ns, &cuts) } else { net.step(at_ns, &cuts) };
                prop_assert_eq!(effective_ns, at_ns);
                active[usize::from(change.1)] = change.2.iter().copied().collect();
            }
            for (key, &(at_us, from, to)) in (0..).zip(&sent) {
                if at_us == now {
                    net.send(now * 1_000, from, to, key);
                }
                if at_us + 4 == now && active.iter().any(|cuts| cuts.contains(&(from, to))) {
                    expected.push(key);
                }
            }
        }
        let (arrived, mut dropped) = net.fates(100_000);
        dropped.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(arrived.len() + dropped.len(), sent.len());
        prop_assert_eq!(dropped, expected);
    }
}
