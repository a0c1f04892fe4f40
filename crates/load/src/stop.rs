//! The request to stop, seen by every thread at once, and the sleep that it cuts short.
//!
//! The sleep is a futex wait with an absolute CLOCK_MONOTONIC deadline. Compared with the alternatives: it wakes at the
//! requested instant (a relative sleep adds whatever happened between reading the clock and sleeping), to the
//! nanosecond that high-resolution timers offer (an asynchronous runtime's timer has steps of 1 ms), it ends at once
//! when the run is stopped (`clock_nanosleep` would not), and it leaves the core to the server that is being measured
//! (spinning would not). What remains is the scheduler's wake-up delay; it shows as `started - intended` on a
//! connection that was idle.
//!
//! Source: futex(2), FUTEX_WAIT_BITSET: "timeout ... as an absolute CLOCK_MONOTONIC value".

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Longest operation, unless the run says otherwise. After it the connection is given up, because a later answer could
/// be taken for that of the next request.
pub const OPERATION_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a run was stopped before its plan was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A signal with this number arrived.
    Signal(u8),
    /// The memory set aside for samples is used up.
    SamplesFull,
}

const RUNNING: u32 = 0;
const SAMPLES_FULL: u32 = 0x100; // above every signal number

/// A request to stop: made once, never withdrawn. It also says how long an operation may wait without one.
#[derive(Debug)]
pub struct Stop {
    state: AtomicU32,
    patience: Duration,
}

impl Stop {
    /// No stop has been requested yet.
    pub fn new() -> Self {
        Stop::with_patience(OPERATION_TIMEOUT)
    }

    /// As [`new`](Self::new), with another time-out of operations.
    pub fn with_patience(patience: Duration) -> Self {
        Stop { state: AtomicU32::new(RUNNING), patience }
    }

    /// Longest operation.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Requests every thread to stop, and wakes those that sleep. The first reason holds.
    pub fn request(&self, reason: StopReason) {
        let state = match reason {
            StopReason::Signal(number) => u32::from(number),
            StopReason::SamplesFull => SAMPLES_FULL,
        };
        let _ = self.state.compare_exchange(RUNNING, state, Ordering::SeqCst, Ordering::SeqCst);
        // SAFETY: the address is that of a live, aligned 32-bit word; FUTEX_WAKE reads nothing else.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.state.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                i32::MAX,
            );
        }
    }

    /// The reason, once there is one.
    pub fn reason(&self) -> Option<StopReason> {
        match self.state.load(Ordering::SeqCst) {
            RUNNING => None,
            SAMPLES_FULL => Some(StopReason::SamplesFull),
            number => Some(StopReason::Signal(number as u8)),
        }
    }

    /// Sleeps until the instant (CLOCK_MONOTONIC, nanoseconds) or until a stop is requested.
    ///
    /// May return early after an interruption; callers look at the clock.
    pub fn sleep_until_ns(&self, instant_ns: u64) {
        let deadline = libc::timespec {
            tv_sec: (instant_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (instant_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the word and the timespec outlive the call, and the kernel only reads them. If the word is no longer
        // RUNNING the call returns at once, so a stop requested just before is not slept through.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.state.as_ptr(),
                libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG,
                RUNNING,
                &deadline as *const libc::timespec,
                std::ptr::null::<u32>(),
                libc::FUTEX_BITSET_MATCH_ANY,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic_ns;
    use std::sync::Arc;

    #[test]
    fn a_sleep_never_ends_before_its_instant() {
        let stop = Stop::new();
        for _ in 0..20 {
            let instant_ns = monotonic_ns() + 300_000;
            stop.sleep_until_ns(instant_ns);
            assert!(monotonic_ns() >= instant_ns);
        }
    }

    #[test]
    fn a_request_to_stop_ends_a_long_sleep_and_its_first_reason_holds() {
        let stop = Arc::new(Stop::new());
        let sleeper = {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || stop.sleep_until_ns(monotonic_ns() + 3_600_000_000_000))
        };
        stop.request(StopReason::Signal(15));
        stop.request(StopReason::SamplesFull);
        sleeper.join().unwrap();
        assert_eq!(stop.reason(), Some(StopReason::Signal(15)));
    }
}
