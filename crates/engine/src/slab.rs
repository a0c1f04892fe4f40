//! The slab that holds every packet inside the engine, one cache line each.
//!
//! Slots are reused last in, first out, so that a lightly loaded engine stays in the nearest cache. Queues are linked
//! lists of slots (see `list`), so they need no memory of their own.

use alloc::vec::Vec;
use core::mem::size_of;
use core::num::NonZeroU32;
use core::ops::{Index, IndexMut};

use crate::agenda::Ticket;
use crate::packet::{Class, Packet};
use crate::path::{Hop, PathId};
use crate::units::Instant;

/// The position of a packet in the slab, counted from 1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SlotId(NonZeroU32);

impl SlotId {
    /// The end of a list.
    pub(crate) const NONE: SlotId = SlotId(NonZeroU32::MAX);

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A packet inside the engine, in one cache line: with ten thousand paths the next line would not be in the cache.
#[repr(align(64))]
pub(crate) struct Slot {
    pub(crate) packet: Packet,
    /// When it arrived at the stage that holds it or, in a delay line, when it is due. Links and elements with a queue
    /// set it while a packet waits.
    pub(crate) at: Instant,
    /// Its position among events at the same instant.
    pub(crate) ticket: Ticket,
    pub(crate) path: PathId,
    pub(crate) hop: Hop,
    /// The next slot in its queue, or in the list of free slots.
    pub(crate) next: SlotId,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// All packets inside the engine.
pub(crate) struct Slab {
    slots: Vec<Slot>,
    free: SlotId,
    inside: [u64; 2],
}

impl Default for Slab {
    fn default() -> Slab {
        Slab { slots: Vec::new(), free: SlotId::NONE, inside: [0; 2] }
    }
}

impl Slab {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet, path: PathId, hop: Hop) -> SlotId {
        self.inside[packet.class as usize] += u64::from(packet.count);
        let slot =
            Slot { packet, at: packet.entered, ticket: Ticket::default(), path, hop, next: SlotId::NONE };
        let id = self.free;
        if id == SlotId::NONE {
            self.slots.push(slot);
            let place = u32::try_from(self.slots.len()).ok().and_then(NonZeroU32::new);
            return SlotId(place.expect("fewer than 2^32 packets inside"));
        }
        self.free = self[id].next;
        self[id] = slot;
        id
    }

    /// Frees the slot and returns its packet and path.
    pub(crate) fn remove(&mut self, id: SlotId) -> (Packet, PathId) {
        let free = self.free;
        let slot = &mut self[id];
        slot.next = free;
        let (packet, path) = (slot.packet, slot.path);
        self.free = id;
        self.inside[packet.class as usize] -= u64::from(packet.count);
        (packet, path)
    }

    /// Packets of `class` inside.
    pub(crate) fn inside(&self, class: Class) -> u64 {
        self.inside[class as usize]
    }
}

impl Index<SlotId> for Slab {
    type Output = Slot;

    fn index(&self, id: SlotId) -> &Slot {
        &self.slots[id.index()]
    }
}

impl IndexMut<SlotId> for Slab {
    fn index_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.slots[id.index()]
    }
}
