//! The clock as an argument: the driver's loop is the same under the wall clock and under a test's virtual one.

use std::sync::Arc;

use crate::stop::Stop;

/// A source of instants, in nanoseconds, and a way to wait for one.
pub trait Clock {
    /// The present instant.
    fn now_ns(&self) -> u64;
    /// Waits until the instant, or until the run is stopped.
    fn sleep_until_ns(&self, instant_ns: u64);
}

/// CLOCK_MONOTONIC, and a sleep on it that a request to stop cuts short.
pub struct WallClock {
    stop: Arc<Stop>,
}

impl WallClock {
    /// A clock for the calling thread, whose sleeps are from now on as exact as the kernel offers.
    pub fn for_this_thread(stop: &Arc<Stop>) -> Self {
        // By default the kernel may lengthen an ordinary thread's sleep by 50 us to merge wake-ups (timer slack). That
        // is of the order of what is measured; 1 ns is the smallest slack there is (0 would mean "the default").
        // SAFETY: PR_SET_TIMERSLACK takes one number and changes nothing but the calling thread's slack.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
        WallClock { stop: Arc::clone(stop) }
    }
}

impl Clock for WallClock {
    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn sleep_until_ns(&self, instant_ns: u64) {
        while monotonic_ns() < instant_ns && self.stop.reason().is_none() {
            self.stop.sleep_until_ns(instant_ns);
        }
    }
}

/// CLOCK_MONOTONIC in nanoseconds: the one time scale of all of Crosswind's parts on a machine.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec to write to. The call cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
