//! Buffer with tail drop: a FIFO that refuses a packet when its bytes and those waiting exceed the limit.
//!
//! `limit`: bytes, counted as `Measure` says (IP bytes in shapers, wire bytes in links). A smaller limit never drops what
//! waits already; it refuses newcomers until there is room.
//!
//! Source: RFC 7567, section 2 (tail drop).

use crate::list::List;
use crate::packet::{Class, Packet};
use crate::slab::{Slab, SlotId};
use crate::units::Limit;

/// Which of a packet's sizes fills the buffer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Measure {
    IpBytes,
    WireBytes,
}

impl Measure {
    fn of(self, packet: &Packet) -> u64 {
        u64::from(match self {
            Measure::IpBytes => packet.ip_bytes,
            Measure::WireBytes => packet.wire_bytes,
        })
    }
}

/// Packets that wait.
pub(crate) struct Buffer {
    waiting: List,
    limit: Limit,
    measure: Measure,
    /// Bytes waiting, in `measure`; may exceed `limit` after it was made smaller.
    held_bytes: u64,
    queued_ip_bytes: [u64; 2],
}

impl Buffer {
    pub(crate) fn new(limit: Limit, measure: Measure) -> Buffer {
        Buffer { waiting: List::new(), limit, measure, held_bytes: 0, queued_ip_bytes: [0; 2] }
    }

    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    pub(crate) fn has_room(&self, packet: &Packet) -> bool {
        self.limit.allows(self.held_bytes + self.measure.of(packet))
    }

    pub(crate) fn push(&mut self, slot: SlotId, slab: &mut Slab) {
        let packet = &slab[slot].packet;
        self.held_bytes += self.measure.of(packet);
        self.queued_ip_bytes[packet.class as usize] += u64::from(packet.ip_bytes);
        self.waiting.push_back(slot, slab);
    }

    pub(crate) fn pop(&mut self, slab: &Slab) -> Option<SlotId> {
        let slot = self.waiting.pop_front(slab)?;
        let packet = &slab[slot].packet;
        self.held_bytes -= self.measure.of(packet);
        self.queued_ip_bytes[packet.class as usize] -= u64::from(packet.ip_bytes);
        Some(slot)
    }

    pub(crate) fn front(&self) -> Option<SlotId> {
        self.waiting.front()
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.queued_ip_bytes[class as usize]
    }
}
