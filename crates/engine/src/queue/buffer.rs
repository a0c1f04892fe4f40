//! Buffer: a FIFO with a limit. It only counts; the drop policy decides about a packet that has no room
//! (`queue/drop`).
//!
//! `limit`: bytes, packets, or a time. Bytes are counted as the owner's rate counts them (IP bytes in shapers, wire
//! bytes in links). A time means the bytes that the rate after the buffer sends in it, rounded down, so waiting
//! packets never need longer to drain. It follows the rate when that changes. A number of bytes does not, even if it
//! was computed from a bandwidth-delay product. Under a scheduler the rate is the whole link's, so a queue that shares
//! the link may hold packets for longer.
//!
//! A smaller limit never drops packets that already wait; it refuses new ones until there is room.
//!
//! Source: RFC 7567, section 2 (buffers and their limits).

use crate::list::List;
use crate::packet::{Class, Packet};
use crate::slab::{Slab, SlotId};
use crate::units::{Limit, Rate, NANO};

/// Which of a packet's sizes counts.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Measure {
    IpBytes,
    WireBytes,
}

impl Measure {
    pub(crate) fn of(self, packet: &Packet) -> u64 {
        u64::from(match self {
            Measure::IpBytes => packet.ip_bytes,
            Measure::WireBytes => packet.wire_bytes(),
        })
    }
}

/// Packets that wait.
pub(crate) struct Buffer {
    waiting: List,
    measure: Measure,
    /// u64::MAX if there is no bound, which is more than memory can hold.
    limit_bytes: u64,
    /// Likewise.
    limit_packets: u64,
    /// Bytes waiting, in `measure`; may exceed the limit after it was reduced.
    held_bytes: u64,
    held_packets: u64,
    queued_ip_bytes: [u64; 2],
}

impl Buffer {
    pub(crate) fn new(limit: Limit, measure: Measure, rate: Rate) -> Buffer {
        let mut buffer = Buffer {
            waiting: List::new(),
            measure,
            limit_bytes: u64::MAX,
            limit_packets: u64::MAX,
            held_bytes: 0,
            held_packets: 0,
            queued_ip_bytes: [0; 2],
        };
        buffer.set_limit(limit, rate);
        buffer
    }

    /// `rate` is the one after the buffer, in bits of `measure` per second.
    pub(crate) fn set_limit(&mut self, limit: Limit, rate: Rate) {
        (self.limit_bytes, self.limit_packets) = match (limit, rate) {
            (Limit::Bytes(bytes), _) => (bytes, u64::MAX),
            (Limit::Packets(packets), _) => (u64::MAX, packets),
            (Limit::Time(time), Rate::BitsPerSecond(rate)) => {
                let nano_bits = u128::from(rate.get()) * u128::from(time.as_nanos());
                (u64::try_from(nano_bits / (8 * u128::from(NANO))).unwrap_or(u64::MAX), u64::MAX)
            }
            (Limit::Unlimited, _) | (Limit::Time(_), Rate::Unlimited) => (u64::MAX, u64::MAX),
        };
    }

    /// Whether a packet of this number of bytes, in the buffer's measure, has room.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.held_bytes.saturating_add(bytes) <= self.limit_bytes && self.held_packets < self.limit_packets
    }

    /// Whether the packet would have room in an empty buffer.
    pub(crate) fn can_ever_hold(&self, packet: &Packet) -> bool {
        self.measure.of(packet) <= self.limit_bytes && self.limit_packets > 0
    }

    pub(crate) fn push(&mut self, slot: SlotId, slab: &mut Slab) {
        let packet = &slab[slot].packet;
        self.held_bytes += self.measure.of(packet);
        self.held_packets += 1;
        self.queued_ip_bytes[packet.class as usize] += u64::from(packet.ip_bytes);
        self.waiting.push_back(slot, slab);
    }

    pub(crate) fn pop(&mut self, slab: &Slab) -> Option<SlotId> {
        let slot = self.waiting.pop_front(slab)?;
        let packet = &slab[slot].packet;
        self.held_bytes -= self.measure.of(packet);
        self.held_packets -= 1;
        self.queued_ip_bytes[packet.class as usize] -= u64::from(packet.ip_bytes);
        Some(slot)
    }

    pub(crate) fn front(&self) -> Option<SlotId> {
        self.waiting.front()
    }

    /// Bytes waiting, in the buffer's measure.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    pub(crate) fn held_packets(&self) -> u64 {
        self.held_packets
    }

    pub(crate) fn measure(&self) -> Measure {
        self.measure
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.queued_ip_bytes[class as usize]
    }
}
