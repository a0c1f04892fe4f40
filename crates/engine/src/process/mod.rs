//! Processes: the capacity of a link as a function of time alone. Traffic does not change it (a shaper models capacity
//! that depends on traffic; a source models traffic that competes for capacity).
//!
//! A process drives one link from the instant of its start, which is its time 0, and its levels replace the link's own
//! rate. A level is wire bits per second, unlimited, or an outage. A change of level is exact: it happens at its own
//! instant, and the rest of the packet on the transmitter is sent at the new level (`link/transmitter.rs`). When a
//! process is stopped, the link has its own rate again.
//!
//! A log also drives the link's delay: its delay is added to the link's own, and is gone when the process is stopped.
//!
//! Each draw comes from the random stream of the process's name. So links, and the two directions of one, are
//! independent, and a process that is restarted under its name draws the same levels again.
//!
//! The first 65 536 changes since the start are stored, so that the capacity at each time can be reported; later ones
//! are counted. Delivery opportunities are not levels and are not stored.

mod drawn;
mod levels;
mod log;
mod markov;
mod opportunities;
mod parameters;
mod resampled;
mod schedule;

use alloc::vec::Vec;

use crate::describe::{page, Page, Problem};
use crate::element::ElementId;
use crate::random::Stream;
use crate::units::{Capacity, Duration, Instant};
use drawn::Drawn;
pub use drawn::{Cell, PiecewiseUniform};
pub use levels::LevelSchedule;
use levels::Levels;
use log::Log;
pub use log::LogSchedule;
use markov::Markov;
pub use markov::{MarkovChain, MarkovState};
use opportunities::Opportunities;
pub use opportunities::OpportunitySchedule;
pub use parameters::{CapacityParameters, Direction};
use resampled::Resampled;

/// The page of `capacity`.
const PAGE: Page = page!("mod.rs");

/// Number of changes of one process that are stored.
pub const CHANGES_STORED: usize = 65_536;

/// A process of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProcessId(pub(crate) u32);

impl ProcessId {
    /// The process's position in the order of starting, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How capacity changes with time. Each variant's file is its manual page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProcessSpec {
    /// Given levels at given times: steps, and traces of a rate (`process/levels.rs`).
    Levels(LevelSchedule),
    /// Bytes that may leave at given instants: traces of Mahimahi (`process/opportunities.rs`).
    Opportunities(OpportunitySchedule),
    /// Given levels and delays at given times: logs of measurements (`process/log.rs`).
    Log(LogSchedule),
    /// A level drawn from a distribution at every `hold` (`process/drawn.rs`).
    Drawn {
        /// The distribution.
        law: PiecewiseUniform,
        /// How long a draw applies; at least 1 ns.
        hold: Duration,
    },
    /// A level for each state of a chain, which makes a transition at every `hold` (`process/markov.rs`).
    Markov {
        /// States and their transitions.
        chain: MarkovChain,
        /// Time between transitions; at least 1 ns.
        hold: Duration,
    },
    /// Blocks of a trace from random positions (`process/resampled.rs`).
    Resampled {
        /// The trace; it has a period.
        trace: LevelSchedule,
        /// The length of each block; at least 1 ns.
        block: Duration,
    },
}

impl ProcessSpec {
    /// Checks whether an engine can carry it out.
    ///
    /// # Errors
    /// The first error in it.
    pub fn check(&self) -> Result<(), Problem> {
        match self {
            ProcessSpec::Levels(schedule) => schedule.check(),
            ProcessSpec::Opportunities(schedule) => schedule.check(),
            ProcessSpec::Log(schedule) => schedule.check(),
            ProcessSpec::Drawn { hold: Duration::ZERO, .. }
            | ProcessSpec::Markov { hold: Duration::ZERO, .. }
            | ProcessSpec::Resampled { block: Duration::ZERO, .. } => {
                Err(Problem::new("hold 0 ns would redraw the rate without end; give at least 1 ns"))
            }
            ProcessSpec::Drawn { law, .. } => law.check(),
            ProcessSpec::Markov { chain, .. } => chain.check(),
            ProcessSpec::Resampled { trace, .. } => resampled::check(trace),
        }
    }
}

/// The change that a process makes to its link.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Level(Capacity),
    Opportunity {
        ip_bytes: u64,
    },
    /// Also a delay in addition to the link's own; without a level the link has its own rate.
    Logged {
        level: Option<Capacity>,
        delay: Duration,
    },
}

enum Kind {
    Levels(Levels),
    Opportunities(Opportunities),
    Log(Log),
    Drawn(Drawn),
    Markov(Markov),
    Resampled(Resampled),
}

/// A process in operation.
pub(crate) struct Process {
    kind: Kind,
    link: ElementId,
    running: bool,
    changes: Vec<(Instant, Capacity)>,
    changes_not_stored: u64,
}

impl Process {
    /// `spec` has been checked. The first wake-up is due at `next_wake`.
    pub(crate) fn new(spec: ProcessSpec, link: ElementId, stream: Stream, start: Instant) -> Process {
        let kind = match spec {
            ProcessSpec::Levels(schedule) => Kind::Levels(Levels::new(schedule, start)),
            ProcessSpec::Opportunities(schedule) => Kind::Opportunities(Opportunities::new(schedule, start)),
            ProcessSpec::Log(schedule) => Kind::Log(Log::new(schedule, start)),
            ProcessSpec::Drawn { law, hold } => Kind::Drawn(Drawn::new(law, hold, stream, start)),
            ProcessSpec::Markov { chain, hold } => Kind::Markov(Markov::new(chain, hold, stream, start)),
            ProcessSpec::Resampled { trace, block } => {
                Kind::Resampled(Resampled::new(trace, block, stream, start))
            }
        };
        Process { kind, link, running: true, changes: Vec::new(), changes_not_stored: 0 }
    }

    pub(crate) fn link(&self) -> ElementId {
        self.link
    }

    /// Whether it still drives its link.
    pub(crate) fn is_running(&self) -> bool {
        self.running
    }

    /// Stops; returns whether it was running.
    pub(crate) fn stop(&mut self) -> bool {
        core::mem::replace(&mut self.running, false)
    }

    /// The change at the present instant, which is that of `next_wake`.
    pub(crate) fn wake(&mut self, now: Instant) -> Change {
        let level = match &mut self.kind {
            Kind::Opportunities(opportunities) => {
                return Change::Opportunity { ip_bytes: opportunities.wake() }
            }
            Kind::Log(log) => {
                let (level, delay) = log.wake();
                if let Some(level) = level {
                    self.note(now, level);
                }
                return Change::Logged { level, delay };
            }
            Kind::Levels(levels) => levels.wake(),
            Kind::Drawn(drawn) => drawn.wake(),
            Kind::Markov(markov) => markov.wake(),
            Kind::Resampled(resampled) => resampled.wake(),
        };
        self.note(now, level);
        Change::Level(level)
    }

    /// When to wake it next; `None` if nothing changes any more.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        match &self.kind {
            Kind::Levels(levels) => levels.next_wake(),
            Kind::Opportunities(opportunities) => opportunities.next_wake(),
            Kind::Log(log) => log.next_wake(),
            Kind::Drawn(drawn) => Some(drawn.next_wake()),
            Kind::Markov(markov) => Some(markov.next_wake()),
            Kind::Resampled(resampled) => Some(resampled.next_wake()),
        }
    }

    /// Whether the link sends nothing between wake-ups, instead of having a level.
    pub(crate) fn is_of_opportunities(&self) -> bool {
        matches!(self.kind, Kind::Opportunities(_))
    }

    pub(crate) fn changes(&self) -> &[(Instant, Capacity)] {
        &self.changes
    }

    pub(crate) fn changes_not_stored(&self) -> u64 {
        self.changes_not_stored
    }

    fn note(&mut self, now: Instant, level: Capacity) {
        if self.changes.last().is_some_and(|&(_, before)| before == level) {
            return;
        }
        if self.changes.len() < CHANGES_STORED {
            self.changes.push((now, level));
        } else {
            self.changes_not_stored += 1;
        }
    }
}
