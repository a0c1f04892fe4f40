//! Trains inside the engine: where their frame is kept, how many of their wire packets are still on the way, and which of
//! those that have left will be handed over together.
//!
//! Keys are reused, and so are the buffers: nothing is allocated per packet once the emulator has warmed up.

use crosswind_engine::{Damage, Ecn};
use crosswind_wire::Train;

use crate::handovers::Handover;

/// Where the bytes of a frame are; `S` is a slot of a port.
#[derive(Debug)]
pub enum Buffer<S> {
    /// Still in the slot of the port it came from.
    Slot(S),
    /// Copied out, because the slot was needed or because the frame has several receivers.
    Copy(Vec<u8>),
}

/// Consecutive wire packets that are due and wait to be handed over together.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// First wire packet.
    pub first: u32,
    /// Last wire packet so far.
    pub last: u32,
    /// They share one code point.
    pub dscp: u8,
    /// A damaged packet is a run of its own.
    pub damage: Option<Damage>,
    /// And the same bits of congestion notification.
    pub ecn: Ecn,
    /// When the first of them was due.
    pub first_due_ns: u64,
    /// Tells this run from another of the same train.
    pub number: u64,
}

/// A frame inside the emulator.
#[derive(Debug)]
pub struct InTransit<S> {
    /// How many trains entered before it.
    pub number: u64,
    /// Its wire packets.
    pub train: Train,
    /// Its bytes.
    pub buffer: Buffer<S>,
    /// Index of the sending node.
    pub from: usize,
    /// Index of the receiving node.
    pub to: usize,
    /// Engine packets of it still inside: one a wire packet, or one for the whole train.
    pub inside: u32,
    /// Runs of it that are due and wait for their receiver.
    pub handovers: u32,
    /// Due, and may still grow.
    pub run: Option<Run>,
    /// When the wire packets of the run were due, and how many at each instant.
    pub dues_ns: Vec<(u64, u32)>,
}

/// All trains inside, by key.
#[derive(Debug)]
pub struct Trains<S> {
    slots: Vec<Option<InTransit<S>>>,
    entered: u64,
    free: Vec<u32>,
    spare_dues: Vec<Vec<(u64, u32)>>,
    spare_bytes: Vec<Vec<u8>>,
}

impl<S> Default for Trains<S> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            entered: 0,
            free: Vec::new(),
            spare_dues: Vec::new(),
            spare_bytes: Vec::new(),
        }
    }
}

impl<S> Trains<S> {
    /// Takes a train in that is `inside` packets for the engine, and returns its key.
    pub fn insert(&mut self, train: Train, buffer: Buffer<S>, from: usize, to: usize, inside: u32) -> u32 {
        let dues_ns = self.spare_dues.pop().unwrap_or_default();
        let number = self.entered;
        self.entered += 1;
        let entry = InTransit { number, train, buffer, from, to, inside, handovers: 0, run: None, dues_ns };
        if let Some(key) = self.free.pop() {
            self.slots[key as usize] = Some(entry);
            return key;
        }
        self.slots.push(Some(entry));
        self.slots.len() as u32 - 1
    }

    /// The train of a key.
    pub fn get(&mut self, key: u32) -> &mut InTransit<S> {
        self.slots[key as usize].as_mut().expect("a key is used only while its train is inside")
    }

    /// The train of a key that may have left meanwhile.
    pub fn find(&mut self, key: u32) -> Option<&mut InTransit<S>> {
        self.slots[key as usize].as_mut()
    }

    /// Lets a train go; returns the port and slot to give back, if its frame still was in one.
    pub fn remove(&mut self, key: u32) -> Option<(usize, S)> {
        let entry = self.slots[key as usize].take().expect("a train leaves once");
        self.free.push(key);
        self.give_back_dues(entry.dues_ns);
        match entry.buffer {
            Buffer::Slot(slot) => Some((entry.from, slot)),
            Buffer::Copy(bytes) => {
                self.spare_bytes.push(bytes);
                None
            }
        }
    }

    /// Takes the open run of a train out, if there is one, for its receiver.
    pub fn take_run(&mut self, key: u32) -> Option<Handover> {
        let entry = self.slots[key as usize].as_mut().expect("a key is used only while its train is inside");
        let run = entry.run.take()?;
        entry.handovers += 1;
        let dues_ns = std::mem::replace(&mut entry.dues_ns, self.spare_dues.pop().unwrap_or_default());
        Some(Handover { key, to: entry.to, run, dues_ns, waits_since_ns: None })
    }

    /// Keeps memory for another run.
    pub fn give_back_dues(&mut self, mut dues_ns: Vec<(u64, u32)>) {
        dues_ns.clear();
        self.spare_dues.push(dues_ns);
    }

    /// A copy of a frame, in memory that an earlier one has used.
    pub fn copy(&mut self, frame: &[u8]) -> Buffer<S> {
        let mut bytes = self.spare_bytes.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(frame);
        Buffer::Copy(bytes)
    }
}
