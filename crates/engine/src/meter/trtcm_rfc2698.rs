//! Two-rate three-colour meter. Colours packets by a committed and a peak rate, each with its burst, and carries out
//! the action of each colour; never delays (see `shaper`).
//!
//! `cir`, `pir`: rates of tokens in IP bits per second, `pir` at least `cir`. `cbs`, `pbs`: committed and peak burst,
//! IP bytes, at least the largest packet: a packet larger than `pbs` is always red, one larger than `cbs` never green.
//! `mode`, `green`, `yellow`, `red`: see `meter::colour`. The buckets start full. New parameters: tokens are cut to
//! the new bursts.
//!
//! Source: RFC 2698, sections 2 and 3. Exceptions: tokens are counted in fractions of a bit, not one byte at a time,
//! so that no rate is rounded; the colour is carried in the DSCP, and a packet without one counts as green.

use core::num::NonZeroU64;

use super::colour::{Colour, ColourActions, ColourMode};
use super::TokenBucket;
use crate::describe::{page, parameters, Described, Manual, Parameter, Rule};
use crate::element::{Behaviour, Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

parameters! {
    /// Colours packets by a committed and a peak rate with a burst each (RFC 2698); never delays.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct TrtcmSpec {
        /// Committed rate, IP bits per second.
        cir: NonZeroU64 = [Parameter::rate("cir", "cir_bps")],
        /// Committed burst, IP bytes; at least one packet.
        cbs_bytes: u64 = [Parameter::size("cbs", "cbs_bytes").of_a_packet()],
        /// Peak rate, at least `cir`.
        pir: NonZeroU64 = [Parameter::rate("pir", "pir_bps")],
        /// Peak burst, IP bytes; at least one packet.
        pbs_bytes: u64 = [Parameter::size("pbs", "pbs_bytes").of_a_packet()],
        /// aware: a packet's colour can only become worse; blind when absent.
        mode: ColourMode = [ColourMode::parameter()],
        /// The action for each colour.
        actions: ColourActions = flat,
    }
    // RFC 2698, 2: "The PIR must be equal to or greater than the CIR. The PBS and the CBS [...] must be configured to be
    // greater than 0."
    rules: [Rule::AtLeast {
        key: "pir",
        other: "cir",
        message: "{pir} is below cir {cir}; what exceeds the peak is red, so give pir >= cir",
    }]
}

impl Described for TrtcmSpec {
    const MANUAL: Manual = Manual::new("trtcm", page!("trtcm_rfc2698.rs"));
}

pub(crate) struct Trtcm {
    spec: TrtcmSpec,
    committed: TokenBucket,
    peak: TokenBucket,
}

impl Behaviour for Trtcm {
    type Spec = TrtcmSpec;

    fn new(spec: &TrtcmSpec, _: Stream) -> Trtcm {
        let spec = *spec;
        // RFC 2698, 3: "The token buckets P and C are initially (at time 0) full".
        let committed = TokenBucket::new(Rate::BitsPerSecond(spec.cir), spec.cbs_bytes);
        let peak = TokenBucket::new(Rate::BitsPerSecond(spec.pir), spec.pbs_bytes);
        Trtcm { spec, committed, peak }
    }

    fn reconfigure(&mut self, spec: &TrtcmSpec, context: &mut Context<'_>) {
        let now = context.shared.now;
        self.committed.reconfigure(Rate::BitsPerSecond(spec.cir), spec.cbs_bytes, now);
        self.peak.reconfigure(Rate::BitsPerSecond(spec.pir), spec.pbs_bytes, now);
        self.spec = *spec;
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let packet = &mut context.shared.slab[slot].packet;
        let colour = self.colour(self.spec.mode.assumed(packet), packet.ip_bytes, context.shared.now);
        self.spec.actions.apply(colour, packet)
    }
}

impl Trtcm {
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
