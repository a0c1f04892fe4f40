//! Resampled levels. Blocks of a trace, each from a random position in it: the same network on another day.
//!
//! `trace`: levels at times, and the period at which the trace ends; its end is joined to its start. `block`: how long
//! the trace is followed; then a position in it is drawn, with all nanoseconds equally likely. The next block starts
//! with the level at that position, from the level's start, so that levels last as long as in the trace.
//!
//! Levels have the same frequency as in the trace if they all last equally long and a block is a multiple of that.
//! Their autocorrelation at a lag is that of the trace times 1 - lag / block, and zero beyond a block. So a block
//! should be several times longer than the trace's own correlation.
//!
//! Source: Politis and Romano 1992, "A circular block-resampling procedure for stationary data"; Kuensch 1989.

use super::drawn::below;
use super::levels::LevelSchedule;
use crate::describe::Problem;
use crate::random::Stream;
use crate::units::{Capacity, Duration, Instant};

/// Checks a trace to be resampled: it must have an end.
pub(super) fn check(trace: &LevelSchedule) -> Result<(), Problem> {
    if trace.period.is_none() {
        return Err(Problem::new("is resampled and has no end; say when the trace is over"));
    }
    trace.check()
}

pub(super) struct Resampled {
    trace: LevelSchedule,
    period_ns: u64,
    block: Duration,
    stream: Stream,
    /// Position in the trace at the next wake-up; in [0, period).
    place_ns: u64,
    /// In (0, block] within a block; 0 when the next one must be drawn.
    left_ns: u64,
    next: Instant,
}

impl Resampled {
    /// `trace` has been checked.
    pub(super) fn new(trace: LevelSchedule, block: Duration, stream: Stream, start: Instant) -> Resampled {
        let period_ns = trace.period.map_or(1, Duration::as_nanos);
        Resampled { trace, period_ns, block, stream, place_ns: 0, left_ns: 0, next: start }
    }

    pub(super) fn wake(&mut self) -> Capacity {
        if self.left_ns == 0 {
            let drawn_ns = below(self.period_ns, &mut self.stream);
            self.place_ns = self.trace.levels[self.behind(drawn_ns) - 1].0.as_nanos();
            self.left_ns = self.block.as_nanos();
        }
        let (behind, levels) = (self.behind(self.place_ns), &self.trace.levels);
        let until_ns = levels.get(behind).map_or(self.period_ns, |&(time, _)| time.as_nanos());
        let step_ns = (until_ns - self.place_ns).min(self.left_ns);
        self.place_ns = (self.place_ns + step_ns) % self.period_ns;
        self.left_ns -= step_ns;
        self.next = self.next.saturating_add(Duration::from_nanos(step_ns));
        levels[behind - 1].1
    }

    pub(super) fn next_wake(&self) -> Instant {
        self.next
    }

    /// The index after the level at a position; at least 1, since the first level is at time 0.
    fn behind(&self, place_ns: u64) -> usize {
        self.trace.levels.partition_point(|&(time, _)| time.as_nanos() <= place_ns)
    }
}
