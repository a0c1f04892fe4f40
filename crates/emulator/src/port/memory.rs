//! A port in memory, for tests of the forwarder in virtual time.

use std::collections::VecDeque;
use std::io;

use crosswind_wire::{Cut, VnetHeader};

use super::{Arrival, Port};

/// Frames put in by a test, and frames that came out.
#[derive(Debug, Default)]
pub struct MemoryPort {
    waiting: VecDeque<(u64, VnetHeader, Vec<u8>)>,
    slots: Vec<Option<Vec<u8>>>,
    /// What was sent: virtio-net header and frame.
    pub sent: Vec<(VnetHeader, Vec<u8>)>,
}

impl MemoryPort {
    /// Lets a frame arrive at a CLOCK_REALTIME instant.
    pub fn arrive(&mut self, at_ns: u64, vnet: VnetHeader, frame: Vec<u8>) {
        self.waiting.push_back((at_ns, vnet, frame));
    }
}

impl Port for MemoryPort {
    fn receive(&mut self) -> Option<Arrival> {
        let (stamped_realtime_ns, vnet, frame) = self.waiting.pop_front()?;
        self.slots.push(Some(frame));
        Some(Arrival { slot: self.slots.len() as u32 - 1, stamped_realtime_ns, vnet })
    }

    fn bytes(&self, slot: u32) -> &[u8] {
        self.slots[slot as usize].as_deref().expect("a released slot is not read")
    }

    fn release(&mut self, slot: u32) {
        assert!(self.slots[slot as usize].take().is_some(), "slot {slot} released twice");
    }

    fn pressed(&self) -> Option<u32> {
        let taken = self.slots.iter().filter(|slot| slot.is_some()).count();
        if taken > 4 {
            self.slots.iter().position(Option::is_some).map(|slot| slot as u32)
        } else {
            None
        }
    }

    fn slots(&self) -> u32 {
        4096
    }

    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        self.sent.push((VnetHeader::read(&cut.vnet), [cut.headers, cut.rest].concat()));
        Ok(())
    }

    fn overruns(&mut self) -> u64 {
        0
    }
}
