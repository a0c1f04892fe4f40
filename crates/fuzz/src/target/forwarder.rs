//! The forwarder: hostile frames from every port, with every stamp, past monitors of everything; each wire packet is handed over, lost
//! for a reason, or still inside, and every quantity of a monitor counts the same packets.

use crosswind_emulator::clock::{Stamps, VirtualClock};
use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::port::{MemoryPort, Need};
use crosswind_emulator::send_due;
use crosswind_engine::{Histogram, Instant};
use crosswind_fabric::{star, Fabric, Network};
use crosswind_wire::VnetHeader;
use serde_json::{json, Value};

use crate::cursor::Cursor;

/// A condition with something of every kind: it meters, marks, loses, duplicates, damages, delays, shapes and schedules, and at every
/// place a monitor measures all that can be measured there.
fn fabric() -> Value {
    let monitor = |quantities: &[&[&str]]| {
        json!({"monitor": {"what": quantities.concat(), "window_ns": 100_000, "burst_gap_ns": 100,
            "match": {}, "start": {"after_ns": 0}}})
    };
    let (passing, queued) = (monitor(&[ANYWHERE]), monitor(&[ANYWHERE, BEFORE_A_QUEUE]));
    let everything = monitor(&[ANYWHERE, BEFORE_A_QUEUE, WHERE_BOTH_WAYS_PASS]);
    json!({
        "seed": 7, "hosts": ["h0", "h1"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}, {"name": "c", "host": "h1"}],
        "switches": ["switch"], "links": star(&["h0", "h1"], Some(1_000_000_000), 2000, Some(60_000)), "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
        "condition": {"name": "all", "places": {
            "host.egress": [queued, {"mark": {"dscp": 10, "on": ["a"]}},
                {"shape": {"rate_bps": 800_000_000, "burst_bytes": 3000, "buffer_bytes": 30_000, "on": ["b"]}}],
            "link": [everything, {"lose": {"law": {"bernoulli": {"share_ppb": 10_000_000}}}}, {"duplicate": {"share_ppb": 10_000_000}},
                {"corrupt": {"share_ppb": 10_000_000}}, {"delay": {"time_ns": 5000}}],
            "switch.ingress": [passing, {"police": {"rate_bps": 900_000_000, "burst_bytes": 15_000, "on": ["h1"]}}],
            "switch.egress": [queued,
                {"schedule": {"by": "drr", "queues": [{"dscp": [10], "weight": 2}, {"dscp": null, "weight": 1}]}}],
            "host.ingress": [passing]
        }}
    })
}

const ANYWHERE: &[&str] = &[
    "utilisation",
    "packet-rate",
    "packet-size",
    "interarrival",
    "ipg",
    "burst",
    "drops",
    "flow-size",
    "tcp-window",
    "retransmissions",
    "reordering",
];
const BEFORE_A_QUEUE: &[&str] = &["queue-depth", "queue-delay"];
const WHERE_BOTH_WAYS_PASS: &[&str] = &["rtt"];

/// A forwarder that hostile frames are let into.
#[derive(Debug)]
pub struct Hostile {
    forwarder: Forwarder<MemoryPort>,
    clock: VirtualClock,
    stamps: Stamps,
    now_ns: u64,
    frames: u64,
}

impl Default for Hostile {
    fn default() -> Self {
        let fabric: Fabric = serde_json::from_value(fabric()).expect("a fabric of this version");
        let now_ns = 1_000_000_000;
        let network = Network::new(&fabric, Instant::from_nanos(now_ns)).expect("a sound fabric");
        let ports = fabric.nodes.iter().map(|_| MemoryPort::default()).collect();
        let clock = VirtualClock::new(now_ns);
        let stamps = Stamps::new(&clock);
        Self { forwarder: Forwarder::new(network, ports), clock, stamps, now_ns, frames: 0 }
    }
}

impl Hostile {
    /// Lets a frame arrive at a port, `after_ns` later than the one before it and stamped `early_ns` before that.
    pub fn arrive(&mut self, port: usize, after_ns: u64, early_ns: u64, vnet: VnetHeader, frame: Vec<u8>) {
        self.now_ns += after_ns;
        self.frames += 1;
        let stamp_ns = self.now_ns.wrapping_sub(early_ns);
        let port = port % self.forwarder.ports.len();
        self.forwarder.ports[port].arrive(stamp_ns, vnet, frame);
        let Self { forwarder, clock, stamps, now_ns, .. } = self;
        clock.advance_to(*now_ns);
        forwarder.take_in(None, |stamp| stamps.monotonic(clock, stamp, *now_ns));
        send_due(forwarder, clock, *now_ns);
        forwarder.give_back(Need::Room);
        forwarder.let_out(*now_ns);
        send_due(forwarder, clock, *now_ns);
        for port in &mut self.forwarder.ports {
            port.sent.clear();
        }
        // Records are bounded, but ten million packets should not be slowed down by copying them.
        if self.frames % 100_000 == 0 {
            self.check();
            self.forwarder.start_window();
        }
    }

    /// Wire packets of this window that were handed over, and those that were lost.
    pub fn passed(&self) -> (u64, u64) {
        let dropped = self.forwarder.network.engine_ref().totals().real.dropped;
        (self.forwarder.passed.out, self.forwarder.passed.lost + dropped)
    }

    /// Conservation, as every measurement reports it, and monitors that agree with themselves.
    ///
    /// # Panics
    /// Where a packet is unaccounted for, or counted by one quantity of a monitor and not by another.
    pub fn check(&mut self) {
        let (passed, real) = (self.forwarder.passed, self.forwarder.network.engine_ref().totals().real);
        assert_eq!(
            passed.entered + real.duplicated,
            passed.out + passed.lost + real.dropped + real.inside + passed.held_back,
            "{passed:?} {real:?}"
        );
        let network = &self.forwarder.network;
        for element in network.elements() {
            let Some(readings) = network.engine_ref().readings(element.id) else { continue };
            let mut all = 0;
            for named in &readings.histograms {
                assert!(adds_up(&named.histogram), "{}: {}", element.name, named.what);
                all = if named.what == "packet-size" { named.histogram.count() } else { all };
            }
            let Some(found) = self.forwarder.sightings.finding(network, element.id) else { continue };
            for (what, _, _, histogram) in &found.histograms {
                assert!(adds_up(histogram), "{}: {what}", element.name);
            }
            let counted = |what| found.counts.get(what).map_or(0, |kinds| kinds.values().sum::<u64>());
            let followed = counted("reordering");
            let flows = found
                .histograms
                .iter()
                .find(|(what, ..)| *what == "flow-packets")
                .map_or(0, |found| found.3.sum());
            // A frame without an IP header is in no flow, and a flow that is forgotten after its end takes its last packets along.
            let said = format!("{}: {all} packets, {flows} in flows, {:?}", element.name, found.counts);
            assert!(followed + counted("flows") <= all, "{said}");
            assert!(flows <= u128::from(followed), "{said}");
            assert!(counted("retransmissions") <= followed, "{said}");
        }
    }
}

/// Whether everything that was recorded lies in a bin.
fn adds_up(histogram: &Histogram) -> bool {
    histogram.bins().map(|bin| bin.count).sum::<u64>() == histogram.count()
}

/// A row of frames: port, gap, stamp, length, virtio-net header, bytes.
pub fn forwarder(input: &[u8]) {
    let mut hostile = arrived(input);
    hostile.check();
    // A second later everything has left.
    hostile.arrive(0, 1_000_000_000, 0, VnetHeader::default(), Vec::new());
    hostile.check();
}

fn arrived(input: &[u8]) -> Hostile {
    let mut cursor = Cursor::new(input);
    let mut hostile = Hostile::default();
    while !cursor.is_empty() {
        let (port, after_ns, early_ns) = (
            usize::from(cursor.u8()),
            u64::from(cursor.u16()),
            u64::from(cursor.u16()) << (cursor.u8() % 24),
        );
        let length = usize::from(cursor.u16());
        let vnet = VnetHeader::read(&cursor.array());
        hostile.arrive(port, after_ns, early_ns, vnet, cursor.bytes(length).to_vec());
    }
    hostile
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_connection_of_the_corpus_is_seen_by_every_monitor_of_headers() {
        let corpus = crate::corpus::read("forwarder");
        let (_, connection) =
            corpus.iter().find(|(path, _)| path.ends_with("connection")).expect("seeds.py writes it");
        let Hostile { forwarder: Forwarder { network, sightings, .. }, .. } = &mut arrived(connection);
        let mut seen = BTreeSet::new();
        for element in network.elements() {
            let found = sightings.finding(network, element.id).into_iter().flat_map(|found| found.histograms);
            seen.extend(found.filter(|(.., histogram)| histogram.count() > 0).map(|(what, ..)| what));
        }
        let expected = [
            "flow-bytes",
            "flow-packets",
            "retransmission-delay",
            "rtt-handshake",
            "rtt-timestamps",
            "tcp-window",
        ];
        assert_eq!(Vec::from_iter(seen), expected);
    }
}
