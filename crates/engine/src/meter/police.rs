//! Policer. Drops what the token bucket has no tokens for; never delays (see `shaper`), never marks (see `marker`).
//!
//! `rate`: IP bits per second, or unlimited. `burst_bytes`: IP bytes, at least the largest packet: a larger packet never
//! passes. The bucket starts full; a dropped packet spends no tokens. Drop reason: `no-tokens`.
//!
//! Source: RFC 2475, section 2.3.3.3 (policing); RFC 2697, section 3 (the bucket, colour-blind, green or dropped).

use super::TokenBucket;
use crate::element::{Context, Verdict};
use crate::outcome::DropReason;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

pub(crate) struct Police {
    bucket: TokenBucket,
}

impl Police {
    pub(crate) fn new(rate: Rate, burst_bytes: u64, now: Instant) -> Police {
        Police { bucket: TokenBucket::new(rate, burst_bytes, now) }
    }

    pub(crate) fn reconfigure(&mut self, rate: Rate, burst_bytes: u64, now: Instant) {
        self.bucket.reconfigure(rate, burst_bytes, now);
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        if self.bucket.take(context.shared.slab[slot].packet.ip_bytes, context.shared.now) {
            Verdict::Passed
        } else {
            Verdict::Dropped(DropReason::NoTokens)
        }
    }
}
