//! Delivery opportunities. At given instants a number of IP bytes may leave the queue; between them the link stands still.
//!
//! `opportunities`: (time, IP bytes), times not decreasing, at least 1 byte each. `period`: none, and the link stands still
//! for ever after the last; or at least the last time, and then the list begins again.
//!
//! An opportunity serves as many packets as it has bytes for. A packet larger than what is left takes that, and leaves with
//! a later opportunity. What an opportunity has left when the queue is empty is lost: a packet that comes at the same
//! instant, behind it, waits for the next. Packets take the whole of their bytes and leave without serialisation time.
//!
//! Source: Netravali et al. 2015 (USENIX ATC), "Mahimahi", section 4, and `link_queue.cc` of its mm-link: one line of a
//! trace is one opportunity of 1500 bytes in the millisecond it names; the last line's time is also the period.
//! Deviation: mm-link counts 1504 bytes and 4 bytes of tunnel header with each packet. Full packets are treated alike, of
//! short ones slightly more fit here.

use alloc::sync::Arc;

use super::schedule::{check_times, Position};
use crate::describe::Problem;
use crate::units::{Duration, Instant};

/// Opportunities at times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpportunitySchedule {
    /// When, and how many IP bytes.
    pub opportunities: Arc<[(Duration, u64)]>,
    /// From the beginning of the list to its next beginning; `None`: nothing leaves after the last.
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
