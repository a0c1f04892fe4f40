//! Constant delay. Every packet leaves `time` after it came, in the order in which it came; nothing is dropped.
//!
//! `time`: at least 0. When it is made shorter, packets under way keep their instants and later ones do not overtake them.

use super::Line;
use crate::element::{Context, Verdict};
use crate::slab::SlotId;
use crate::units::Duration;

pub(crate) struct Delay {
    time: Duration,
    line: Line,
}

impl Delay {
    pub(crate) fn new(time: Duration) -> Delay {
        Delay { time, line: Line::new() }
    }

    pub(crate) fn reconfigure(&mut self, time: Duration) {
        self.time = time;
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        self.line.enter(slot, self.time, context)
    }

    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        self.line.wake(context)
    }
}
