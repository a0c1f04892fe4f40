//! Loss. Drops packets as a lossy line does, whatever their size and the load; never delays. Drop reason: `lost`.
//!
//! The model decides which packets are lost: each independently (`bernoulli`), in bursts by a chain of two states
//! (`gilbert_elliott`) or of four (`four_state`), or as recorded (`trace`). It counts packets, not time: a chain makes
//! one transition per packet, so the duration of a burst depends on the packet rate.
//!
//! New parameters: a model of the same kind continues from its present state (a trace only with the same pattern);
//! another model restarts.
//!
//! Source: Salsano et al. 2012, "Definition of a general and intuitive loss model for packet networks and its
//! implementation in the Netem module in the Linux kernel", sections 2-4.

mod four_state;
mod gilbert_elliott;
mod trace;

use crate::describe::{choice, page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::outcome::DropReason;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Share;
use four_state::FourState;
pub use four_state::FourStateLaw;
use gilbert_elliott::GilbertElliott;
pub use gilbert_elliott::GilbertElliottLaw;
use trace::Trace;
pub use trace::{LossPattern, LossTrace};

choice! {
    /// The loss model.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub enum LossLaw: "law" {
        Bernoulli(BernoulliLaw) = "bernoulli" in bare,
        GilbertElliott(GilbertElliottLaw) = "gilbert_elliott" at Some(gilbert_elliott::PAGE),
        FourState(FourStateLaw) = "four_state" at Some(four_state::PAGE),
        Trace(LossTrace) = "trace" titled "LossTrace" at Some(trace::PAGE),
    }
}

parameters! {
    /// Each packet with this probability, independently of others.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct BernoulliLaw {
        /// Share of the packets.
        share: Share = [Parameter::share("share", "share_ppb")],
    }
}

parameters! {
    /// Loses packets as a lossy line does, by one model.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct LoseSpec {
        /// The loss model.
        law: LossLaw = [Parameter::choice(None, "law", LossLaw::values())],
    }
}

impl Described for LoseSpec {
    const MANUAL: Manual = Manual::new("lose", page!("mod.rs")).short("bernoulli", "1%");
}

pub(crate) struct Lose {
    model: Model,
    stream: Stream,
}

/// A loss model with its state.
enum Model {
    Bernoulli(Share),
    GilbertElliott(GilbertElliott),
    FourState(FourState),
    Trace(Trace),
}

impl Model {
    fn new(law: &LossLaw) -> Model {
        match law {
            LossLaw::Bernoulli(law) => Model::Bernoulli(law.share),
            LossLaw::GilbertElliott(law) => Model::GilbertElliott(GilbertElliott::new(*law)),
            LossLaw::FourState(law) => Model::FourState(FourState::new(*law)),
            LossLaw::Trace(law) => Model::Trace(Trace::new(law.pattern.clone())),
        }
    }
}

impl Behaviour for Lose {
    type Spec = LoseSpec;

    fn new(spec: &LoseSpec, stream: Stream) -> Lose {
        Lose { model: Model::new(&spec.law), stream }
    }

    fn reconfigure(&mut self, spec: &LoseSpec, _: &mut Context<'_>) {
        match (&mut self.model, &spec.law) {
            (Model::GilbertElliott(chain), LossLaw::GilbertElliott(law)) => chain.reconfigure(*law),
            (Model::FourState(chain), LossLaw::FourState(law)) => chain.reconfigure(*law),
            (Model::Trace(trace), LossLaw::Trace(law)) if trace.repeats(&law.pattern) => {}
            (model, law) => *model = Model::new(law),
        }
    }

    fn arrive(&mut self, _: SlotId, _: &mut Context<'_>) -> Verdict {
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
