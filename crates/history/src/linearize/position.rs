//! What may be the case at one moment: what the register holds, and which of the open operations have taken effect.

use ahash::AHashSet;

use super::{Action, First, Held, Step};

/// Most operations that are open at once, those of unknown outcome included.
pub const OPEN_MAX: usize = 256;

type Open = [u64; OPEN_MAX / 64];

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// What the register holds.
    pub held: Held,
    /// The open operations that have taken effect, by their slots.
    done: Open,
}

impl Position {
    /// Whether the operation in a slot has taken effect.
    pub fn has(&self, slot: usize) -> bool {
        self.done[slot / 64] & (1 << (slot % 64)) != 0
    }

    /// It takes effect.
    pub fn set(&mut self, slot: usize) {
        self.done[slot / 64] |= 1 << (slot % 64);
    }

    /// It is open no longer.
    pub fn clear(&mut self, slot: usize) {
        self.done[slot / 64] &= !(1 << (slot % 64));
    }
}

/// All positions before the first operation.
pub fn starts(steps: &[Step], first: First) -> AHashSet<Position> {
    let at = |held| Position { held, done: [0; OPEN_MAX / 64] };
    match first {
        First::Held(held) => [at(held)].into(),
        // What nobody sees is as good as any other value; "never written" stands for it.
        First::Anything => std::iter::once(None)
            .chain(steps.iter().filter_map(|step| match step.action {
                Action::Read(held) => Some(held),
                Action::Cas(from, _) => Some(Some(from)),
                Action::Write(_) => None,
            }))
            .map(at)
            .collect(),
    }
}
