//! Queue depth: IP bytes that wait in the queue after the monitor, weighted by time.
//!
//! The distribution counts nanoseconds, so its mean is the mean over time and not over packets; the time series has
//! the largest depth of each window. Every waiting packet counts, selected or not, because an arriving packet meets
//! the whole queue. Packets in transmission or propagation do not wait. Logarithmic bins of bytes (exact below 64,
//! else 3.1 %).
//!
//! Source: RFC 7928, section 2.2 (queue occupancy as a time average); Zilberman et al. 2021, NRG, section VII (buffer sizing).

use super::histogram::Histogram;
use super::report::Readings;
use super::trend::Trend;
use super::windows::Windows;
use crate::units::{Duration, Instant};

#[derive(Clone)]
pub(crate) struct QueueDepth {
    windows: Windows,
    bytes: u64,
    since: Instant,
    /// Largest depth of the open window.
    greatest: u64,
    histogram: Histogram,
    trend: Trend,
}

impl QueueDepth {
    /// An empty queue, from the origin of time on.
    pub(crate) fn new(window: Duration) -> QueueDepth {
        QueueDepth {
            windows: Windows::new(window),
            bytes: 0,
            since: Instant::ZERO,
            greatest: 0,
            histogram: Histogram::logarithmic(),
            trend: Trend::new(),
        }
    }

    /// Starts at `start` with the bytes that wait then, and without measured values.
    pub(crate) fn start(&mut self, start: Instant, bytes: u64) {
        self.windows = self.windows.starting_at(start);
        self.since = start;
        (self.bytes, self.greatest) = (bytes, bytes);
    }

    /// `bytes` wait from `at` on.
    #[inline]
    pub(crate) fn becomes(&mut self, bytes: u64, at: Instant) {
        if bytes == self.bytes {
            return;
        }
        self.advance(at);
        self.bytes = bytes;
        self.greatest = self.greatest.max(bytes);
    }

    #[inline]
    fn advance(&mut self, to: Instant) {
        self.histogram.record_times(self.bytes, (to - self.since).as_nanos());
        self.since = to;
        let ended = self.windows.end_by(to);
        if ended == 0 {
            return;
        }
        self.trend.close(self.greatest);
        if self.bytes == 0 {
            self.trend.skip(ended - 1);
        } else {
            (1..ended).for_each(|_| self.trend.close(self.bytes));
        }
        self.greatest = self.bytes;
    }

    pub(crate) fn report(&self, now: Instant, what: &'static str, readings: &mut Readings) {
        let mut until_now = self.clone();
        until_now.advance(now);
        readings.histogram(what, "B", "ns", until_now.histogram);
        readings.trend(what, "B", until_now.trend);
    }
}
