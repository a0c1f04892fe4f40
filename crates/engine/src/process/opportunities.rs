//! Delivery opportunities. At given instants a number of IP bytes may leave the queue; between them the link sends
//! nothing.
//!
//! `opportunities`: (time, IP bytes), times not decreasing, at least 1 byte each. `period`: if absent, the link sends
//! nothing after the last; otherwise at least the last time, and the list repeats.
//!
//! An opportunity serves packets until its bytes are used up. A packet larger than the rest of an opportunity uses
//! that rest, and leaves with a later opportunity. The rest is lost when the queue is empty: a packet that arrives at
//! the same instant, after the opportunity, waits for the next. All bytes of a packet count, and it leaves without
//! serialisation time.
//!
//! Source: Netravali et al. 2015 (USENIX ATC), "Mahimahi", section 4, and `link_queue.cc` of its mm-link: one line of
//! a trace is one opportunity of 1500 bytes in the millisecond that it names; the last line's time is also the period.
//! Deviation: mm-link counts 1504 bytes and 4 bytes of tunnel header with each packet. Full packets are treated alike;
//! of short ones slightly more fit here.

use alloc::sync::Arc;

use super::schedule::{check_times, Position};
use crate::describe::Problem;
use crate::units::{Duration, Instant};

/// Opportunities at times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpportunitySchedule {
    /// When, and how many IP bytes.
    pub opportunities: Arc<[(Duration, u64)]>,
    /// From the start of the list to its next start; `None`: nothing leaves after the last.
    pub period: Option<Duration>,
}

impl OpportunitySchedule {
    pub(super) fn check(&self) -> Result<(), Problem> {
        if let Some(index) = self.opportunities.iter().position(|&(_, ip_bytes)| ip_bytes == 0) {
            return Err(Problem::new(alloc::format!(
                "opportunity {index} has 0 B; give at least 1, or leave it out"
            )));
        }
        check_times(self.opportunities.iter().map(|&(time, _)| time), self.period, true)
    }
}

pub(super) struct Opportunities {
    schedule: OpportunitySchedule,
    position: Position,
}

impl Opportunities {
    pub(super) fn new(schedule: OpportunitySchedule, start: Instant) -> Opportunities {
        Opportunities { position: Position::new(start, schedule.period), schedule }
    }

    /// IP bytes that may leave now.
    pub(super) fn wake(&mut self) -> u64 {
        let opportunities = &self.schedule.opportunities;
        opportunities[self.position.step(opportunities.len())].1
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        let opportunities = &self.schedule.opportunities;
        self.position.due(|index| opportunities[index].0, opportunities.len())
    }
}
