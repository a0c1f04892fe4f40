//! The specification of a set of queues, and what makes one valid.

use alloc::vec;
use alloc::vec::Vec;

use super::drop::DropSpec;
use super::MemoryShare;
use crate::ecn::Signal;
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
    /// For wrr packets a round, for drr and stfq the share of wire bytes, at least 1; fifo and strict have no weights.
    pub weight: u32,
    /// What can wait and what is dropped, in wire bytes; the packet on the transmitter does not wait.
    pub buffer: BufferSpec,
    /// Its part in a memory that it shares with others (`queue/memory.rs`), besides its own buffer.
    pub share: Option<MemoryShare>,
}

/// How much waits, what is dropped, and how congestion is signalled: the same for links, schedulers and shapers.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct BufferSpec {
    /// What can wait.
    pub limit: Limit,
    /// What is lost when it is full, and before that.
    pub drop: DropSpec,
    /// How `drop` tells the ends of congestion; marking needs a policy that does so before the buffer is full.
    pub signal: Signal,
}

impl BufferSpec {
    /// Whether it can be carried out.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), Problem> {
        if self.signal == Signal::Mark && !self.drop.signals_early() {
            return Err(Problem::NothingToMark);
        }
        self.drop.check()
    }
}

/// Tail drop at a limit.
impl From<Limit> for BufferSpec {
    fn from(limit: Limit) -> BufferSpec {
        BufferSpec { limit, drop: DropSpec::Tail, signal: Signal::Drop }
    }
}

impl Queueing {
    /// One queue for everything.
    pub fn fifo(buffer: impl Into<BufferSpec>) -> Queueing {
        let queue = QueueSpec { dscp: None, weight: 1, buffer: buffer.into(), share: None };
        Queueing { by: Scheduling::Fifo, queues: vec![queue] }
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
            queue.buffer.check()?;
            if queue.share.is_some_and(|share| share.alpha_ppb == 0) {
                return Err(Problem::ZeroAlpha { queue: index });
            }
            if queue.share.is_some() && queue.buffer.drop == DropSpec::Head {
                return Err(Problem::SharedHeadDrop { queue: index });
            }
            if queue.weight == 0 && matches!(self.by, Scheduling::Wrr | Scheduling::Drr | Scheduling::Stfq) {
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
