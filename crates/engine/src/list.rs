//! First in, first out lists of packets, linked through the slab.
//!
//! A packet is in at most one list at a time, so its slot's `next` is enough: no list allocates.

use crate::slab::{Slab, SlotId};

/// A FIFO of slots.
pub(crate) struct List {
    head: SlotId,
    /// Valid only while the list is not empty.
    tail: SlotId,
}

impl List {
    pub(crate) const fn new() -> List {
        List { head: SlotId::NONE, tail: SlotId::NONE }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head == SlotId::NONE
    }

    pub(crate) fn front(&self) -> Option<SlotId> {
        (!self.is_empty()).then_some(self.head)
    }

    pub(crate) fn push_back(&mut self, slot: SlotId, slab: &mut Slab) {
        slab[slot].next = SlotId::NONE;
        if self.is_empty() {
            self.head = slot;
        } else {
            slab[self.tail].next = slot;
        }
        self.tail = slot;
    }

    pub(crate) fn pop_front(&mut self, slab: &Slab) -> Option<SlotId> {
        let slot = self.front()?;
        self.head = slab[slot].next;
        Some(slot)
    }
}
