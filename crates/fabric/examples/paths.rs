//! Compares ten thousand directed paths with one: time per packet, and memory.
//!
//! Prints one JSON line. Virtual time only, one thread; run with `cargo run --release -p crosswind-fabric --example
//! paths`. The same packets, evenly spaced, go from one node to another, or in turn over all ordered pairs of 101
//! nodes. Both networks have all 101 nodes, so they differ in the paths only. They alternate every few milliseconds:
//! other programs take the CPU away in some turns, and a median over many turns is not affected.

use std::time::Instant as WallInstant;

use crosswind_engine::{Instant, Packet};
use crosswind_fabric::{star, Fabric, Network};
use serde_json::{json, Value};

const NODES: usize = 101;
/// Runs before any measurement: paths and memory are made in the first round over all pairs.
const WARM_UP_PACKETS: u64 = 100_000;
const TURN_PACKETS: u64 = 20_000;
const TURNS: usize = 200;
/// 1538 wire bytes at 100 Gbit/s take 123 ns.
const GAP_NS: u64 = 130;

fn main() {
    let pairs: Vec<(usize, usize)> = (0..NODES)
        .flat_map(|from| (0..NODES).map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
        .collect();
    let mut network = Network::new(&fabric(), Instant::ZERO).expect("a valid fabric");
    let before = resident_bytes();
    for &(from, to) in &pairs {
        network.path(from, to, 0);
    }
    let bytes_per_path = (resident_bytes() - before) / pairs.len() as f64;
    let (mut one, mut many) = (Load::on(&pairs[..1]), Load::on(&pairs));
    let (mut one_ns, mut many_ns) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        // The order alternates.
        if turn % 2 == 0 {
            one_ns.push(one.turn());
            many_ns.push(many.turn());
        } else {
            many_ns.push(many.turn());
            one_ns.push(one.turn());
        }
    }
    one.end();
    many.end();
    println!(
        "{}",
        json!({"paths": pairs.len(), "one_ns": one_ns, "many_ns": many_ns, "bytes_per_path": bytes_per_path})
    );
}

/// A network, and the position of its next packet among the pairs.
struct Load<'a> {
    network: Network,
    pairs: &'a [(usize, usize)],
    pushed: u64,
    departed: u64,
}

impl<'a> Load<'a> {
    fn on(pairs: &'a [(usize, usize)]) -> Self {
        let network = Network::new(&fabric(), Instant::ZERO).expect("a valid fabric");
        let mut load = Self { network, pairs, pushed: 0, departed: 0 };
        load.push(WARM_UP_PACKETS);
        load
    }

    /// Real time per packet, nanoseconds.
    fn turn(&mut self) -> f64 {
        let began = WallInstant::now();
        self.push(TURN_PACKETS);
        began.elapsed().as_nanos() as f64 / TURN_PACKETS as f64
    }

    fn push(&mut self, packets: u64) {
        let begin = self.pushed as usize % self.pairs.len();
        for &(from, to) in self.pairs.iter().cycle().skip(begin).take(packets as usize) {
            let (path, _) = self.network.path(from, to, 0);
            let at = Instant::from_nanos(self.pushed * GAP_NS);
            self.network.engine().push(at, path, Packet::real(self.pushed, 1500, 0));
            self.pushed += 1;
            self.departed += departed(&mut self.network);
        }
    }

    fn end(mut self) {
        self.network.engine().advance(Instant::from_nanos(self.pushed * GAP_NS + 1_000_000_000));
        self.departed += departed(&mut self.network);
        assert_eq!(self.departed, self.pushed, "nothing is lost on the way");
    }
}

fn departed(network: &mut Network) -> u64 {
    std::iter::from_fn(|| network.engine().pop()).count() as u64
}

fn fabric() -> Fabric {
    let hosts: Vec<String> = (0..NODES).map(|i| format!("h{i}")).collect();
    let nodes: Vec<Value> =
        (0..NODES).map(|i| json!({"name": format!("n{i}"), "host": format!("h{i}")})).collect();
    let fabric = json!({
        "seed": 7, "hosts": hosts, "nodes": nodes, "mtu_bytes": 1500, "merge_window_ns": 0,
        "switches": ["switch"], "links": star(&hosts, Some(100_000_000_000), 2000, Some(1 << 20)),
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000},
        "condition": {"name": "none"}
    });
    serde_json::from_value(fabric).expect("a valid fabric")
}

/// Memory of this process in use, as the kernel counts it.
fn resident_bytes() -> f64 {
    const PAGE_BYTES: f64 = 4096.0;
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has /proc");
    let pages: Option<f64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.expect("statm has seven numbers") * PAGE_BYTES
}
