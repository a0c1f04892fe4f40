//! Single-rate three-colour meter. Colours packets by one rate and two bursts, and carries out the action of each
//! colour; never delays (see `shaper`). Without an excess burst, and with red dropped, it equals `police`.
//!
//! `cir`: rate of tokens in IP bits per second. `cbs`, `ebs`: committed and excess burst, IP bytes; one of them may be
//! 0, and a packet larger than both is always red. `mode`, `green`, `yellow`, `red`: see `meter::colour`. The buckets
//! start full. New parameters: tokens are cut to the new bursts.
//!
//! Source: RFC 2697, sections 2 and 3. Exceptions: tokens are counted in fractions of a bit, not one byte at a time,
//! so that no rate is rounded; the colour is carried in the DSCP, and a packet without one counts as green.

use core::num::NonZeroU64;

use super::colour::{Colour, ColourActions, ColourMode};
use super::token_bucket::nano_bits;
use crate::describe::{page, parameters, Described, Manual, Parameter, Rule};
use crate::element::{Behaviour, Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Instant;

parameters! {
    /// Colours packets by one rate and two bursts (RFC 2697); never delays.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct SrtcmSpec {
        /// Committed rate, IP bits per second.
        cir: NonZeroU64 = [Parameter::rate("cir", "cir_bps")],
        /// Committed burst, IP bytes; one packet, or 0B.
        cbs_bytes: u64 = [Parameter::size("cbs", "cbs_bytes").or_zero().of_a_packet()],
        /// Excess burst, IP bytes; one packet, or 0B.
        ebs_bytes: u64 = [Parameter::size("ebs", "ebs_bytes").or_zero().of_a_packet()],
        /// aware: a packet's colour can only become worse; blind when absent.
        mode: ColourMode = [ColourMode::parameter()],
        /// The action for each colour.
        actions: ColourActions = flat,
    }
    // RFC 2697, 2: "The CBS and EBS must be configured so that at least one of them is larger than 0."
    rules: [Rule::NotAllZero {
        keys: &["cbs", "ebs"],
        message: "is zero and so is cbs, so every packet would be red; give one of them",
    }]
}

impl Described for SrtcmSpec {
    const MANUAL: Manual = Manual::new("srtcm", page!("srtcm_rfc2697.rs"));
}

pub(crate) struct Srtcm {
    spec: SrtcmSpec,
    committed: Tokens,
    excess: Tokens,
    counted_at: Instant,
}

/// One of the two buckets, in nano-bits.
struct Tokens {
    /// In [0, depth].
    level: u128,
    depth: u128,
}

impl Tokens {
    fn full(bytes: u64) -> Tokens {
        Tokens { level: nano_bits(bytes), depth: nano_bits(bytes) }
    }

    /// Adds the tokens that fit and returns the rest.
    fn pour(&mut self, tokens: u128) -> u128 {
        let taken = tokens.min(self.depth - self.level);
        self.level += taken;
        tokens - taken
    }

    /// Spends all of `cost`, or nothing.
    fn take(&mut self, cost: u128) -> bool {
        let enough = self.level >= cost;
        if enough {
            self.level -= cost;
        }
        enough
    }

    fn resize(&mut self, bytes: u64) {
        self.depth = nano_bits(bytes);
        self.level = self.level.min(self.depth);
    }
}

impl Behaviour for Srtcm {
    type Spec = SrtcmSpec;

    fn new(spec: &SrtcmSpec, _: Stream) -> Srtcm {
        let spec = *spec;
        // RFC 2697, 3: "The token buckets C and E are initially (at time 0) full".
        let (committed, excess) = (Tokens::full(spec.cbs_bytes), Tokens::full(spec.ebs_bytes));
        Srtcm { spec, committed, excess, counted_at: Instant::ZERO }
    }

    fn reconfigure(&mut self, spec: &SrtcmSpec, context: &mut Context<'_>) {
        let now = context.shared.now;
        self.count(now);
        self.committed.resize(spec.cbs_bytes);
        self.excess.resize(spec.ebs_bytes);
        self.spec = *spec;
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        self.count(context.shared.now);
        let packet = &mut context.shared.slab[slot].packet;
        let colour = self.colour(self.spec.mode.assumed(packet), packet.ip_bytes);
        self.spec.actions.apply(colour, packet)
    }
}

impl Srtcm {
    /// RFC 2697, 3: "the token counts Tc and Te are updated CIR times per second as follows: o If Tc is less than CBS, Tc is
    /// incremented by one, else o if Te is less then EBS, Te is incremented by one, else o neither".
    fn count(&mut self, now: Instant) {
        let gained = u128::from(self.spec.cir.get()) * u128::from((now - self.counted_at).as_nanos());
        let overflow = self.committed.pour(gained);
        self.excess.pour(overflow);
        self.counted_at = now;
    }

    fn colour(&mut self, assumed: Colour, ip_bytes: u32) -> Colour {
        let cost = nano_bits(u64::from(ip_bytes));
        // "If the packet has been precolored as green and Tc(t)-B >= 0, the packet is green and Tc is decremented by B".
        if assumed == Colour::Green && self.committed.take(cost) {
            return Colour::Green;
        }
        // "If the packet has been precolored as green or yellow and if Te(t)-B >= 0, the packets is yellow and Te is
        // decremented by B".
        if assumed != Colour::Red && self.excess.take(cost) {
            return Colour::Yellow;
        }
        // "else the packet is red and neither Tc nor Te is decremented."
        Colour::Red
    }
}
