//! Four-state loss. Bursts in which some packets survive, and single losses in the gaps between bursts.
//!
//! States: 1 received in a gap, 2 received in a burst, 3 lost in a burst, 4 lost alone in a gap. `p13`, `p14`, `p23`, `p31`,
//! `p32`: probabilities of the steps between them; a step from 4 always leads to 1, and what is left of a state's sum stays
//! in it. `p13` + `p14` and `p31` + `p32` are at most 100 %. The chain takes its step with each packet and then loses the
//! packet in the states 3 and 4. It starts in 1.
//!
//! With p14 = p32 = 0 it is Gilbert's simple model; then bursts have the mean length 1 / p31 and gaps 1 / p13.
//!
//! Source: Salsano et al. 2012, section 3 (the "general intuitive" model, GI); tc-netem(8), `loss state`. Exception: in
//! netem a packet that finds its draw exactly on the border between two steps takes neither; here it takes one.

use crate::error::Problem;
use crate::random::Stream;
use crate::units::Share;

/// The parameters of a four-state chain.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // pXY is the probability of the step from state X to state Y; the states are explained above.
pub struct FourStateLaw {
    pub p13: Share,
    pub p31: Share,
    pub p32: Share,
    pub p23: Share,
    pub p14: Share,
}

impl FourStateLaw {
    pub(super) fn check(&self) -> Result<(), Problem> {
        for (state, first, second) in [(1, self.p13, self.p14), (3, self.p31, self.p32)] {
            if first.and(second).is_none() {
                return Err(Problem::StepsAboveWhole { state, first, second });
            }
        }
        Ok(())
    }
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

    /// One draw a packet, whatever the state.
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
