//! A veth end: two packet rings, one for short frames and one for super-packets.
//!
//! A slot must hold the longest frame of its ring. One ring for everything would need 68 KiB for every packet of 64 bytes;
//! two give room for thousands of short packets and a hundred super-packets in 16 MiB, which decides how long the
//! emulator may be held up without loss, and how fast a fabric comes up (the kernel clears the memory).
//!
//! Order is kept across the two: frames of one flow become visible in the order they were stamped, so a ring found
//! empty is looked at once more after the other was found to have something.

use std::io;
use std::os::fd::RawFd;

use crosswind_wire::Cut;

use super::packet_ring::{PacketRing, Shape, Takes};
use super::{Arrival, Port};

/// Frames up to here are short: an Ethernet frame of 1500 bytes with VLAN tags, and what fits a slot of 2 KiB.
const SHORT_BYTES: u32 = 1_900;
/// Ring memory of all ports together.
const MEMORY_TOTAL: usize = 256 << 20;
/// Ring memory of one port: 4096 short frames (40 ms at 100 000 a second) and 120 super-packets.
const MEMORY_MAX: usize = 16 << 20;
const SHORT_BLOCK: usize = 1 << 16;
/// The smallest block that holds whole slots of super-packets with little waste.
const LONG_BLOCK: usize = 1 << 20;

/// One node's connection: the fabric-side end of its veth pair.
#[derive(Debug)]
pub struct Veth {
    short: PacketRing,
    long: PacketRing,
    short_slots: u32,
    long_slots: u32,
}

impl Veth {
    /// Opens the port on an interface of the calling thread's network namespace; `ports` share the memory budget.
    pub fn open(ifindex: i32, ports: usize) -> io::Result<Self> {
        let half = (MEMORY_TOTAL / ports.max(1)).min(MEMORY_MAX) / 2;
        let shape = |slot_bytes: usize, block_bytes: usize, takes: Takes| {
            let blocks = (half / block_bytes).max(1);
            Shape { slot_bytes, block_bytes, blocks, takes }
        };
        let short = shape(2_048, SHORT_BLOCK, Takes::UpTo(SHORT_BYTES));
        let long = shape(69_632, LONG_BLOCK, Takes::Above(SHORT_BYTES));
        Ok(Self {
            short: PacketRing::open(ifindex, short)?,
            long: PacketRing::open(ifindex, long)?,
            short_slots: short.slots() as u32,
            long_slots: long.slots() as u32,
        })
    }

    /// To wait for frames.
    pub fn descriptors(&self) -> [RawFd; 2] {
        [self.short.descriptor(), self.long.descriptor()]
    }
}

impl Port for Veth {
    fn receive(&mut self) -> Option<Arrival> {
        let mut short = self.short.peek();
        let mut long = self.long.peek();
        if short.is_none() {
            short = self.short.peek();
        }
        if long.is_none() && short.is_some() {
            long = self.long.peek();
        }
        let from_long = match (short, long) {
            (Some(short), Some(long)) => long < short,
            (short, long) => short.is_none() && long.is_some(),
        };
        if from_long {
            let arrival = self.long.receive()?;
            Some(Arrival { slot: arrival.slot + self.short_slots, ..arrival })
        } else {
            self.short.receive()
        }
    }

    fn bytes(&self, slot: u32) -> &[u8] {
        match slot.checked_sub(self.short_slots) {
            None => self.short.bytes(slot),
            Some(slot) => self.long.bytes(slot),
        }
    }

    fn release(&mut self, slot: u32) {
        match slot.checked_sub(self.short_slots) {
            None => self.short.release(slot),
            Some(slot) => self.long.release(slot),
        }
    }

    fn pressed(&self) -> Option<u32> {
        self.short.pressed().or_else(|| self.long.pressed().map(|slot| slot + self.short_slots))
    }

    fn slots(&self) -> u32 {
        self.short_slots + self.long_slots
    }

    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        self.short.send(cut)
    }

    fn overruns(&mut self) -> u64 {
        self.short.overruns() + self.long.overruns()
    }
}
