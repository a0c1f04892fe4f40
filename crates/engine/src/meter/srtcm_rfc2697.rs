//! Single-rate three-colour meter. Colours packets by one rate and two bursts, and does what each colour asks for; never
//! delays (see `shaper`). Without an excess burst, and red dropped, it is `police`.
//!
//! `cir`: IP bits per second at which tokens come. `cbs`, `ebs`: committed and excess burst, IP bytes; one of them may be 0,
//! and a packet larger than both is always red. `mode`, `green`, `yellow`, `red`: see `meter::colour`. The buckets start full.
//! New parameters: tokens are cut to the new bursts.
//!
//! Source: RFC 2697, sections 2 and 3. Exceptions: tokens are counted in fractions of a bit, not one byte at a time, so that
//! no rate is rounded; the colour is kept in the DSCP, and a packet that has none comes as green.

use core::num::NonZeroU64;

use super::colour::{Colour, ColourActions, ColourMode};
use super::token_bucket::nano_bits;
use crate::element::{Context, Verdict};
use crate::error::Problem;
use crate::slab::SlotId;
use crate::units::Instant;

/// The parameters of a single-rate three-colour meter.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SrtcmSpec {
    /// Committed information rate, IP bits per second.
    pub cir: NonZeroU64,
    /// Committed burst, IP bytes.
    pub cbs_bytes: u64,
    /// Excess burst, IP bytes; not 0 where the committed one is.
    pub ebs_bytes: u64,
    /// Whether the colours that packets come with count.
    pub mode: ColourMode,
    /// What is done to each colour.
    pub actions: ColourActions,
}

impl SrtcmSpec {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        // RFC 2697, 2: "The CBS and EBS must be configured so that at least one of them is larger than 0."
        if (self.cbs_bytes, self.ebs_bytes) == (0, 0) {
            return Err(Problem::ZeroBursts);
        }
        self.actions.check()
    }
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

    /// Takes in what fits and returns the rest.
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

impl Srtcm {
    /// `spec` has been checked.
    pub(crate) fn new(spec: SrtcmSpec, now: Instant) -> Srtcm {
        // RFC 2697, 3: "The token buckets C and E are initially (at time 0) full".
        let (committed, excess) = (Tokens::full(spec.cbs_bytes), Tokens::full(spec.ebs_bytes));
        Srtcm { spec, committed, excess, counted_at: now }
    }

    pub(crate) fn reconfigure(&mut self, spec: SrtcmSpec, now: Instant) {
        self.count(now);
        self.committed.resize(spec.cbs_bytes);
        self.excess.resize(spec.ebs_bytes);
        self.spec = spec;
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        self.count(context.shared.now);
        let packet = &mut context.shared.slab[slot].packet;
        let colour = self.colour(self.spec.mode.assumed(packet), packet.ip_bytes);
        self.spec.actions.apply(colour, packet)
    }

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
