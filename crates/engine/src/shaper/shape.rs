//! Shaper. Delays packets, first in, first out, until the token bucket has tokens for them; drops only what its buffer
//! cannot hold. Does not drop for want of tokens (see `meter::police`).
//!
//! `rate`: IP bits per second, or unlimited. `burst_bytes`: IP bytes, at least the largest packet. `buffer`: IP bytes that
//! can wait. The bucket starts full, and a packet that finds the queue empty and tokens for it passes at once.
//! Drop reasons: `queue-full` (also for a packet larger than the burst: no buffer could hold it long enough);
//! `condition-changed` for a waiting packet when a new burst is smaller than it.
//!
//! Source: RFC 2475, section 2.3.3.4 (shapers); Le Boudec and Thiran 2001, section 1.5 (greedy shaper, packetised).

use crate::agenda::Target;
use crate::element::{Context, Verdict};
use crate::meter::TokenBucket;
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::queue::{Buffer, Measure};
use crate::slab::SlotId;
use crate::units::{Instant, Limit, Rate};

pub(crate) struct Shape {
    bucket: TokenBucket,
    waiting: Buffer,
}

impl Shape {
    pub(crate) fn new(rate: Rate, burst_bytes: u64, buffer: Limit, now: Instant) -> Shape {
        Shape {
            bucket: TokenBucket::new(rate, burst_bytes, now),
            waiting: Buffer::new(buffer, Measure::IpBytes),
        }
    }

    /// New parameters apply from now on: what waits keeps its place, and its instant is computed anew.
    pub(crate) fn reconfigure(
        &mut self,
        rate: Rate,
        burst_bytes: u64,
        buffer: Limit,
        context: &mut Context<'_>,
    ) {
        self.bucket.reconfigure(rate, burst_bytes, context.now);
        self.waiting.set_limit(buffer);
        context.agenda.cancel(Target::Service(context.element));
        self.schedule_head(context);
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let packet = context.slab[slot].packet;
        let idle = self.waiting.front().is_none();
        if idle && self.bucket.take(packet.ip_bytes, context.now) {
            return Verdict::Passed;
        }
        let fits_bucket = self.bucket.ready_at(packet.ip_bytes, context.now).is_some();
        if !fits_bucket || !self.waiting.has_room(&packet) {
            return Verdict::Dropped(DropReason::QueueFull);
        }
        self.waiting.push(slot, context.slab);
        if idle {
            self.schedule_head(context);
        }
        Verdict::Held
    }

    /// The head's tokens are there, or it turned out that they never will be.
    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        let slot = self.waiting.pop(context.slab)?;
        let ip_bytes = context.slab[slot].packet.ip_bytes;
        let verdict = if self.bucket.ready_at(ip_bytes, context.now).is_some() {
            self.bucket.take_after_wait(ip_bytes, context.now);
            Verdict::Passed
        } else {
            Verdict::Dropped(DropReason::ConditionChanged)
        };
        self.schedule_head(context);
        Some((slot, verdict))
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.waiting.queued_bytes(class)
    }

    fn schedule_head(&self, context: &mut Context<'_>) {
        if let Some(head) = self.waiting.front() {
            let ip_bytes = context.slab[head].packet.ip_bytes;
            let ready = self.bucket.ready_at(ip_bytes, context.now).unwrap_or(context.now);
            context.agenda.schedule(ready, Target::Service(context.element));
        }
    }
}
