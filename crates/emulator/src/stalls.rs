//! Stalls: times at which this thread should have been awake and was not.
//!
//! A spinning thread reads the clock all the time, and a sleeping one sets its wake-up time. The time from there to
//! the next reading, minus the work of one round, was taken by the machine. During it no packet was forwarded, and on
//! most machines nothing else ran either.

use serde::Serialize;

/// A scheduler's slice is 4 ms, and a round of work is far shorter.
const STALL_MIN_NS: u64 = 5_000_000;
/// Stored per window; a machine that stalls more often has longer stalls to show.
const STALLS_MAX: usize = 10_000;

/// A time in which the emulator was stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// When it began.
    pub at_ns: u64,
    /// Its length.
    pub length_ns: u64,
}

/// The stalls of a window.
#[derive(Debug, Default)]
pub struct Stalls {
    awake_at_ns: Option<u64>,
    found: Vec<Stall>,
}

impl Stalls {
    /// Removes all stalls; a present one belongs to the new window.
    pub fn start_window(&mut self) {
        self.found.clear();
    }

    /// The thread is awake, and intends to be awake again at `next_ns`.
    pub fn awake(&mut self, now_ns: u64, next_ns: u64) {
        if let Some(at_ns) = self.awake_at_ns {
            let length_ns = now_ns.saturating_sub(at_ns);
            if length_ns >= STALL_MIN_NS && self.found.len() < STALLS_MAX {
                self.found.push(Stall { at_ns, length_ns });
            }
        }
        self.awake_at_ns = Some(next_ns);
    }

    /// Stalls of the window so far, in order.
    pub fn found(&self) -> &[Stall] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_spinning_thread_that_did_not_run_was_stalled() {
        let mut stalls = Stalls::default();
        for now in [0, 1, 2, 302, 303] {
            stalls.awake(now * MS, now * MS);
        }
        assert_eq!(stalls.found(), [Stall { at_ns: 2 * MS, length_ns: 300 * MS }]);
    }

    #[test]
    fn a_sleep_is_no_stall_but_time_after_its_end_is() {
        let mut stalls = Stalls::default();
        stalls.awake(0, 50 * MS);
        stalls.awake(50 * MS, 100 * MS);
        stalls.awake(180 * MS, 180 * MS);
        assert_eq!(stalls.found(), [Stall { at_ns: 100 * MS, length_ns: 80 * MS }]);
    }
}
