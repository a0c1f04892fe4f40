//! A port in memory: the forwarder in virtual time, for tests, fuzzing and measurements without a kernel.

use std::collections::VecDeque;
use std::io;

use crosswind_wire::{Cut, VnetHeader};

use super::{Arrival, Need, Port};

/// Slots of a port; a veth has hundreds.
const SLOTS: u32 = 64;
/// Above this number of taken slots the oldest should be copied out.
const PRESSED_ABOVE: usize = 4;

/// A frame that the port stores.
#[derive(Debug)]
pub struct Slot(u32);

/// Frames put in by a test, and frames that came out.
#[derive(Debug)]
pub struct MemoryPort {
    waiting: VecDeque<(u64, VnetHeader, Vec<u8>)>,
    slots: Vec<Option<Vec<u8>>>,
    free: Vec<u32>,
    /// In the order in which they were taken.
    taken: VecDeque<u32>,
    /// Sent frames: virtio-net header and frame.
    pub sent: Vec<(VnetHeader, Vec<u8>)>,
    /// The number of frames that can be sent before the node must take some.
    pub room: usize,
}

impl Default for MemoryPort {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            slots: vec![None; SLOTS as usize],
            free: (0..SLOTS).rev().collect(),
            taken: VecDeque::new(),
            sent: Vec::new(),
            room: usize::MAX,
        }
    }
}

impl MemoryPort {
    /// Delivers a frame at a CLOCK_REALTIME instant.
    pub fn arrive(&mut self, at_ns: u64, vnet: VnetHeader, frame: Vec<u8>) {
        self.waiting.push_back((at_ns, vnet, frame));
    }
}

impl Port for MemoryPort {
    type Slot = Slot;

    fn receive(&mut self) -> Option<Arrival<Slot>> {
        let number = self.free.pop()?;
        let Some((stamped_realtime_ns, vnet, frame)) = self.waiting.pop_front() else {
            self.free.push(number);
            return None;
        };
        self.slots[number as usize] = Some(frame);
        self.taken.push_back(number);
        Some(Arrival { slot: Slot(number), stamped_realtime_ns, vnet })
    }

    fn bytes(&self, slot: &Slot) -> &[u8] {
        self.slots[slot.0 as usize].as_deref().expect("a slot of this port")
    }

    fn number(&self, slot: &Slot) -> u32 {
        slot.0
    }

    fn release(&mut self, slot: Slot) {
        assert!(self.slots[slot.0 as usize].take().is_some(), "{slot:?} is not a slot of this port");
        self.taken.retain(|&other| other != slot.0);
        self.free.push(slot.0);
    }

    fn pressed(&self, need: Need) -> Option<u32> {
        let tolerated = if need == Need::Rest { 0 } else { PRESSED_ABOVE };
        self.taken.front().copied().filter(|_| self.taken.len() > tolerated)
    }

    fn slots(&self) -> u32 {
        SLOTS
    }

    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        if self.room == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.room -= 1;
        self.sent.push((VnetHeader::read(&cut.vnet), [cut.headers, cut.rest].concat()));
        Ok(())
    }

    fn overruns(&mut self) -> u64 {
        0
    }
}
