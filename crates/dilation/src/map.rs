//! The line between real and perceived time. Pure integer arithmetic; the agent and the image in a process share it.
//!
//! Perceived time is real time at the anchor, and runs `factor` times slower from there. Durations that a program
//! requests are multiplied, durations that it reads are divided. A wait is never shorter than requested: readings are
//! rounded down, and waits are exact. Nothing here can panic: the image has no place for messages.

use core::num::NonZeroU64;

/// Nanoseconds of a second.
pub const SECOND_NS: i64 = 1_000_000_000;

/// The longest wait in nanoseconds, 146 years. The kernel accepts it with every clock; longer ones become this long.
pub const LONGEST_NS: i64 = i64::MAX / 2;

/// How many kinds of clock the kernel has a number for, from CLOCK_REALTIME (0) to CLOCK_TAI (11).
pub const CLOCKS: usize = 12;

/// CLOCK_REALTIME.
pub const REALTIME: usize = 0;
/// CLOCK_MONOTONIC.
pub const MONOTONIC: usize = 1;
const PROCESS_CPUTIME: usize = 2;
const THREAD_CPUTIME: usize = 3;
const REALTIME_COARSE: usize = 5;
const MONOTONIC_COARSE: usize = 6;
const REALTIME_ALARM: usize = 8;
const SGI_CYCLE: usize = 10;
const TAI: usize = 11;

/// What is known of every clock at the anchor, and the factor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// Perceived seconds are this many times longer; in [1, 1000].
    pub factor: NonZeroU64,
    /// Reading of each clock at the anchor, ns; 0 for clocks of CPU time.
    pub origin_ns: [i64; CLOCKS],
}

impl Map {
    /// The clock from whose progress a clock is computed. Steps of the real wall clock are not passed on.
    pub const fn source(clock: usize) -> usize {
        match clock {
            REALTIME | TAI | REALTIME_ALARM => MONOTONIC,
            REALTIME_COARSE => MONOTONIC_COARSE,
            other => other,
        }
    }

    /// Whether the clock counts CPU time, which has no anchor.
    pub const fn counts_cpu_time(clock: usize) -> bool {
        clock == PROCESS_CPUTIME || clock == THREAD_CPUTIME || clock == SGI_CYCLE || clock >= CLOCKS
    }

    /// The perceived reading of `clock` when its source reads `source_ns`.
    pub fn perceived(&self, clock: usize, source_ns: i64) -> i64 {
        let passed = source_ns.wrapping_sub(self.origin(Self::source(clock)));
        let slowed = match passed {
            0.. => (passed as u64 / self.factor) as i64,
            _ => -(passed.unsigned_abs().div_ceil(self.factor.get()) as i64),
        };
        self.origin(clock).wrapping_add(slowed)
    }

    /// What the source of `clock` reads when `clock` is perceived as `perceived_ns`; at least 0.
    pub fn real(&self, clock: usize, perceived_ns: i64) -> i64 {
        let passed = perceived_ns.saturating_sub(self.origin(clock)).saturating_mul(self.factor.get() as i64);
        self.origin(Self::source(clock)).saturating_add(passed).clamp(0, LONGEST_NS)
    }

    /// The real length of a requested duration.
    pub fn stretch(&self, perceived_ns: i64) -> i64 {
        perceived_ns.saturating_mul(self.factor.get() as i64).clamp(0, LONGEST_NS)
    }

    /// The perceived length of a real duration.
    pub fn shrink(&self, real_ns: i64) -> i64 {
        (real_ns.max(0) as u64 / self.factor) as i64
    }

    /// As [`shrink`](Self::shrink), for what is left of a timer: 0 means that it is off, so the rest of one is not 0.
    pub fn shrink_up(&self, real_ns: i64) -> i64 {
        let most = (real_ns.max(0) as u64).saturating_add(self.factor.get() - 1);
        (most / self.factor) as i64
    }

    fn origin(&self, clock: usize) -> i64 {
        self.origin_ns.get(clock).copied().unwrap_or_default()
    }
}

/// Nanoseconds of a timespec; `None` where the kernel would refuse it.
pub fn from_timespec(seconds: i64, ns: i64) -> Option<i64> {
    if seconds < 0 || !(0..SECOND_NS).contains(&ns) {
        return None;
    }
    Some(seconds.saturating_mul(SECOND_NS).saturating_add(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(factor: u64) -> Map {
        let mut origin_ns = [0; CLOCKS];
        origin_ns[REALTIME] = 1_700_000_000 * SECOND_NS;
        origin_ns[MONOTONIC] = 5 * SECOND_NS;
        origin_ns[TAI] = origin_ns[REALTIME] + 37 * SECOND_NS;
        Map { factor: NonZeroU64::new(factor).unwrap(), origin_ns }
    }

    #[test]
    fn perceived_is_real_at_the_anchor_and_slower_after_it() {
        let map = map(10);
        assert_eq!(map.perceived(MONOTONIC, 5 * SECOND_NS), 5 * SECOND_NS);
        assert_eq!(map.perceived(MONOTONIC, 15 * SECOND_NS), 6 * SECOND_NS);
        // The wall clock is computed from the monotonic one, whose source it is.
        assert_eq!(map.perceived(REALTIME, 15 * SECOND_NS), 1_700_000_001 * SECOND_NS);
        assert_eq!(map.perceived(TAI, 15 * SECOND_NS), 1_700_000_038 * SECOND_NS);
        // Before the anchor too, rounded down.
        assert_eq!(map.perceived(MONOTONIC, 5 * SECOND_NS - 1), 5 * SECOND_NS - 1);
        assert_eq!(map.perceived(MONOTONIC, 5 * SECOND_NS - 11), 5 * SECOND_NS - 2);
    }

    #[test]
    fn an_instant_is_perceived_exactly_when_it_is_due() {
        for factor in [1, 3, 10, 1000] {
            let map = map(factor);
            for clock in [REALTIME, MONOTONIC, TAI] {
                for ahead_ns in [0, 1, 999_999_937, 3600 * SECOND_NS] {
                    let due = map.origin_ns[clock] + ahead_ns;
                    let real = map.real(clock, due);
                    assert_eq!(map.perceived(clock, real), due);
                    assert!(real == 0 || map.perceived(clock, real - 1) < due);
                }
            }
        }
    }

    #[test]
    fn a_factor_of_one_changes_nothing() {
        let map = map(1);
        for ns in [0, 1, 123_456_789_012] {
            assert_eq!((map.stretch(ns), map.shrink(ns), map.shrink_up(ns)), (ns, ns, ns));
            assert_eq!(map.perceived(MONOTONIC, ns), ns);
        }
    }

    #[test]
    fn no_instant_and_no_duration_overflows() {
        let map = map(1000);
        assert_eq!(map.stretch(i64::MAX), LONGEST_NS);
        assert_eq!(map.real(MONOTONIC, i64::MAX), LONGEST_NS);
        assert_eq!(map.real(REALTIME, 0), 0);
        assert_eq!(from_timespec(i64::MAX, 0), Some(i64::MAX));
        assert_eq!(map.shrink_up(1), 1);
    }

    #[test]
    fn a_time_that_the_kernel_refuses_is_no_time() {
        assert_eq!(from_timespec(1, 5), Some(SECOND_NS + 5));
        for (seconds, ns) in [(-1, 0), (0, -1), (0, SECOND_NS)] {
            assert_eq!(from_timespec(seconds, ns), None);
        }
    }
}
