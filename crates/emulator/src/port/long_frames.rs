//! The super-packets of one port, taken in the order in which their heads are read.
//!
//! They come through a [`SocketQueue`] where the kernel allows one deep enough (root), otherwise through a
//! [`PacketRing`]. Two CPUs that send through one port at the same moment may deliver heads and frames in different
//! orders. A frame whose head has not been read yet is therefore set aside. Stamps cannot match heads to frames: the
//! kernel stamps a frame for a ring up to some microseconds later than the same frame for a queue.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;

use super::packet_ring::{self, PacketRing, Shape};
use super::socket::{PacketSocket, Takes};
use super::socket_queue::{self, SocketQueue};
use super::{Arrival, Need};

/// Largest number of frames set aside: some microseconds of two CPUs at full speed.
const ASIDE_MAX: usize = 64;
/// Largest time between the stamps of a head and of its frame, while the CPUs run.
const DISORDER_NS: u64 = 100_000;
/// How long a frame is set aside. The kernel wakes a sleeping emulator between frame and head, and the hypervisor
/// often halts the CPU just then, for up to some milliseconds.
const ASIDE_NS: u64 = 100_000_000;

#[derive(Debug)]
enum Receiver {
    Queue(SocketQueue),
    Ring(PacketRing),
}

/// A super-packet, in the memory of its receiver.
#[derive(Debug)]
pub enum Slot {
    Queue(socket_queue::Slot),
    Ring(packet_ring::Slot),
}

impl Slot {
    /// The number of the slot; below [`LongFrames::slots`].
    pub fn number(&self) -> u32 {
        match self {
            Self::Queue(slot) => slot.number(),
            Self::Ring(slot) => slot.number(),
        }
    }
}

/// The result of looking for the frame of a head.
#[derive(Debug)]
pub enum Taken {
    /// It is in this slot.
    Slot(Slot),
    /// No newer frame has come either: another CPU may still be writing into the ring.
    NotYet,
    /// The kernel had no room for it.
    Lost,
}

/// The source of whole super-packets.
#[derive(Debug)]
pub struct LongFrames {
    receiver: Receiver,
    aside: VecDeque<Arrival<Slot>>,
}

impl LongFrames {
    /// Receives frames of more than `above_bytes`; `ring` is the shape of the ring, if one is needed.
    pub fn open(above_bytes: u32, ring: Shape) -> io::Result<Self> {
        let receiver = match SocketQueue::new(PacketSocket::open(Takes::Above(above_bytes))?) {
            Ok(queue) => Receiver::Queue(queue),
            Err(_) => Receiver::Ring(PacketRing::new(PacketSocket::open(Takes::Above(above_bytes))?, ring)?),
        };
        Ok(Self { receiver, aside: VecDeque::with_capacity(ASIDE_MAX) })
    }

    /// Starts to receive.
    pub fn bind(&self, ifindex: i32) -> io::Result<()> {
        match &self.receiver {
            Receiver::Queue(queue) => queue.bind(ifindex),
            Receiver::Ring(ring) => ring.bind(ifindex),
        }
    }

    /// A descriptor to wait on for frames.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.receiver {
            Receiver::Queue(queue) => queue.descriptor(),
            Receiver::Ring(ring) => ring.descriptor(),
        }
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        match &self.receiver {
            Receiver::Queue(_) => SocketQueue::slots(),
            Receiver::Ring(ring) => ring.slots(),
        }
    }

    /// Takes the frame that starts with `head`.
    pub fn take(&mut self, head: &[u8], stamped_realtime_ns: u64) -> Taken {
        let position = self.aside.iter().position(|arrival| self.bytes(&arrival.slot).starts_with(head));
        if let Some(arrival) = position.and_then(|position| self.aside.remove(position)) {
            return Taken::Slot(arrival.slot);
        }
        // The head of a frame that is this much older than the present head found no room in its ring, and was counted
        // there.
        let is_old = |aside: &Arrival<Slot>| aside.stamped_realtime_ns + ASIDE_NS <= stamped_realtime_ns;
        while self.aside.front().is_some_and(is_old) || self.aside.len() >= ASIDE_MAX {
            let Some(oldest) = self.aside.pop_front() else { break };
            self.release(oldest.slot);
        }
        while self.aside.len() < ASIDE_MAX {
            let Some(arrival) = self.receive() else { return Taken::NotYet };
            if self.bytes(&arrival.slot).starts_with(head) {
                return Taken::Slot(arrival.slot);
            }
            let is_newer = arrival.stamped_realtime_ns > stamped_realtime_ns + DISORDER_NS;
            self.aside.push_back(arrival);
            if is_newer {
                break;
            }
        }
        Taken::Lost
    }

    fn receive(&mut self) -> Option<Arrival<Slot>> {
        match &mut self.receiver {
            Receiver::Queue(queue) => queue.receive().map(|arrival| arrival.with_slot(Slot::Queue)),
            Receiver::Ring(ring) => ring.receive().map(|arrival| arrival.with_slot(Slot::Ring)),
        }
    }

    /// The bytes of a slot, from the Ethernet header on.
    pub fn bytes(&self, slot: &Slot) -> &[u8] {
        match (&self.receiver, slot) {
            (Receiver::Queue(queue), Slot::Queue(slot)) => queue.bytes(slot),
            (Receiver::Ring(ring), Slot::Ring(slot)) => ring.bytes(slot),
            _ => panic!("{slot:?} is not of this port"),
        }
    }

    /// Releases a slot.
    pub fn release(&mut self, slot: Slot) {
        match (&mut self.receiver, slot) {
            (Receiver::Queue(queue), Slot::Queue(slot)) => queue.release(slot),
            (Receiver::Ring(ring), Slot::Ring(slot)) => ring.release(slot),
            (_, slot) => panic!("{slot:?} is not of this port"),
        }
    }

    /// The number of the oldest taken slot that should be released; none while that slot is set aside, or where taken
    /// slots do no harm.
    pub fn pressed(&self, need: Need) -> Option<u32> {
        match &self.receiver {
            Receiver::Queue(_) => None,
            Receiver::Ring(ring) => ring
                .pressed(need)
                .filter(|&number| self.aside.iter().all(|arrival| arrival.slot.number() != number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crosswind_wire::{Cut, VnetHeader};

    use super::*;
    use crate::clock::{Clock, MachineClock};
    use crate::warmth::{FRAME, LOOPBACK_INDEX};

    const ABOVE_BYTES: u32 = 1_900;
    const RING: Shape = Shape { slot_bytes: 69_632, block_bytes: 1 << 20, blocks: 1 };

    /// A frame that no other program sends.
    fn frame(mark: u8) -> Vec<u8> {
        let mut frame = FRAME.to_vec();
        frame[14..18].copy_from_slice(&std::process::id().to_le_bytes());
        frame[18] = mark;
        frame.resize(ABOVE_BYTES as usize + 1, 0);
        frame
    }

    #[test]
    fn a_frame_waits_milliseconds_for_its_head_while_later_ones_are_taken() {
        let opened = LongFrames::open(ABOVE_BYTES, RING).and_then(|frames| {
            let sender = PacketSocket::open(Takes::Above(u32::MAX))?;
            frames.bind(LOOPBACK_INDEX).and(sender.bind(LOOPBACK_INDEX)).map(|()| (frames, sender))
        });
        let (mut frames, sender) = match opened {
            Ok(opened) => opened,
            Err(error) => return println!("SKIPPED: {error}"),
        };
        let [halted, second, third] = [0, 1, 2].map(frame);
        for rest in [&halted, &second, &third] {
            sender.send(&Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest }).unwrap();
        }
        let milliseconds_later_ns = MachineClock.realtime_ns() + 5_000_000;
        for expected in [&second, &third, &halted] {
            match frames.take(&expected[..64], milliseconds_later_ns) {
                Taken::Slot(slot) => assert_eq!(frames.bytes(&slot), expected.as_slice()),
                others => panic!("{others:?}"),
            }
        }
    }
}
