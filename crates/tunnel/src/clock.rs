//! The clock of another machine, estimated from exchanges over the tunnel itself.
//!
//! In an exchange, a question leaves at `asked` on the own clock and comes at `came` on the other; its answer leaves
//! there at `answered` and comes back at `back`. The offset (the other clock minus the own) then lies between
//! `answered - back` and `came - asked`, whatever the way took: neither direction takes less than no time. Each
//! `BUCKET_NS` keeps its tightest two bounds. A straight line through the middle of the buckets is the skew. Along that
//! line all bounds are moved to one instant, and the tightest two of all remain. The estimate is their middle, and
//! half of their distance is the bound of its error: half of the shortest round trip, since nothing on the way shows
//! by how much its two directions differ. A difference that stays the same cancels in a round trip.
//!
//! A clock that was set, or a machine that was moved, contradicts the line: after `STEP_AFTER` exchanges in sequence
//! that cannot be reconciled with it, the estimate begins anew and the step is counted.
//!
//! Instants are those of CLOCK_MONOTONIC, as everywhere in the emulator; a clock that NTP slews changes its skew by at
//! most 500 ppm, within seconds, and the line follows within its window.
//!
//! Source: Mills 1991, "Internet time synchronization: the network time protocol" (offset and its bound); Moon, Skelly
//! and Towsley 1999, "Estimation and removal of clock skew from network delay measurements" (a line and minima).

use std::collections::VecDeque;

use serde::Serialize;

/// Time of which the tightest exchanges are kept.
const BUCKET_NS: i64 = 250_000_000;
/// Buckets that the line goes through: 30 s.
const BUCKETS: usize = 120;
/// Fewer have a slope of noise.
const BUCKETS_FOR_SKEW: usize = 8;
/// No estimate is made of fewer exchanges.
const EXCHANGES_MIN: u64 = 8;
/// What the line may be wrong by, for each second beyond the latest exchange.
const WANDER_PPB: i64 = 20_000;
/// Slack before an exchange contradicts the line: the line follows what is smaller, and a busy machine moves it.
const SLACK_NS: i64 = 200_000;
/// Exchanges in sequence that contradict the line before it is a step.
const STEP_AFTER: u32 = 3;

/// The estimate of another machine's clock.
#[derive(Clone, Debug, Default)]
pub struct PeerClock {
    buckets: VecDeque<Bucket>,
    exchanges: u64,
    contradictions: u32,
    steps: u64,
    line: Option<Line>,
    round_trip_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    number: i64,
    /// The least upper bound of the offset, and its instant on the own clock.
    upper: (i64, i64),
    /// The greatest lower bound, likewise.
    lower: (i64, i64),
}

/// The offset as a line over the own clock.
#[derive(Clone, Copy, Debug)]
struct Line {
    at_ns: i64,
    offset_ns: i64,
    skew: f64,
    bound_ns: i64,
    latest_ns: i64,
}

/// What is known of another machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct ClockReport {
    /// The other clock minus the own; null before there is an estimate.
    pub offset_ns: Option<i64>,
    /// The offset is not wrong by more than this.
    pub bound_ns: Option<u64>,
    /// By how much the other clock runs faster, parts per billion.
    pub skew_ppb: i64,
    /// The shortest so far.
    pub round_trip_ns: Option<u64>,
    pub exchanges: u64,
    /// How often the clock was found to have been set.
    pub steps: u64,
}

impl PeerClock {
    /// An exchange: two instants on the own clock, `asked` and `back`, and two on the other.
    pub fn note(&mut self, asked_ns: u64, came_ns: u64, answered_ns: u64, back_ns: u64) {
        let [asked, came, answered, back] = [asked_ns, came_ns, answered_ns, back_ns].map(|ns| ns as i64);
        if back < asked || answered < came || back - asked < answered - came {
            return;
        }
        let (upper, lower) = (came - asked, answered - back);
        if let Some(line) = self.line {
            let slack = line.bound_at(back) + SLACK_NS;
            let middle = line.offset_at(back);
            if upper < middle - slack || lower > middle + slack {
                self.contradictions += 1;
                if self.contradictions < STEP_AFTER {
                    return;
                }
                *self = Self { steps: self.steps + 1, ..Self::default() };
            }
        }
        self.contradictions = 0;
        self.exchanges += 1;
        let round_trip = (upper - lower) as u64;
        self.round_trip_ns = Some(self.round_trip_ns.map_or(round_trip, |least| least.min(round_trip)));
        let number = back.div_euclid(BUCKET_NS);
        match self.buckets.back_mut() {
            Some(bucket) if bucket.number == number => {
                bucket.upper = bucket.upper.min((upper, asked));
                bucket.lower = bucket.lower.max((lower, back));
            }
            _ => {
                self.buckets.push_back(Bucket { number, upper: (upper, asked), lower: (lower, back) });
                if self.buckets.len() > BUCKETS {
                    self.buckets.pop_front();
                }
            }
        }
        if self.exchanges >= EXCHANGES_MIN {
            self.line = Some(self.fitted(back));
        }
    }

    fn fitted(&self, now: i64) -> Line {
        let skew = self.skew(now);
        let moved = |(bound, at): (i64, i64)| bound + (skew * (now - at) as f64) as i64;
        let upper = self.buckets.iter().map(|it| moved(it.upper)).min().unwrap_or_default();
        let lower = self.buckets.iter().map(|it| moved(it.lower)).max().unwrap_or_default();
        Line {
            at_ns: now,
            offset_ns: lower + (upper - lower) / 2,
            skew,
            // Where the line is a little wrong, the tightest bounds of different times may cross.
            bound_ns: ((upper - lower).abs() + 1) / 2,
            latest_ns: now,
        }
    }

    /// The slope of the least squares line through the middle of the buckets. The last one may still be filling.
    fn skew(&self, now: i64) -> f64 {
        if self.buckets.len() < BUCKETS_FOR_SKEW {
            return 0.0;
        }
        let origin = self.buckets[0].lower.0;
        let points = self.buckets.iter().map(|bucket| {
            let at = (bucket.upper.1 + bucket.lower.1) / 2 - now;
            (at as f64, (bucket.upper.0 - origin + bucket.lower.0 - origin) as f64 / 2.0)
        });
        let count = self.buckets.len() as f64;
        let (sum_at, sum) = points.clone().fold((0.0, 0.0), |all, (at, offset)| (all.0 + at, all.1 + offset));
        let (mean_at, mean) = (sum_at / count, sum / count);
        let (covariance, variance) = points.fold((0.0, 0.0), |all, (at, offset)| {
            (all.0 + (at - mean_at) * (offset - mean), all.1 + (at - mean_at) * (at - mean_at))
        });
        covariance / variance
    }

    /// An instant of the other clock on the own one; `None` before there is an estimate.
    pub fn own_ns(&self, other_ns: u64) -> Option<u64> {
        let line = self.line?;
        // The offset changes by less than a millionth of the difference that one step leaves.
        let near = other_ns as i64 - line.offset_ns;
        Some((other_ns as i64 - line.offset_at(near)).max(0) as u64)
    }

    /// The estimate at an instant of the own clock.
    pub fn report(&self, now_ns: u64) -> ClockReport {
        let line = self.line;
        ClockReport {
            offset_ns: line.map(|line| line.offset_at(now_ns as i64)),
            bound_ns: line.map(|line| line.bound_at(now_ns as i64) as u64),
            skew_ppb: line.map_or(0, |line| (line.skew * 1e9).round() as i64),
            round_trip_ns: self.round_trip_ns,
            exchanges: self.exchanges,
            steps: self.steps,
        }
    }
}

impl Line {
    fn offset_at(&self, own_ns: i64) -> i64 {
        self.offset_ns + (self.skew * (own_ns - self.at_ns) as f64).round() as i64
    }

    fn bound_at(&self, own_ns: i64) -> i64 {
        let beyond = (own_ns - self.latest_ns).max(0);
        self.bound_ns + (i128::from(beyond) * i128::from(WANDER_PPB) / 1_000_000_000) as i64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: i64 = 1_000_000;
    const S: i64 = 1_000 * MS;

    /// Another clock, and the way to it.
    struct World {
        offset_ns: i64,
        skew_ppb: i64,
        out_ns: i64,
        back_ns: i64,
        jitter_ns: i64,
        random: u64,
    }

    impl World {
        fn other(&self, own: i64) -> i64 {
            own + self.offset_ns + (i128::from(own) * i128::from(self.skew_ppb) / 1_000_000_000) as i64
        }

        fn jitter(&mut self) -> i64 {
            // Marsaglia's xorshift.
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            (self.random >> 11) as i64 % self.jitter_ns.max(1)
        }

        fn exchange(&mut self, clock: &mut PeerClock, at: i64) {
            let came = at + self.out_ns + self.jitter();
            let answered = came + 5_000;
            let back = answered + self.back_ns + self.jitter();
            clock.note(at as u64, self.other(came) as u64, self.other(answered) as u64, back as u64);
        }

        fn run(&mut self, clock: &mut PeerClock, from: i64, seconds: i64, per_second: i64) -> i64 {
            for step in 0..seconds * per_second {
                self.exchange(clock, from + step * S / per_second);
            }
            from + seconds * S
        }

        fn error_at(&self, clock: &PeerClock, own: i64) -> i64 {
            clock.own_ns(self.other(own) as u64).unwrap() as i64 - own
        }
    }

    fn world() -> World {
        World {
            offset_ns: -3 * S,
            skew_ppb: 50_000,
            out_ns: 100_000,
            back_ns: 100_000,
            jitter_ns: 200_000,
            random: 7,
        }
    }

    #[test]
    fn seconds_apart_and_drifting_by_50_ppm_it_is_known_to_microseconds() {
        let (mut world, mut clock) = (world(), PeerClock::default());
        let mut now = 10 * S;
        for (seconds, worst_ns) in [(1, 60_000), (4, 12_000), (25, 6_000)] {
            now = world.run(&mut clock, now, seconds, 100);
            assert!(world.error_at(&clock, now).abs() < worst_ns, "{}", world.error_at(&clock, now));
        }
        let report = clock.report(now as u64);
        assert!((report.skew_ppb - 50_000).abs() < 2_000, "{report:?}");
        assert_eq!(report.steps, 0);
        assert_eq!(report.exchanges, 3_000);
    }

    #[test]
    fn what_was_set_is_a_step_and_the_estimate_begins_anew() {
        let (mut world, mut clock) = (world(), PeerClock::default());
        let now = world.run(&mut clock, 10 * S, 5, 100);
        world.offset_ns += 2 * MS;
        let now = world.run(&mut clock, now, 3, 100);
        assert_eq!(clock.report(now as u64).steps, 1);
        assert!(world.error_at(&clock, now).abs() < 60_000);
    }

    #[test]
    fn without_exchanges_the_bound_grows() {
        let (mut world, mut clock) = (world(), PeerClock::default());
        let now = world.run(&mut clock, 10 * S, 5, 100);
        let bound = |at: i64| clock.report(at as u64).bound_ns.unwrap();
        assert_eq!(bound(now + 10 * S) - bound(now), 200_000);
    }

    #[test]
    fn before_it_is_known_nothing_is_said() {
        let (mut world, mut clock) = (world(), PeerClock::default());
        for step in 0..7 {
            world.exchange(&mut clock, S + step * MS);
        }
        assert_eq!(clock.own_ns(5), None);
        assert_eq!(clock.report(0).offset_ns, None);
    }

    #[test]
    fn an_exchange_that_cannot_be_is_left_out() {
        let mut clock = PeerClock::default();
        clock.note(10, 5, 6, 9);
        clock.note(10, 6, 5, 12);
        clock.note(10, 0, 100, 12);
        assert_eq!(clock.report(0).exchanges, 0);
    }

    proptest! {
        #[test]
        fn the_error_is_within_the_bound_whatever_the_ways_are(
            offset_s in -100i64..100, skew_ppb in -100_000i64..100_000, out_us in 5i64..2_000, back_us in 5i64..2_000,
            jitter_us in 0i64..500, random in 1u64..
        ) {
            let mut world = World {
                offset_ns: offset_s * S, skew_ppb, out_ns: out_us * 1_000, back_ns: back_us * 1_000,
                jitter_ns: jitter_us * 1_000, random,
            };
            let mut clock = PeerClock::default();
            let now = world.run(&mut clock, 200 * S, 10, 50);
            let report = clock.report(now as u64);
            // What jitter leaves of the slope, over the five seconds from the middle of the window.
            let slope = jitter_us * 1_000 / 10;
            let error = world.error_at(&clock, now).abs();
            prop_assert!(error <= report.bound_ns.unwrap() as i64 + slope + 100, "{} {:?}", error, report);
            prop_assert_eq!(report.steps, 0);
        }
    }
}
