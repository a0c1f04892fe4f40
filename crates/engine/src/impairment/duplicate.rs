//! Duplication. Sends a share of the packets on twice, the second right behind the first; never delays or drops.
//!
//! `share`: above 0 %. Each packet is chosen on its own, whatever became of others. The two are equal from then on (tag,
//! size, DSCP) and are treated one by one behind this element; a copy is not copied again here. Conservation has a term of
//! its own for what was made: entered + duplicated = left + dropped + inside.
//!
//! New parameters: the share applies to the next packet.
//!
//! Source: tc-netem(8), `duplicate` (there the copy re-enters at the root of the qdisc; here it goes on).

use crate::element::Verdict;
use crate::random::Stream;
use crate::units::Share;

pub(crate) struct Duplicate {
    share: Share,
    stream: Stream,
}

impl Duplicate {
    pub(crate) fn new(share: Share, stream: Stream) -> Duplicate {
        Duplicate { share, stream }
    }

    pub(crate) fn reconfigure(&mut self, share: Share) {
        self.share = share;
    }

    pub(crate) fn arrive(&mut self) -> Verdict {
        if self.stream.happens(self.share) {
            Verdict::PassedTwice
        } else {
            Verdict::Passed
        }
    }
}
