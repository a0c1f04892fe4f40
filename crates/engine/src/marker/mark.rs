//! Marker. Rewrites the DSCP of every packet; never delays or drops.
//!
//! `dscp`: in [0, 63]. The outcome carries the DSCP as it then is; the caller rewrites the packet's bytes.
//!
//! Source: RFC 2474, section 3 (the DS field); RFC 2475, section 2.3.3.2 (markers).

use crate::element::{Context, Verdict};
use crate::slab::SlotId;

pub(crate) struct Mark {
    dscp: u8,
}

impl Mark {
    pub(crate) fn new(dscp: u8) -> Mark {
        Mark { dscp }
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        context.shared.slab[slot].packet.dscp = self.dscp;
        Verdict::Passed
    }
}
