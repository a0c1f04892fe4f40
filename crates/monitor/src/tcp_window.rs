//! TCP window: what the sender of each passing segment is ready to receive, in bytes.
//!
//! The window of a SYN is never shifted, every other by the shift that the flow's own SYN announced (RFC 7323, section 2.2). A
//! flow whose SYN did not pass has an unknown shift: its segments are counted as `unknown-scale` and have no window.
//!
//! Source: Zilberman et al. 2021, NRG, section V-A (TCP window size); RFC 9293, section 3.1; RFC 7323, section 2.

use crosswind_engine::Histogram;

use crate::segment::Segment;

#[derive(Clone, Debug)]
pub(crate) struct TcpWindow {
    pub(crate) histogram: Histogram,
    pub(crate) unknown_scale: u64,
}

impl TcpWindow {
    pub(crate) fn new() -> Self {
        Self { histogram: Histogram::logarithmic(), unknown_scale: 0 }
    }

    /// `shift`: as the flow's SYN announced it.
    pub(crate) fn passed(&mut self, segment: &Segment, shift: Option<u8>) {
        let Some((_, _, tcp)) = segment.tcp else { return };
        let packets = u64::from(segment.packets);
        match shift {
            _ if segment.is_syn() => self.histogram.record(u64::from(tcp.window)),
            Some(shift) => self.histogram.record_times(u64::from(tcp.window) << shift, packets),
            None => self.unknown_scale += packets,
        }
    }
}
