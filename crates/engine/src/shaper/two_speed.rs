//! The shaper behind both credit buckets: a FIFO that lets packets go at one of two rates, chosen by an account.
//!
//! A packet that finds nobody waiting and the gap behind the last packet over leaves at once; otherwise it waits, or is
//! dropped as the queue says (see `queue`). As it leaves, the account says which rate applies to it, and the gap that it
//! leaves behind is its own size at that rate. So there is no burst beyond one packet. The drop policy judges the head at
//! the instant at which the gap is over.
//!
//! New parameters: what waits keeps its place, and the gap that has begun ends as it would have.

use core::num::NonZeroU64;

use super::exact_instant::ExactInstant;
use crate::agenda::Target;
use crate::element::{Context, Verdict};
use crate::packet::Class;
use crate::queue::{BufferSpec, ManagedQueue, Measure, Server};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

/// Decides about the rate, and keeps what it needs for that.
pub(crate) trait Account {
    /// It works from now on.
    fn begin(&mut self, now: Instant);

    /// Lets time pass until now; the gap behind the last packet ends, or has ended, at `free_at`.
    fn settle(&mut self, free_at: Instant, now: Instant);

    /// The rate of a packet that leaves at the instant of the last `settle`.
    fn charge(&mut self, ip_bytes: u32) -> NonZeroU64;
}

pub(crate) struct TwoSpeed<A> {
    account: A,
    /// The end of the gap behind the last packet.
    free_at: ExactInstant,
    waiting: ManagedQueue,
    /// For the drop policy.
    random: Stream,
}

impl<A: Account> TwoSpeed<A> {
    /// A time in `buffer` counts at `low`, so that what waits never needs longer.
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

    /// Takes a new buffer, and returns the account as it is now, to be given new parameters.
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
            // It has not waited, so no policy drops it. And nobody used the rate between the exact end of the gap and now.
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

    /// The gap is over, and the head leaves, unless the policy has dropped all that waited.
    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        let slot = self.waiting.take(context)?;
        self.leave(context.shared.slab[slot].packet.ip_bytes, self.free_at);
        self.schedule_next(context);
        Some((slot, Verdict::Passed))
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.waiting.queued_bytes(class)
    }

    /// The account as it is now, to be read.
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

    /// One wake-up is to come while, and only while, packets wait.
    fn schedule_next(&self, context: &mut Context<'_>) {
        if self.waiting.front().is_some() {
            context.shared.agenda.schedule(self.free_at.rounded_up(), Target::Tokens(context.element));
        }
    }
}
