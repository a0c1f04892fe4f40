//! A log of a link: its capacity and its delay, or one of them, at given times. Nothing is interpolated.
//!
//! `at_ns`: the first is 0, times do not decrease; of several at one time the last counts. `rate_bps`: a level for each
//! time; if absent, the link keeps its own rate. `delay_ns`: for each time, propagation in addition to the link's own;
//! none if absent. `repeat_ns`: if absent, the last entry applies without end; otherwise longer than the last time, and
//! the log repeats.
//!
//! A delay applies to packets whose last bit leaves the transmitter after its time. Packets in flight keep their
//! instants, and no later packet overtakes them: where the delay becomes shorter, packets arrive together.
//!
//! Source: none; it is what a measurement of throughput and round trips at a grid of times says, and no more.

use alloc::sync::Arc;

use super::schedule::{check_times, Position};
use crate::describe::Problem;
use crate::units::{Capacity, Duration, Instant};

/// Capacity and delay at times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogSchedule {
    /// When each entry begins; shared, because many links may follow one log.
    pub at: Arc<[Duration]>,
    /// The level from each time on; `None`: the link's own rate.
    pub levels: Option<Arc<[Capacity]>>,
    /// The delay from each time on; `None`: none.
    pub delays: Option<Arc<[Duration]>>,
    /// From the start of the log to its next start; `None`: the last entry applies without end.
    pub period: Option<Duration>,
}

impl LogSchedule {
    pub(super) fn check(&self) -> Result<(), Problem> {
        let lengths =
            [self.levels.as_ref().map(|list| list.len()), self.delays.as_ref().map(|list| list.len())];
        if lengths == [None, None] {
            return Err(Problem::new(
                "has neither rates nor delays, so it changes nothing; give one of them",
            ));
        }
        if lengths.into_iter().flatten().any(|length| length != self.at.len()) {
            return Err(Problem::new("its lists differ in length; give one entry for each time"));
        }
        check_times(self.at.iter().copied(), self.period, false)?;
        match self.at.first() {
            Some(&first) if first > Duration::ZERO => Err(Problem::new(alloc::format!(
                "its first entry is at {first}; say what holds from 0 ns on"
            ))),
            _ => Ok(()),
        }
    }
}

pub(super) struct Log {
    schedule: LogSchedule,
    position: Position,
}

impl Log {
    pub(super) fn new(schedule: LogSchedule, start: Instant) -> Log {
        Log { position: Position::new(start, schedule.period), schedule }
    }

    /// The level, if the log has levels, and the delay.
    pub(super) fn wake(&mut self) -> (Option<Capacity>, Duration) {
        let index = self.position.step(self.schedule.at.len());
        let LogSchedule { levels, delays, .. } = &self.schedule;
        let level = levels.as_ref().map(|levels| levels[index]);
        (level, delays.as_ref().map_or(Duration::ZERO, |delays| delays[index]))
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.position.due(|index| self.schedule.at[index], self.schedule.at.len())
    }
}
