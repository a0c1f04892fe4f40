//! A veth end: a packet ring for all frames, and a second source for whole super-packets.
//!
//! A slot must hold the longest frame of its ring, so a single ring would need 68 KiB for every packet of 64 bytes.
//! Instead the ring takes short frames whole, and only the head of a super-packet. The head shows that a super-packet
//! has come and its position in the order; the whole frame is then taken from [`LongFrames`].

use std::io;
use std::os::fd::BorrowedFd;

use crosswind_wire::Cut;

use super::long_frames::{self, LongFrames, Taken};
use super::packet_ring::{self, PacketRing, Shape};
use super::socket::{PacketSocket, Takes};
use super::{Arrival, Need, Port};

/// Frames up to this length are short: an Ethernet frame of 1500 bytes with VLAN tags; it fits a slot of 2 KiB.
const SHORT_BYTES: u32 = 1_900;
/// Bytes of a longer frame in the ring.
const HEAD_BYTES: u32 = 64;
/// Ring memory of all ports.
const MEMORY_TOTAL: usize = 256 << 20;
/// Ring memory of one port: 4096 frames (40 ms at 100 000 a second), and 120 super-packets where these need a ring
/// too.
const MEMORY_MAX: usize = 16 << 20;
const SHORT_BLOCK: usize = 1 << 16;
/// The smallest block that holds whole slots of super-packets with little waste.
const LONG_BLOCK: usize = 1 << 20;
/// The port checks this many times for a super-packet, some milliseconds, before it counts as lost.
const LOOKS_MAX: u32 = 10_000;

/// A frame of a veth end.
#[derive(Debug)]
pub enum Slot {
    /// Whole in the ring.
    Short(packet_ring::Slot),
    /// In the second source.
    Long(long_frames::Slot),
}

/// One node's connection: the end of its veth pair on the fabric's side.
#[derive(Debug)]
pub struct Veth {
    ring: PacketRing,
    long: LongFrames,
    /// Slot numbers from here on are those of long frames.
    long_from: u32,
    /// A head whose super-packet has not arrived yet, and the number of checks for it.
    waiting: Option<(Arrival<packet_ring::Slot>, u32)>,
    /// Super-packets of which only the head arrived.
    lost: u64,
}

impl Veth {
    /// Opens the port on an interface of the calling thread's network namespace; `ports` share the memory budget.
    pub fn open(ifindex: i32, ports: usize) -> io::Result<Self> {
        let half = (MEMORY_TOTAL / ports.max(1)).min(MEMORY_MAX) / 2;
        let shape = |slot_bytes: usize, block_bytes: usize| Shape {
            slot_bytes,
            block_bytes,
            blocks: (half / block_bytes).max(1),
        };
        let heads = PacketSocket::open(Takes::Heads { whole_bytes: SHORT_BYTES, head_bytes: HEAD_BYTES })?;
        let ring = PacketRing::new(heads, shape(2_048, SHORT_BLOCK))?;
        let long = LongFrames::open(SHORT_BYTES, shape(69_632, LONG_BLOCK))?;
        // The kernel serves the socket that was bound last first, so the frame has arrived when its head is read.
        ring.bind(ifindex)?;
        long.bind(ifindex)?;
        let long_from = ring.slots() as u32;
        Ok(Self { ring, long, long_from, waiting: None, lost: 0 })
    }

    /// Descriptors to wait on for frames.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.ring.descriptor(), self.long.descriptor()]
    }
}

impl Port for Veth {
    type Slot = Slot;

    fn receive(&mut self) -> Option<Arrival<Slot>> {
        loop {
            let (arrival, looked) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => (self.ring.receive()?, 0),
            };
            if arrival.slot.is_whole() {
                return Some(arrival.with_slot(Slot::Short));
            }
            let taken = self.long.take(self.ring.bytes(&arrival.slot), arrival.stamped_realtime_ns);
            if matches!(taken, Taken::NotYet) && looked < LOOKS_MAX {
                self.waiting = Some((arrival, looked + 1));
                return None;
            }
            let Arrival { slot: head, stamped_realtime_ns, vnet } = arrival;
            self.ring.release(head);
            if let Taken::Slot(slot) = taken {
                return Some(Arrival { slot: Slot::Long(slot), stamped_realtime_ns, vnet });
            }
            self.lost += 1;
        }
    }

    fn bytes(&self, slot: &Slot) -> &[u8] {
        match slot {
            Slot::Short(slot) => self.ring.bytes(slot),
            Slot::Long(slot) => self.long.bytes(slot),
        }
    }

    fn number(&self, slot: &Slot) -> u32 {
        match slot {
            Slot::Short(slot) => slot.number(),
            Slot::Long(slot) => self.long_from + slot.number(),
        }
    }

    fn release(&mut self, slot: Slot) {
        match slot {
            Slot::Short(slot) => self.ring.release(slot),
            Slot::Long(slot) => self.long.release(slot),
        }
    }

    fn pressed(&self, need: Need) -> Option<u32> {
        let is_waiting =
            |number| self.waiting.as_ref().is_some_and(|(arrival, _)| arrival.slot.number() == number);
        let short = self.ring.pressed(need).filter(|&number| !is_waiting(number));
        short.or_else(|| self.long.pressed(need).map(|number| self.long_from + number))
    }

    fn slots(&self) -> u32 {
        self.long_from + self.long.slots() as u32
    }

    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        self.ring.send(cut)
    }

    fn send_watched(&mut self, cut: &Cut<'_>) -> io::Result<Option<u64>> {
        self.ring.send_watched(cut)
    }

    fn warm(&self) {
        self.ring.warm();
    }

    fn overruns(&mut self) -> u64 {
        self.ring.overruns() + std::mem::take(&mut self.lost)
    }
}
