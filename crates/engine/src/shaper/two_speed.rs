//! The shaper of both credit buckets: a FIFO that sends packets at one of two rates, chosen by an account.
//!
//! A packet leaves at once if none waits and the gap after the last packet is over; otherwise it waits, or is dropped
//! by the queue's policy (see `queue`). When it leaves, the account chooses its rate, and the gap after it is its own
//! size at that rate. So there is no burst of more than one packet. The drop policy decides about the head at the end
//! of the gap.
//!
//! New parameters: waiting packets stay, and the present gap ends as scheduled.

use core::num::NonZeroU64;

use super::exact_instant::ExactInstant;
use crate::agenda::Target;
use crate::element::{Context, Verdict};
use crate::packet::Class;
use crate::queue::{BufferSpec, ManagedQueue, Measure, Server};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

/// Chooses the rate, and has the state that this needs.
pub(crate) trait Account {
    /// It works from now on.
    fn begin(&mut self, now: Instant);

    /// Advances time to now; the gap after the last packet ends, or has ended, at `free_at`.
    fn settle(&mut self, free_at: Instant, now: Instant);

    /// The rate of a packet that leaves at the instant of the last `settle`.
    fn charge(&mut self, ip_bytes: u32) -> NonZeroU64;
}

pub(crate) struct TwoSpeed<A> {
    account: A,
    /// The end of the gap after the last packet.
    free_at: ExactInstant,
    waiting: ManagedQueue,
    /// For the drop policy.
    random: Stream,
}

impl<A: Account> TwoSpeed<A> {
    /// A time in `buffer` counts at `low`, so that waiting packets never need longer.
    pub(crate) fn new(account: A, buffer: BufferSpec, low: NonZeroU64, random: Stream) -> TwoSpeed<A> {
        TwoSpeed {
            account,
            free_at: ExactInstant::whole(Instant::ZERO),
            waiting: ManagedQueue::new(buffer, Measure::IpBytes, Rate::BitsPerSecond(low)),
            random,
        }
    }

    pub(crate) fn begin(&mut self, now: Instant) {
        self.free_at = ExactInstant::whole(now);
        self.account.begin(now);
    }

    /// Takes a new buffer, and returns the present account, so that it can be given new parameters.
    pub(crate) fn reconfigure(&mut self, buffer: BufferSpec, low: NonZeroU64, now: Instant) -> &mut A {
        self.waiting.reconfigure(buffer, Rate::BitsPerSecond(low));
        self.account.settle(self.free_at.rounded_up(), now);
        &mut self.account
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let idle = self.waiting.front().is_none();
        let passes = idle && self.free_at.rounded_up() <= context.shared.now;
        let server = if passes { Server::Free } else { Server::Busy };
        if let Err(reason) = self.waiting.offer(slot, server, &mut self.random, context) {
            return Verdict::Dropped(reason);
        }
        if passes {
            // It has not waited, so no policy drops it. The rate was not used between the exact end of the gap and
            // now.
            self.waiting.take(context);
            let begin = ExactInstant::whole(context.shared.now);
            self.leave(context.shared.slab[slot].packet.ip_bytes, begin);
            return Verdict::Passed;
        }
        if idle {
            self.schedule_next(context);
        }
        Verdict::Held
    }

    /// The gap is over, and the head leaves, unless the policy has dropped all waiting packets.
    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        let slot = self.waiting.take(context)?;
        self.leave(context.shared.slab[slot].packet.ip_bytes, self.free_at);
        self.schedule_next(context);
        Some((slot, Verdict::Passed))
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.waiting.queued_bytes(class)
    }

    /// The present account, for reading.
    pub(crate) fn account(&self, now: Instant) -> A
    where
        A: Clone,
    {
        let mut account = self.account.clone();
        account.settle(self.free_at.rounded_up(), now);
        account
    }

    fn leave(&mut self, ip_bytes: u32, begin: ExactInstant) {
        self.account.settle(self.free_at.rounded_up(), begin.rounded_up());
        self.free_at = begin.after(ip_bytes, self.account.charge(ip_bytes));
    }

    /// Exactly one wake-up is pending while packets wait, and none otherwise.
    fn schedule_next(&self, context: &mut Context<'_>) {
        if self.waiting.front().is_some() {
            context.shared.agenda.schedule(self.free_at.rounded_up(), Target::Tokens(context.element));
        }
    }
}
