//! The forwarder: hostile frames from every port, with every stamp; each wire packet is handed over, lost for a reason, or still inside.

use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::port::MemoryPort;
use crosswind_engine::Instant;
use crosswind_fabric::{Fabric, Network};
use crosswind_wire::VnetHeader;

use crate::cursor::Cursor;

/// A condition with something of every kind: it meters, marks, loses, duplicates, damages, delays, shapes and schedules.
const FABRIC: &str = r#"{
    "seed": 7, "hosts": ["h0", "h1"],
    "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}, {"name": "c", "host": "h1"}],
    "uplink": {"rate_bps": 1000000000, "delay_ns": 2000, "buffer_bytes": 60000}, "mtu_bytes": 1500,
    "tcp": {"congestion_control": "cubic", "rto_min_us": 200000}, "merge_window_ns": 20000,
    "condition": {"name": "all", "places": {
        "host.egress": [{"mark": {"dscp": 10, "on": ["a"]}},
            {"shape": {"rate_bps": 800000000, "burst_bytes": 3000, "buffer_bytes": 30000, "on": ["b"]}}],
        "link": [{"lose": {"law": {"bernoulli": {"share_ppb": 10000000}}}}, {"duplicate": {"share_ppb": 10000000}},
            {"corrupt": {"share_ppb": 10000000}}, {"delay": {"time_ns": 5000}}],
        "switch.ingress": [{"police": {"rate_bps": 900000000, "burst_bytes": 15000, "on": ["h1"]}}],
        "switch.egress": [{"schedule": {"by": "drr", "queues": [{"dscp": [10], "weight": 2}, {"dscp": null, "weight": 1}]}}]
    }}}"#;

/// A forwarder that hostile frames are let into.
#[derive(Debug)]
pub struct Hostile {
    forwarder: Forwarder<MemoryPort>,
    now_ns: u64,
    frames: u64,
}

impl Default for Hostile {
    fn default() -> Self {
        let fabric: Fabric = serde_json::from_str(FABRIC).expect("a fabric of this version");
        let now_ns = 1_000_000_000;
        let network = Network::new(&fabric, Instant::from_nanos(now_ns)).expect("a sound fabric");
        let ports = fabric.nodes.iter().map(|_| MemoryPort::default()).collect();
        Self { forwarder: Forwarder::new(network, ports), now_ns, frames: 0 }
    }
}

impl Hostile {
    /// Lets a frame arrive at a port, `after_ns` later than the one before it and stamped `early_ns` before that.
    pub fn arrive(&mut self, port: usize, after_ns: u64, early_ns: u64, vnet: VnetHeader, frame: Vec<u8>) {
        self.now_ns += after_ns;
        self.frames += 1;
        let stamp_ns = self.now_ns.wrapping_sub(early_ns);
        let realtime_ns = stamp_ns.wrapping_add(self.forwarder.stamps.realtime_minus_monotonic_ns() as u64);
        let port = port % self.forwarder.ports.len();
        self.forwarder.ports[port].arrive(realtime_ns, vnet, frame);
        self.forwarder.take_in(self.now_ns);
        self.forwarder.let_out(self.now_ns);
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

    /// Conservation, as every measurement reports it.
    ///
    /// # Panics
    /// Where a packet is unaccounted for.
    pub fn check(&self) {
        let (passed, real) = (self.forwarder.passed, self.forwarder.network.engine_ref().totals().real);
        assert_eq!(
            passed.entered + real.duplicated,
            passed.out + passed.lost + real.dropped + real.inside + passed.held_back,
            "{passed:?} {real:?}"
        );
    }
}

/// A row of frames: port, gap, stamp, length, virtio-net header, bytes.
pub fn forwarder(input: &[u8]) {
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
    hostile.check();
    // A second later everything has left.
    hostile.arrive(0, 1_000_000_000, 0, VnetHeader::default(), Vec::new());
    hostile.check();
}
