//! Flow size: packets and IP bytes of each flow while it was monitored.
//!
//! A TCP flow ends with FIN or RST; what has not ended counts as it is when the monitor is read. What comes after the end (the
//! last acknowledgements) is a flow of its own: a few packets, as routers' flow caches have it.
//!
//! Source: Zilberman et al. 2021, NRG, section V-A (flow size); RFC 7011, section 2 (flow); RFC 5102 (flow end reasons).

use crosswind_engine::Histogram;

use crate::segment::Segment;

/// Of one flow.
#[derive(Debug, Default)]
pub(crate) struct Size {
    packets: u64,
    bytes: u64,
}

/// Of all flows.
#[derive(Clone, Debug)]
pub(crate) struct FlowSize {
    by_packets: Histogram,
    by_bytes: Histogram,
}

impl FlowSize {
    pub(crate) fn new() -> Self {
        Self { by_packets: Histogram::logarithmic(), by_bytes: Histogram::logarithmic() }
    }

    pub(crate) fn passed(&mut self, size: &mut Size, segment: &Segment) {
        size.packets += u64::from(segment.packets);
        size.bytes += u64::from(segment.ip_bytes);
        if segment.ends_flow() {
            self.end(size);
            *size = Size::default();
        }
    }

    /// Counts a flow as it is.
    pub(crate) fn end(&mut self, size: &Size) {
        if size.packets > 0 {
            self.by_packets.record(size.packets);
            self.by_bytes.record(size.bytes);
        }
    }

    pub(crate) fn histograms(self) -> [(&'static str, &'static str, &'static str, Histogram); 2] {
        [("flow-packets", "packets", "flows", self.by_packets), ("flow-bytes", "B", "flows", self.by_bytes)]
    }
}
