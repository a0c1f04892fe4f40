//! Packet rate: the number of packets that passed in each window. A window without packets counts too.
//!
//! Counts are packets per window, in logarithmic bins (exact below 64, else 3.1 %).
//!
//! Source: Zilberman et al. 2021, NRG, section V-A (packet rate).

use super::histogram::Histogram;
use super::report::Readings;
use super::trend::Trend;
use super::windows::Windows;
use crate::units::{Duration, Instant};

#[derive(Clone)]
pub(crate) struct PerWindow {
    windows: Windows,
    /// Packets in the open window.
    count: u64,
    histogram: Histogram,
    trend: Trend,
}

impl PerWindow {
    /// Starts at the origin of time.
    pub(crate) fn new(window: Duration) -> PerWindow {
        PerWindow {
            windows: Windows::new(window),
            count: 0,
            histogram: Histogram::logarithmic(),
            trend: Trend::new(),
        }
    }

    /// Starts at `start`, empty.
    pub(crate) fn start(&mut self, start: Instant) {
        self.windows = self.windows.starting_at(start);
    }

    #[inline]
    pub(crate) fn add(&mut self, at: Instant, packets: u64) {
        self.advance(at);
        self.count += packets;
    }

    #[inline]
    fn advance(&mut self, to: Instant) {
        let ended = self.windows.end_by(to);
        if ended > 0 {
            self.histogram.record(self.count);
            self.trend.close(self.count);
            self.histogram.record_times(0, ended - 1);
            self.trend.skip(ended - 1);
            self.count = 0;
        }
    }

    pub(crate) fn report(&self, now: Instant, what: &'static str, readings: &mut Readings) {
        let mut until_now = self.clone();
        until_now.advance(now);
        readings.histogram(what, "packets", "windows", until_now.histogram);
        readings.trend(what, "packets", until_now.trend);
    }
}
