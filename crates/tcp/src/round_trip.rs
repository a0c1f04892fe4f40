//! The round-trip time of a sender, and the timeout that follows from it.
//!
//! As RFC 6298 with Linux's two differences: the deviation is a running maximum over a round trip, and `rto_min` bounds
//! the deviation instead of the timeout, so that the timeout is at least the round trip plus `rto_min`.
//!
//! Source: RFC 6298, 2; Linux, `tcp_rtt_estimator` (the reason for slower changes when round trips get shorter: Ludwig
//! and Sklower 2000, "The Eifel retransmission timer").

use crosswind_engine::Duration;

use crate::tick::Tick;

/// RFC 6298, 2.1: "Until a round-trip time (RTT) measurement has been made [...] the sender SHOULD set RTO <- 1 second".
const FIRST_TIMEOUT_US: u64 = 1_000_000;
/// Linux: `TCP_RTO_MAX`.
const TIMEOUT_MOST_US: u64 = 120_000_000;

/// Measured round trips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    rto_min_us: u64,
    /// Eight times the mean; 0 before the first measurement.
    smoothed_us_x8: u64,
    /// Four times the mean deviation.
    deviation_us_x4: u64,
    /// The largest deviation of this round trip.
    deviation_most_us_x4: u64,
    /// The deviation that the timeout uses.
    bound_us: u64,
    /// This round trip ends when data from here on are acknowledged.
    round_ends: u64,
    shortest_us: Option<u64>,
    /// In ticks, backoff included.
    timeout: u64,
}

impl RoundTrip {
    pub(crate) fn new(rto_min: Duration, tick: &Tick) -> Self {
        Self {
            rto_min_us: tick.us(tick.of_us(rto_min.as_nanos() / 1_000)),
            smoothed_us_x8: 0,
            deviation_us_x4: 0,
            deviation_most_us_x4: 0,
            bound_us: 0,
            round_ends: 0,
            shortest_us: None,
            timeout: tick.of_us(FIRST_TIMEOUT_US),
        }
    }

    /// A round trip was measured; `acknowledged` and `next` are the sender's positions in the stream. The timeout
    /// has no backoff from now on.
    pub(crate) fn measured(&mut self, us: u64, acknowledged: u64, next: u64, tick: &Tick) {
        let us = us.max(1);
        if self.smoothed_us_x8 == 0 {
            self.smoothed_us_x8 = us * 8;
            self.deviation_us_x4 = us * 2;
            self.bound_us = self.deviation_us_x4.max(self.rto_min_us);
            self.deviation_most_us_x4 = self.bound_us;
            self.round_ends = next;
        } else {
            let mean = self.smoothed_us_x8 / 8;
            let distance = us.abs_diff(mean) as i64;
            self.smoothed_us_x8 = (self.smoothed_us_x8 + us - mean).max(1);
            let mut change = distance - (self.deviation_us_x4 / 4) as i64;
            if us < mean && change > 0 {
                change /= 8;
            }
            self.deviation_us_x4 = self.deviation_us_x4.saturating_add_signed(change);
            if self.deviation_us_x4 > self.deviation_most_us_x4 {
                self.deviation_most_us_x4 = self.deviation_us_x4;
                self.bound_us = self.bound_us.max(self.deviation_most_us_x4);
            }
            if acknowledged > self.round_ends {
                if self.deviation_most_us_x4 < self.bound_us {
                    self.bound_us -= (self.bound_us - self.deviation_most_us_x4) / 4;
                }
                self.round_ends = next;
                self.deviation_most_us_x4 = self.rto_min_us;
            }
        }
        self.timeout = tick.of_us((self.smoothed_us_x8 / 8 + self.bound_us).min(TIMEOUT_MOST_US));
    }

    /// A round trip, for the shortest one.
    pub(crate) fn passed(&mut self, us: u64) {
        self.shortest_us = Some(self.shortest_us.map_or(us, |shortest| shortest.min(us)).max(1));
    }

    /// RFC 6298, 5.5: "The host MUST set RTO <- RTO * 2".
    pub(crate) fn back_off(&mut self, tick: &Tick) {
        self.timeout = (self.timeout * 2).min(tick.of_us(TIMEOUT_MOST_US));
    }

    /// The timeout in ticks.
    pub(crate) fn timeout(&self) -> u64 {
        self.timeout
    }

    /// The mean; `None` before the first measurement.
    pub(crate) fn smoothed_us(&self) -> Option<u64> {
        Some(self.smoothed_us_x8 / 8).filter(|_| self.smoothed_us_x8 > 0)
    }

    /// Eight times the mean, for rates; 0 before the first measurement.
    pub(crate) fn smoothed_us_x8(&self) -> u64 {
        self.smoothed_us_x8
    }

    /// The shortest; a very long one before the first measurement.
    pub(crate) fn shortest_us(&self) -> u64 {
        self.shortest_us.unwrap_or(u64::from(u32::MAX))
    }

    pub(crate) fn rto_min_us(&self) -> u64 {
        self.rto_min_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const TICK: Duration = Duration::from_millis(4);

    fn measured(rounds: &[u64]) -> (RoundTrip, Tick) {
        let tick = Tick::new(TICK, Duration::ZERO);
        let mut round_trip = RoundTrip::new(Duration::from_millis(200), &tick);
        for (number, &us) in (1..).zip(rounds) {
            round_trip.measured(us, number, number, &tick);
        }
        (round_trip, tick)
    }

    #[test]
    fn the_timeout_is_the_round_trip_plus_the_least_one() {
        let (round_trip, tick) = measured(&[10_000; 50]);
        assert_eq!(round_trip.smoothed_us(), Some(10_000));
        // 210 ms in ticks of 4 ms, rounded up.
        assert_eq!(tick.us(round_trip.timeout()), 212_000);
    }

    #[test]
    fn a_second_before_the_first_measurement_and_double_after_each_timeout() {
        let (mut round_trip, tick) = measured(&[]);
        assert_eq!(tick.us(round_trip.timeout()), 1_000_000);
        round_trip.back_off(&tick);
        assert_eq!(tick.us(round_trip.timeout()), 2_000_000);
        for _ in 0..20 {
            round_trip.back_off(&tick);
        }
        assert_eq!(tick.us(round_trip.timeout()), 120_000_000);
    }

    #[test]
    fn deviations_above_the_least_timeout_lengthen_it() {
        let rounds: Vec<u64> =
            (0..50).map(|number| if number % 2 == 0 { 100_000 } else { 500_000 }).collect();
        let (round_trip, tick) = measured(&rounds);
        assert!(tick.us(round_trip.timeout()) > 800_000, "{}", tick.us(round_trip.timeout()));
    }
}
