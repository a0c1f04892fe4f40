//! What each of two packet threads recorded is decided again by its own domain alone.

use std::io::{self, Write};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use crosswind_fabric::{Condition, Division, Domains, Fabric};
use crosswind_recording::{Decision, Fate, Header, Reader, Recorder, Written};
use crosswind_simulator::replay::{ReplayError, Replayed};
use crosswind_simulator::{replay, PacketFile};
use serde_json::json;

use super::crossing_tests::{fabric, Threads, BUILT_NS, GIGABIT, SEGMENT, TURN_NS};
use super::*;
use crate::clock::Clock;

/// A file in memory that the recorder's thread can write.
#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// As machines name their domains: by a switch of each.
fn as_written(fabric: &Fabric, domains: &Domains) -> Fabric {
    let mut names = vec![vec!["s0".to_owned()], vec!["s1".to_owned()]];
    // Node 0 is at s0.
    if domains.of_node(0) == 1 {
        names.reverse();
    }
    Fabric { domains: Division::Written(names), ..fabric.clone() }
}

/// The recordings of both domains: frames cross both ways, ghosts too, a timeline steps, a condition is set before its last
/// step, and some packets come too late. With `faults` nodes are cut off, by the timeline and by hand.
fn recorded(rate_bps: Option<u64>, has_own_cpu: bool, faults: bool) -> Vec<Vec<u8>> {
    let mut condition = json!({
        "name": "c",
        "places": {
            "switch.ingress": [{"mark": {"dscp": 10, "on": ["h1"]}}],
            "link": [{"police": {"rate_bps": 50_000_000, "burst_bytes": 40_000, "on": ["h3"]}},
                     {"delay": {"time_ns": 300_000}}],
            "host.ingress": [{"lose": {"law": {"bernoulli": {"share_ppb": 50_000_000}}}}, {"duplicate": {"share_ppb": 50_000_000}}]
        },
        "interference": [{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 20_000_000},
                          "hold_ns": 1_000_000, "pacing_ns": 100_000, "packet_ip_bytes": 1500, "zero": "silence"}],
        "timeline": [
            {"at_ns": 4_000_000, "places": {"host.egress": [{"delay": {"time_ns": 50_000}}]}},
            {"at_ns": 90_000_000, "places": {"switch.egress": [{"mark": {"dscp": 3}}]}}
        ]
    });
    if faults {
        condition["timeline"][0]["cuts"] = json!([{"from": ["a"], "to": ["b"]}]);
    }
    let fabric = Fabric { faults, ..fabric(&condition, rate_bps, 2) };
    let files = [File::default(), File::default()];
    let start = |domain: usize, domains: &Domains| {
        let header = Header::new(&as_written(&fabric, domains), Some(domain), BUILT_NS);
        Some(Recorder::start(files[domain].clone(), &header).unwrap())
    };
    let mut threads = Threads::recorded(&fabric, 2, has_own_cpu, start);
    threads.run_until(BUILT_NS + 3_000_000);
    threads.measure();
    for round in 0..12 {
        for (from, to, payload) in
            [(0, 1, 100), (1, 0, 28 * SEGMENT), (0, 3, 28 * SEGMENT), (0, 2, 900), (3, 2, 7 * SEGMENT)]
        {
            threads.send(from, to, payload);
        }
        if round == 5 {
            set(
                &mut threads,
                &json!({"name": "other", "places": {"host.egress": [{"delay": {"time_ns": 7_000}}],
                "switch.egress": [{"lose": {"law": {"bernoulli": {"share_ppb": 100_000_000}}}}]}}),
            );
        }
        if faults && (round == 3 || round == 9) {
            cut(&mut threads, if round == 3 { r#"[{"from": ["d"], "to": ["a", "c"]}]"# } else { "[]" });
        }
        if round == 8 {
            // A thread that is ahead of the other by more than the delay of the cut gets what is due already.
            let ahead_ns = threads.workers[1].0.machine.monotonic_ns() + 9_000_000;
            threads.workers[1].0.machine.clock.advance_to(ahead_ns);
            threads.workers[1].0.forwarder.let_out(ahead_ns);
        }
        threads.run_until(threads.reached_ns + 4 * TURN_NS);
    }
    threads.run_until(threads.reached_ns + 30_000_000);
    for (worker, _) in threads.workers {
        let Written { lost, error, .. } = worker.finish().1.recording.unwrap();
        assert_eq!((lost, error), (0, None));
    }
    files.iter().map(|file| file.0.lock().unwrap().clone()).collect()
}

fn set(threads: &mut Threads, condition: &serde_json::Value) {
    let condition: Condition = serde_json::from_value(condition.clone()).unwrap();
    let plan = threads.planner.condition(&condition).unwrap();
    let mut plans = vec![threads.planner.again(&plan), plan];
    let at_ns = threads.reached_ns;
    for (worker, commands) in &mut threads.workers {
        let plan = Box::new(plans.pop().unwrap());
        assert!(commands.send(Command::Set { at_ns, plan, reply: channel().0 }));
        assert_ne!(worker.round(false), Next::Stop);
    }
}

fn cut(threads: &mut Threads, cuts: &str) {
    let cuts = threads.planner.cuts(&serde_json::from_str::<Vec<_>>(cuts).unwrap()).unwrap();
    let at_ns = threads.reached_ns;
    for (worker, commands) in &mut threads.workers {
        let cuts = Arc::clone(&cuts);
        assert!(commands.send(Command::Cut { at_ns, cuts, reply: channel().0 }));
        assert_ne!(worker.round(false), Next::Stop);
    }
}

fn replayed(recording: &[u8], what_if: Option<&Condition>) -> Result<Replayed, ReplayError> {
    replay(Reader::open(recording).unwrap(), what_if, None::<PacketFile<Vec<u8>>>)
}

#[test]
fn a_domain_alone_decides_again_what_it_recorded() {
    // Without a rate a train crosses as one packet.
    for (rate_bps, has_own_cpu) in [(GIGABIT, false), (GIGABIT, true), (None, true)] {
        let recordings = recorded(rate_bps, has_own_cpu, false);
        for (domain, recording) in recordings.iter().enumerate() {
            let replayed = replayed(recording, None).unwrap();
            let comparison = replayed.comparison.unwrap();
            assert!(comparison.identical, "{domain} {rate_bps:?} {has_own_cpu}: {comparison:?}");
            let pairs = &replayed.summary.pairs;
            let crossed: u64 = pairs.iter().map(|pair| pair.crossed.packets).sum();
            let delivered: u64 = pairs.iter().map(|pair| pair.delivered.packets).sum();
            assert!(crossed > 100 && delivered > 100, "{domain}: {crossed} crossed, {delivered} delivered");
        }
    }
}

#[test]
fn a_domain_alone_decides_again_whom_it_cut_off() {
    for (rate_bps, has_own_cpu) in [(GIGABIT, true), (None, false)] {
        for (domain, recording) in recorded(rate_bps, has_own_cpu, true).iter().enumerate() {
            let comparison = replayed(recording, None).unwrap().comparison.unwrap();
            assert!(comparison.identical, "{domain} {rate_bps:?}: {comparison:?}");
            let mut reader = Reader::open(&recording[..]).unwrap();
            let partitioned = reader.header().reasons.iter().position(|name| name == "partitioned");
            let mut lost = 0;
            while let Some(record) = reader.read().unwrap() {
                if let Record::Decided(Decision { fate: Fate::Dropped { reason, .. }, count, .. }) = record {
                    lost += if Some(reason) == partitioned { count } else { 0 };
                }
            }
            assert!(lost > 2, "{domain}: {lost} packets were cut off");
        }
    }
}

#[test]
fn a_part_cannot_be_tried_under_another_condition() {
    let recordings = recorded(GIGABIT, true, false);
    let refused = replayed(&recordings[0], Some(&Condition::default())).unwrap_err().to_string();
    assert!(refused.starts_with("it is the recording of one of several machines (domain 0)"), "{refused}");
    // Nor is a part without what came from the others one of them.
    assert!(replayed(&recordings[0][..recordings[0].len() - 3], None).is_err());
}
