//! The queues of one link in operation: classifies packets by DSCP, lets them wait, and chooses the next one through
//! the scheduler.

use alloc::vec::Vec;

use super::{ManagedQueue, Measure, Queueing, Server};
use crate::element::Context;
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::random::Stream;
use crate::scheduler::Scheduler;
use crate::slab::SlotId;
use crate::units::Rate;

/// Fields in the order of their position in memory: first those that are read when no packet waits (see
/// `engine::Station`).
#[repr(C)]
pub(crate) struct Queues {
    waiting_packets: u64,
    scheduler: Scheduler,
    queues: Vec<ManagedQueue>,
    /// The queue of each DSCP; at most 65 queues exist, one per DSCP and one for the others.
    queue_of: [u8; 64],
    /// For the drop policies.
    random: Stream,
}

impl Queues {
    /// `spec` has been checked; `rate` is the link's, `random` the element's.
    pub(crate) fn new(spec: &Queueing, rate: Rate, random: Stream) -> Queues {
        let managed = spec
            .queues
            .iter()
            .map(|queue| ManagedQueue::new(queue.buffer, Measure::WireBytes, rate).sharing(queue.share));
        let mut queue_of = [0; 64];
        let indexed = || (0u8..).zip(&spec.queues);
        if let Some((others, _)) = indexed().find(|(_, queue)| queue.dscp.is_none()) {
            queue_of.fill(others);
        }
        for (index, queue) in indexed() {
            for &dscp in queue.dscp.as_deref().unwrap_or_default() {
                queue_of[usize::from(dscp)] = index;
            }
        }
        let scheduler = Scheduler::new(spec);
        Queues { queues: managed.collect(), scheduler, queue_of, waiting_packets: 0, random }
    }

    /// Applies new parameters. Waiting packets are sorted into the new queues in order of arrival, whatever their
    /// buffers hold. The scheduler continues from its state unless its rule or a weight has changed, and so does the
    /// drop policy of the queue at the same position. If only the rate differs, nothing is sorted.
    pub(crate) fn reconfigure(&mut self, spec: &Queueing, rate: Rate, context: &mut Context<'_>) {
        let after = Queues::new(spec, rate, self.random.clone());
        if self.is_like(&after) {
            return self.set_rate(rate);
        }
        let mut waiting = Vec::new();
        for queue in &mut self.queues {
            while let Some(slot) = queue.take_unjudged(context) {
                waiting.push(slot);
            }
        }
        waiting.sort_by_key(|&slot| context.shared.slab[slot].ticket);
        let before = core::mem::replace(self, after);
        if before.scheduler.has_same_rule(&self.scheduler) {
            self.scheduler = before.scheduler;
        }
        for (queue, before) in self.queues.iter_mut().zip(before.queues) {
            queue.inherit_policy(before, rate);
        }
        for slot in waiting {
            let queue = self.queue_for(context.shared.slab[slot].packet.dscp);
            self.queues[queue].put_back(slot, context);
            self.waiting_packets += 1;
        }
    }

    /// Whether other queues have the same parameters.
    fn is_like(&self, others: &Queues) -> bool {
        let pairs = self.queues.iter().zip(&others.queues);
        self.queue_of == others.queue_of
            && self.queues.len() == others.queues.len()
            && self.scheduler.has_same_rule(&others.scheduler)
            && pairs.into_iter().all(|(queue, other)| queue.is_like(other))
    }

    /// The link has another rate from now on.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        for queue in &mut self.queues {
            queue.set_rate(rate);
        }
    }

    /// Whether a packet that does not wait has no effect: neither the scheduler nor any drop policy has state.
    pub(crate) fn can_be_passed(&self) -> bool {
        self.scheduler.is_stateless() && self.queues.iter().all(ManagedQueue::is_stateless)
    }

    /// Whether packets here have no effect on packets of other queues.
    pub(crate) fn stand_alone(&self) -> bool {
        !self.queues.iter().any(ManagedQueue::has_share)
    }

    /// Lets a packet wait, or returns the reason why it cannot.
    pub(crate) fn offer(
        &mut self,
        slot: SlotId,
        transmitter: Server,
        context: &mut Context<'_>,
    ) -> Result<(), DropReason> {
        let queue = self.queue_for(context.shared.slab[slot].packet.dscp);
        let queue = &mut self.queues[queue];
        self.waiting_packets -= queue.packets();
        let outcome = queue.offer(slot, transmitter, &mut self.random, context);
        self.waiting_packets += queue.packets();
        outcome
    }

    /// Takes the packet to be served next.
    pub(crate) fn take(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        while self.waiting_packets > 0 {
            let chosen = self.scheduler.choose(&self.queues, &context.shared.slab);
            let queue = &mut self.queues[chosen];
            self.waiting_packets -= queue.packets();
            let slot = queue.take(context);
            self.waiting_packets += queue.packets();
            let is_empty = queue.front().is_none();
            match slot {
                Some(slot) => {
                    self.scheduler.served(chosen, slot, is_empty, &context.shared.slab);
                    return Some(slot);
                }
                // The drop policy has dropped every packet in that queue.
                None => self.scheduler.emptied(chosen),
            }
        }
        self.scheduler.rest();
        None
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.queues.iter().map(|queue| queue.queued_bytes(class)).sum()
    }

    fn queue_for(&self, dscp: u8) -> usize {
        usize::from(self.queue_of[usize::from(dscp & 63)])
    }
}
