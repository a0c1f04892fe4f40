//! When the entries of a timed list are due, once or repeatedly.

use crate::describe::Problem;
use crate::units::{Duration, Instant};

/// A position in a list of times, which do not decrease.
pub(crate) struct Position {
    /// When the present pass through the list started.
    begun: Instant,
    next: usize,
    /// Time from pass to pass; `None` for a single pass.
    period: Option<Duration>,
}

impl Position {
    pub(crate) fn new(start: Instant, period: Option<Duration>) -> Position {
        Position { begun: start, next: 0, period }
    }

    /// When the next of `count` entries is due, given its time in the list; `None` after the last pass.
    pub(crate) fn due(&self, time_of: impl Fn(usize) -> Duration, count: usize) -> Option<Instant> {
        (self.next < count).then(|| self.begun.saturating_add(time_of(self.next)))
    }

    /// Advances to the next entry, and returns the index of the entry that was next until now.
    pub(crate) fn step(&mut self, count: usize) -> usize {
        let index = self.next;
        self.next += 1;
        if let (true, Some(period)) = (self.next == count, self.period) {
            self.next = 0;
            self.begun = self.begun.saturating_add(period);
        }
        index
    }
}

/// Checks a list of times and its period. `at_the_end`: whether the last entry may be at the very end of a pass.
pub(crate) fn check_times(
    times: impl ExactSizeIterator<Item = Duration>,
    period: Option<Duration>,
    at_the_end: bool,
) -> Result<(), Problem> {
    if times.len() == 0 {
        return Err(Problem::new("has no entries and so no capacity; give at least one"));
    }
    let mut last = Duration::ZERO;
    for (index, time) in times.enumerate() {
        if time < last {
            return Err(Problem::new(alloc::format!(
                "entry {index} is earlier than the one before it; put entries in the order of time"
            )));
        }
        last = time;
    }
    match period {
        Some(period) if period < last || period == Duration::ZERO || (period == last && !at_the_end) => {
            Err(Problem::new(alloc::format!(
                "begins again after {period}, and its last entry is at {last}; give a longer period"
            )))
        }
        _ => Ok(()),
    }
}
