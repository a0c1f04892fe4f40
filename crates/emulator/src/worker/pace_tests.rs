//! The packet thread at several paces: what it decides, and how its machine looks to it.

use std::sync::mpsc::channel;

use crosswind_fabric::{star, Fabric, Planner};
use crosswind_wire::VnetHeader;
use serde_json::{json, Value};

use super::*;
use crate::clock::{Clock, VirtualClock};
use crate::commands::{commands, Commands};
use crate::lead::Lead;
use crate::machine::VirtualMachine;
use crate::measurement::Measurement;
use crate::pace::{Anchor, Pace, Paced};
use crate::port::MemoryPort;

const BUILT_NS: u64 = 1_000_000;
const ANCHOR: Anchor = Anchor { monotonic_ns: BUILT_NS, realtime_ns: BUILT_NS };
/// Perceived: a packet every 100 us, for 60 ms.
const EVERY_NS: u64 = 100_000;
const PACKETS: u64 = 600;

type Slow = Worker<MemoryPort, Paced<VirtualMachine>>;

fn fabric(places: &Value) -> Fabric {
    let source = json!({"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 4_000_000},
        "hold_ns": 1_000_000_000, "pacing_ns": 10_000_000, "packet_ip_bytes": 1500, "arrivals": "paced", "zero": "silence",
        "tcp": {"flows": 1, "congestion_control": "cubic", "ecn": false}});
    serde_json::from_value(json!({
        "seed": 7, "hosts": ["h0", "h1"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}],
        "switches": ["switch"], "links": star(&["h0", "h1"], Some(1_000_000_000), 2000, Some(60_000)), "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
        "condition": {"name": "tested", "places": places, "interference": [source],
                      "timeline": [{"at_ns": 20_000_000, "places": {"link": [{"delay": {"time_ns": 700_000}}]}}]},
    }))
    .unwrap()
}

/// A datagram of 1000 bytes from a to b.
fn frame() -> Vec<u8> {
    let mut frame = vec![2, 0x77, 0, 0, 0, 2, 2, 0x77, 0, 0, 0, 1, 8, 0, 0x45, 0, 3, 0xe8];
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    frame.extend([0x15, 0x38, 0x9c, 0x40, 3, 0xd4, 0, 0]);
    frame.resize(14 + 1000, 0);
    frame
}

fn worker(places: &Value, pace: Pace) -> (Slow, Commands) {
    let mut planner = Planner::new(&fabric(places)).unwrap();
    let network = planner.network(crosswind_engine::Instant::from_nanos(BUILT_NS)).unwrap();
    let mut forwarder = Forwarder::new(network, vec![MemoryPort::default(), MemoryPort::default()]);
    forwarder.lead = Lead::new(0, pace);
    let machine = VirtualMachine { clock: VirtualClock::new(BUILT_NS), has_own_cpu: false };
    let (commands, inbox) = commands().unwrap();
    let mut worker = Worker::new(forwarder, Paced::new(machine, pace), inbox, planner.timeline().unwrap());
    worker.begin(BUILT_NS);
    (worker, commands)
}

/// Does what [`Worker::run`] does, until a perceived instant.
fn run_until(worker: &mut Slow, until_ns: u64) {
    while worker.machine.monotonic_ns() < until_ns {
        match worker.round(false) {
            Next::Look => {}
            Next::Spin { now, next } => worker.machine.spin(now, next, worker.forwarder.latest_receiver()),
            Next::Sleep(instant_ns) => drop(worker.sleep(instant_ns.min(until_ns)).unwrap()),
            Next::Stop => panic!("no command to stop was sent"),
        }
    }
}

fn read(worker: &mut Slow, commands: &Commands) -> Value {
    let (reply, answer) = channel();
    assert!(commands.send(Command::Read { steal_ns: 5_000_000, reply }));
    assert_ne!(worker.round(false), Next::Stop);
    serde_json::to_value(Measurement::new(*answer.try_recv().unwrap())).unwrap()
}

/// What a network decided about packets that came at the same perceived instants.
fn decisions(places: &Value, factor: u32) -> Value {
    let pace = Pace::slower(factor, ANCHOR);
    let (mut worker, commands) = worker(places, pace);
    for number in 1..=PACKETS {
        let at_ns = BUILT_NS + number * EVERY_NS;
        run_until(&mut worker, at_ns);
        worker.forwarder.ports[0].arrive(pace.real_ns(at_ns), VnetHeader::default(), frame());
    }
    run_until(&mut worker, BUILT_NS + 2 * PACKETS * EVERY_NS);
    let mut measured = read(&mut worker, &commands);
    assert_eq!(measured["ledger"]["early"], 0);
    assert_eq!(measured["conservation"]["holds"], true);
    // What ghosts and buckets have come to depends on the instant at which it is read.
    for element in measured["elements"].as_array_mut().unwrap() {
        element.as_object_mut().unwrap().retain(|part, _| !["credit", "ghost"].contains(&part.as_str()));
    }
    // The rest is about the machine: how late a step of the timeline was, and which step of the series counts a ghost.
    let parts = ["elements", "drops", "interference"];
    parts
        .iter()
        .map(|&part| (part.to_owned(), measured[part].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn decisions_do_not_depend_on_the_factor() {
    let queue = |drop: Value| json!({"shape": {"rate_bps": 20_000_000, "burst_bytes": 15_000, "buffer_bytes": 100_000, "drop": drop}});
    let credit = json!({"credit": {"budget_bits": 1_000_000, "initial_bits": 1_000_000, "high_bps": 100_000_000,
        "low_bps": 40_000_000, "refill_bps": 10_000_000, "buffer_bytes": 60_000}});
    for places in [
        json!({"host.egress": [queue(json!({"codel": {"target_ns": 1_000_000, "interval_ns": 5_000_000}}))]}),
        json!({"host.egress": [queue(json!({"pie": {"target_ns": 1_000_000, "burst_ns": 5_000_000}}))]}),
        json!({"host.egress": [credit]}),
        json!({"link": [{"lose": {"law": {"bernoulli": {"share_ppb": 50_000_000}}}}, {"delay": {"time_ns": 300_000}}]}),
    ] {
        let real = decisions(&places, 1);
        assert!(!real["drops"]["rows"].as_array().unwrap().is_empty(), "{places}");
        for factor in [2, 7, 1_000] {
            assert!(decisions(&places, factor) == real, "{factor} times slower: {places}");
        }
    }
}

#[test]
fn what_the_machine_takes_is_shorter_by_the_factor() {
    let (mut worker, commands) = worker(&json!({}), Pace::slower(10, ANCHOR));
    run_until(&mut worker, BUILT_NS + 1_000_000);
    // Nothing ran for 80 ms.
    let clock = &worker.machine.machine.clock;
    clock.advance_to(clock.monotonic_ns() + 80_000_000);
    let measured = read(&mut worker, &commands);
    let stall = &measured["host"]["stalls"][0];
    assert_eq!(stall["length_ns"].as_u64().unwrap() / 100_000, 80, "8 ms: {stall}");
    assert!(measured["host"]["steal_ns"].as_u64().unwrap() <= 500_000);
}
