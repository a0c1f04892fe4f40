//! Reordering. Delays a share of the packets by a fixed time, so that packets after them overtake; never drops.
//!
//! `share`: above 0 %. `time`: above 0; a delayed packet is overtaken by those that arrive within this time, so it
//! determines by how many positions the packet is late. Each packet is chosen independently. Delayed packets stay in
//! order among themselves, and packets that are not chosen pass at once.
//!
//! New parameters: delayed packets leave at their scheduled instants; one chosen later does not leave before them.
//!
//! Source: RFC 4737, section 4 (a packet is reordered when one sent after it arrives before it). Exception:
//! tc-netem(8) `reorder` sends the chosen packets ahead of a queue of delayed ones; the method here works without
//! another delay.

use crate::delay::Line;
use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Share};

parameters! {
    /// Delays some packets by a fixed time, so that packets after them overtake.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct ReorderSpec {
        /// Share of the packets.
        share: Share = [Parameter::share("share", "share_ppb")],
        /// How long they are delayed.
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

    #[inline]
    fn wake_line(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        self.held_back.wake(context)
    }
}
