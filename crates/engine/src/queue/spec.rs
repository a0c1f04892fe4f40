//! The specification of a set of queues, and what makes one valid.

use alloc::vec;
use alloc::vec::Vec;

use crate::error::Problem;
use crate::scheduler::Scheduling;
use crate::units::Limit;

/// Queues and the scheduler that serves them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queueing {
    /// Who goes first. A fifo has exactly one queue.
    pub by: Scheduling,
    /// The queues, under strict priority highest first.
    pub queues: Vec<QueueSpec>,
}

/// One queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueSpec {
    /// The DSCPs that wait here, each in [0, 63] and in no other queue; `None`, in exactly one queue: every other.
    pub dscp: Option<Vec<u8>>,
    /// For wrr packets a round, for drr the share of wire bytes, at least 1; fifo and strict have no weights.
    pub weight: u32,
    /// Wire bytes that can wait; the packet on the transmitter does not wait.
    pub buffer: Limit,
}

impl Queueing {
    /// One queue for everything.
    pub fn fifo(buffer: Limit) -> Queueing {
        Queueing { by: Scheduling::Fifo, queues: vec![QueueSpec { dscp: None, weight: 1, buffer }] }
    }

    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.by == Scheduling::Fifo && self.queues.len() != 1 {
            return Err(Problem::FifoQueues { count: self.queues.len() });
        }
        let others = self.queues.iter().filter(|queue| queue.dscp.is_none()).count();
        if others != 1 {
            return Err(Problem::OtherTrafficQueues { count: others });
        }
        let mut queue_of = [None; 64];
        for (index, queue) in self.queues.iter().enumerate() {
            if queue.weight == 0 && matches!(self.by, Scheduling::Wrr | Scheduling::Drr) {
                return Err(Problem::ZeroWeight { queue: index });
            }
            let listed = queue.dscp.as_deref();
            if listed.is_some_and(<[u8]>::is_empty) {
                return Err(Problem::EmptyDscpList { queue: index });
            }
            for &dscp in listed.unwrap_or_default() {
                let known = queue_of.get_mut(usize::from(dscp)).ok_or(Problem::DscpOutOfRange { dscp })?;
                if let Some(first) = known.replace(index) {
                    return Err(Problem::DscpTwice { dscp, first, second: index });
                }
            }
        }
        Ok(())
    }
}
