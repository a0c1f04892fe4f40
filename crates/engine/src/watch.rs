//! Who looks at an element besides itself: the monitors in front of it that measure its queue or count its drops, and the engine
//! where what leaves it crosses into another one.
//!
//! An element knows nothing of it. Most have no watch at all, and then it costs them one comparison a packet.

use alloc::vec::Vec;

use crate::element::ElementId;
use crate::slab::SlotId;

#[derive(Default)]
pub(crate) struct Watch {
    /// Monitors that measure the queue.
    pub(crate) queue: Vec<ElementId>,
    /// Monitors that count drops.
    pub(crate) drops: Vec<ElementId>,
    /// The packet on the transmitter when it was last looked at.
    pub(crate) serving: Option<SlotId>,
    /// Whether what leaves the transmitter leads into another engine.
    pub(crate) leads_away: bool,
}

impl Watch {
    /// Whether nobody looks any more.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.drops.is_empty() && !self.leads_away
    }

    pub(crate) fn forget(&mut self, monitor: ElementId) {
        self.queue.retain(|&id| id != monitor);
        self.drops.retain(|&id| id != monitor);
    }
}
