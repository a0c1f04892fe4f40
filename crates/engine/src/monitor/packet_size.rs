//! Packet size: IP bytes of every packet, in bins of 8 bytes up to 9,000 (the largest MTU of a fabric), then one open
//! bin.
//!
//! Source: Zilberman et al. 2021, NRG, section V-C (packet size distribution) and figure 9.

use super::histogram::{Histogram, Scale};
use super::report::Readings;
use crate::packet::Packet;

const BINS: Scale = Scale::Linear { width: 8, bins: 1126 };

#[derive(Clone)]
pub(crate) struct PacketSize {
    histogram: Histogram,
}

impl PacketSize {
    pub(crate) fn new() -> PacketSize {
        PacketSize { histogram: Histogram::new(BINS) }
    }

    #[inline]
    pub(crate) fn passed(&mut self, packet: &Packet) {
        let others = u64::from(packet.count) - 1;
        let segment = u64::from(packet.segment_ip_bytes);
        self.histogram.record_times(segment, others);
        self.histogram.record(u64::from(packet.ip_bytes) - others * segment);
    }

    pub(crate) fn report(&self, what: &'static str, readings: &mut Readings) {
        readings.histogram(what, "B", "packets", self.histogram.clone());
    }
}
