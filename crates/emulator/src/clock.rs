//! The clocks: CLOCK_MONOTONIC for everything, and CLOCK_REALTIME only to read the kernel's packet stamps.
//!
//! AF_PACKET stamps packets with CLOCK_REALTIME. The difference between the two clocks changes only when somebody steps the
//! wall clock; it is measured again every millisecond, and at once when a stamp looks impossible.

use crosswind_engine::Instant;

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that the call fills in.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Processor time of the calling thread, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The engine's name for a CLOCK_MONOTONIC instant.
pub fn instant(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

/// How long a measured difference is believed.
const REFRESH_NS: u64 = 1_000_000;
/// A stamp further than this from now is a sign that the wall clock was stepped.
const IMPLAUSIBLE_NS: u64 = 10_000_000;

/// Turns CLOCK_REALTIME stamps into CLOCK_MONOTONIC instants.
#[derive(Debug)]
pub struct Stamps {
    realtime_minus_monotonic_ns: i64,
    measured_ns: u64,
}

impl Stamps {
    /// Measures the difference for the first time.
    pub fn new() -> Self {
        let mut stamps = Self { realtime_minus_monotonic_ns: 0, measured_ns: 0 };
        stamps.measure();
        stamps
    }

    /// The difference in force.
    pub fn realtime_minus_monotonic_ns(&self) -> i64 {
        self.realtime_minus_monotonic_ns
    }

    /// The monotonic instant of a stamp, never later than `now`.
    pub fn monotonic(&mut self, realtime_ns: u64, now: u64) -> u64 {
        if now.saturating_sub(self.measured_ns) > REFRESH_NS {
            self.measure();
        }
        let mut at = realtime_ns.wrapping_sub(self.realtime_minus_monotonic_ns as u64);
        if at.abs_diff(now) > IMPLAUSIBLE_NS {
            self.measure();
            at = realtime_ns.wrapping_sub(self.realtime_minus_monotonic_ns as u64);
        }
        at.min(now)
    }

    /// Reads both clocks three times and keeps the reading that was interrupted least.
    fn measure(&mut self) {
        let mut best = u64::MAX;
        for _ in 0..3 {
            let before = monotonic_ns();
            let realtime = read(libc::CLOCK_REALTIME);
            let after = monotonic_ns();
            if after - before < best {
                best = after - before;
                let middle = before + (after - before) / 2;
                self.realtime_minus_monotonic_ns = realtime.wrapping_sub(middle) as i64;
                self.measured_ns = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_taken_now_is_now_within_a_microsecond() {
        let mut stamps = Stamps::new();
        let errors: Vec<u64> = (0..100)
            .map(|_| {
                let stamp = read(libc::CLOCK_REALTIME);
                let now = monotonic_ns();
                now - stamps.monotonic(stamp, now)
            })
            .collect();
        assert!(errors.iter().min().unwrap() < &1_000, "{errors:?}");
    }

    #[test]
    fn a_stamp_from_the_future_is_now() {
        let mut stamps = Stamps::new();
        let now = monotonic_ns();
        assert_eq!(stamps.monotonic(read(libc::CLOCK_REALTIME) + 5_000, now), now);
    }
}
