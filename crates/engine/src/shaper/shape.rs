//! Shaper. Delays packets, first in, first out, until the token bucket has tokens for them; drops only by its queue's
//! policy. It never drops because tokens are missing (see `meter::police`).
//!
//! `rate`: IP bits per second, or unlimited. `burst_bytes`: IP bytes, at least the largest packet. `buffer`: what can
//! wait, in IP bytes, and what is dropped (see `queue`). The bucket starts full, and a packet that finds the queue
//! empty and tokens for it passes at once. Drop reasons: `queue-full` (also for a packet larger than the burst, which
//! would wait without end), those of the drop policy, and `condition-changed` for a waiting packet that is larger than
//! a new burst.
//!
//! The drop policy decides about the head at the instant at which its tokens suffice. If it drops the head and the
//! next packet is larger than the present tokens, that packet has left the queue and waits for the rest of its tokens.
//!
//! Source: RFC 2475, section 2.3.3.4 (shapers); Le Boudec and Thiran 2001, section 1.5 (greedy shaper, packetised).

use crate::agenda::Target;
use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::meter::TokenBucket;
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::queue::{BufferSpec, ManagedQueue, Measure, Server};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

parameters! {
    /// Delays packets until the token bucket has tokens; drops by its queue's policy.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct ShapeSpec {
        /// Rate of tokens, IP bits per second.
        rate: Rate = [Parameter::rate("rate", "rate_bps").or_unlimited()],
        /// Depth of the bucket, IP bytes; at least one packet.
        burst_bytes: u64 = [Parameter::size("burst", "burst_bytes").of_a_packet()],
        /// What may wait, in IP bytes.
        buffer: BufferSpec = (flat |about| BufferSpec::emptied_by("rate", about)),
    }
}

impl Described for ShapeSpec {
    const MANUAL: Manual =
        Manual { queues: true, limits_rate: Some("rate"), ..Manual::new("shape", page!("shape.rs")) };
}

pub(crate) struct Shape {
    bucket: TokenBucket,
    waiting: ManagedQueue,
    /// The next packet, which has left the queue and waits for its tokens.
    in_hand: Option<SlotId>,
    /// When the next packet's tokens suffice. A wake-up at any other instant was for a packet that is gone.
    due: Option<Instant>,
    /// For the drop policy.
    random: Stream,
}

impl Behaviour for Shape {
    type Spec = ShapeSpec;

    fn new(spec: &ShapeSpec, random: Stream) -> Shape {
        let ShapeSpec { rate, burst_bytes, buffer } = *spec;
        Shape {
            bucket: TokenBucket::new(rate, burst_bytes),
            waiting: ManagedQueue::new(buffer, Measure::IpBytes, rate),
            in_hand: None,
            due: None,
            random,
        }
    }

    /// New parameters apply from now on: waiting packets stay, and the next one's instant is computed again.
    fn reconfigure(&mut self, spec: &ShapeSpec, context: &mut Context<'_>) {
        let ShapeSpec { rate, burst_bytes, buffer } = *spec;
        self.bucket.reconfigure(rate, burst_bytes, context.shared.now);
        self.waiting.reconfigure(buffer, rate);
        self.due = None;
        self.schedule_next(context);
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let ip_bytes = context.shared.slab[slot].packet.ip_bytes;
        let Some(ready) = self.bucket.ready_at(ip_bytes, context.shared.now) else {
            return Verdict::Dropped(DropReason::QueueFull);
        };
        let next = self.next();
        let passes = next.is_none() && ready == context.shared.now;
        if passes && self.waiting.is_stateless() {
            self.bucket.take(ip_bytes, context.shared.now);
            return Verdict::Passed;
        }
        let server = if passes { Server::Free } else { Server::Busy };
        if let Err(reason) = self.waiting.offer(slot, server, &mut self.random, context) {
            return Verdict::Dropped(reason);
        }
        if passes {
            // It has not waited, so no policy drops it.
            self.waiting.take(context);
            self.bucket.take(ip_bytes, context.shared.now);
            return Verdict::Passed;
        }
        // The packet that was next may have been pushed out.
        if self.next() != next {
            self.schedule_next(context);
        }
        Verdict::Held
    }

    /// The next packet's tokens suffice, or it is known that they never will.
    #[inline]
    fn wake_shaper(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        if self.due != Some(context.shared.now) {
            return None;
        }
        self.due = None;
        let slot = self.in_hand.take().or_else(|| self.waiting.take(context))?;
        let ip_bytes = context.shared.slab[slot].packet.ip_bytes;
        let verdict = match self.bucket.ready_at(ip_bytes, context.shared.now) {
            Some(ready) if ready > context.shared.now => {
                self.in_hand = Some(slot);
                Verdict::Held
            }
            Some(_) => {
                self.bucket.take_after_wait(ip_bytes, context.shared.now);
                Verdict::Passed
            }
            None => Verdict::Dropped(DropReason::ConditionChanged),
        };
        self.schedule_next(context);
        Some((slot, verdict))
    }

    fn queued_bytes(&self, class: Class) -> u64 {
        self.waiting.queued_bytes(class)
    }
}

impl Shape {
    /// The next packet to leave.
    fn next(&self) -> Option<SlotId> {
        self.in_hand.or_else(|| self.waiting.front())
    }

    fn schedule_next(&mut self, context: &mut Context<'_>) {
        let ready = self.next().map(|next| {
            let ip_bytes = context.shared.slab[next].packet.ip_bytes;
            self.bucket.ready_at(ip_bytes, context.shared.now).unwrap_or(context.shared.now)
        });
        if let Some(ready) = ready.filter(|_| ready != self.due) {
            context.shared.agenda.schedule(ready, Target::Tokens(context.element));
        }
        self.due = ready;
    }
}
