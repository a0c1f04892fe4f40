//! The clocks: CLOCK_MONOTONIC for everything, and CLOCK_REALTIME only to interpret the kernel's packet stamps.
//!
//! AF_PACKET stamps packets with CLOCK_REALTIME. The difference between the two clocks changes only when the wall
//! clock is stepped. It is measured again every millisecond, and at once when a stamp looks impossible.

use std::cell::Cell;

use crosswind_engine::Instant;

use crate::forwarder::AHEAD_NS;

/// The two clocks.
pub trait Clock {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fn monotonic_ns(&self) -> u64;

    /// Nanoseconds of CLOCK_REALTIME.
    fn realtime_ns(&self) -> u64;

    /// A stamp of the kernel, as [`Clock::realtime_ns`] would have shown it.
    fn of_stamp_ns(&self, stamp_ns: u64) -> u64 {
        stamp_ns
    }

    /// Waits for an instant that is at most [`AHEAD_NS`] away, and returns the present.
    fn reach(&self, instant_ns: u64) -> u64 {
        loop {
            let now = self.monotonic_ns();
            if !(now..=now + AHEAD_NS).contains(&instant_ns) {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock;

impl Clock for MachineClock {
    fn monotonic_ns(&self) -> u64 {
        read(libc::CLOCK_MONOTONIC)
    }

    fn realtime_ns(&self) -> u64 {
        read(libc::CLOCK_REALTIME)
    }
}

/// A clock that only its owner advances, except for the time that a reading takes.
#[derive(Debug)]
pub struct VirtualClock {
    now_ns: Cell<u64>,
}

/// About the time of a reading on a machine, so that a loop that reads the clock reaches its instant.
const LOOK_NS: u64 = 20;

impl VirtualClock {
    /// A clock that shows this instant; CLOCK_REALTIME is the same.
    pub fn new(now_ns: u64) -> Self {
        Self { now_ns: Cell::new(now_ns) }
    }

    /// Advances to an instant, unless it is past.
    pub fn advance_to(&self, instant_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(instant_ns));
    }
}

impl Clock for VirtualClock {
    fn monotonic_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + LOOK_NS);
        self.now_ns.get()
    }

    fn realtime_ns(&self) -> u64 {
        self.monotonic_ns()
    }
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that the call fills in.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of the calling thread, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The engine's name for a CLOCK_MONOTONIC instant.
pub fn instant(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

/// How long a measured difference is used.
const REFRESH_NS: u64 = 1_000_000;
/// A stamp that differs more than this from the present indicates a step of the wall clock.
const IMPLAUSIBLE_NS: u64 = 10_000_000;

/// Turns CLOCK_REALTIME stamps into CLOCK_MONOTONIC instants.
#[derive(Debug)]
pub struct Stamps {
    realtime_minus_monotonic_ns: i64,
    measured_ns: u64,
}

impl Stamps {
    /// Measures the difference for the first time.
    pub fn new(clock: &impl Clock) -> Self {
        let mut stamps = Self { realtime_minus_monotonic_ns: 0, measured_ns: 0 };
        stamps.measure(clock);
        stamps
    }

    /// The difference that is currently used.
    pub fn realtime_minus_monotonic_ns(&self) -> i64 {
        self.realtime_minus_monotonic_ns
    }

    /// The monotonic instant of a stamp, never later than the present. `now` is an instant that was read shortly
    /// before.
    ///
    /// If the caller was stalled after it read `now`, packets have come that are newer than `now`. Stamping them with
    /// `now` would make them leave early by the length of the stall.
    pub fn monotonic(&mut self, clock: &impl Clock, realtime_ns: u64, now: u64) -> u64 {
        if now.saturating_sub(self.measured_ns) > REFRESH_NS {
            self.measure(clock);
        }
        let mut at = realtime_ns.wrapping_sub(self.realtime_minus_monotonic_ns as u64);
        if at.abs_diff(now) > IMPLAUSIBLE_NS {
            self.measure(clock);
            at = realtime_ns.wrapping_sub(self.realtime_minus_monotonic_ns as u64);
        }
        if at <= now {
            at
        } else {
            at.min(clock.monotonic_ns())
        }
    }

    /// Reads both clocks three times; the new difference agrees with all three readings.
    fn measure(&mut self, clock: &impl Clock) {
        for _ in 0..3 {
            let before = clock.monotonic_ns();
            let realtime = clock.realtime_ns();
            let after = clock.monotonic_ns();
            self.realtime_minus_monotonic_ns =
                agreeing(self.realtime_minus_monotonic_ns, before, realtime, after);
            self.measured_ns = after;
        }
    }
}

/// The difference nearest to `believed` that is consistent with a reading of the wall clock between two of the
/// monotonic clock.
///
/// A reading that was interrupted for milliseconds only shows that the difference lies within them. Taking the middle
/// would move every stamp by as much as a millisecond: packets would leave early, and the ledger would not show it.
fn agreeing(believed: i64, before: u64, realtime: u64, after: u64) -> i64 {
    let (least, most) = (realtime.wrapping_sub(after) as i64, realtime.wrapping_sub(before) as i64);
    believed.clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_lookahead_is_waited_for_and_what_is_past_or_far_is_not() {
        let clock = VirtualClock::new(1_000);
        let last = 1_000 + LOOK_NS + AHEAD_NS;
        assert!(clock.reach(last) > last);
        let now = clock.monotonic_ns();
        assert_eq!(clock.reach(last), now + LOOK_NS);
        assert_eq!(clock.reach(now + 10 * AHEAD_NS), now + 2 * LOOK_NS);
    }

    #[test]
    fn a_present_stamp_converts_to_the_present_within_a_microsecond() {
        let mut stamps = Stamps::new(&MachineClock);
        let errors: Vec<u64> = (0..100)
            .map(|_| {
                let stamp = MachineClock.realtime_ns();
                let now = MachineClock.monotonic_ns();
                now.abs_diff(stamps.monotonic(&MachineClock, stamp, now))
            })
            .collect();
        assert!(errors.iter().min().unwrap() < &1_000, "{errors:?}");
    }

    #[test]
    fn an_interrupted_reading_changes_nothing_and_a_stepped_clock_changes_the_difference() {
        // The difference is 1000. A reading within 10 ns of it leaves it unchanged, and so does one that was
        // interrupted for 4 ms on either side.
        assert_eq!(agreeing(1_000, 500, 1_505, 510), 1_000);
        assert_eq!(agreeing(1_000, 500, 1_505, 4_000_510), 1_000);
        assert_eq!(agreeing(1_000, 500, 4_001_500, 4_000_510), 1_000);
        // The wall clock was stepped forward by 1 s: the reading allows 1 000 000 995 to 1 000 001 005.
        assert_eq!(agreeing(1_000, 500, 1_000_001_505, 510), 1_000_000_995);
    }

    #[test]
    fn a_stamp_from_the_future_is_the_present() {
        let mut stamps = Stamps::new(&MachineClock);
        let now = MachineClock.monotonic_ns();
        let at = stamps.monotonic(&MachineClock, MachineClock.realtime_ns() + 5_000_000, now);
        assert!((now..=MachineClock.monotonic_ns()).contains(&at));
    }

    #[test]
    fn a_packet_newer_than_now_does_not_get_an_older_instant() {
        let mut stamps = Stamps::new(&MachineClock);
        let stale = MachineClock.monotonic_ns();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let at = stamps.monotonic(&MachineClock, MachineClock.realtime_ns(), stale);
        assert!(at >= stale + 2_000_000, "{} ns newer than now", at - stale);
    }
}
