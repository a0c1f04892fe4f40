//! Compares two packet threads in virtual time, each with one domain, with a single thread for everything.

use std::sync::mpsc::channel;

use crosswind_fabric::{Condition, Division, Domains, Fabric, Link, Planner};
use crosswind_recording::Recorder;
use crosswind_wire::VnetHeader;
use serde_json::{json, Value};

use super::*;
use crate::clock::{Clock, VirtualClock};
use crate::commands::{commands, Commands};
use crate::crossings::{Crossings, LEAST_CUT_NS};
use crate::machine::VirtualMachine;
use crate::measurement::Measurement;
use crate::merging::merged;
use crate::port::MemoryPort;

pub(super) const BUILT_NS: u64 = 1_000_000;
const CUT_NS: u64 = 5_000_000;
/// Shorter than the delay of the cut, so that a crossing packet arrives before it is due.
pub(super) const TURN_NS: u64 = 500_000;
pub(super) const SEGMENT: usize = 1460;
pub(super) const GIGABIT: Option<u64> = Some(1_000_000_000);

/// Two hosts on each of two switches that are far apart. Nodes 0 and 2 are in the first domain, 1 and 3 in the second.
pub(super) fn fabric(condition: &Value, rate_bps: Option<u64>, domains: usize) -> Fabric {
    let mut links = Vec::new();
    let mut both = |a: &str, b: &str, delay_ns: u64| {
        for [from, to] in [[a, b], [b, a]] {
            links.push(Link::new(from, to, rate_bps, delay_ns, rate_bps.map(|_| 60_000)));
        }
    };
    for (host, switch) in [("h0", "s0"), ("h1", "s1"), ("h2", "s0"), ("h3", "s1")] {
        both(host, switch, 2_000);
    }
    both("s0", "s1", CUT_NS);
    serde_json::from_value(json!({
        "seed": 7, "hosts": ["h0", "h1", "h2", "h3"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"},
                  {"name": "c", "host": "h2"}, {"name": "d", "host": "h3"}],
        "switches": ["s0", "s1"], "links": links, "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
        "domains": domains, "condition": condition,
    }))
    .unwrap()
}

/// A TCP frame; several wire packets where the payload is longer than a segment.
fn frame(from: u8, to: u8, payload: usize) -> (VnetHeader, Vec<u8>) {
    let mut frame = vec![2, 0x77, 0, 0, 0, to + 1, 2, 0x77, 0, 0, 0, from + 1, 8, 0, 0x45, 0];
    frame.extend(((40 + payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, from + 1, 10, 77, 0, to + 1]);
    frame.extend([0x15, 0x38, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    frame.extend((0..payload).map(|byte| byte as u8));
    let train = payload > SEGMENT;
    let (gso_type, gso_size) =
        if train { (VnetHeader::GSO_TCPV4, SEGMENT as u16) } else { (VnetHeader::GSO_NONE, 0) };
    (VnetHeader { flags: 1, gso_type, header_len: 54, gso_size, csum_start: 34, csum_offset: 16 }, frame)
}

/// All packet threads of a fabric.
pub(super) struct Threads {
    pub(super) workers: Vec<(Worker<MemoryPort, VirtualMachine>, Commands)>,
    pub(super) planner: Planner,
    pub(super) domains: Domains,
    /// The instant that all threads have reached.
    pub(super) reached_ns: u64,
}

impl Threads {
    fn of(condition: &Value, rate_bps: Option<u64>, wanted: usize, has_own_cpu: bool) -> Self {
        Self::recorded(&fabric(condition, rate_bps, wanted), wanted, has_own_cpu, |_, _| None)
    }

    /// `recorder` makes that of a domain.
    pub(super) fn recorded(
        fabric: &Fabric,
        wanted: usize,
        has_own_cpu: bool,
        recorder: impl Fn(usize, &Domains) -> Option<Recorder>,
    ) -> Self {
        let domains = Domains::of(fabric, &Division::Count(wanted), &[], LEAST_CUT_NS).unwrap();
        assert_eq!(domains.count(), wanted);
        let mut planner = Planner::new(fabric).unwrap().divided(domains.clone());
        let start = crosswind_engine::Instant::from_nanos(BUILT_NS);
        let networks: Vec<_> = (0..wanted).map(|domain| planner.domain(start, domain).unwrap()).collect();
        let (commands, inboxes): (Vec<_>, Vec<_>) = networks.iter().map(|_| commands().unwrap()).unzip();
        let crossings = Crossings::between(&domains, &inboxes);
        let timeline = planner.timeline().unwrap();
        let parts = networks.into_iter().zip(inboxes).zip(crossings).zip(commands).enumerate();
        let workers = parts.map(|(domain, (((network, inbox), crossings), commands))| {
            let own = (0..4).filter(|&node| domains.of_node(node) == domain);
            let mut forwarder = Forwarder::new(network, own.map(|_| MemoryPort::default()).collect());
            forwarder.recorder = recorder(domain, &domains);
            forwarder.crossings = (wanted > 1).then(|| Box::new(crossings));
            let machine = VirtualMachine { clock: VirtualClock::new(BUILT_NS), has_own_cpu };
            let mut worker = Worker::new(forwarder, machine, inbox, planner.timeline_again(&timeline));
            worker.begin(BUILT_NS);
            (worker, commands)
        });
        let workers = workers.collect();
        Self { workers, planner, domains, reached_ns: BUILT_NS }
    }

    /// The thread and the port of a node: in both domains one node comes before the other.
    fn place(&self, node: usize) -> (usize, usize) {
        let domain = self.domains.of_node(node);
        (domain, (0..node).filter(|&other| self.domains.of_node(other) == domain).count())
    }

    /// A frame enters 5 us after the instant that all threads have reached.
    pub(super) fn send(&mut self, from: usize, to: usize, payload: usize) {
        let (domain, port) = self.place(from);
        let worker = &mut self.workers[domain].0;
        // The thread's clock advances with each reading, but not this far.
        worker.machine.clock.advance_to(self.reached_ns + 10_000);
        let (vnet, bytes) = frame(from as u8, to as u8, payload);
        worker.forwarder.ports[port].arrive(self.reached_ns + 5_000, vnet, bytes);
    }

    fn sent(&self, node: usize) -> &[(VnetHeader, Vec<u8>)] {
        let (domain, port) = self.place(node);
        &self.workers[domain].0.forwarder.ports[port].sent
    }

    /// Runs every thread in turns until all have reached an instant.
    pub(super) fn run_until(&mut self, until_ns: u64) {
        let mut now = self.reached_ns;
        self.reached_ns = until_ns;
        while now < until_ns {
            now = (now + TURN_NS).min(until_ns);
            for (worker, _) in &mut self.workers {
                let mut reported = false;
                while worker.machine.monotonic_ns() < now {
                    match worker.round(std::mem::take(&mut reported)) {
                        Next::Look => {}
                        Next::Spin { now, next } => {
                            worker.machine.spin(now, next, worker.forwarder.latest_receiver());
                        }
                        Next::Sleep(instant_ns) => reported = worker.sleep(instant_ns.min(now)).unwrap(),
                        Next::Stop => panic!("no command to stop was sent"),
                    }
                }
            }
        }
    }

    fn ask<T>(&mut self, command: impl FnMut(std::sync::mpsc::Sender<T>) -> Command) -> Vec<T> {
        let mut command = command;
        let ask = |(worker, commands): &mut (Worker<MemoryPort, VirtualMachine>, Commands)| {
            let (reply, answer) = channel();
            assert!(commands.send(command(reply)));
            assert_ne!(worker.round(false), Next::Stop);
            answer.try_recv().unwrap()
        };
        self.workers.iter_mut().map(ask).collect()
    }

    pub(super) fn measure(&mut self) -> u64 {
        let at_ns = self.reached_ns;
        let timeline = self.planner.timeline().unwrap();
        let mut timelines: Vec<_> =
            self.workers.iter().map(|_| Box::new(self.planner.timeline_again(&timeline))).collect();
        let mut next = || timelines.pop().unwrap();
        self.ask(|reply| Command::Measure { at_ns: Some(at_ns), steal_ns: 0, timeline: next(), reply });
        at_ns
    }

    fn read(&mut self) -> Measurement {
        let mut snapshots: Vec<_> =
            self.ask(|reply| Command::Read { steal_ns: 0, reply }).into_iter().map(|it| *it).collect();
        let one = self.workers.len() == 1;
        let snapshot = if one { snapshots.remove(0) } else { merged(snapshots, &self.domains) };
        Measurement::new(snapshot)
    }
}

/// The values that do not depend on when a thread runs.
fn decided(measurement: Measurement) -> Value {
    let mut all = serde_json::to_value(measurement).unwrap();
    for varies in ["window", "wait_mode", "domains", "host", "changes"] {
        all.as_object_mut().unwrap().remove(varies);
    }
    let ledger = all["ledger"].as_object_mut().unwrap();
    ledger.remove("error_ns");
    for rows in ["drops", "retransmissions", "held_acknowledgements", "series"] {
        // Events of two domains at one instant have no order.
        all[rows]["rows"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    }
    all
}

#[test]
fn frames_of_one_and_of_28_packets_cross_with_the_same_result_as_in_one_domain() {
    let condition = json!({"name": "c", "places": {
        "host.ingress": [{"monitor": {"what": ["packet-size", "reordering"]}}],
        "switch.ingress": [{"mark": {"dscp": 10, "on": ["h1"]}}],
        "link": [{"police": {"rate_bps": 50_000_000, "burst_bytes": 40_000, "on": ["h3"]}},
                 {"delay": {"time_ns": 300_000}}]
    }});
    // Without a rate a train crosses as one packet.
    for (has_own_cpu, rate_bps) in [(false, GIGABIT), (true, GIGABIT), (true, None)] {
        let all = [1, 2].map(|domains| {
            let mut threads = Threads::of(&condition, rate_bps, domains, has_own_cpu);
            threads.run_until(BUILT_NS + 3_000_000);
            threads.measure();
            for round in 0..4 {
                // To another domain and back, within a domain, and to a receiver with a policer.
                for (from, to, payload) in [
                    (0, 1, 100),
                    (1, 0, 28 * SEGMENT),
                    (0, 3, 28 * SEGMENT),
                    (0, 2, 900),
                    (3, 2, 28 * SEGMENT),
                ] {
                    threads.send(from, to, payload);
                }
                threads.run_until(BUILT_NS + (4 + round) * 4 * TURN_NS + 3_000_000);
                if round == 1 {
                    let measurement = threads.read();
                    assert!(measurement.conservation.holds && measurement.conservation.inside.real > 0);
                }
            }
            threads.run_until(BUILT_NS + 60_000_000);
            let measurement = threads.read();
            let conservation = &measurement.conservation;
            assert!(conservation.holds, "{conservation:?}");
            assert_eq!(conservation.inside.real, 0);
            assert_eq!(conservation.entered.real, 4 * (2 + 3 * 28));
            assert!(conservation.dropped.real > 0);
            assert_eq!(measurement.ledger.early, 0);
            // Packets of a train may wait for the rest of their merge window.
            assert!(measurement.ledger.error_ns.max <= Some(20_000), "{:?}", measurement.ledger);
            let sent: Vec<_> = (0..4).map(|node| threads.sent(node).to_vec()).collect();
            (decided(measurement), sent)
        });
        let [one, two] = &all;
        assert_eq!(one.1, two.1, "the same frames leave");
        for (what, expected) in one.0.as_object().unwrap() {
            let found = &two.0[what];
            let at = expected
                .to_string()
                .bytes()
                .zip(found.to_string().bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let near = |text: String| text.chars().skip(at.saturating_sub(200)).take(300).collect::<String>();
            assert!(
                found == expected,
                "{what}: {} and not {}",
                near(found.to_string()),
                near(expected.to_string())
            );
        }
        let payload = |(_, frame): &(VnetHeader, Vec<u8>)| frame[54..].to_vec();
        let came: Vec<u8> = two.1[0].iter().flat_map(payload).collect();
        let left = payload(&frame(1, 0, 28 * SEGMENT));
        assert!(came == left.repeat(4), "every byte, in order");
    }
}

#[test]
fn a_bucket_has_the_content_that_its_own_domain_counted() {
    let credit = json!({"credit": {"budget_bits": 8_000_000, "initial_bits": 4_000_000, "high_bps": 100_000_000,
        "low_bps": 10_000_000, "refill_bps": 1_000_000, "buffer_bytes": 60_000}});
    let condition = json!({"name": "metered", "places": {"host.egress": [credit]}});
    let [one, two] = [1, 2].map(|domains| {
        let mut threads = Threads::of(&condition, GIGABIT, domains, true);
        threads.run_until(BUILT_NS + 3_000_000);
        threads.measure();
        for (from, to) in [(0, 1), (1, 0), (0, 3)] {
            threads.send(from, to, 28 * SEGMENT);
        }
        threads.run_until(BUILT_NS + 350_000_000);
        threads.read().series.credit
    });
    let shown = |rows: &[crate::measurement::LeftRow]| -> Vec<_> {
        rows.iter().map(|row| (row.at_ns, row.element.clone())).collect()
    };
    assert_eq!(shown(&one), shown(&two));
    for (one, two) in one.iter().zip(&two) {
        // Threads do not end a step at the same instant: 1 ms of the refill.
        assert!(one.left_bits.abs_diff(two.left_bits) <= 1_000, "{one:?} and {two:?}");
    }
    assert!(one.iter().any(|row| row.left_bits < 4_000_000), "{one:?}");
}

#[test]
fn a_packet_that_arrives_too_late_is_missed() {
    let mut threads = Threads::of(&json!({"name": "none"}), GIGABIT, 2, true);
    threads.run_until(BUILT_NS + 1_000_000);
    threads.send(0, 1, 100);
    // The sender is ahead by less than the delay of the cut, then stalls while the receiver continues.
    let (receiver, _) = threads.place(1);
    let at_ns = BUILT_NS + 1_000_000;
    let other = 1 - receiver;
    threads.workers[receiver].0.machine.clock.advance_to(at_ns + 9_000_000);
    threads.workers[receiver].0.forwarder.let_out(at_ns + 9_000_000);
    for _ in 0..3 {
        let now = threads.workers[other].0.machine.monotonic_ns();
        threads.workers[other].0.machine.clock.advance_to(now + 20_000);
        threads.workers[other].0.round(false);
    }
    threads.run_until(at_ns + 12_000_000);
    let ledger = threads.read().ledger;
    assert_eq!((ledger.packets, ledger.ingress_clamped), (1, 1));
    assert!((3_000_000..4_000_000).contains(&ledger.ingress_clamp_ns_max), "{ledger:?}");
    assert_eq!((ledger.missed, ledger.late.len()), (1, 1), "{ledger:?}");
}

#[test]
fn a_window_may_start_while_packets_are_between_domains() {
    let mut threads = Threads::of(&json!({"name": "none"}), GIGABIT, 2, false);
    threads.send(0, 1, 28 * SEGMENT);
    threads.send(1, 0, 100);
    threads.run_until(BUILT_NS + 2_000_000);
    threads.measure();
    threads.run_until(BUILT_NS + 20_000_000);
    let conservation = threads.read().conservation;
    assert!(conservation.holds);
    assert_eq!((conservation.entered.real, conservation.out.real), (29, 29));
}

#[test]
fn a_sleeping_thread_is_woken_by_crossing_packets_and_each_senders_order_stays() {
    let mut threads = Threads::of(&json!({"name": "none"}), GIGABIT, 2, false);
    let (receiver, _) = threads.place(1);
    let (mut sender, _commands) = threads.workers.remove(1 - receiver);
    let (mut receiver, _commands) = threads.workers.remove(0);
    const FRAMES: usize = 200;
    let machine = std::thread::spawn(move || {
        for number in 0..FRAMES {
            let (vnet, bytes) = frame(0, 1, 100 + number);
            let now = sender.machine.monotonic_ns();
            sender.forwarder.ports[0].arrive(now, vnet, bytes);
            sender.round(false);
            sender.machine.clock.advance_to(now + 30_000);
            sender.round(false);
        }
        sender
    });
    // A real event ends a real sleep; only the instants are virtual.
    let asleep =
        crate::sleeper::Sleeper::new(std::iter::empty::<[std::os::fd::BorrowedFd<'_>; 1]>()).unwrap();
    while receiver.forwarder.ports[0].sent.len() < FRAMES {
        let inside = receiver.forwarder.network.engine_ref().real_inside() > 0;
        let woken = if inside {
            crate::sleeper::Woken { by_itself: true, by_command: false }
        } else {
            asleep.sleep(10_000_000_000, &receiver.inbox).unwrap()
        };
        assert!(inside || woken.by_command, "it is woken long before the end of its sleep");
        receiver.round(woken.by_command);
        let now = receiver.machine.monotonic_ns();
        receiver.machine.clock.advance_to(now + 100_000);
        receiver.round(false);
    }
    machine.join().unwrap();
    let lengths: Vec<usize> = receiver.forwarder.ports[0].sent.iter().map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(lengths, (0..FRAMES).map(|number| 154 + number).collect::<Vec<_>>());
}

#[test]
fn a_packet_waits_for_a_later_plan_and_elements_have_the_same_numbers() {
    let condition = json!({"name": "steps", "timeline": [
        {"at_ns": 2_000_000, "places": {"host.ingress": [{"delay": {"time_ns": 1_000}}]}},
        {"at_ns": 90_000_000, "places": {"host.egress": [{"mark": {"dscp": 3}}]}}
    ]});
    let mut threads = Threads::of(&condition, GIGABIT, 2, true);
    threads.measure();
    threads.run_until(BUILT_NS + 1_000_000);
    let (late, _) = threads.place(1);
    let ahead = 1 - late;
    let set: Condition =
        serde_json::from_value(json!({"name": "other", "places": {"link": [{"delay": {"time_ns": 7_000}}]}}))
            .unwrap();
    let plan = threads.planner.condition(&set).unwrap();
    let again = threads.planner.again(&plan);
    let set = |threads: &mut Threads, which: usize, plan: crosswind_fabric::Plan| {
        let (worker, commands) = &mut threads.workers[which];
        let at_ns = BUILT_NS + 2_500_000;
        assert!(commands.send(Command::Set { at_ns, plan: Box::new(plan), reply: channel().0 }));
        worker.round(false);
    };
    // One domain has carried out the first step and has its new condition; the other has neither.
    threads.workers[ahead].0.machine.clock.advance_to(BUILT_NS + 2_600_000);
    threads.workers[ahead].0.round(false);
    set(&mut threads, ahead, plan);
    let now = threads.workers[ahead].0.machine.monotonic_ns();
    let (vnet, bytes) = frame(0, 1, 100);
    threads.workers[ahead].0.forwarder.ports[0].arrive(now, vnet, bytes);
    for _ in 0..4 {
        let (worker, _) = &mut threads.workers[ahead];
        let now = worker.machine.monotonic_ns();
        worker.machine.clock.advance_to(now + 20_000);
        worker.round(false);
    }
    threads.workers[late].0.round(false);
    assert!(threads.workers[late].0.forwarder.waits_for_a_plan());
    set(&mut threads, late, again);
    assert!(!threads.workers[late].0.forwarder.waits_for_a_plan());
    threads.run_until(BUILT_NS + 20_000_000);
    assert_eq!(threads.sent(1).len(), 1);
    let names = |which: usize| {
        let elements = threads.workers[which].0.forwarder.network.elements();
        elements.iter().map(|element| element.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(ahead), names(late));
}
