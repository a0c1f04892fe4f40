//! Measures the forwarder's time per frame: from a port in memory through the engine to a port in memory.
//!
//! Prints one JSON line for short frames and one for trains of 28 wire packets, with 2 and with 16 hosts. Virtual time
//! only, one thread; run with `cargo run --release -p crosswind-emulator --example forwarding`. The fastest of several
//! repetitions is printed, because other programs only make a repetition slower.

use std::collections::VecDeque;
use std::io;
use std::time::Instant as WallInstant;

use crosswind_emulator::clock::MachineClock;
use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::port::{Arrival, Need, Port};
use crosswind_emulator::send_due;
use crosswind_engine::Instant;
use crosswind_fabric::{star, Fabric, Network};
use crosswind_wire::{Cut, VnetHeader};
use serde_json::{json, Value};

const REPETITIONS: usize = 9;
/// All instants are long past on the machine's clock, so the forwarder never waits.
const START_NS: u64 = 1_000_000;
/// Interval of calls to the forwarder, as in a busy thread.
const ROUND_NS: u64 = 5_000;
const SEGMENT: usize = 1460;
const SHORT: Traffic = Traffic { name: "short frame", payload: 22, every_rounds: 1, frames: 100_000 };
/// 28 wire packets take 34.4 us at 10 Gbit/s.
const TRAIN: Traffic =
    Traffic { name: "train of 28", payload: 28 * SEGMENT, every_rounds: 8, frames: 10_000 };

struct Traffic {
    name: &'static str,
    payload: usize,
    /// Each port has a frame once in this number of rounds.
    every_rounds: u64,
    frames: u64,
}

fn main() {
    for hosts in [2, 16] {
        for traffic in [SHORT, TRAIN] {
            let fastest_ns = (0..REPETITIONS).map(|_| measure(hosts, &traffic)).fold(f64::MAX, f64::min);
            println!("{}", json!({"frame": traffic.name, "hosts": hosts, "ns": fastest_ns}));
        }
    }
}

/// Real time per frame, nanoseconds.
fn measure(hosts: usize, traffic: &Traffic) -> f64 {
    let network = Network::new(&fabric(hosts), Instant::from_nanos(START_NS)).expect("a valid fabric");
    let ports = (0..hosts).map(|node| Line::new(node as u8, ((node + 1) % hosts) as u8, traffic.payload));
    let mut forwarder = Forwarder::new(network, ports.collect());
    let began = WallInstant::now();
    let rounds = traffic.frames / hosts as u64 * traffic.every_rounds;
    for round in 0..rounds + traffic.every_rounds * 2 {
        let now = START_NS + round * ROUND_NS;
        if round < rounds && round % traffic.every_rounds == 0 {
            forwarder.ports.iter_mut().for_each(|port| port.arrives_ns = Some(now));
        }
        forwarder.take_in(None, |stamp| stamp);
        send_due(&mut forwarder, &MachineClock, now);
        forwarder.give_back(Need::Room);
        if forwarder.next_due_ns().is_some_and(|due| due <= now) {
            forwarder.let_out(now);
            send_due(&mut forwarder, &MachineClock, now);
        }
    }
    let took = began.elapsed();
    let frames = traffic.frames / hosts as u64 * hosts as u64;
    let sent: u64 = forwarder.ports.iter().map(|port| port.sent_bytes).sum();
    assert_eq!(forwarder.passed.out, forwarder.passed.entered, "nothing is lost on the way");
    assert!(sent >= frames * traffic.payload as u64, "{sent} B");
    took.as_nanos() as f64 / frames as f64
}

/// A port with a stream of frames of one length.
struct Line {
    vnet: VnetHeader,
    payload: usize,
    /// The next TCP sequence number, so that no frame is a retransmission.
    sequence: u32,
    slots: Vec<Vec<u8>>,
    arrives_ns: Option<u64>,
    free: Vec<u32>,
    taken: VecDeque<u32>,
    sent_bytes: u64,
}

const SLOTS: u32 = 64;
/// After an Ethernet and an IPv4 header, and the ports.
const SEQUENCE_AT: usize = 38;

impl Line {
    fn new(from: u8, to: u8, payload: usize) -> Line {
        let (vnet, frame) = frame(from, to, payload);
        Line {
            vnet,
            payload,
            sequence: 0,
            slots: vec![frame; SLOTS as usize],
            arrives_ns: None,
            free: (0..SLOTS).collect(),
            taken: VecDeque::new(),
            sent_bytes: 0,
        }
    }
}

impl Port for Line {
    type Slot = u32;

    fn receive(&mut self) -> Option<Arrival<u32>> {
        let stamped_realtime_ns = self.arrives_ns.take()?;
        let slot = self.free.pop().expect("frames are copied out in time");
        self.taken.push_back(slot);
        self.slots[slot as usize][SEQUENCE_AT..][..4].copy_from_slice(&self.sequence.to_be_bytes());
        self.sequence = self.sequence.wrapping_add(self.payload as u32);
        Some(Arrival { slot, stamped_realtime_ns, vnet: self.vnet })
    }

    fn bytes(&self, slot: &u32) -> &[u8] {
        &self.slots[*slot as usize]
    }

    fn number(&self, slot: &u32) -> u32 {
        *slot
    }

    fn release(&mut self, slot: u32) {
        self.taken.retain(|&other| other != slot);
        self.free.push(slot);
    }

    fn pressed(&self, _: Need) -> Option<u32> {
        self.taken.front().copied().filter(|_| self.taken.len() > SLOTS as usize / 2)
    }

    fn slots(&self) -> u32 {
        SLOTS
    }

    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        self.sent_bytes += (cut.headers.len() + cut.rest.len()) as u64;
        Ok(())
    }

    fn overruns(&mut self) -> u64 {
        0
    }
}

/// An Ethernet frame with TCP over IPv4.
fn frame(from: u8, to: u8, payload: usize) -> (VnetHeader, Vec<u8>) {
    let mut frame = vec![2, 0x77, 0, 0, 0, to + 1, 2, 0x77, 0, 0, 0, from + 1, 8, 0, 0x45, 0];
    frame.extend(((40 + payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, from + 1, 10, 77, 0, to + 1]);
    frame.extend([0x15, 0x38, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    frame.resize(frame.len() + payload, 7);
    let (gso_type, gso_size) =
        if payload > SEGMENT { (VnetHeader::GSO_TCPV4, SEGMENT as u16) } else { (VnetHeader::GSO_NONE, 0) };
    (VnetHeader { flags: 1, gso_type, header_len: 54, gso_size, csum_start: 34, csum_offset: 16 }, frame)
}

fn fabric(count: usize) -> Fabric {
    let hosts: Vec<String> = (0..count).map(|i| format!("h{i}")).collect();
    let nodes: Vec<Value> =
        (0..count).map(|i| json!({"name": format!("n{i}"), "host": format!("h{i}")})).collect();
    let fabric = json!({
        "seed": 7, "hosts": hosts, "nodes": nodes, "mtu_bytes": 1500, "merge_window_ns": 20_000,
        "switches": ["switch"], "links": star(&hosts, Some(10_000_000_000), 2000, Some(1 << 20)),
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000},
        "condition": {"name": "none"}
    });
    serde_json::from_value(fabric).expect("a valid fabric")
}
