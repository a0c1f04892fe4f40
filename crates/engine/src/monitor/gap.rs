//! Time between packets: from one passing to the next (`interarrival`), or from the end of one to the start of the
//! next on a wire of the port's rate (`ipg`, the inter-packet gap).
//!
//! A packet passes with its last bit, so the gap before it is the time since the packet before, minus its own wire
//! time. The wire time includes the smallest gap of the standard: back-to-back packets have a gap of 0. So do packets
//! that pass faster than the wire could carry them (before the link). At a port without a rate packets have no length,
//! and both quantities are equal.
//!
//! Logarithmic bins of nanoseconds (exact below 64 ns, else 3.1 %). The first packet has no gap.
//!
//! Source: Zilberman et al. 2021, NRG, section V-C (inter-arrival time distribution), section VIII and figure 9 (IPG).

use super::histogram::Histogram;
use super::report::Readings;

#[derive(Clone)]
pub(crate) struct Gap {
    histogram: Histogram,
}

impl Gap {
    pub(crate) fn new() -> Gap {
        Gap { histogram: Histogram::logarithmic() }
    }

    /// `gap_ns` before the first of `count` packets that passed together; `None` before the first packet of all.
    #[inline]
    pub(crate) fn passed(&mut self, gap_ns: Option<u64>, count: u16) {
        if let Some(gap_ns) = gap_ns {
            self.histogram.record(gap_ns);
        }
        self.histogram.record_times(0, u64::from(count) - 1);
    }

    pub(crate) fn report(&self, what: &'static str, readings: &mut Readings) {
        readings.histogram(what, "ns", "gaps", self.histogram.clone());
    }
}
