//! When this thread stood still: the instants at which it should have been awake and was not.
//!
//! A spinning thread looks at the clock all the time, and a sleeping one says until when it sleeps; whatever is between that
//! and the next look, less the work of one round, the machine took. Nothing was forwarded meanwhile, and on most machines
//! nothing else ran either.

use serde::Serialize;

/// A scheduler's slice is 4 ms, and a round of work far below it.
const STALL_MIN_NS: u64 = 5_000_000;
/// Kept per window; a machine that stands still more often has longer ones to show.
const STALLS_MAX: usize = 10_000;

/// A time in which the emulator stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// When it began.
    pub at_ns: u64,
    /// How long it took.
    pub length_ns: u64,
}

/// The stalls of a window.
#[derive(Debug, Default)]
pub struct Stalls {
    awake_at_ns: Option<u64>,
    found: Vec<Stall>,
}

impl Stalls {
    /// Forgets what was found; what is under way belongs to the new window.
    pub fn start_window(&mut self) {
        self.found.clear();
    }

    /// The thread is awake, and means to be so again at `next_ns`.
    pub fn awake(&mut self, now_ns: u64, next_ns: u64) {
        if let Some(at_ns) = self.awake_at_ns {
            let length_ns = now_ns.saturating_sub(at_ns);
            if length_ns >= STALL_MIN_NS && self.found.len() < STALLS_MAX {
                self.found.push(Stall { at_ns, length_ns });
            }
        }
        self.awake_at_ns = Some(next_ns);
    }

    /// Those of the window so far, in order.
    pub fn found(&self) -> &[Stall] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_thread_that_was_to_spin_and_did_not_stood_still() {
        let mut stalls = Stalls::default();
        for now in [0, 1, 2, 302, 303] {
            stalls.awake(now * MS, now * MS);
        }
        assert_eq!(stalls.found(), [Stall { at_ns: 2 * MS, length_ns: 300 * MS }]);
    }

    #[test]
    fn a_sleep_is_none_and_what_comes_after_its_end_is() {
        let mut stalls = Stalls::default();
        stalls.awake(0, 50 * MS);
        stalls.awake(50 * MS, 100 * MS);
        stalls.awake(180 * MS, 180 * MS);
        assert_eq!(stalls.found(), [Stall { at_ns: 100 * MS, length_ns: 80 * MS }]);
    }
}
