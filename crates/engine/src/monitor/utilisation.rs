//! Link utilisation: the share of each window in which the wire was busy, in per mille.
//!
//! A packet passes with its last bit, and its wire time (including preamble and gap) is before that. If a window ends
//! within a packet, each window gets its part. Before a link, packets can pass faster than the link's rate; the excess
//! is added to the window in which they pass, so more than 1000 per mille means that the offered load exceeds the
//! rate. The sum over all windows is the wire time of all packets.
//!
//! Bins: 5 per mille wide up to 2000, then one open bin. A value is rounded down to whole per mille. `window`: at
//! least 100 us.
//!
//! Source: Zilberman et al. 2021, NRG, section VII and figure 7 (link utilisation as a distribution over windows).

use super::histogram::{Histogram, Scale};
use super::report::Readings;
use super::trend::Trend;
use crate::units::{Duration, Instant};

const PICO_PER_NANO: u64 = 1_000;
const BINS: Scale = Scale::Linear { width: 5, bins: 400 };

#[derive(Clone)]
pub(crate) struct Utilisation {
    start: Instant,
    window_ps: u64,
    /// Since the start: the end of the open window, and the time up to which busy time is counted.
    end_ps: u64,
    reached_ps: u64,
    /// Busy time in the open window.
    busy_ps: u64,
    histogram: Histogram,
    trend: Trend,
}

impl Utilisation {
    /// Starts at the origin of time.
    pub(crate) fn new(window: Duration) -> Utilisation {
        let window_ps = window.as_nanos().saturating_mul(PICO_PER_NANO);
        Utilisation {
            start: Instant::ZERO,
            window_ps,
            end_ps: window_ps,
            reached_ps: 0,
            busy_ps: 0,
            histogram: Histogram::new(BINS),
            trend: Trend::new(),
        }
    }

    /// Starts at `start`, empty.
    pub(crate) fn start(&mut self, start: Instant) {
        self.start = start;
    }

    /// A packet that occupied the wire for `wire_ps` has passed.
    #[inline]
    pub(crate) fn passed(&mut self, at: Instant, wire_ps: u64) {
        let at_ps = self.since_start_ps(at);
        let began_ps = at_ps.saturating_sub(wire_ps).max(self.reached_ps);
        self.idle_to(began_ps);
        let before_its_turn_ps = wire_ps - (at_ps - began_ps);
        self.busy_to(at_ps);
        self.busy_ps += before_its_turn_ps;
    }

    fn since_start_ps(&self, at: Instant) -> u64 {
        let nanos = at.checked_duration_since(self.start).map_or(0, Duration::as_nanos);
        // 213 days in picoseconds; all later instants count as this one.
        nanos.saturating_mul(PICO_PER_NANO).max(self.reached_ps)
    }

    fn idle_to(&mut self, to_ps: u64) {
        if let Some(past_ps) = to_ps.checked_sub(self.end_ps) {
            self.close_window();
            let skipped = past_ps / self.window_ps;
            self.histogram.record_times(0, skipped);
            self.trend.skip(skipped);
            self.end_ps += skipped * self.window_ps;
        }
        self.reached_ps = to_ps;
    }

    fn busy_to(&mut self, to_ps: u64) {
        while to_ps >= self.end_ps {
            self.busy_ps += self.end_ps - self.reached_ps;
            self.reached_ps = self.end_ps;
            self.close_window();
        }
        self.busy_ps += to_ps - self.reached_ps;
        self.reached_ps = to_ps;
    }

    fn close_window(&mut self) {
        let per_mille = (u128::from(self.busy_ps) * 1000 / u128::from(self.window_ps)) as u64;
        self.histogram.record(per_mille);
        self.trend.close(per_mille);
        self.busy_ps = 0;
        self.end_ps += self.window_ps;
    }

    pub(crate) fn report(&self, now: Instant, what: &'static str, readings: &mut Readings) {
        let mut until_now = self.clone();
        until_now.idle_to(until_now.since_start_ps(now));
        readings.histogram(what, "per-mille", "windows", until_now.histogram);
        readings.trend(what, "per-mille", until_now.trend);
    }
}
