//! Trains inside the engine: the buffers of their frames, the number of wire packets still inside, and the packets
//! that have left and will be handed over together.
//!
//! Keys and buffers are reused: nothing is allocated per packet after a warm-up.

use std::sync::Arc;

use ahash::AHashMap;
use crosswind_engine::{Damage, Ecn};
use crosswind_tunnel::Passage;
use crosswind_wire::Train;

use crate::handovers::Handover;

/// The location of a frame's bytes; `S` is a slot of a port.
#[derive(Debug)]
pub enum Buffer<S> {
    /// Still in the slot of the port it came from.
    Slot(S),
    /// Copied out, because the slot was needed or because the frame has several receivers.
    Copy(Vec<u8>),
    /// Copied out once for all domains, because packets of it cross.
    Shared(Arc<Passage>),
    /// Released.
    Gone,
}

/// Consecutive wire packets that are due and wait to be handed over together.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// First wire packet.
    pub first: u32,
    /// Last wire packet so far.
    pub last: u32,
    /// The DSCP of all of them.
    pub dscp: u8,
    /// Damage; a damaged packet is a run by itself.
    pub damage: Option<Damage>,
    /// The ECN bits of all of them.
    pub ecn: Ecn,
    /// When the first of them was due.
    pub first_due_ns: u64,
    /// Distinguishes this run from others of the same train.
    pub number: u64,
}

/// A frame inside the emulator.
#[derive(Debug)]
pub struct InTransit<S> {
    /// Number of trains that entered before it, in the domain where it entered.
    pub number: u64,
    /// Its wire packets.
    pub train: Train,
    /// Its bytes.
    pub buffer: Buffer<S>,
    /// The place of the sending node ([`crate::nodes`]).
    pub from: usize,
    /// The place of the receiving node.
    pub to: usize,
    /// Its engine packets still inside: one for each wire packet, or one for the whole train.
    pub inside: u32,
    /// Its runs in a queue: they are due, but others are before them or their receiver could not take them.
    pub handovers: u32,
    /// The open run: its packets are due, and it may still grow.
    pub run: Option<Run>,
    /// When the wire packets of the run were due, and the number at each instant.
    pub dues_ns: Vec<(u64, u32)>,
}

impl<S> InTransit<S> {
    /// Whether none of its packets is inside or waits for its receiver; its run, if any, is being handed over.
    pub fn is_done(&self) -> bool {
        self.inside == 0 && self.handovers == 0
    }
}

/// All trains inside, by key.
#[derive(Debug)]
pub struct Trains<S> {
    /// Entries of trains that have left stay in place, with their memory, until another train uses them: entries are
    /// large and are not moved.
    places: Vec<InTransit<S>>,
    entered: u64,
    free: Vec<u32>,
    spare_dues: Vec<Vec<(u64, u32)>>,
    spare_bytes: Vec<Vec<u8>>,
    /// The keys of trains from other domains, by their names there.
    came: AHashMap<(usize, u64), u32>,
}

impl<S> Default for Trains<S> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            entered: 0,
            free: Vec::new(),
            spare_dues: Vec::new(),
            spare_bytes: Vec::new(),
            came: AHashMap::new(),
        }
    }
}

impl<S> Trains<S> {
    /// Adds a train that is `inside` packets for the engine, and returns its key.
    pub fn insert(&mut self, train: &Train, buffer: Buffer<S>, from: usize, to: usize, inside: u32) -> u32 {
        let number = self.entered;
        self.entered += 1;
        let Some(key) = self.free.pop() else {
            let (train, dues_ns) = (*train, Vec::new());
            let entry =
                InTransit { number, train, buffer, from, to, inside, handovers: 0, run: None, dues_ns };
            self.places.push(entry);
            return self.places.len() as u32 - 1;
        };
        let entry = &mut self.places[key as usize];
        entry.train = *train;
        entry.buffer = buffer;
        (entry.number, entry.from, entry.to, entry.inside) = (number, from, to, inside);
        key
    }

    /// The train of a key, or the remaining entry after it has left, which has no run.
    pub fn get(&mut self, key: u32) -> &mut InTransit<S> {
        &mut self.places[key as usize]
    }

    /// Removes a finished train; returns the port and slot to release, if its frame was still in one.
    #[inline]
    pub fn remove(&mut self, key: u32) -> Option<(usize, S)> {
        self.free.push(key);
        let entry = self.get(key);
        let from = entry.from;
        match std::mem::replace(&mut entry.buffer, Buffer::Gone) {
            Buffer::Slot(slot) => Some((from, slot)),
            Buffer::Copy(bytes) => {
                self.spare_bytes.push(bytes);
                None
            }
            Buffer::Shared(passage) => {
                // A train that entered here is not in the list, but it may have come back.
                if self.came.get(&passage.name) == Some(&key) {
                    self.came.remove(&passage.name);
                }
                None
            }
            Buffer::Gone => unreachable!("a train leaves once"),
        }
    }

    /// A packet of a frame arrives from another domain; returns the frame's key. Its sender and receiver have these
    /// places.
    pub fn come(&mut self, passage: &Arc<Passage>, (from, to): (usize, usize)) -> u32 {
        if let Some(&key) = self.came.get(&passage.name) {
            self.get(key).inside += 1;
            return key;
        }
        let key = self.insert(&passage.train, Buffer::Shared(Arc::clone(passage)), from, to, 1);
        self.get(key).number = passage.name.1;
        self.came.insert(passage.name, key);
        key
    }

    /// Replaces the buffer of a train; returns the slot of the earlier one, if it was one.
    pub fn exchange(&mut self, key: u32, buffer: Buffer<S>) -> Option<S> {
        match std::mem::replace(&mut self.get(key).buffer, buffer) {
            Buffer::Slot(slot) => Some(slot),
            Buffer::Copy(bytes) => {
                self.spare_bytes.push(bytes);
                None
            }
            Buffer::Shared(_) | Buffer::Gone => None,
        }
    }

    /// Takes the open run of a train, which must exist, for its receiver.
    pub fn take_run(&mut self, key: u32) -> Handover {
        let next = self.spare_dues.pop().unwrap_or_default();
        let entry = self.get(key);
        let run = entry.run.take().expect("the run is open");
        entry.handovers += 1;
        let dues_ns = std::mem::replace(&mut entry.dues_ns, next);
        Handover { key, to: entry.to, run, dues_ns, waits_since_ns: None }
    }

    /// Stores memory for another run.
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
