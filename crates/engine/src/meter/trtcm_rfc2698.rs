//! Two-rate three-colour meter. Colours packets by a committed and a peak rate, each with its burst, and does what each
//! colour asks for; never delays (see `shaper`).
//!
//! `cir`, `pir`: IP bits per second at which tokens come, `pir` at least `cir`. `cbs`, `pbs`: committed and peak burst, IP
//! bytes, at least the largest packet: a larger one than `pbs` is always red, a larger one than `cbs` never green.
//! `mode`, `green`, `yellow`, `red`: see `meter::colour`. The buckets start full. New parameters: tokens are cut to the new
//! bursts.
//!
//! Source: RFC 2698, sections 2 and 3. Exceptions: tokens are counted in fractions of a bit, not one byte at a time, so that
//! no rate is rounded; the colour is kept in the DSCP, and a packet that has none comes as green.

use core::num::NonZeroU64;

use super::colour::{Colour, ColourActions, ColourMode};
use super::TokenBucket;
use crate::element::{Context, Verdict};
use crate::error::Problem;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

/// The parameters of a two-rate three-colour meter.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TrtcmSpec {
    /// Committed information rate, IP bits per second.
    pub cir: NonZeroU64,
    /// Committed burst, IP bytes, at least the largest packet.
    pub cbs_bytes: u64,
    /// Peak information rate, IP bits per second, at least `cir`.
    pub pir: NonZeroU64,
    /// Peak burst, IP bytes, at least the largest packet.
    pub pbs_bytes: u64,
    /// Whether the colours that packets come with count.
    pub mode: ColourMode,
    /// What is done to each colour.
    pub actions: ColourActions,
}

impl TrtcmSpec {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        // RFC 2698, 2: "The PIR must be equal to or greater than the CIR. The PBS and the CBS [...] must be configured to be
        // greater than 0."
        if self.pir < self.cir {
            return Err(Problem::PeakBelowCommitted { pir: self.pir.get(), cir: self.cir.get() });
        }
        if self.cbs_bytes == 0 || self.pbs_bytes == 0 {
            return Err(Problem::ZeroBurst);
        }
        self.actions.check()
    }
}

pub(crate) struct Trtcm {
    spec: TrtcmSpec,
    committed: TokenBucket,
    peak: TokenBucket,
}

impl Trtcm {
    /// `spec` has been checked.
    pub(crate) fn new(spec: TrtcmSpec, now: Instant) -> Trtcm {
        // RFC 2698, 3: "The token buckets P and C are initially (at time 0) full".
        let committed = TokenBucket::new(Rate::BitsPerSecond(spec.cir), spec.cbs_bytes, now);
        let peak = TokenBucket::new(Rate::BitsPerSecond(spec.pir), spec.pbs_bytes, now);
        Trtcm { spec, committed, peak }
    }

    pub(crate) fn reconfigure(&mut self, spec: TrtcmSpec, now: Instant) {
        self.committed.reconfigure(Rate::BitsPerSecond(spec.cir), spec.cbs_bytes, now);
        self.peak.reconfigure(Rate::BitsPerSecond(spec.pir), spec.pbs_bytes, now);
        self.spec = spec;
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let packet = &mut context.shared.slab[slot].packet;
        let colour = self.colour(self.spec.mode.assumed(packet), packet.ip_bytes, context.shared.now);
        self.spec.actions.apply(colour, packet)
    }

    fn colour(&mut self, assumed: Colour, ip_bytes: u32, now: Instant) -> Colour {
        // RFC 2698, 3: "If the packet has been precolored as red or if Tp(t)-B < 0, the packet is red".
        if assumed == Colour::Red || !self.peak.take(ip_bytes, now) {
            return Colour::Red;
        }
        // "if the packet has been precolored as yellow or if Tc(t)-B < 0, the packet is yellow and Tp is decremented by B".
        if assumed == Colour::Yellow || !self.committed.take(ip_bytes, now) {
            return Colour::Yellow;
        }
        // "the packet is green and both Tp and Tc are decremented by B."
        Colour::Green
    }
}
