//! A live run, recorded and replayed in virtual time, makes the same decisions: for every element that a condition can name.
//!
//! "Live" is the emulator's own forwarder with ports in memory, driven late and irregularly as a wall clock would. A new element
//! is one line in `crates/fabric/every_element.json`; the last test fails while a word of conditions is missing there.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::port::MemoryPort;
use crosswind_engine::Instant;
use crosswind_fabric::{Condition, ElementEntry, Fabric, Interference, Network};
use crosswind_recording::{Header, Reader, Record, Recorder, Written};
use crosswind_simulator::replay::Replayed;
use crosswind_simulator::{replay, PacketFile};
use crosswind_wire::VnetHeader;
use serde::Deserialize;
use serde_json::Value;

/// What a condition can ask for; a new element is a line of it.
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
    serde_json::from_str(&format!(
        r#"{{"seed": 7, "hosts": ["h0", "h1"], "nodes": [{{"name": "a", "host": "h0"}}, {{"name": "b", "host": "h1"}}, {{"name": "c", "host": "h1"}}],
            "uplink": {{"rate_bps": 1000000000, "delay_ns": 2000, "buffer_bytes": 60000}}, "mtu_bytes": 1500,
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

/// The worker's part without its clock: 20 ms in which frames come, wake-ups are late, the timeline steps, and a `set` happens.
fn live(condition: &str) -> Vec<u8> {
    let fabric = fabric(condition);
    let condition = fabric.condition.clone();
    let start_ns = 5_000_000_000;
    let network = Network::new(&fabric, Instant::from_nanos(start_ns)).expect("a valid fabric");
    let file = File::default();
    let recorder =
        Recorder::start(file.clone(), &Header::new(&fabric, start_ns)).expect("memory can be written");
    let mut forwarder = Forwarder::new(network, (0..3).map(|_| MemoryPort::default()).collect());
    forwarder.recorder = Some(recorder);
    let mut irregular = Irregular(11);
    let mut steps = condition.timeline.clone();
    let mut changed = false;
    let mut now = start_ns + 1_000;
    forwarder.let_out(now);
    forwarder.start_window();
    let window_ns = now;
    while now < start_ns + 20_000_000 {
        let stamp = now + irregular.below(30_000);
        now = stamp + irregular.below(40_000);
        forwarder.let_out(stamp + irregular.below(now - stamp + 1));
        let (from, to) = [(0, 1), (1, 0), (0, 2), (2, 1)][irregular.below(4) as usize];
        let payload = [1, 700, 1460, 9_000, 40_000][irregular.below(5) as usize];
        let (vnet, bytes) = frame(from, to, [0, 10, 18][irregular.below(3) as usize], payload);
        let realtime = stamp.wrapping_add(forwarder.stamps.realtime_minus_monotonic_ns() as u64);
        forwarder.ports[usize::from(from)].arrive(realtime, vnet, bytes);
        forwarder.take_in(now);
        while steps.first().is_some_and(|step| window_ns + step.at_ns <= now) {
            let step = steps.remove(0);
            let asked = Instant::from_nanos(window_ns + step.at_ns);
            let at = forwarder.network.step(asked, &step.places).expect("a valid step");
            let json = serde_json::to_string(&step.places).expect("JSON");
            forwarder.record(|| Record::Step { at_ns: at.as_nanos(), json });
        }
        if !changed && now > start_ns + 16_000_000 {
            changed = true;
            let none = Condition { name: "none".to_owned(), ..Condition::default() };
            let at = forwarder.network.apply(Instant::from_nanos(now), &none).expect("the empty condition");
            let json = serde_json::to_string(&none).expect("JSON");
            forwarder.record(|| Record::Condition { at_ns: at.as_nanos(), json });
        }
    }
    let done_ns = forwarder.network.engine_ref().now().as_nanos();
    let Written { lost, error, .. } = forwarder.recorder.take().expect("it was given").finish(done_ns);
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
    let at = recording.windows(text.len()).position(|window| window == text).expect("the header's uplink");
    let mut changed = recording.clone();
    changed[at + 11] = b'2';
    let comparison = replayed(&changed, None).comparison.unwrap();
    assert!(!comparison.identical);
    assert!(comparison
        .first_difference
        .is_some_and(|text| text.contains("live") && text.contains("replayed")));
}

#[test]
fn every_word_of_conditions_stands_in_the_table() {
    // Each asks for something that is not there, and serde then names all that is.
    let unknown = [
        r#"{"?": {}}"#,
        r#"{"capacity": {"process": {"?": {}}}}"#,
        r#"{"lose": {"law": {"?": {}}}}"#,
        r#"{"delay": {"time_ns": 0, "random": {"law": {"?": {}}, "depth": null, "order": "keep"}}}"#,
        r#"{"queue": {"drop": {"?": {}}}}"#,
        r#"{"schedule": {"by": "?", "queues": []}}"#,
    ];
    let interference = [
        r#"{"between": ["h0", "h1"], "by": "ghost", "hold_ns": 1, "pacing_ns": 1, "packet_ip_bytes": 1, "zero": "silence", "arrivals": "?"}"#,
        r#"{"between": ["h0", "h1"], "by": "ghost", "hold_ns": 1, "pacing_ns": 1, "packet_ip_bytes": 1, "zero": "silence", "rate": {"?": 1}}"#,
    ];
    let refused = unknown
        .map(|entry| serde_json::from_str::<ElementEntry>(entry).map(drop))
        .into_iter()
        .chain(interference.map(|entry| serde_json::from_str::<Interference>(entry).map(drop)));
    let mut named = 0;
    for refusal in refused {
        let error = refusal.unwrap_err().to_string();
        for word in error.split('`').skip(3).step_by(2) {
            named += 1;
            assert!(EVERY_ELEMENT.contains(&format!("\"{word}\"")), "{word} has no line: {error}");
        }
    }
    assert!(named > 30, "{named} words");
}
