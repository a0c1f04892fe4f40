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
use crate::element::{Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Share};

pub(crate) struct Reorder {
    share: Share,
    time: Duration,
    held_back: Line,
    stream: Stream,
}

impl Reorder {
    pub(crate) fn new(share: Share, time: Duration, stream: Stream) -> Reorder {
        Reorder { share, time, held_back: Line::new(), stream }
    }

    pub(crate) fn reconfigure(&mut self, share: Share, time: Duration) {
        self.share = share;
        self.time = time;
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        if self.stream.happens(self.share) {
            self.held_back.enter(slot, self.time, context)
        } else {
            Verdict::Passed
        }
    }

    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        self.held_back.wake(context)
    }
}
