//! A live run, recorded and replayed in virtual time, makes the same decisions: for every element that a condition can name.
//!
//! "Live" is the emulator's own forwarder with ports in memory, driven late and irregularly as a wall clock would. A new element
//! is one line in [`ELEMENTS`]; the last test fails while a word of conditions is missing there.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::port::MemoryPort;
use crosswind_engine::Instant;
use crosswind_fabric::{Condition, ElementEntry, Fabric, Network};
use crosswind_recording::{Header, Reader, Record, Recorder, Written};
use crosswind_simulator::replay::Replayed;
use crosswind_simulator::{replay, PacketFile};
use crosswind_wire::VnetHeader;

/// Place, element as in a condition, and whether it drops some of this traffic as an element of its own (a schedule is part of a link), so
/// that a line that tries nothing is noticed.
#[rustfmt::skip]
const ELEMENTS: &[(&str, &str, Drops)] = &[
    ("switch.ingress", r#"{"police": {"rate_bps": 100000000, "burst_bytes": 6000}}"#, Drops::Some),
    ("host.egress", r#"{"shape": {"rate_bps": 50000000, "burst_bytes": 3000, "buffer_bytes": 20000}}"#, Drops::Some),
    ("host.ingress", r#"{"mark": {"dscp": 46}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000, "random": {"law": {"uniform": {"jitter_ns": 400000}}, "depth": null, "order": "keep", "half_life_ns": null}}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000, "random": {"law": {"normal": {"jitter_ns": 200000}}, "depth": 1024, "order": "free", "half_life_ns": null}}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000, "random": {"law": {"pareto": {"jitter_ns": 200000}}, "depth": null, "order": "keep", "half_life_ns": 1000000}}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000, "random": {"law": {"pareto_normal": {"jitter_ns": 200000}}, "depth": null, "order": "free", "half_life_ns": 500000}}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000, "random": {"law": {"lognormal": {"jitter_ns": 200000, "sigma_ppm": 500000}}, "depth": null, "order": "keep", "half_life_ns": null}}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000, "random": {"law": {"samples": {"samples_ns": [0, 5000, 300000]}}, "depth": null, "order": "free", "half_life_ns": null}}}"#, Drops::None),
    ("link", r#"{"delay": {"time_ns": 700000, "random": {"law": {"histogram": {"bins": [{"low_ns": 0, "high_ns": 500000, "count": 3}]}}, "depth": 64, "order": "keep", "half_life_ns": null}}}"#, Drops::None),
    ("link", r#"{"lose": {"law": {"bernoulli": {"share_ppb": 50000000}}}}"#, Drops::Some),
    ("switch.ingress", r#"{"lose": {"law": {"gilbert_elliott": {"p_ppb": 50000000, "r_ppb": 300000000, "h_ppb": 0, "k_ppb": 1000000000}}}}"#, Drops::Some),
    ("link", r#"{"lose": {"law": {"four_state": {"p13_ppb": 50000000, "p31_ppb": 300000000, "p32_ppb": 100000000, "p23_ppb": 500000000, "p14_ppb": 10000000}}}}"#, Drops::Some),
    ("host.ingress", r#"{"lose": {"law": {"trace": {"pattern": "0000100110"}}}}"#, Drops::Some),
    ("link", r#"{"duplicate": {"share_ppb": 50000000}}"#, Drops::None),
    ("link", r#"{"monitor": {"what": ["ipg", "burst"], "window_ns": 100000, "burst_gap_ns": 100, "match": {}, "start": {"after_ns": 0}}}"#, Drops::None),
    ("host.egress", r#"{"shape": {"rate_bps": 50000000, "burst_bytes": 3000, "buffer_ns": 4000000, "drop": {"codel": {"target_ns": 500000, "interval_ns": 1000000}}}}"#, Drops::Some),
    ("switch.egress", r#"{"queue": {"buffer_packets": 6, "drop": "head"}}"#, Drops::None),
    ("host.egress", r#"{"shape": {"rate_bps": 50000000, "burst_bytes": 3000, "buffer_packets": 40, "drop": {"red": {"min_bytes": 3000, "max_bytes": 20000,
        "probability_ppb": 300000000, "weight_ppb": 200000000}}}}"#, Drops::Some),
    ("switch.egress", r#"{"queue": {"drop": {"wred": {"green": {"min_bytes": 8000, "max_bytes": 20000, "probability_ppb": 300000000},
        "yellow": {"min_bytes": 5000, "max_bytes": 15000, "probability_ppb": 500000000}, "red": {"min_bytes": 2000, "max_bytes": 9000, "probability_ppb": 1000000000},
        "weight_ppb": 200000000}}, "ecn": true}}"#, Drops::None),
    ("host.egress", r#"{"schedule": {"by": "stfq", "queues": [{"dscp": [10], "weight": 2, "buffer_bytes": 9000}, {"dscp": null, "weight": 1}]}}"#, Drops::None),
    ("switch.egress", r#"{"schedule": {"by": "strict", "memory_bytes": 15000, "queues": [{"dscp": [10], "alpha_ppb": 2000000000}, {"dscp": null}]}}"#, Drops::None),
    ("switch.egress", r#"{"queue": {"drop": {"codel": {"target_ns": 50000, "interval_ns": 100000}}, "ecn": true}}"#, Drops::None),
    ("link", r#"{"corrupt": {"share_ppb": 50000000}}"#, Drops::None),
    ("link", r#"{"reorder": {"share_ppb": 50000000, "time_ns": 200000}}"#, Drops::None),
    ("host.egress", r#"{"credit": {"budget_bits": 400000, "initial_bits": 200000, "high_bps": 500000000, "low_bps": 50000000, "refill_bps": 20000000, "buffer_bytes": 40000}}"#, Drops::Some),
    ("host.egress", r#"{"credit": {"budget_bits": 400000, "initial_bits": 200000, "high_bps": 500000000, "low_bps": 50000000, "refill_bps": 20000000, "buffer_packets": 20, "drop": "head", "loop": {"interval_ns": 2000000, "reopen_bits": 60000}}}"#, Drops::Some),
    ("switch.ingress", r#"{"pace": {"rate_bps": 50000000, "horizon_ns": 3000000}}"#, Drops::Some),
    ("switch.ingress", r#"{"srtcm": {"cir_bps": 50000000, "cbs_bytes": 6000, "ebs_bytes": 3000, "yellow": "remark", "red": "drop"}}"#, Drops::Some),
    ("host.egress", r#"{"trtcm": {"cir_bps": 20000000, "cbs_bytes": 3000, "pir_bps": 50000000, "pbs_bytes": 6000, "mode": "aware", "yellow": "remark", "red": "drop"}}"#, Drops::Some),
    ("link", r#"{"capacity": {"process": {"levels": {"at_ns": [0, 1000000, 1500000], "rate_bps": [300000000, 0, 900000000], "repeat_ns": 2100000}}}}"#, Drops::None),
    ("link", r#"{"capacity": {"process": {"opportunities": {"at_ns": [300, 40000], "ip_bytes": [3000, 1500], "repeat_ns": 70000}}, "direction": "up"}}"#, Drops::None),
    ("link", r#"{"capacity": {"process": {"drawn": {"cells": [{"low_bps": 0, "high_bps": 2000000000, "weight": 1}], "grid_bps": 1000000, "hold_ns": 70001}}}}"#, Drops::None),
    ("link", r#"{"capacity": {"process": {"markov": {"states": [{"rate_bps": null, "next_ppb": [500000000, 500000000]}, {"rate_bps": 90000000, "next_ppb": [500000000, 500000000]}], "hold_ns": 70001}}, "direction": "down"}}"#, Drops::None),
    ("switch.egress", r#"{"schedule": {"by": "strict", "queues": [{"dscp": [10], "buffer_bytes": 9000}, {"dscp": null}]}}"#, Drops::None),
    ("switch.egress", r#"{"schedule": {"by": "wrr", "queues": [{"dscp": [10], "weight": 2, "buffer_bytes": 9000}, {"dscp": null, "weight": 1}]}}"#, Drops::None),
    ("host.egress", r#"{"schedule": {"by": "drr", "queues": [{"dscp": [10], "weight": 2, "buffer_bytes": 9000}, {"dscp": null, "weight": 1}]}}"#, Drops::None),
];

/// Interference, as in a condition.
const INTERFERENCE: &[&str] = &[
    r#"{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 300000000}, "hold_ns": 5000000, "pacing_ns": 200000,
        "packet_ip_bytes": 1500, "zero": "silence"}"#,
    r#"{"between": ["h0", "h1"], "by": "ghost", "rate": {"normal": {"mean_bps": 300000000, "sd_bps": 200000000, "low_bps": 0,
        "high_bps": 900000000}}, "hold_ns": 500000, "pacing_ns": 100000, "packet_ip_bytes": 1500, "zero": "silence"}"#,
    r#"{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 300000000}, "hold_ns": 5000000, "pacing_ns": 200000,
        "arrivals": "poisson", "packet_ip_bytes": "imix", "dscp": 10, "zero": "silence"}"#,
    r#"{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 300000000}, "hold_ns": 5000000, "pacing_ns": 200000,
        "arrivals": {"on_off": {"on_ns": 300000, "off_ns": 600000, "shape_thousandths": 1500}}, "packet_ip_bytes": 600, "zero": "silence"}"#,
    r#"{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 900000000}, "hold_ns": 5000000, "pacing_ns": 200000,
        "packet_ip_bytes": 1500, "zero": "silence", "tcp": {"flows": 3, "congestion_control": "cubic"}}"#,
    r#"{"between": ["h0", "h1"], "by": "ghost", "hold_ns": 5000000, "pacing_ns": 200000, "packet_ip_bytes": 1500, "zero": "silence",
        "arrivals": {"replay": {"packets": [[20000, 1500], [0, 60], [55000, 900]], "repeat": true}}}"#,
];

#[derive(Clone, Copy, PartialEq)]
enum Drops {
    Some,
    None,
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
    for ((place, element, drops), beside) in ELEMENTS.iter().zip(INTERFERENCE.iter().cycle()) {
        for interference in ["", beside] {
            let replayed = replayed(&live(&condition(place, element, interference)), None);
            let comparison = replayed.comparison.expect("under its own condition");
            assert!(comparison.identical, "{place} {element} {interference}: {comparison:?}");
            assert!(comparison.decisions > 500, "{place} {element}: {comparison:?}");
            let its_own =
                |pair: &crosswind_simulator::Pair| pair.dropped.keys().any(|by| !by.contains("link "));
            let dropped = replayed.summary.pairs.iter().any(its_own);
            assert_eq!(dropped, *drops == Drops::Some, "{place} {element}: {:?}", replayed.summary.pairs);
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
    // serde names all words when it meets one that it does not know.
    let error = serde_json::from_str::<ElementEntry>(r#"{"?": {}}"#).unwrap_err().to_string();
    let words: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
    assert!(words.contains(&"police"), "{error}");
    for word in words {
        let entry = format!("{{\"{word}\":");
        assert!(
            ELEMENTS.iter().any(|(_, element, _)| element.starts_with(&entry)),
            "{word} has no line in ELEMENTS"
        );
    }
}
