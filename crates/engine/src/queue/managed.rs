//! A queue in operation: a buffer and its drop policy. Used by links, the queues of a scheduler, and shapers.
//!
//! A packet that finds the server free does not wait, so the buffer's limit does not apply to it.

use super::drop::{Detected, Policy};
use super::{Buffer, BufferSpec, Measure, Memory, MemoryShare};
use crate::ecn::{Ecn, Signal};
use crate::element::Context;
use crate::outcome::DropReason;
use crate::packet::{Class, Packet};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Rate;

/// Whether the server of the queue could take a packet at this instant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Server {
    Free,
    Busy,
}

pub(crate) struct ManagedQueue {
    spec: BufferSpec,
    buffer: Buffer,
    policy: Policy,
    share: Option<MemoryShare>,
}

impl ManagedQueue {
    /// `spec` has been checked; `rate` is the one that empties the queue, in bits of `measure` per second.
    pub(crate) fn new(spec: BufferSpec, measure: Measure, rate: Rate) -> ManagedQueue {
        let buffer = Buffer::new(spec.limit, measure, rate);
        ManagedQueue { policy: Policy::new(&spec.drop, &buffer, rate), buffer, spec, share: None }
    }

    /// The same queue with a part in a memory; it must be empty.
    pub(crate) fn sharing(self, share: Option<MemoryShare>) -> ManagedQueue {
        ManagedQueue { share, ..self }
    }

    /// Applies new parameters. Waiting packets stay; a drop policy with unchanged parameters continues from its state.
    pub(crate) fn reconfigure(&mut self, spec: BufferSpec, rate: Rate) {
        self.buffer.set_limit(spec.limit, rate);
        if spec.drop == self.spec.drop {
            self.policy.set_rate(&self.buffer, rate);
        } else {
            self.policy = Policy::new(&spec.drop, &self.buffer, rate);
        }
        self.spec = spec;
    }

    /// Whether another queue has the same parameters.
    pub(crate) fn is_like(&self, other: &ManagedQueue) -> bool {
        (self.spec, self.share) == (other.spec, other.share)
    }

    /// The queue is emptied at another rate from now on.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.buffer.set_limit(self.spec.limit, rate);
        self.policy.set_rate(&self.buffer, rate);
    }

    /// Takes over the state of another queue's policy, if both policies are the same.
    pub(crate) fn inherit_policy(&mut self, other: ManagedQueue, rate: Rate) {
        if self.spec.drop == other.spec.drop {
            self.policy = other.policy;
            self.policy.set_rate(&self.buffer, rate);
        }
    }

    /// Lets a packet wait, or returns the reason why it cannot; other packets may be pushed out for it.
    pub(crate) fn offer(
        &mut self,
        slot: SlotId,
        server: Server,
        random: &mut Stream,
        context: &mut Context<'_>,
    ) -> Result<(), DropReason> {
        let packet = &context.shared.slab[slot].packet;
        let detected = self.policy.at_arrival(packet, &self.buffer, context.shared.now, random);
        if server == Server::Busy && !self.has_room(packet, &context.shared.memories) {
            self.policy.make_room(slot, &mut self.buffer, context)?;
        }
        match detected {
            Detected::Nothing => {}
            Detected::Early if marked(slot, self.spec.signal, context) => {}
            // RFC 3168, section 7: "During periods where the average queue size exceeds an upper threshold [...] our
            // recommendation is that routers drop packets rather then set the CE codepoint in packet headers."
            Detected::Early | Detected::Overload => return Err(self.policy.reason()),
        }
        self.push(slot, context);
        Ok(())
    }

    /// Lets a packet wait from now on, whatever the buffer holds.
    fn push(&mut self, slot: SlotId, context: &mut Context<'_>) {
        let waits = &mut context.shared.slab[slot];
        waits.at = context.shared.now;
        waits.ticket = context.shared.agenda.ticket();
        self.put_back(slot, context);
    }

    /// Lets a packet that has waited elsewhere continue to wait.
    #[inline]
    pub(crate) fn put_back(&mut self, slot: SlotId, context: &mut Context<'_>) {
        let before = self.buffer.held_bytes();
        self.policy.entered(&context.shared.slab[slot].packet, &self.buffer);
        self.buffer.push(slot, &mut context.shared.slab);
        self.account(before, context);
    }

    /// Takes the packet that leaves now; the policy may first drop packets at the head, even all.
    pub(crate) fn take(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        let before = self.buffer.held_bytes();
        let taken = self.policy.take(&mut self.buffer, self.spec.signal, context);
        self.account(before, context);
        if self.buffer.front().is_none() {
            self.policy.emptied(context.shared.now);
        }
        taken
    }

    /// Takes the oldest packet without the policy.
    pub(crate) fn take_unjudged(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        let before = self.buffer.held_bytes();
        let taken = self.buffer.pop(&context.shared.slab);
        self.account(before, context);
        taken
    }

    fn has_room(&self, packet: &Packet, memories: &[Memory]) -> bool {
        let bytes = self.buffer.measure().of(packet);
        let is_admitted = self.share.is_none_or(|share| {
            memories[share.memory.index()].admits(self.buffer.held_bytes(), bytes, share.alpha_ppb)
        });
        is_admitted && self.buffer.has_room(bytes)
    }

    fn account(&self, before: u64, context: &mut Context<'_>) {
        if let Some(share) = self.share {
            context.shared.memories[share.memory.index()].account(before, self.buffer.held_bytes());
        }
    }

    /// Whether its policy depends only on what waits now.
    pub(crate) fn is_stateless(&self) -> bool {
        self.policy.is_stateless()
    }

    /// Whether packets here take memory from other queues.
    pub(crate) fn has_share(&self) -> bool {
        self.share.is_some()
    }

    pub(crate) fn front(&self) -> Option<SlotId> {
        self.buffer.front()
    }

    pub(crate) fn packets(&self) -> u64 {
        self.buffer.held_packets()
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.buffer.queued_bytes(class)
    }
}

/// Signals congestion to a packet's transport by a mark, if possible; otherwise the packet must be dropped.
pub(super) fn marked(slot: SlotId, signal: Signal, context: &mut Context<'_>) -> bool {
    let packet = &mut context.shared.slab[slot].packet;
    match (signal, packet.ecn) {
        (Signal::Drop, _) | (Signal::Mark, Ecn::NotEct) => false,
        // RFC 3168, section 5: a packet with CE set "is forwarded" unchanged; another router has signalled congestion
        // already.
        (Signal::Mark, Ecn::Ce) => true,
        (Signal::Mark, Ecn::Ect0 | Ecn::Ect1) => {
            packet.ecn = Ecn::Ce;
            context.counters.marked(packet);
            true
        }
    }
}
