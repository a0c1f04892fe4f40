//! The packet thread in virtual time, with ports in memory.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crosswind_engine::DropReason;
use crosswind_fabric::{star, Condition, Fabric, NodeCut, Planner};
use crosswind_wire::{Train, VnetHeader};
use serde_json::{json, Value};

use super::*;
use crate::clock::Clock;
use crate::clock::VirtualClock;
use crate::commands::{commands, Commands};
use crate::machine::VirtualMachine;
use crate::measurement::Measurement;
use crate::port::MemoryPort;
use crate::records::LossCause;

fn fabric(condition: &Value) -> Fabric {
    serde_json::from_value(json!({
        "seed": 7, "hosts": ["h0", "h1"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}],
        "switches": ["switch"], "links": star(&["h0", "h1"], Some(1_000_000_000), 2000, Some(60_000)), "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
        "condition": condition,
    }))
    .unwrap()
}

/// A TCP segment of 100 bytes from a to b.
fn segment_bytes() -> Vec<u8> {
    let mut frame = vec![2, 0x77, 0, 0, 0, 2, 2, 0x77, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 140];
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    frame.extend([0x15, 0x38, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    frame.resize(154, 0);
    frame
}

const BUILT_NS: u64 = 1_000_000;

/// A worker that has begun, and the sender of its commands.
fn worker(condition: &Value, has_own_cpu: bool) -> (Worker<MemoryPort, VirtualMachine>, Commands) {
    let (worker, commands, _) = planned(condition, has_own_cpu);
    (worker, commands)
}

/// The same, with the planner.
fn planned(condition: &Value, has_own_cpu: bool) -> (Worker<MemoryPort, VirtualMachine>, Commands, Planner) {
    begun(&fabric(condition), has_own_cpu)
}

fn begun(fabric: &Fabric, has_own_cpu: bool) -> (Worker<MemoryPort, VirtualMachine>, Commands, Planner) {
    let mut planner = Planner::new(fabric).unwrap();
    let network = planner.network(crosswind_engine::Instant::from_nanos(BUILT_NS)).unwrap();
    let forwarder = Forwarder::new(network, vec![MemoryPort::default(), MemoryPort::default()]);
    let machine = VirtualMachine { clock: VirtualClock::new(BUILT_NS), has_own_cpu };
    let (commands, inbox) = commands().unwrap();
    let mut worker = Worker::new(forwarder, machine, inbox, planner.timeline().unwrap());
    worker.begin(BUILT_NS);
    (worker, commands, planner)
}

/// How often a thread checked, spun and slept.
#[derive(Debug, Default, PartialEq, Eq)]
struct Turns {
    looks: u32,
    spins: u32,
    sleeps: u32,
}

/// Does what [`Worker::run`] does, until an instant.
fn run_until(worker: &mut Worker<MemoryPort, VirtualMachine>, until_ns: u64) -> Turns {
    let (mut turns, mut reported) = (Turns::default(), false);
    while worker.machine.monotonic_ns() < until_ns {
        match worker.round(std::mem::take(&mut reported)) {
            Next::Look => turns.looks += 1,
            Next::Spin { now, next } => {
                turns.spins += 1;
                worker.machine.spin(now, next, worker.forwarder.latest_receiver());
            }
            Next::Sleep(instant_ns) => {
                turns.sleeps += 1;
                reported = worker.sleep(instant_ns.min(until_ns)).unwrap();
            }
            Next::Stop => panic!("no command to stop was sent"),
        }
    }
    turns
}

fn send(worker: &mut Worker<MemoryPort, VirtualMachine>) {
    let now = worker.machine.monotonic_ns();
    worker.forwarder.ports[0].arrive(now, VnetHeader::default(), segment_bytes());
}

fn read(worker: &mut Worker<MemoryPort, VirtualMachine>, commands: &Commands) -> Measurement {
    let (reply, answer) = channel();
    assert!(commands.send(Command::Read { steal_ns: 0, reply }));
    assert_ne!(worker.round(false), Next::Stop);
    Measurement::new(*answer.try_recv().unwrap())
}

fn measure(
    worker: &mut Worker<MemoryPort, VirtualMachine>,
    commands: &Commands,
    planner: &mut Planner,
) -> u64 {
    let ((reply, answer), timeline) = (channel(), Box::new(planner.timeline().unwrap()));
    assert!(commands.send(Command::Measure { at_ns: None, steal_ns: 0, timeline, reply }));
    assert_ne!(worker.round(false), Next::Stop);
    answer.try_recv().unwrap().at_ns
}

/// Sets an empty condition with that name.
fn set(
    worker: &mut Worker<MemoryPort, VirtualMachine>,
    commands: &Commands,
    planner: &mut Planner,
    name: &str,
) -> u64 {
    let (reply, answer) = channel();
    let plan = planner.condition(&Condition { name: name.to_owned(), ..Condition::default() }).unwrap();
    let at_ns = worker.machine.monotonic_ns();
    assert!(commands.send(Command::Set { at_ns, plan: Box::new(plan), reply }));
    assert_ne!(worker.round(false), Next::Stop);
    answer.try_recv().unwrap().at_ns
}

#[test]
fn a_packet_leaves_when_it_is_due_whether_the_thread_spins_or_sleeps() {
    let delay = json!({"name": "delay", "places": {"link": [{"delay": {"time_ns": 300_000}}]}});
    for has_own_cpu in [false, true] {
        let (mut worker, commands) = worker(&delay, has_own_cpu);
        send(&mut worker);
        let turns = run_until(&mut worker, BUILT_NS + 5_000_000);
        let measurement = read(&mut worker, &commands);
        assert_eq!((measurement.ledger.packets, measurement.ledger.early), (1, 0));
        // It was prepared before its instant and sent at the first check after it.
        assert!(measurement.ledger.error_ns.max < Some(100), "{measurement:?}");
        if has_own_cpu {
            assert_eq!((measurement.wait_mode, turns.sleeps), ("spin", 0), "it lingers for 20 ms");
        } else {
            assert_eq!(measurement.wait_mode, "sleep");
            assert_eq!(turns.sleeps, 2, "until shortly before it is due, and after it");
            // It wakes 35 us before: it spins 30 times a microsecond, and then checks without pauses.
            assert!((50..150).contains(&turns.spins), "{turns:?}");
        }
    }
}

#[test]
fn a_receiver_without_room_is_tried_again_until_a_timeout_and_has_the_cpu_in_between() {
    for has_own_cpu in [false, true] {
        let (mut worker, commands) = worker(&json!({"name": "none"}), has_own_cpu);
        worker.forwarder.ports[1].room = 0;
        send(&mut worker);
        let turns = run_until(&mut worker, BUILT_NS + 1_900_000);
        assert!(worker.forwarder.waits_for_a_receiver());
        // 1.9 ms of sleeps of 100 us, each of which ends 25 us late.
        assert_eq!(turns.sleeps, if has_own_cpu { 0 } else { 16 });
        run_until(&mut worker, BUILT_NS + 2_300_000);
        let drops = read(&mut worker, &commands).drops.rows;
        assert_eq!(drops.len(), 1);
        assert_eq!((&*drops[0].element, &*drops[0].reason), ("emulator", "send-failed"));
    }
}

#[test]
fn a_thread_without_traffic_sleeps_from_one_step_of_the_series_to_the_next() {
    let (mut worker, _commands) = worker(&json!({"name": "none"}), true);
    run_until(&mut worker, BUILT_NS + LINGER_NS + 1_000_000);
    assert_eq!(run_until(&mut worker, BUILT_NS + 1_000_000_000).sleeps, 10);
}

#[test]
fn the_timeline_steps_when_it_is_due_and_every_change_is_reported() {
    let shape = json!({"shape": {"rate_bps": 1_000_000, "burst_bytes": 3000, "buffer_bytes": 30_000}});
    let condition = json!({"name": "two", "timeline": [
        {"at_ns": 4_000_000, "places": {"link": []}},
        {"at_ns": 2_000_000, "places": {"link": [shape]}}
    ]});
    let (mut worker, commands, mut planner) = planned(&condition, false);
    let started_ns = measure(&mut worker, &commands, &mut planner);
    run_until(&mut worker, started_ns + 5_000_000);
    let set_ns = set(&mut worker, &commands, &mut planner, "none");
    let measurement = read(&mut worker, &commands);
    let changes: Vec<_> = measurement.changes.iter().map(|it| (it.by, it.asked_ns, it.at_ns)).collect();
    let at = |after_ns| started_ns + after_ns;
    assert_eq!(
        changes,
        [
            ("up", BUILT_NS, BUILT_NS),
            ("timeline", at(2_000_000), at(2_000_000)),
            ("timeline", at(4_000_000), at(4_000_000)),
            ("set", set_ns, set_ns)
        ]
    );
    // The element that the first step made has its name.
    assert!(measurement.elements.iter().any(|element| element.element.contains("shape")));
}

#[test]
fn every_window_begins_with_the_written_condition_and_another_condition_ends_its_timeline() {
    let delay = |time_ns: u64| json!([{"delay": {"time_ns": time_ns}}]);
    let condition = json!({"name": "c", "places": {"link": delay(1_000)}, "timeline": [
        {"at_ns": 2_000_000, "places": {"link": delay(2_000)}}, {"at_ns": 6_000_000, "places": {"link": []}}
    ]});
    let (mut worker, commands, mut planner) = planned(&condition, false);
    for _ in 0..2 {
        let started_ns = measure(&mut worker, &commands, &mut planner);
        run_until(&mut worker, started_ns + 3_000_000);
        let changes = read(&mut worker, &commands).changes;
        let delays: Vec<_> =
            changes.iter().map(|it| serde_json::to_value(&*it.places).unwrap()["link"].clone()).collect();
        assert_eq!(delays[0][0]["delay"]["time_ns"], 1_000, "when it begins");
        assert_eq!(delays[1][0]["delay"]["time_ns"], 2_000, "after its first step");
        assert_eq!(delays.len(), 2);
    }
    let set_ns = set(&mut worker, &commands, &mut planner, "other");
    run_until(&mut worker, set_ns + 10_000_000);
    let changes = read(&mut worker, &commands).changes;
    assert_eq!(changes.last().map(|change| change.by), Some("set"), "the second step is not carried out");
}

#[test]
fn new_elements_of_a_condition_are_made_between_packets_and_begin_together() {
    let shape = json!({"shape": {"rate_bps": 8_000_000, "burst_bytes": 15_000, "buffer_bytes": 100_000}});
    let many = json!({"name": "many", "places": {"link": vec![shape; MADE_AT_ONCE]}});
    let (mut worker, commands, mut planner) = planned(&json!({"name": "none"}), true);
    let plan = planner.condition(&serde_json::from_value(many).unwrap()).unwrap();
    let (reply, answer) = channel();
    let asked_ns = worker.machine.monotonic_ns();
    assert!(commands.send(Command::Set { at_ns: asked_ns, plan: Box::new(plan), reply }));
    send(&mut worker);
    // The same number for each direction of two uplinks: the fourth round makes the last.
    for round in 1..=3 {
        assert_eq!(worker.round(false), Next::Look, "round {round}");
        assert!(answer.try_recv().is_err());
    }
    assert_eq!(worker.forwarder.network.engine_ref().totals().real.inside, 1, "it entered in the meantime");
    run_until(&mut worker, asked_ns + 1_000_000);
    assert!(answer.try_recv().unwrap().at_ns >= asked_ns);
    let measured = read(&mut worker, &commands);
    let names: Vec<_> = measured.changes.iter().map(|change| &*change.condition).collect();
    assert_eq!(names, ["none", "many"]);
    assert_eq!(measured.ledger.packets, 1, "it left");
}

const STEP_NS: u64 = crate::series::STEP_NS;
/// A round of the thread after the end of a step closes it.
const JUST_AFTER_NS: u64 = 1_000_000;

#[test]
fn a_watched_thread_reports_every_step_with_its_rows_and_the_changes_in_it() {
    let credit = json!({"credit": {"budget_bits": 8_000_000, "initial_bits": 8_000_000, "high_bps": 100_000_000,
        "low_bps": 10_000_000, "refill_bps": 10_000_000, "buffer_bytes": 60_000}});
    let condition = json!({"name": "metered", "places": {"host.egress": [credit]}});
    let (mut worker, commands, mut planner) = planned(&condition, true);
    let started_ns = measure(&mut worker, &commands, &mut planner);
    let (watched, mut watch) = crate::watch::watch(0);
    assert!(commands.send(Command::Watch(Box::new(watched))));
    send(&mut worker);
    run_until(&mut worker, started_ns + STEP_NS + STEP_NS / 2);
    let set_ns = set(&mut worker, &commands, &mut planner, "other");
    run_until(&mut worker, started_ns + 3 * STEP_NS + JUST_AFTER_NS);
    let reports = watch.reports(|_, _| true);
    let began: Vec<_> = reports.iter().map(|report| report.at_ns - started_ns).collect();
    assert_eq!(began, [0, STEP_NS, 2 * STEP_NS]);
    let passed: Vec<_> = reports[0].rows.iter().map(|row| (&*row.element, row.departed_bytes)).collect();
    let metered = passed.iter().find(|(name, _)| name.contains("credit"));
    assert_eq!(metered.map(|(_, bytes)| *bytes), Some(140), "{passed:?}");
    assert!(reports[1].rows.is_empty());
    assert_eq!(reports[0].credit.len(), 2, "one of each host");
    assert!(reports[0].credit.iter().all(|it| it.left_bits > 7_000_000));
    let changes = |at: usize| -> Vec<_> {
        let changes = reports[at].changes.iter();
        changes.map(|change| (&*change.condition, change.at_ns)).collect()
    };
    assert_eq!(changes(0), [("metered", BUILT_NS)], "the active condition comes first");
    assert_eq!(changes(1), [("other", set_ns)]);
    assert_eq!((reports[2].lateness.packets, reports[2].lateness.early), (1, 0));
    assert_eq!(reports[2].left_out, 0);
    let measured = read(&mut worker, &commands);
    assert!(measured.host.watch_ns.is_some(), "the cost is in the ledger of the machine");
    let of_a = measured.series.credit.iter().filter(|row| row.element.starts_with("a/"));
    let left: Vec<_> = of_a.map(|row| (row.at_ns, row.left_bits)).collect();
    assert_eq!(left[0], (started_ns, reports[0].credit[0].left_bits), "live and stored are the same");
    assert!(left.windows(2).all(|two| two[0].1 != two[1].1), "only steps that change it have rows: {left:?}");
}

#[test]
fn a_reader_that_stops_reading_misses_reports_and_holds_nobody_up() {
    let (mut worker, commands) = worker(&json!({"name": "none"}), true);
    let (watched, mut watch) = crate::watch::watch(0);
    assert!(commands.send(Command::Watch(Box::new(watched))));
    run_until(&mut worker, BUILT_NS + 100 * STEP_NS + JUST_AFTER_NS);
    send(&mut worker);
    run_until(&mut worker, BUILT_NS + 101 * STEP_NS + JUST_AFTER_NS);
    let waiting = watch.reports(|_, _| true);
    run_until(&mut worker, BUILT_NS + 102 * STEP_NS + JUST_AFTER_NS);
    let next = watch.reports(|_, _| true).pop().unwrap();
    assert_eq!(next.left_out, 101 - waiting.len() as u64);
    assert_eq!(next.at_ns, BUILT_NS + 101 * STEP_NS, "the latest step follows a gap");
    assert_eq!(next.lateness.packets, 1, "counts of the window lose nothing");
    std::mem::drop(watch);
    run_until(&mut worker, BUILT_NS + 104 * STEP_NS + JUST_AFTER_NS);
    assert!(worker.watched.is_none(), "a reader that has gone ends the reports");
}

#[test]
fn a_worker_stops_on_command_and_when_its_sender_has_gone() {
    let (mut stopped, commands) = worker(&json!({"name": "none"}), false);
    assert!(commands.send(Command::Stop));
    assert_eq!(stopped.run(BUILT_NS), Ok(()));
    std::mem::drop(stopped);
    assert!(!commands.send(Command::Stop), "it has ended");
    let (mut forgotten, commands) = worker(&json!({"name": "none"}), false);
    commands.send(Command::Read { steal_ns: 0, reply: channel().0 });
    std::mem::drop(commands);
    assert_eq!(forgotten.round(false), Next::Stop);
}

#[test]
fn reading_200_000_drops_takes_at_most_a_millisecond_of_the_packet_thread() {
    let (mut worker, _commands) = worker(&json!({"name": "none"}), false);
    let cause = LossCause::Element(worker.forwarder.network.elements()[0].id, DropReason::ALL[0]);
    let segment = Train::read(VnetHeader::default(), &segment_bytes()).unwrap();
    for at_ns in 0..200_000 {
        worker.forwarder.records.dropped(at_ns, cause, &segment, 0);
    }
    let timed = |worker: &mut Worker<MemoryPort, VirtualMachine>| {
        let began = Instant::now();
        let snapshot = worker.snapshot(BUILT_NS, 0);
        (began.elapsed(), snapshot)
    };
    // The shortest of several: other threads of the machine run in the meantime.
    let (handed_over, snapshot) =
        (0..20).map(|_| timed(&mut worker)).min_by_key(|(took, _)| *took).expect("at least one was timed");
    let began = Instant::now();
    let measurement = Measurement::new(snapshot);
    println!("200,000 drops: handed over in {handed_over:?}, rendered in {:?}", began.elapsed());
    assert_eq!(measurement.drops.rows.len(), 200_000);
    assert_eq!(measurement.drops.rows[199_999].at_ns, 199_999);
    assert!(handed_over < Duration::from_millis(1), "{handed_over:?}");
}

#[test]
fn a_draw_of_zero_is_shown_as_what_it_means() {
    let [silence, unlimited] = ["silence", "unlimited"].map(|zero| {
        let condition = json!({"name": "i", "interference": [{"between": ["h0", "h1"], "by": "ghost", "zero": zero,
            "rate": {"normal": {"mean_bps": 1_000_000, "sd_bps": 1_000_000, "low_bps": 0, "high_bps": 2_000_000}},
            "hold_ns": 1_000_000, "pacing_ns": 100_000, "packet_ip_bytes": 1500}]});
        let (mut worker, commands) = worker(&condition, true);
        run_until(&mut worker, BUILT_NS + 100_000_000);
        let offered = read(&mut worker, &commands).interference;
        offered[0].draws.iter().map(|draw| draw.rate_bps).collect::<Vec<_>>()
    });
    assert!(silence.contains(&Some(0)));
    let meant: Vec<_> = silence.iter().map(|rate| rate.filter(|&bps| bps > 0)).collect();
    assert_eq!(unlimited, meant, "the same draws");
}

/// Carries a command out to cut nodes off by hand; returns when it took effect.
fn cut(
    worker: &mut Worker<MemoryPort, VirtualMachine>,
    commands: &Commands,
    planner: &Planner,
    cuts: &Value,
) -> u64 {
    let (reply, answer) = channel();
    let list: Vec<NodeCut> = serde_json::from_value(cuts.clone()).unwrap();
    let at_ns = worker.machine.monotonic_ns();
    assert!(commands.send(Command::Cut { at_ns, cuts: planner.cuts(&list).unwrap(), reply }));
    assert_ne!(worker.round(false), Next::Stop);
    answer.try_recv().unwrap().at_ns
}

/// A worker of a fabric with faults.
fn faulty(condition: &Value) -> (Worker<MemoryPort, VirtualMachine>, Commands, Planner) {
    begun(&Fabric { faults: true, ..fabric(condition) }, true)
}

#[test]
fn cuts_are_changes_with_their_instants_and_those_that_are_active_belong_to_a_window() {
    let a_to_b = json!([{"from": ["a"], "to": ["b"]}]);
    let condition = json!({"name": "c", "timeline": [{"at_ns": 2_000_000, "places": {}, "cuts": a_to_b}]});
    let (mut worker, commands, mut planner) = faulty(&condition);
    let by_hand = json!([{"from": ["b"], "to": ["a"], "answer": "reset"}]);
    let cut_ns = cut(&mut worker, &commands, &planner, &by_hand);
    let started_ns = measure(&mut worker, &commands, &mut planner);
    run_until(&mut worker, started_ns + 1_900_000);
    // It reaches the gate within 100 us, and the next one does so after the cut.
    send(&mut worker);
    run_until(&mut worker, started_ns + 2_100_000);
    send(&mut worker);
    run_until(&mut worker, started_ns + 3_000_000);
    let measured = read(&mut worker, &commands);
    let changes: Vec<_> = measured
        .changes
        .iter()
        .map(|it| (it.by, it.asked_ns, it.at_ns, serde_json::to_value(&it.cuts).unwrap()))
        .collect();
    let step_ns = started_ns + 2_000_000;
    assert_eq!(
        changes,
        [
            ("up", BUILT_NS, BUILT_NS, Value::Null),
            ("cut", changes[1].1, cut_ns, by_hand),
            ("timeline", step_ns, step_ns, a_to_b.clone())
        ]
    );
    let gate = measured.elements.iter().find(|element| element.element == "b/cut").unwrap();
    assert_eq!((gate.place, &*gate.of), ("host.ingress", "b"));
    let dropped: Vec<_> = measured.drops.rows.iter().map(|row| (&*row.element, &*row.reason)).collect();
    assert_eq!(dropped, [("b/cut", "partitioned")]);
    assert!(measured.drops.rows[0].at_ns >= step_ns);
    assert_eq!(measured.ledger.packets, 1);
    // The next window begins healed, and the cut by hand stays.
    let again_ns = measure(&mut worker, &commands, &mut planner);
    let changes = read(&mut worker, &commands).changes;
    let left: Vec<_> = changes.iter().map(|it| (it.by, it.cuts_off())).collect();
    assert_eq!(left, [("cut", true), ("timeline", false)]);
    assert!(changes[1].at_ns >= again_ns);
}

#[test]
fn a_cut_that_answers_resets_tcp_at_once_and_still_drops_what_it_answers() {
    let (mut worker, commands, planner) = faulty(&json!({"name": "none"}));
    for (answer, resets) in [("silence", 0), ("reset", 1)] {
        let cuts = json!([{"from": ["a"], "to": ["b"], "answer": answer}]);
        cut(&mut worker, &commands, &planner, &cuts);
        send(&mut worker);
        let now = worker.machine.monotonic_ns();
        run_until(&mut worker, now + 1_000_000);
        assert_eq!(worker.forwarder.ports[0].sent.len(), resets, "{answer}");
        assert!(worker.forwarder.ports[1].sent.is_empty());
    }
    let (vnet, answer) = &worker.forwarder.ports[0].sent[0];
    let train = Train::read(*vnet, answer).unwrap();
    assert_eq!(train.headers.destination, [2, 0x77, 0, 0, 0, 1]);
    let transport = train.headers.transport.unwrap();
    assert_eq!((transport.source_port, transport.destination_port), (0x9c40, 0x1538));
    // RST alone, at the number that the segment acknowledges, which has PSH and ACK.
    assert_eq!(transport.tcp.map(|tcp| (tcp.flags, tcp.sequence)), Some((0x04, 0)));
    assert_eq!(read(&mut worker, &commands).drops.rows.len(), 2);
}
