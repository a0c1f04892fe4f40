//! Schedulers: which queue is served when the transmitter becomes free. Work-conserving, non-preemptive.
//!
//! A scheduler sees only the heads of the queues, at the moment of choice; it neither holds nor drops packets. It
//! chooses by the head's size but accounts the size of the packet that was sent: a drop policy may have dropped the
//! head.

mod drr;
mod stfq;
mod strict;
mod wrr;

use crate::describe::{page, Page};
use crate::queue::{ManagedQueue, Queueing};
use crate::slab::{Slab, SlotId};
use drr::Drr;
use stfq::Stfq;
use wrr::Wrr;

/// The page of `schedule`.
pub(crate) const PAGE: Page = page!("mod.rs");

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
    /// Start-time fair queueing: wire bytes in proportion to `weight`, packet by packet (`scheduler/stfq.rs`).
    Stfq,
}

/// A scheduler in operation.
pub(crate) enum Scheduler {
    Fifo,
    Strict,
    Wrr(Wrr),
    Drr(Drr),
    Stfq(Stfq),
}

impl Scheduler {
    pub(crate) fn new(spec: &Queueing) -> Scheduler {
        let weights = spec.queues.iter().map(|queue| queue.weight);
        match spec.by {
            Scheduling::Fifo => Scheduler::Fifo,
            Scheduling::Strict => Scheduler::Strict,
            Scheduling::Wrr => Scheduler::Wrr(Wrr::new(weights)),
            Scheduling::Drr => Scheduler::Drr(Drr::new(weights)),
            Scheduling::Stfq => Scheduler::Stfq(Stfq::new(weights)),
        }
    }

    /// Whether its choices depend only on what waits now.
    pub(crate) fn is_stateless(&self) -> bool {
        matches!(self, Scheduler::Fifo | Scheduler::Strict)
    }

    /// The queue whose head is next. At least one queue has a packet.
    #[inline]
    pub(crate) fn choose(&mut self, queues: &[ManagedQueue], slab: &Slab) -> usize {
        match self {
            Scheduler::Fifo => 0,
            _ => self.choose_among(queues, slab),
        }
    }

    /// A separate function, so that most links, which have one queue, do not pay for it.
    #[inline(never)]
    fn choose_among(&mut self, queues: &[ManagedQueue], slab: &Slab) -> usize {
        match self {
            Scheduler::Fifo => 0,
            Scheduler::Strict => strict::choose(queues),
            Scheduler::Wrr(wrr) => wrr.choose(queues),
            Scheduler::Drr(drr) => drr.choose(queues, slab),
            Scheduler::Stfq(stfq) => stfq.choose(queues),
        }
    }

    /// The chosen queue has sent a packet; `is_empty`: whether it was the queue's last.
    #[inline]
    pub(crate) fn served(&mut self, queue: usize, slot: SlotId, is_empty: bool, slab: &Slab) {
        if !self.is_stateless() {
            self.account(queue, slab[slot].packet.wire_bytes(), is_empty);
        }
    }

    #[inline(never)]
    fn account(&mut self, queue: usize, wire_bytes: u32, is_empty: bool) {
        match self {
            Scheduler::Fifo | Scheduler::Strict => {}
            Scheduler::Wrr(wrr) => wrr.served(),
            Scheduler::Drr(drr) => drr.served(queue, wire_bytes, is_empty),
            Scheduler::Stfq(stfq) => stfq.served(queue, wire_bytes),
        }
    }

    /// The drop policy has dropped all packets of the chosen queue, and none was sent.
    pub(crate) fn emptied(&mut self, queue: usize) {
        match self {
            Scheduler::Fifo | Scheduler::Strict | Scheduler::Wrr(_) | Scheduler::Stfq(_) => {}
            Scheduler::Drr(drr) => drr.served(queue, 0, true),
        }
    }

    /// The transmitter has become free and no packet waits.
    pub(crate) fn rest(&mut self) {
        if let Scheduler::Stfq(stfq) = self {
            stfq.rest();
        }
    }

    /// Whether `other` serves the same number of queues by the same rule and with the same weights.
    pub(crate) fn has_same_rule(&self, other: &Scheduler) -> bool {
        match (self, other) {
            (Scheduler::Wrr(this), Scheduler::Wrr(other)) => this.has_same_weights(other),
            (Scheduler::Drr(this), Scheduler::Drr(other)) => this.has_same_quanta(other),
            (Scheduler::Stfq(this), Scheduler::Stfq(other)) => this.has_same_weights(other),
            (this, other) => core::mem::discriminant(this) == core::mem::discriminant(other),
        }
    }
}
