//! Reordering. Holds a share of the packets back for a time, so that those behind them overtake; never drops.
//!
//! `share`: above 0 %. `time`: above 0; a packet held back is overtaken by those that come within it, so it decides by how
//! many places the packet is late. Each packet is chosen on its own. Those held back keep their order among themselves, and
//! what is not chosen passes at once.
//!
//! New parameters: packets held back keep their instants; one chosen later is not let go before them.
//!
//! Source: RFC 4737, section 4 (a packet is reordered when one sent after it arrives before it). Exception: tc-netem(8)
//! `reorder` sends the chosen packets ahead of a queue of delayed ones; holding back needs no delay to be effective.

use crate::delay::Line;
use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Share};

parameters! {
    /// Holds some packets back for a time, so that those behind them overtake.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct ReorderSpec {
        /// Of the packets.
        share: Share = [Parameter::share("share", "share_ppb")],
        /// How long they are held back.
        time: Duration = [Parameter::time("time", "time_ns")],
    }
}

impl Described for ReorderSpec {
    const MANUAL: Manual = Manual::new("reorder", page!("reorder.rs"));
}

pub(crate) struct Reorder {
    spec: ReorderSpec,
    held_back: Line,
    stream: Stream,
}

impl Behaviour for Reorder {
    type Spec = ReorderSpec;

    fn new(spec: &ReorderSpec, stream: Stream) -> Reorder {
        Reorder { spec: *spec, held_back: Line::new(), stream }
    }

    fn reconfigure(&mut self, spec: &ReorderSpec, _: &mut Context<'_>) {
        self.spec = *spec;
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        if self.stream.happens(self.spec.share) {
            self.held_back.enter(slot, self.spec.time, context)
        } else {
            Verdict::Passed
        }
    }

    fn wake_line(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        self.held_back.wake(context)
    }
}
