//! The line between real and perceived time. Pure integer arithmetic; the agent and the image in a process share it.
//!
//! Both are known at an anchor. From there perceived time runs `factor` times slower, and a clock that is wrong runs at
//! `rate_ppb` of that. A wait is never shorter than requested: readings are rounded down, and waits up. First the factor
//! divides, then the rate, so that no product needs more than 64 bits. Nothing here can panic: the image has no place for
//! messages.

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

/// The rate of a clock that is right, in billionths.
pub const RIGHT_PPB: NonZeroU64 = NonZeroU64::new(1_000_000_000).unwrap();

/// What is known of every clock at the anchor, and how fast time passes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// Perceived seconds are this many times longer; in [1, 1000].
    pub factor: NonZeroU64,
    /// How fast clocks run besides, in billionths; in [0.5, 2] times [`RIGHT_PPB`].
    pub rate_ppb: NonZeroU64,
    /// Reading of each clock at the anchor, ns; 0 for clocks of CPU time.
    pub real_ns: [i64; CLOCKS],
    /// What programs read then.
    pub perceived_ns: [i64; CLOCKS],
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

    /// Whether the clock shows the time of day: these are off by a wrong clock's offset, and the others are not.
    pub const fn is_wall(clock: usize) -> bool {
        matches!(clock, REALTIME | REALTIME_COARSE | REALTIME_ALARM | TAI)
    }

    /// The perceived reading of `clock` when its source reads `source_ns`.
    pub fn perceived(&self, clock: usize, source_ns: i64) -> i64 {
        let real = source_ns.wrapping_sub(of(&self.real_ns, Self::source(clock)));
        let passed = match real {
            0.. => short(self.passes(real as u64)),
            _ => -short(self.passes_up(real.unsigned_abs())),
        };
        of(&self.perceived_ns, clock).saturating_add(passed)
    }

    /// The first reading of the source of `clock` at which `clock` is perceived as `perceived_ns`; at least 0.
    pub fn real(&self, clock: usize, perceived_ns: i64) -> i64 {
        let passed = perceived_ns.saturating_sub(of(&self.perceived_ns, clock));
        let real = match passed {
            0.. => short(self.takes(passed as u64)),
            _ => -short(self.takes_down(passed.unsigned_abs())),
        };
        of(&self.real_ns, Self::source(clock)).saturating_add(real).clamp(0, LONGEST_NS)
    }

    /// The real length of a requested duration.
    pub fn stretch(&self, perceived_ns: i64) -> i64 {
        short(self.takes(perceived_ns.max(0) as u64)).min(LONGEST_NS)
    }

    /// The perceived length of a real duration.
    pub fn shrink(&self, real_ns: i64) -> i64 {
        short(self.passes(real_ns.max(0) as u64))
    }

    /// As [`shrink`](Self::shrink), for what is left of a timer: 0 means that it is off, so the rest of one is not 0.
    pub fn shrink_up(&self, real_ns: i64) -> i64 {
        let real = real_ns.max(0) as u64;
        let passed = down(real.div_ceil(self.factor.get()), self.rate_ppb, RIGHT_PPB);
        // What a right or slow clock set is read back as it was set.
        short(if real == 0 { 0 } else { passed.max(1) })
    }

    /// How much of any unit of time is perceived while this much passes, rounded down.
    pub fn passes(&self, real: u64) -> u64 {
        down(real / self.factor, self.rate_ppb, RIGHT_PPB)
    }

    /// The least that must pass so that this much of any unit of time is perceived.
    pub fn takes(&self, perceived: u64) -> u64 {
        up(perceived, RIGHT_PPB, self.rate_ppb).saturating_mul(self.factor.get())
    }

    fn passes_up(&self, real: u64) -> u64 {
        up(real.div_ceil(self.factor.get()), self.rate_ppb, RIGHT_PPB)
    }

    fn takes_down(&self, perceived: u64) -> u64 {
        down(perceived, RIGHT_PPB, self.rate_ppb).saturating_mul(self.factor.get())
    }
}

fn of(readings_ns: &[i64; CLOCKS], clock: usize) -> i64 {
    readings_ns.get(clock).copied().unwrap_or_default()
}

fn short(ns: u64) -> i64 {
    ns.min(i64::MAX as u64) as i64
}

/// `number * times / by`, rounded down. The rest is below 2 * 10^9, as `times` is, so their product fits.
fn down(number: u64, times: NonZeroU64, by: NonZeroU64) -> u64 {
    let rest = (number % by).saturating_mul(times.get()) / by;
    (number / by).saturating_mul(times.get()).saturating_add(rest)
}

/// As [`down`], rounded up.
fn up(number: u64, times: NonZeroU64, by: NonZeroU64) -> u64 {
    let rest = (number % by).saturating_mul(times.get()).div_ceil(by.get());
    (number / by).saturating_mul(times.get()).saturating_add(rest)
}

/// Nanoseconds of a timespec; `None` where the kernel would refuse it.
pub fn from_timespec(seconds: i64, ns: i64) -> Option<i64> {
    if seconds < 0 || !(0..SECOND_NS).contains(&ns) {
        return None;
    }
    Some(seconds.saturating_mul(SECOND_NS).saturating_add(ns))
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
