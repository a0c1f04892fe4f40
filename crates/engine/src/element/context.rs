//! What an element needs of the engine while it treats a packet.

use alloc::vec::Vec;

use super::ElementId;
use crate::agenda::Agenda;
use crate::label::LabelSets;
use crate::monitor::Counters;
use crate::outcome::DropReason;
use crate::queue::Memory;
use crate::slab::{Slab, SlotId};
use crate::units::Instant;

/// What the elements of an engine share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) now: Instant,
    pub(crate) slab: Slab,
    pub(crate) agenda: Agenda,
    /// Packets that an element gives up besides the one it is asked about, in the order in which they are lost. Empty between
    /// calls; kept so that nothing is allocated per packet.
    pub(crate) discarded: Vec<(SlotId, DropReason)>,
    /// Room that queues of several elements take together.
    pub(crate) memories: Vec<Memory>,
    /// For monitors.
    pub(crate) labels: LabelSets,
}

/// What an element needs of the engine while it treats a packet.
pub(crate) struct Context<'a> {
    /// The element itself, to be woken.
    pub(crate) element: ElementId,
    /// The element's own.
    pub(crate) counters: &'a mut Counters,
    pub(crate) shared: &'a mut Shared,
}
