//! Consecutive windows of one length: the number that has ended by an instant. A window includes its first instant and
//! not its end.

use crate::units::{Duration, Instant};

#[derive(Copy, Clone)]
pub(crate) struct Windows {
    window_ns: u64,
    /// When the open window ends.
    end_ns: u64,
}

impl Windows {
    /// Starts at the origin of time.
    pub(crate) fn new(window: Duration) -> Windows {
        Windows { window_ns: window.as_nanos(), end_ns: window.as_nanos() }
    }

    /// The same windows, from `start` on.
    pub(crate) fn starting_at(self, start: Instant) -> Windows {
        Windows { end_ns: start.as_nanos().saturating_add(self.window_ns), ..self }
    }

    /// Ends every window before `to` and returns their number.
    #[inline]
    pub(crate) fn end_by(&mut self, to: Instant) -> u64 {
        let Some(past) = to.as_nanos().checked_sub(self.end_ns) else {
            return 0;
        };
        let ended = past / self.window_ns + 1;
        self.end_ns = self.end_ns.saturating_add(ended.saturating_mul(self.window_ns));
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_when_the_next_starts() {
        let mut windows = Windows::new(Duration::from_nanos(100)).starting_at(Instant::from_nanos(50));
        let ended = [149, 150, 249, 250, 999, 1050].map(|at| windows.end_by(Instant::from_nanos(at)));
        assert_eq!(ended, [0, 1, 0, 1, 7, 1]);
    }
}
