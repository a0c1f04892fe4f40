//! A live run, recorded and replayed in virtual time, makes the same decisions: for every element that a condition can name.
//!
//! "Live" is the emulator's own worker with ports in memory and a clock that moves late and irregularly, as a machine would. Elements
//! come from a table with parameters that are known to drop or not, and, with random parameters, from the engine's descriptions: so a
//! new element is among them.

use std::io::{self, Write};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use crosswind_emulator::clock::{Clock, VirtualClock};
use crosswind_emulator::commands::{commands, Command};
use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::machine::VirtualMachine;
use crosswind_emulator::port::MemoryPort;
use crosswind_emulator::worker::Worker;
use crosswind_engine::Instant;
use crosswind_fabric::{samples, star, Condition, Fabric, Interference, Planner};
use crosswind_recording::{Header, Reader, Recorder, Written};
use crosswind_simulator::replay::Replayed;
use crosswind_simulator::{replay, PacketFile};
use crosswind_wire::VnetHeader;
use serde::Deserialize;
use serde_json::Value;

/// Elements of which it is known whether they drop, and every kind of interference.
const EVERY_ELEMENT: &str = include_str!("../../fabric/every_element.json");

/// The table of elements, and kinds of interference, each as it stands in a condition.
#[derive(Deserialize)]
struct Table {
    elements: Vec<Line>,
    interference: Vec<Value>,
}

#[derive(Deserialize)]
struct Line {
    place: String,
    element: Value,
    /// Whether it drops some of this traffic as an element of its own (a schedule is part of a link), so that a line that tries
    /// nothing is noticed.
    drops: bool,
}

fn every_element() -> Table {
    serde_json::from_str(EVERY_ELEMENT).expect("a table of this form")
}

fn fabric(condition: &str) -> Fabric {
    let links = star(&["h0", "h1"], Some(1_000_000_000), 2000, Some(60_000));
    let links = serde_json::to_string(&links).expect("links are JSON");
    serde_json::from_str(&format!(
        r#"{{"seed": 7, "hosts": ["h0", "h1"], "nodes": [{{"name": "a", "host": "h0"}}, {{"name": "b", "host": "h1"}}, {{"name": "c", "host": "h1"}}],
            "switches": ["switch"], "links": {links}, "mtu_bytes": 1500,
            "tcp": {{"congestion_control": "cubic", "rto_min_us": 200000}}, "merge_window_ns": 20000, "condition": {condition}}}"#
    ))
    .expect("a fabric of this version")
}

fn condition(place: &str, element: &str, interference: &str) -> String {
    format!(
        r#"{{"name": "tried", "places": {{"{place}": [{element}]}}, "interference": [{interference}],
            "timeline": [{{"at_ns": 9000000, "places": {{"{place}": []}}}}, {{"at_ns": 12000000, "places": {{"{place}": [{element}]}}}}]}}"#
    )
}

/// A file in memory that the recorder's thread can write.
#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Numbers that only have to be irregular, and the same each time.
struct Irregular(u64);

impl Irregular {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// An Ethernet frame with TCP over IPv4: a super-packet where its payload exceeds one segment.
fn frame(from: u8, to: u8, dscp: u8, payload: usize) -> (VnetHeader, Vec<u8>) {
    let mut frame = vec![2, 0x77, 0, 0, 0, to + 1, 2, 0x77, 0, 0, 0, from + 1, 8, 0, 0x45, dscp << 2];
    frame.extend(((40 + payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, from + 1, 10, 77, 0, to + 1]);
    frame.extend([0x15, 0x38, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    frame.resize(frame.len() + payload, 0);
    let train = payload > 1460;
    let (gso_type, gso_size) = if train { (VnetHeader::GSO_TCPV4, 1460) } else { (VnetHeader::GSO_NONE, 0) };
    (VnetHeader { flags: 1, gso_type, header_len: 54, gso_size, csum_start: 34, csum_offset: 16 }, frame)
}

/// 20 ms in which frames come, wake-ups are late, the timeline steps, and a `set` happens.
fn live(condition: &str) -> Vec<u8> {
    let fabric = fabric(condition);
    let start_ns = 5_000_000_000;
    let mut planner = Planner::new(&fabric).expect("a valid fabric");
    let network = planner.network(Instant::from_nanos(start_ns)).expect("a valid fabric");
    let file = File::default();
    let recorder =
        Recorder::start(file.clone(), &Header::new(&fabric, None, start_ns)).expect("memory can be written");
    let mut forwarder = Forwarder::new(network, (0..3).map(|_| MemoryPort::default()).collect());
    forwarder.recorder = Some(recorder);
    let machine = VirtualMachine { clock: VirtualClock::new(start_ns + 1_000), has_own_cpu: false };
    let (commands, inbox) = commands().expect("an eventfd");
    let timeline = planner.timeline().expect("a valid timeline");
    let mut worker = Worker::new(forwarder, machine, inbox, timeline);
    let mut irregular = Irregular(11);
    let mut changed = false;
    worker.begin(worker.machine.monotonic_ns());
    let mut now = start_ns + 1_000;
    while now < start_ns + 20_000_000 {
        let stamp = now + irregular.below(30_000);
        now = stamp + irregular.below(40_000);
        let (from, to) = [(0, 1), (1, 0), (0, 2), (2, 1)][irregular.below(4) as usize];
        let payload = [1, 700, 1460, 9_000, 40_000][irregular.below(5) as usize];
        let (vnet, bytes) = frame(from, to, [0, 10, 18][irregular.below(3) as usize], payload);
        // The worker may look at something else between the frame's stamp and the instant at which the frame is there.
        worker.machine.clock.advance_to(stamp + irregular.below(now - stamp + 1));
        worker.round(false);
        worker.machine.clock.advance_to(now);
        worker.forwarder.ports[usize::from(from)].arrive(stamp, vnet, bytes);
        if !changed && now > start_ns + 16_000_000 {
            changed = true;
            let none = Condition { name: "none".to_owned(), ..Condition::default() };
            let plan = planner.condition(&none).expect("a valid condition");
            assert!(commands.send(Command::Set {
                at_ns: worker.machine.monotonic_ns(),
                plan: Box::new(plan),
                reply: channel().0
            }));
        }
        worker.round(false);
    }
    let (_, kept) = worker.finish();
    let Written { lost, error, .. } = kept.recording.expect("it was asked for");
    assert_eq!((lost, error), (0, None));
    let bytes = file.0.lock().expect("no writer panicked").clone();
    bytes
}

fn replayed(recording: &[u8], what_if: Option<&Condition>) -> Replayed {
    let reader = Reader::open(recording).expect("a recording");
    replay(reader, what_if, None::<PacketFile<Vec<u8>>>).expect("a whole recording")
}

#[test]
fn every_element_decides_live_as_in_virtual_time() {
    // Every element alone and beside one kind of interference; every kind beside several elements.
    let table = every_element();
    for (Line { place, element, drops }, beside) in
        table.elements.iter().zip(table.interference.iter().cycle())
    {
        let element = element.to_string();
        for interference in [String::new(), beside.to_string()] {
            let replayed = replayed(&live(&condition(place, &element, &interference)), None);
            let comparison = replayed.comparison.expect("under its own condition");
            assert!(comparison.identical, "{place} {element} {interference}: {comparison:?}");
            assert!(comparison.decisions > 500, "{place} {element}: {comparison:?}");
            let its_own =
                |pair: &crosswind_simulator::Pair| pair.dropped.keys().any(|by| !by.contains("link "));
            let dropped = replayed.summary.pairs.iter().any(its_own);
            assert_eq!(dropped, *drops, "{place} {element}: {:?}", replayed.summary.pairs);
        }
    }
}

#[test]
fn every_described_element_decides_live_as_in_virtual_time() {
    for (place, entry) in samples(6, 1) {
        let element = serde_json::to_string(&entry).expect("an entry can be written");
        let replayed = replayed(&live(&condition(place.word(), &element, "")), None);
        let comparison = replayed.comparison.expect("under its own condition");
        assert!(comparison.identical, "{} {element}: {comparison:?}", place.word());
        assert!(comparison.decisions > 500, "{} {element}: {comparison:?}", place.word());
    }
}

#[test]
fn another_condition_treats_the_same_arrivals_its_own_way() {
    let recording = live(r#"{"name": "none"}"#);
    let slow: Condition =
        serde_json::from_str(r#"{"name": "slow", "places": {"link": [{"delay": {"time_ns": 5000000}}]}}"#)
            .unwrap();
    let (own, slow) = (replayed(&recording, None).summary, replayed(&recording, Some(&slow)));
    assert_eq!(slow.comparison, None);
    for (own, slow) in own.pairs.iter().zip(&slow.summary.pairs) {
        assert_eq!(own.offered, slow.offered);
        let (own_min, slow_min) = (own.delay_ns.unwrap().min, slow.delay_ns.unwrap().min);
        // c -> b does not leave the host; every other pair passes two links.
        let expected = if own.from == "c" { 0 } else { 2 * 5_000_000 };
        assert_eq!(slow_min - own_min, expected, "{} -> {}", own.from, own.to);
    }
}

#[test]
fn a_decision_that_differs_is_found() {
    // The same arrivals and decisions under a header that claims another rate.
    let recording = live(r#"{"name": "none"}"#);
    let text = br#""rate_bps":1000000000"#;
    let at = recording.windows(text.len()).position(|window| window == text).expect("the header's links");
    let mut changed = recording.clone();
    changed[at + 11] = b'2';
    let comparison = replayed(&changed, None).comparison.unwrap();
    assert!(!comparison.identical);
    assert!(comparison
        .first_difference
        .is_some_and(|text| text.contains("live") && text.contains("replayed")));
}

#[test]
fn every_kind_of_interference_stands_in_the_table() {
    // Each asks for something that is not there, and serde then names all that is.
    let interference = [
        r#"{"between": ["h0", "h1"], "by": "ghost", "hold_ns": 1, "pacing_ns": 1, "packet_ip_bytes": 1, "zero": "silence", "arrivals": "?"}"#,
        r#"{"between": ["h0", "h1"], "by": "ghost", "hold_ns": 1, "pacing_ns": 1, "packet_ip_bytes": 1, "zero": "silence", "rate": {"?": 1}}"#,
    ];
    let mut named = 0;
    for refused in interference {
        let error = serde_json::from_str::<Interference>(refused).unwrap_err().to_string();
        for word in error.split('`').skip(3).step_by(2) {
            named += 1;
            assert!(EVERY_ELEMENT.contains(&format!("\"{word}\"")), "{word} has no line: {error}");
        }
    }
    assert!(named > 4, "{named} words");
}
