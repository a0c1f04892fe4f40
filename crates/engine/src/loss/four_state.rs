//! Four-state loss. Bursts in which some packets survive, and single losses in the gaps between bursts.
//!
//! States: 1 received in a gap, 2 received in a burst, 3 lost in a burst, 4 lost alone in a gap. `p13`, `p14`, `p23`,
//! `p31`, `p32`: probabilities of the transitions between them. State 4 always leads to 1; otherwise the remaining
//! probability is that of staying. `p13` + `p14` and `p31` + `p32` are at most 100 %. The chain makes a transition at
//! each packet and then loses the packet in states 3 and 4. It starts in 1.
//!
//! With p14 = p32 = 0 it is Gilbert's simple model; then bursts have the mean length 1 / p31 and gaps 1 / p13.
//!
//! Source: Salsano et al. 2012, section 3 (the "general intuitive" model, GI); tc-netem(8), `loss state`. Exception:
//! in netem a packet whose draw is exactly on the border between two transitions makes neither; here it makes one.

use crate::describe::{page, parameters, Page, Parameter, Rule};
use crate::random::Stream;
use crate::units::Share;

pub(super) const PAGE: Page = page!("four_state.rs");

parameters! {
    /// A chain of four states: received in a gap (1) or burst (2), lost in a burst (3) or in a gap (4).
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct FourStateLaw {
        /// From 1 to 3: a burst starts.
        p13: Share = [Parameter::share("p13", "p13_ppb").or_zero()],
        /// From 3 to 1: a burst ends.
        p31: Share = [Parameter::share("p31", "p31_ppb").or_zero()],
        /// From 3 to 2; 0% when absent.
        p32: Share = [Parameter::share("p32", "p32_ppb").or_zero().or("0%", 0)],
        /// From 2 to 3; 100% when absent.
        p23: Share = [Parameter::share("p23", "p23_ppb").or_zero().or("100%", 1_000_000_000)],
        /// From 1 to 4, a single loss; 0% when absent.
        p14: Share = [Parameter::share("p14", "p14_ppb").or_zero().or("0%", 0)],
    }
    rules: [
        Rule::SumAtMost {
            keys: &["p13", "p14"],
            most: 1_000_000_000,
            message: "leaves state 1 with {sum}% together; give its two steps at most 100%",
        },
        Rule::SumAtMost {
            keys: &["p31", "p32"],
            most: 1_000_000_000,
            message: "leaves state 3 with {sum}% together; give its two steps at most 100%",
        },
    ]
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    ReceivedInGap,
    ReceivedInBurst,
    LostInBurst,
    LostInGap,
}

pub(super) struct FourState {
    law: FourStateLaw,
    state: State,
}

impl FourState {
    /// `law` has been checked.
    pub(super) fn new(law: FourStateLaw) -> FourState {
        FourState { law, state: State::ReceivedInGap }
    }

    pub(super) fn reconfigure(&mut self, law: FourStateLaw) {
        self.law = law;
    }

    /// One draw per packet, in every state.
    pub(super) fn loses(&mut self, stream: &mut Stream) -> bool {
        let FourStateLaw { p13, p31, p32, p23, p14 } = self.law;
        let draw = stream.below(Share::WHOLE.ppb());
        self.state = match self.state {
            State::ReceivedInGap if draw < p14.ppb() => State::LostInGap,
            State::ReceivedInGap if draw < p14.ppb() + p13.ppb() => State::LostInBurst,
            State::ReceivedInBurst if draw < p23.ppb() => State::LostInBurst,
            State::LostInBurst if draw < p32.ppb() => State::ReceivedInBurst,
            State::LostInBurst if draw < p32.ppb() + p31.ppb() => State::ReceivedInGap,
            State::LostInGap => State::ReceivedInGap,
            stays => stays,
        };
        matches!(self.state, State::LostInBurst | State::LostInGap)
    }
}
