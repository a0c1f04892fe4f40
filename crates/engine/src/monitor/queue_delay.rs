//! Queueing delay: how long each selected packet waited in the queue after the monitor, until its transmission started
//! (before a link) or its tokens sufficed (a shaper). A packet that did not wait counts as 0; a dropped packet does
//! not count.
//!
//! Logarithmic bins of nanoseconds (exact below 64 ns, else 3.1 %).
//!
//! Source: RFC 7679, section 3.8 (delay distributions), of the queue alone; Lindley 1952 (waiting times).

use super::histogram::Histogram;
use super::report::Readings;
use crate::packet::Packet;
use crate::units::Duration;

#[derive(Clone)]
pub(crate) struct QueueDelay {
    histogram: Histogram,
}

impl QueueDelay {
    pub(crate) fn new() -> QueueDelay {
        QueueDelay { histogram: Histogram::logarithmic() }
    }

    #[inline]
    pub(crate) fn waited(&mut self, packet: &Packet, wait: Duration) {
        self.histogram.record_times(wait.as_nanos(), u64::from(packet.count));
    }

    pub(crate) fn report(&self, what: &'static str, readings: &mut Readings) {
        readings.histogram(what, "ns", "packets", self.histogram.clone());
    }
}
