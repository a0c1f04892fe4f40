//! Marker. Rewrites the DSCP of every packet; never delays or drops.
//!
//! `dscp`: in [0, 63]. The outcome carries the new DSCP; the caller rewrites the packet's bytes.
//!
//! Source: RFC 2474, section 3 (the DS field); RFC 2475, section 2.3.3.2 (markers).

use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Instant;

parameters! {
    /// Rewrites the DSCP.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct MarkSpec {
        /// A DSCP by number or name.
        dscp: u8 = [Parameter::dscp("dscp", "dscp")],
    }
}

impl Described for MarkSpec {
    const MANUAL: Manual = Manual::new("mark", page!("mark.rs")).short("dscp", "EF");
}

pub(crate) struct Mark {
    dscp: u8,
}

impl Behaviour for Mark {
    type Spec = MarkSpec;

    fn new(spec: &MarkSpec, _: Stream) -> Mark {
        Mark { dscp: spec.dscp }
    }

    fn reconfigure(&mut self, spec: &MarkSpec, _: &mut Context<'_>) {
        self.dscp = spec.dscp;
    }

    fn treats_alike(&self, _: Instant) -> bool {
        true
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        context.shared.slab[slot].packet.dscp = self.dscp;
        Verdict::Passed
    }
}
