//! Watches of an element: the monitors that measure its queue or count its drops, and the engine if packets cross from
//! it into another engine.
//!
//! The element does not know its watches. Most elements have none, which costs them one comparison per packet.

use alloc::vec::Vec;

use crate::element::ElementId;
use crate::slab::SlotId;

#[derive(Default)]
pub(crate) struct Watch {
    /// Monitors that measure the queue.
    pub(crate) queue: Vec<ElementId>,
    /// Monitors that count drops.
    pub(crate) drops: Vec<ElementId>,
    /// The packet on the transmitter at the last check.
    pub(crate) serving: Option<SlotId>,
    /// Whether packets from the transmitter leave for another engine.
    pub(crate) is_cut: bool,
}

impl Watch {
    /// Whether no watch is left.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.drops.is_empty() && !self.is_cut
    }

    pub(crate) fn forget(&mut self, monitor: ElementId) {
        self.queue.retain(|&id| id != monitor);
        self.drops.retain(|&id| id != monitor);
    }
}
