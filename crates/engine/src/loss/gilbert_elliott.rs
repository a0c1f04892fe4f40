//! Gilbert-Elliott loss. A chain of two states, good and bad, with more losses in the bad one.
//!
//! `p`: probability of the transition from good to bad. `r`: from bad to good. `h`: probability that a packet survives
//! in the bad state. `k`: in the good state. The present state decides whether a packet is lost; then the chain makes
//! its transition. It starts in the good state, as netem's does. With h = 0 and k = 100 % (Gilbert's simple model)
//! bursts of losses have the mean length 1 / r and the gaps between them 1 / p.
//!
//! In the long run a share p / (p + r) of the packets finds the bad state, and a share ((1 - k) r + (1 - h) p) / (p +
//! r) is lost.
//!
//! Source: Elliott 1963, "Estimates of error rates for codes on burst-noise channels"; Gilbert 1960; the letters as in
//! Salsano et al. 2012, section 2.3, and tc-netem(8), `loss gemodel` (which takes 1-h and 1-k).

use crate::describe::{page, parameters, Page, Parameter};
use crate::random::Stream;
use crate::units::Share;

pub(super) const PAGE: Page = page!("gilbert_elliott.rs");

parameters! {
    /// A chain of a good and a bad state, with one transition per packet.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct GilbertElliottLaw {
        /// From good to bad.
        p: Share = [Parameter::share("p", "p_ppb").or_zero()],
        /// From bad to good.
        r: Share = [Parameter::share("r", "r_ppb").or_zero()],
        /// Received in the bad state; 0% when absent: all are lost.
        h: Share = [Parameter::share("h", "h_ppb").or_zero().or("0%", 0)],
        /// Received in the good state; 100% when absent: none is lost.
        k: Share = [Parameter::share("k", "k_ppb").or_zero().or("100%", 1_000_000_000)],
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    Good,
    Bad,
}

pub(super) struct GilbertElliott {
    law: GilbertElliottLaw,
    state: State,
}

impl GilbertElliott {
    pub(super) fn new(law: GilbertElliottLaw) -> GilbertElliott {
        GilbertElliott { law, state: State::Good }
    }

    pub(super) fn reconfigure(&mut self, law: GilbertElliottLaw) {
        self.law = law;
    }

    /// Two draws per packet, whatever the parameters.
    pub(super) fn loses(&mut self, stream: &mut Stream) -> bool {
        let GilbertElliottLaw { p, r, h, k } = self.law;
        let (survival, change, other) = match self.state {
            State::Good => (k, p, State::Bad),
            State::Bad => (h, r, State::Good),
        };
        let survives = stream.happens(survival);
        if stream.happens(change) {
            self.state = other;
        }
        !survives
    }
}
