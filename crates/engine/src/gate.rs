//! Gate. Drops every packet that has a label it is shut to; never delays. Drop reason: `partitioned`.
//!
//! `shut_to`: labels that the gate is shut to, in two independent parts. A packet with a label of either part is
//! dropped, whatever its size or class. Without labels everything passes.
//!
//! A fabric puts a gate last on the way to each node, and labels packets by their sender. So nothing that is under way
//! when the gate shuts arrives.

use alloc::vec::Vec;

use crate::describe::Problem;
use crate::element::{Behaviour, Context, Shared, Spec, Verdict};
use crate::label::LabelMask;
use crate::outcome::DropReason;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Instant;

/// The labels that a gate is shut to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GateSpec {
    /// Two parts, so that two callers can each change their own.
    pub shut_to: [LabelMask; 2],
}

impl Spec for GateSpec {
    const KIND: &'static str = "cut";
    const QUEUES: bool = false;

    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

pub(crate) struct Gate {
    shut_to: [LabelMask; 2],
}

impl Behaviour for Gate {
    type Spec = GateSpec;

    fn new(spec: &GateSpec, _: Stream) -> Gate {
        Gate { shut_to: spec.shut_to.clone() }
    }

    fn reconfigure(&mut self, spec: &GateSpec, _: &mut Context<'_>) {
        self.shut_to.clone_from(&spec.shut_to);
    }

    /// A train has one sender.
    fn treats_alike(&self, _: Instant) -> bool {
        true
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let Shared { slab, labels, .. } = &*context.shared;
        let set = slab[slot].packet.labels;
        if self.shut_to.iter().any(|mask| labels.has_any(set, mask)) {
            Verdict::Dropped(DropReason::Partitioned)
        } else {
            Verdict::Passed
        }
    }
}
