//! Given levels. Each applies from its time until the next one's: steps, and traces of a rate.
//!
//! `levels`: (time, level), the first at time 0, times not decreasing; of several at one time the last counts.
//! `period`: if absent, the last level applies without end; otherwise longer than the last time, and the list repeats.
//!
//! Nothing is interpolated: between two samples of a trace the capacity is that of the earlier one.

use alloc::sync::Arc;

use super::schedule::{check_times, Position};
use crate::describe::Problem;
use crate::units::{Capacity, Duration, Instant};

/// Levels at times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LevelSchedule {
    /// The start of each level; shared, because many links may follow one trace.
    pub levels: Arc<[(Duration, Capacity)]>,
    /// From the start of the list to its next start; `None`: the last level applies without end.
    pub period: Option<Duration>,
}

impl LevelSchedule {
    pub(super) fn check(&self) -> Result<(), Problem> {
        check_times(self.levels.iter().map(|&(time, _)| time), self.period, false)?;
        match self.levels.first() {
            Some(&(first, _)) if first > Duration::ZERO => Err(Problem::new(alloc::format!(
                "its first level is at {first}; say what holds from 0 ns on"
            ))),
            _ => Ok(()),
        }
    }
}

pub(super) struct Levels {
    schedule: LevelSchedule,
    position: Position,
}

impl Levels {
    pub(super) fn new(schedule: LevelSchedule, start: Instant) -> Levels {
        Levels { position: Position::new(start, schedule.period), schedule }
    }

    pub(super) fn wake(&mut self) -> Capacity {
        let levels = &self.schedule.levels;
        levels[self.position.step(levels.len())].1
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        let levels = &self.schedule.levels;
        self.position.due(|index| levels[index].0, levels.len())
    }
}
