//! Schedulers: who goes first when the transmitter becomes free. Work-conserving, non-preemptive.
//!
//! A scheduler sees only the heads of the queues, at the moment of choice; it neither holds nor drops packets.

mod drr;
mod strict;
mod wrr;

use crate::queue::{Buffer, Queueing};
use crate::slab::Slab;
use drr::Drr;
use wrr::Wrr;

/// The rule by which queues are served.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Scheduling {
    /// One queue, first in, first out.
    Fifo,
    /// The first queue in the list that has a packet (`scheduler/strict.rs`).
    Strict,
    /// Weighted round robin: up to `weight` packets of each queue in turn (`scheduler/wrr.rs`).
    Wrr,
    /// Deficit round robin: wire bytes in proportion to `weight` (`scheduler/drr.rs`).
    Drr,
}

/// A scheduler at work.
pub(crate) enum Scheduler {
    Fifo,
    Strict,
    Wrr(Wrr),
    Drr(Drr),
}

impl Scheduler {
    pub(crate) fn new(spec: &Queueing) -> Scheduler {
        let weights = spec.queues.iter().map(|queue| queue.weight);
        match spec.by {
            Scheduling::Fifo => Scheduler::Fifo,
            Scheduling::Strict => Scheduler::Strict,
            Scheduling::Wrr => Scheduler::Wrr(Wrr::new(weights)),
            Scheduling::Drr => Scheduler::Drr(Drr::new(weights)),
        }
    }

    /// The queue whose head goes next. At least one queue has a packet.
    #[inline]
    pub(crate) fn choose(&mut self, buffers: &[Buffer], slab: &Slab) -> usize {
        match self {
            Scheduler::Fifo => 0,
            Scheduler::Strict => strict::choose(buffers),
            Scheduler::Wrr(wrr) => wrr.choose(buffers),
            Scheduler::Drr(drr) => drr.choose(buffers, slab),
        }
    }

    /// Whether `other` serves as many queues by the same rule and with the same weights.
    pub(crate) fn has_same_rule(&self, other: &Scheduler) -> bool {
        match (self, other) {
            (Scheduler::Wrr(this), Scheduler::Wrr(other)) => this.has_same_weights(other),
            (Scheduler::Drr(this), Scheduler::Drr(other)) => this.has_same_quanta(other),
            (this, other) => core::mem::discriminant(this) == core::mem::discriminant(other),
        }
    }
}
