//! A port in memory: the forwarder in virtual time, for tests, fuzzing and measurements without a kernel.

use std::collections::VecDeque;
use std::io;

use crosswind_wire::{Cut, VnetHeader};

use super::{Arrival, Need, Port};

/// Slots of a port; a veth has hundreds.
const SLOTS: u32 = 64;
/// Taken slots above which the oldest should be copied out.
const PRESSED_ABOVE: usize = 4;

/// Frames put in by a test, and frames that came out.
#[derive(Debug)]
pub struct MemoryPort {
    waiting: VecDeque<(u64, VnetHeader, Vec<u8>)>,
    slots: Vec<Option<Vec<u8>>>,
    free: Vec<u32>,
    /// In the order in which they were taken.
    taken: VecDeque<u32>,
    /// What was sent: virtio-net header and frame.
    pub sent: Vec<(VnetHeader, Vec<u8>)>,
}

impl Default for MemoryPort {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            slots: vec![None; SLOTS as usize],
            free: (0..SLOTS).rev().collect(),
            taken: VecDeque::new(),
            sent: Vec::new(),
        }
    }
}

impl MemoryPort {
    /// Lets a frame arrive at a CLOCK_REALTIME instant.
    pub fn arrive(&mut self, at_ns: u64, vnet: VnetHeader, frame: Vec<u8>) {
        self.waiting.push_back((at_ns, vnet, frame));
    }
}

impl Port for MemoryPort {
    fn receive(&mut self) -> Option<Arrival> {
        let slot = self.free.pop()?;
        let Some((stamped_realtime_ns, vnet, frame)) = self.waiting.pop_front() else {
            self.free.push(slot);
            return None;
        };
        self.slots[slot as usize] = Some(frame);
        self.taken.push_back(slot);
        Some(Arrival { slot, stamped_realtime_ns, vnet })
    }

    fn bytes(&self, slot: u32) -> &[u8] {
        self.slots[slot as usize].as_deref().expect("a released slot is not read")
    }

    fn release(&mut self, slot: u32) {
        assert!(self.slots[slot as usize].take().is_some(), "slot {slot} released twice");
        self.taken.retain(|&other| other != slot);
        self.free.push(slot);
    }

    fn pressed(&self, need: Need) -> Option<u32> {
        let tolerated = if need == Need::Rest { 0 } else { PRESSED_ABOVE };
        self.taken.front().copied().filter(|_| self.taken.len() > tolerated)
    }

    fn slots(&self) -> u32 {
        SLOTS
    }

    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        self.sent.push((VnetHeader::read(&cut.vnet), [cut.headers, cut.rest].concat()));
        Ok(())
    }

    fn overruns(&mut self) -> u64 {
        0
    }
}
