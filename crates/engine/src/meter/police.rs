//! Policer. Drops packets for which the token bucket has no tokens; never delays (see `shaper`), never marks (see
//! `marker`).
//!
//! `rate`: IP bits per second, or unlimited. `burst_bytes`: IP bytes, at least the largest packet: a larger packet never
//! passes. The bucket starts full; a dropped packet spends no tokens. Drop reason: `no-tokens`.
//!
//! Source: RFC 2475, section 2.3.3.3 (policing); RFC 2697, section 3 (the bucket, colour-blind, green or dropped).

use super::TokenBucket;
use crate::describe::{page, parameters, Described, Manual, Parameter, Short};
use crate::element::{Behaviour, Context, Verdict};
use crate::outcome::DropReason;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Rate;

parameters! {
    /// Drops packets for which the token bucket has no tokens; never delays.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct PoliceSpec {
        /// Rate of tokens, IP bits per second.
        rate: Rate = [Parameter::rate("rate", "rate_bps").or_unlimited()],
        /// Depth of the bucket, IP bytes; at least one packet.
        burst_bytes: u64 = [Parameter::size("burst", "burst_bytes").of_a_packet()],
    }
}

impl Described for PoliceSpec {
    const MANUAL: Manual = Manual {
        limits_rate: Some("rate"),
        // The default burst for a short form with only a rate. A policer without room for a burst would drop packets
        // that TCP sends at once, whatever the rate. So it is the data of 10 ms at the rate, or ten packets.
        short: Some(Short {
            key: "rate",
            example: "50Mbit/s",
            fills: Some(("burst", "rate", 10_000_000, 15_000)),
        }),
        ..Manual::new("police", page!("police.rs"))
    };
}

pub(crate) struct Police {
    bucket: TokenBucket,
}

impl Behaviour for Police {
    type Spec = PoliceSpec;

    fn new(spec: &PoliceSpec, _: Stream) -> Police {
        Police { bucket: TokenBucket::new(spec.rate, spec.burst_bytes) }
    }

    fn reconfigure(&mut self, spec: &PoliceSpec, context: &mut Context<'_>) {
        self.bucket.reconfigure(spec.rate, spec.burst_bytes, context.shared.now);
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        if self.bucket.take(context.shared.slab[slot].packet.ip_bytes, context.shared.now) {
            Verdict::Passed
        } else {
            Verdict::Dropped(DropReason::NoTokens)
        }
    }
}
