//! Prints what ten thousand directed paths cost against one: packets a second of real time, and memory.
//!
//! One JSON line. Virtual time only, one thread; run with `cargo run --release -p crosswind-fabric --example paths`. The same
//! packets, evenly spaced, go from one node to another, or round all ordered pairs of 101 nodes. Both networks have all
//! 101, so that what differs is the paths.

use std::time::Instant as WallInstant;

use crosswind_engine::{Instant, Packet};
use crosswind_fabric::{Fabric, Network};
use serde_json::{json, Value};

const NODES: usize = 101;
const PACKETS: u64 = 2_000_000;
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
        network.path(from, to);
    }
    let bytes_per_path = (resident_bytes() - before) / pairs.len() as f64;
    let (one, many) = (measure(&pairs[..1]), measure(&pairs));
    println!(
        r#"{{"paths": {}, "one_packets_per_s": {one:.0}, "many_packets_per_s": {many:.0}, "bytes_per_path": {bytes_per_path:.1}}}"#,
        pairs.len()
    );
}

/// Packets a second, round the pairs; the first round, in which paths and memory are made, does not count.
fn measure(pairs: &[(usize, usize)]) -> f64 {
    let mut network = Network::new(&fabric(), Instant::ZERO).expect("a valid fabric");
    let mut departures = push(&mut network, pairs, 0..PACKETS / 10);
    let began = WallInstant::now();
    departures += push(&mut network, pairs, PACKETS / 10..PACKETS);
    let took = began.elapsed();
    network.engine().advance(Instant::from_nanos(PACKETS * GAP_NS + 1_000_000_000));
    departures += departed(&mut network);
    assert_eq!(departures, PACKETS, "nothing is lost on the way");
    (PACKETS - PACKETS / 10) as f64 / took.as_secs_f64()
}

fn push(network: &mut Network, pairs: &[(usize, usize)], numbers: std::ops::Range<u64>) -> u64 {
    let mut departures = 0;
    for (number, &(from, to)) in numbers.zip(pairs.iter().cycle()) {
        let (path, _) = network.path(from, to);
        network.engine().push(Instant::from_nanos(number * GAP_NS), path, Packet::real(number, 1500, 0));
        departures += departed(network);
    }
    departures
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
        "uplink": {"rate_bps": 100_000_000_000_u64, "delay_ns": 2000, "buffer_bytes": 1 << 20},
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000},
        "condition": {"name": "none"}
    });
    serde_json::from_value(fabric).expect("a valid fabric")
}

/// Memory of this process that is in use, by the kernel's account.
fn resident_bytes() -> f64 {
    const PAGE_BYTES: f64 = 4096.0;
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has /proc");
    let pages: Option<f64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.expect("statm has seven numbers") * PAGE_BYTES
}
