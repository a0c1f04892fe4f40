//! The parts of the engine that an element uses while it processes a packet.

use alloc::vec::Vec;

use super::ElementId;
use crate::agenda::Agenda;
use crate::label::LabelSets;
use crate::monitor::Counters;
use crate::outcome::DropReason;
use crate::queue::Memory;
use crate::slab::{Slab, SlotId};
use crate::units::Instant;

/// State shared by the elements of an engine.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) now: Instant,
    pub(crate) slab: Slab,
    pub(crate) agenda: Agenda,
    /// Packets that an element drops in addition to its present one, in the order of their loss. Empty between calls;
    /// reused so that nothing is allocated per packet.
    pub(crate) discarded: Vec<(SlotId, DropReason)>,
    /// Memory that queues of several elements share.
    pub(crate) memories: Vec<Memory>,
    /// For monitors.
    pub(crate) labels: LabelSets,
}

/// The parts of the engine that an element uses while it processes a packet.
pub(crate) struct Context<'a> {
    /// The element itself, as a target of events.
    pub(crate) element: ElementId,
    /// The element's own counters.
    pub(crate) counters: &'a mut Counters,
    pub(crate) shared: &'a mut Shared,
}
