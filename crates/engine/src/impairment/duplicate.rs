//! Duplication. Sends a share of the packets twice, the copy directly after the original; never delays or drops.
//!
//! `share`: above 0 %. Each packet is chosen independently. The two are equal from then on (tag, size, DSCP) and are
//! processed separately after this element; a copy is not copied again here. Conservation has a separate term for
//! copies: entered + duplicated = left + dropped + inside.
//!
//! New parameters: the share applies to the next packet.
//!
//! Source: tc-netem(8), `duplicate` (there the copy re-enters at the root of the qdisc; here it continues from this
//! element).

use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Share;

parameters! {
    /// Sends some packets twice.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct DuplicateSpec {
        /// Share of the packets.
        share: Share = [Parameter::share("share", "share_ppb")],
    }
}

impl Described for DuplicateSpec {
    const MANUAL: Manual = Manual::new("duplicate", page!("duplicate.rs")).short("share", "1%");
}

pub(crate) struct Duplicate {
    share: Share,
    stream: Stream,
}

impl Behaviour for Duplicate {
    type Spec = DuplicateSpec;

    fn new(spec: &DuplicateSpec, stream: Stream) -> Duplicate {
        Duplicate { share: spec.share, stream }
    }

    fn reconfigure(&mut self, spec: &DuplicateSpec, _: &mut Context<'_>) {
        self.share = spec.share;
    }

    fn arrive(&mut self, _: SlotId, _: &mut Context<'_>) -> Verdict {
        if self.stream.happens(self.share) {
            Verdict::PassedTwice
        } else {
            Verdict::Passed
        }
    }
}
