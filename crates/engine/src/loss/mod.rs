//! Loss. Drops packets as a lossy line does, whatever their size and the load; never delays. Drop reason: `lost`.
//!
//! The law decides which packets: each on its own (`bernoulli`), in bursts by a chain of two states (`gilbert_elliott`) or
//! of four (`four_state`), or as recorded (`trace`). Packets are counted, not time: a chain takes one step a packet, so a
//! burst of losses lasts as long as its packets take to come.
//!
//! New parameters: a law of the same kind goes on from the state that it is in (a trace only with the same pattern);
//! another law starts anew.
//!
//! Source: Salsano et al. 2012, "Definition of a general and intuitive loss model for packet networks and its
//! implementation in the Netem module in the Linux kernel", sections 2-4.

mod four_state;
mod gilbert_elliott;
mod trace;

use crate::element::Verdict;
use crate::error::Problem;
use crate::outcome::DropReason;
use crate::random::Stream;
use crate::units::Share;
use four_state::FourState;
pub use four_state::FourStateLaw;
use gilbert_elliott::GilbertElliott;
pub use gilbert_elliott::GilbertElliottLaw;
pub use trace::LossPattern;
use trace::Trace;

/// Which packets are lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LossLaw {
    /// Each with the same probability, whatever became of the others.
    Bernoulli {
        /// Of the packets, in the long run.
        share: Share,
    },
    /// More in bad times than in good ones (`loss/gilbert_elliott.rs`).
    GilbertElliott(GilbertElliottLaw),
    /// Bursts with gaps of their own, and single losses between them (`loss/four_state.rs`).
    FourState(FourStateLaw),
    /// Those of a recording, again and again (`loss/trace.rs`).
    Trace(LossPattern),
}

impl LossLaw {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self {
            LossLaw::FourState(law) => law.check(),
            LossLaw::Bernoulli { .. } | LossLaw::GilbertElliott(_) | LossLaw::Trace(_) => Ok(()),
        }
    }
}

pub(crate) struct Lose {
    model: Model,
    stream: Stream,
}

/// A law with the state that it is in.
enum Model {
    Bernoulli(Share),
    GilbertElliott(GilbertElliott),
    FourState(FourState),
    Trace(Trace),
}

impl Model {
    fn new(law: &LossLaw) -> Model {
        match law {
            LossLaw::Bernoulli { share } => Model::Bernoulli(*share),
            LossLaw::GilbertElliott(law) => Model::GilbertElliott(GilbertElliott::new(*law)),
            LossLaw::FourState(law) => Model::FourState(FourState::new(*law)),
            LossLaw::Trace(pattern) => Model::Trace(Trace::new(pattern.clone())),
        }
    }
}

impl Lose {
    /// `law` has been checked.
    pub(crate) fn new(law: &LossLaw, stream: Stream) -> Lose {
        Lose { model: Model::new(law), stream }
    }

    pub(crate) fn reconfigure(&mut self, law: &LossLaw) {
        match (&mut self.model, law) {
            (Model::GilbertElliott(chain), LossLaw::GilbertElliott(law)) => chain.reconfigure(*law),
            (Model::FourState(chain), LossLaw::FourState(law)) => chain.reconfigure(*law),
            (Model::Trace(trace), LossLaw::Trace(pattern)) if trace.repeats(pattern) => {}
            (model, law) => *model = Model::new(law),
        }
    }

    pub(crate) fn arrive(&mut self) -> Verdict {
        let lost = match &mut self.model {
            Model::Bernoulli(share) => self.stream.happens(*share),
            Model::GilbertElliott(chain) => chain.loses(&mut self.stream),
            Model::FourState(chain) => chain.loses(&mut self.stream),
            Model::Trace(trace) => trace.loses(),
        };
        if lost {
            Verdict::Dropped(DropReason::Lost)
        } else {
            Verdict::Passed
        }
    }
}
