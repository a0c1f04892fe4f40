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

/// Nanoseconds of CLOCK_REALTIME.
pub fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
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

    /// The monotonic instant of a stamp, never later than the present. `now` is an instant read a moment ago.
    ///
    /// Where the caller stood still since it read `now`, packets have come that are younger than it. To take them for as
    /// old as `now` would make them leave early by as much as the caller stood still.
    pub fn monotonic(&mut self, realtime_ns: u64, now: u64) -> u64 {
        if now.saturating_sub(self.measured_ns) > REFRESH_NS {
            self.measure();
        }
        let mut at = realtime_ns.wrapping_sub(self.realtime_minus_monotonic_ns as u64);
        if at.abs_diff(now) > IMPLAUSIBLE_NS {
            self.measure();
            at = realtime_ns.wrapping_sub(self.realtime_minus_monotonic_ns as u64);
        }
        if at <= now {
            at
        } else {
            at.min(monotonic_ns())
        }
    }

    /// Reads both clocks three times; whatever is believed afterwards agrees with all three.
    fn measure(&mut self) {
        for _ in 0..3 {
            let before = monotonic_ns();
            let realtime = read(libc::CLOCK_REALTIME);
            let after = monotonic_ns();
            self.realtime_minus_monotonic_ns =
                agreeing(self.realtime_minus_monotonic_ns, before, realtime, after);
            self.measured_ns = after;
        }
    }
}

/// The difference nearest to `believed` that a reading of the wall clock between two of the other allows.
///
/// A reading that was interrupted for milliseconds says no more than that the difference lies within them. To take its
/// middle would move every stamp by as much as a millisecond: packets would leave early, and the ledger not know.
fn agreeing(believed: i64, before: u64, realtime: u64, after: u64) -> i64 {
    let (least, most) = (realtime.wrapping_sub(after) as i64, realtime.wrapping_sub(before) as i64);
    believed.clamp(least, most)
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
                now.abs_diff(stamps.monotonic(stamp, now))
            })
            .collect();
        assert!(errors.iter().min().unwrap() < &1_000, "{errors:?}");
    }

    #[test]
    fn an_interrupted_reading_moves_nothing_and_a_stepped_clock_moves_the_difference() {
        // Believed 1000; read within 10 ns of it, it stays. Interrupted for 4 ms on either side, it stays as well.
        assert_eq!(agreeing(1_000, 500, 1_505, 510), 1_000);
        assert_eq!(agreeing(1_000, 500, 1_505, 4_000_510), 1_000);
        assert_eq!(agreeing(1_000, 500, 4_001_500, 4_000_510), 1_000);
        // Somebody has put the wall clock forward by 1 s: the reading allows 1 000 000 995 to 1 000 001 005.
        assert_eq!(agreeing(1_000, 500, 1_000_001_505, 510), 1_000_000_995);
    }

    #[test]
    fn a_stamp_from_the_future_is_the_present() {
        let mut stamps = Stamps::new();
        let now = monotonic_ns();
        let at = stamps.monotonic(read(libc::CLOCK_REALTIME) + 5_000_000, now);
        assert!((now..=monotonic_ns()).contains(&at));
    }

    #[test]
    fn a_packet_that_came_after_now_was_read_is_not_taken_for_older() {
        let mut stamps = Stamps::new();
        let stale = monotonic_ns();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let at = stamps.monotonic(read(libc::CLOCK_REALTIME), stale);
        assert!(at >= stale + 2_000_000, "taken for {} ns younger than now", at - stale);
    }
}
