//! Frames of another machine: put together from their parts, and stored until no more packets of them come.
//!
//! The sender reports when it has no more packets of a frame. That report can be lost, so the oldest frames go when
//! there are too many; packets that name one of them are refused, and counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use ahash::AHashMap;
use crosswind_wire::Train;

use crate::message::Passage;
use crate::record::Part;

/// A frame: the domain in which it entered, and its number there.
pub type Name = (usize, u64);

/// What is stored for one machine. A path of 10 Gbit/s with a delay of 0.2 s holds as many bytes.
const BYTES_MAX: usize = 256 << 20;
/// Frames of 64 bytes would take a multiple of their bytes.
const FRAMES_MAX: usize = 1 << 18;

/// Frames of one machine.
#[derive(Debug, Default)]
pub struct FramesIn {
    by_name: AHashMap<Name, (u64, Incoming)>,
    /// The same, in the order in which they came.
    by_age: BTreeMap<u64, Name>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
enum Incoming {
    /// Some bytes are missing; the length of all.
    Part(Vec<u8>, usize),
    /// All bytes are here.
    Whole(Arc<Passage>),
}

impl Incoming {
    fn bytes(&self) -> usize {
        match self {
            Self::Part(_, length) => *length,
            Self::Whole(passage) => passage.bytes.len(),
        }
    }
}

impl FramesIn {
    /// A part has come; an error if it does not continue what is here, or if all of it is no frame. Parts come in
    /// sequence ([`crate::sequence`]), and a trial in which one is lost is void.
    pub fn take_in(&mut self, part: &Part<'_>) -> Result<(), ()> {
        if part.at == 0 {
            self.remove(part.name);
            self.insert(part.name, Incoming::Part(Vec::with_capacity(part.length), part.length));
        }
        let Some((_, entry)) = self.by_name.get_mut(&part.name) else { return Err(()) };
        let Incoming::Part(bytes, length) = entry else { return Err(()) };
        if bytes.len() != part.at || *length != part.length {
            self.remove(part.name);
            return Err(());
        }
        bytes.extend_from_slice(part.bytes);
        if bytes.len() < part.length {
            return Ok(());
        }
        let bytes = std::mem::take(bytes).into_boxed_slice();
        let Some(train) = Train::read(part.vnet, &bytes) else {
            self.remove(part.name);
            return Err(());
        };
        let passage = Passage { name: part.name, train, bytes, from: part.from, to: part.to };
        *entry = Incoming::Whole(Arc::new(passage));
        Ok(())
    }

    fn insert(&mut self, name: Name, entry: Incoming) {
        while self.bytes + entry.bytes() > BYTES_MAX || self.by_name.len() >= FRAMES_MAX {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            self.remove(oldest);
        }
        self.bytes += entry.bytes();
        self.by_age.insert(self.next, name);
        self.by_name.insert(name, (self.next, entry));
        self.next += 1;
    }

    /// No more packets of this frame come.
    pub fn remove(&mut self, name: Name) {
        if let Some((place, entry)) = self.by_name.remove(&name) {
            self.bytes -= entry.bytes();
            self.by_age.remove(&place);
        }
    }

    /// A frame of which all bytes are here.
    pub fn get(&self, name: Name) -> Option<&Arc<Passage>> {
        match &self.by_name.get(&name)?.1 {
            Incoming::Whole(passage) => Some(passage),
            Incoming::Part(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crosswind_wire::VnetHeader;

    use super::*;

    fn part<'a>(number: u64, length: usize, at: usize, bytes: &'a [u8]) -> Part<'a> {
        Part { name: (1, number), from: 0, to: 1, vnet: VnetHeader::default(), length, at, bytes }
    }

    #[test]
    fn parts_in_sequence_are_a_frame() {
        let mut frames = FramesIn::default();
        let bytes: Vec<u8> = (0..60).collect();
        assert_eq!(frames.take_in(&part(1, 60, 0, &bytes[..20])), Ok(()));
        assert!(frames.get((1, 1)).is_none());
        assert_eq!(frames.take_in(&part(1, 60, 20, &bytes[20..])), Ok(()));
        assert_eq!(&*frames.get((1, 1)).unwrap().bytes, &bytes);
        frames.remove((1, 1));
        assert!(frames.get((1, 1)).is_none());
        assert_eq!((frames.bytes, frames.by_age.len()), (0, 0));
    }

    #[test]
    fn after_a_missing_part_the_rest_is_refused() {
        let mut frames = FramesIn::default();
        assert_eq!(frames.take_in(&part(1, 60, 0, &[0; 20])), Ok(()));
        assert_eq!(frames.take_in(&part(1, 60, 40, &[0; 20])), Err(()));
        assert_eq!(frames.take_in(&part(1, 60, 20, &[0; 20])), Err(()), "there is nothing that it continues");
        assert_eq!(frames.bytes, 0);
    }

    #[test]
    fn parts_of_different_lengths_are_not_of_one_frame() {
        let mut frames = FramesIn::default();
        assert_eq!(frames.take_in(&part(1, 60, 0, &[0; 20])), Ok(()));
        assert_eq!(frames.take_in(&part(1, 65_000, 20, &[0; 20])), Err(()));
    }

    #[test]
    fn without_reports_from_the_sender_the_oldest_go() {
        let mut frames = FramesIn::default();
        let bytes = vec![0; 65_000];
        let fit = (BYTES_MAX / bytes.len()) as u64;
        for number in 0..fit + 5 {
            frames.take_in(&part(number, bytes.len(), 0, &bytes)).unwrap();
        }
        assert!(frames.get((1, 4)).is_none() && frames.get((1, 5)).is_some());
        assert!(frames.bytes <= BYTES_MAX);
        assert_eq!(frames.by_name.len(), frames.by_age.len());
    }
}
