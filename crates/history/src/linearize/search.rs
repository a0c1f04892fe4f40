//! The set of positions, from one moment to the next.

use ahash::AHashSet;

use super::position::{Position, OPEN_MAX};
use super::{Action, Held};

/// Most positions at once; one has 48 bytes.
const POSITIONS_MAX: usize = 1 << 21;
/// How many positions are looked at between two looks at whether to give up.
const LOOKS: usize = 1 << 12;

/// The positions that are possible, and the open operations.
pub struct Search<'a> {
    positions: AHashSet<Position>,
    /// The open operations: number and action.
    slots: Vec<Option<(usize, Action)>>,
    give_up: &'a dyn Fn() -> bool,
    looked: usize,
}

impl<'a> Search<'a> {
    /// Before the first operation; `give_up` is asked now and then, and true ends the search.
    pub fn new(positions: AHashSet<Position>, give_up: &'a dyn Fn() -> bool) -> Search<'a> {
        Search { positions, slots: vec![None; OPEN_MAX], give_up, looked: 0 }
    }

    /// Whether no order of the operations so far explains their answers.
    pub fn is_impossible(&self) -> bool {
        self.positions.is_empty()
    }

    /// An operation begins, and takes effect at once if it is a read of what the register holds.
    ///
    /// # Errors
    /// Too many are open.
    pub fn begin(&mut self, step: usize, action: Action) -> Result<(), String> {
        let slot = self.slots.iter().position(Option::is_none).ok_or_else(|| {
            format!("more than {OPEN_MAX} operations were open at once, those of unknown outcome included")
        })?;
        self.slots[slot] = Some((step, action));
        if let Action::Read(value) = action {
            self.positions = std::mem::take(&mut self.positions)
                .into_iter()
                .map(|mut position| {
                    if position.held == value {
                        position.set(slot);
                    }
                    position
                })
                .collect();
        }
        Ok(())
    }

    /// Leaves the positions in which the operation has taken effect. Where there are none, returns what the register can have
    /// held before.
    ///
    /// # Errors
    /// There are too many positions, or it was time to give up.
    pub fn end(&mut self, step: usize) -> Result<Vec<Held>, String> {
        let slot = self.slot_of(step);
        let mut seen = std::mem::take(&mut self.positions);
        let mut left: Vec<Position> = seen.iter().copied().collect();
        while let Some(mut position) = left.pop() {
            self.look(seen.len())?;
            if position.has(slot) {
                position.clear(slot);
                self.positions.insert(position);
                continue;
            }
            for (other, open) in self.slots.iter().enumerate() {
                let Some((_, action)) = *open else { continue };
                if position.has(other) {
                    continue;
                }
                let held = match action {
                    Action::Write(value) => value,
                    Action::Cas(from, to) if position.held == Some(from) => to,
                    Action::Cas(..) | Action::Read(_) => continue,
                };
                let next = self.after(position, other, held);
                if seen.insert(next) {
                    left.push(next);
                }
            }
        }
        self.slots[slot] = None;
        if !self.positions.is_empty() {
            return Ok(Vec::new());
        }
        let mut held: Vec<Held> = seen.into_iter().map(|position| position.held).collect();
        held.sort_unstable();
        held.dedup();
        Ok(held)
    }

    /// The position after an operation that writes, and after the reads that see it.
    fn after(&self, mut position: Position, slot: usize, held: i64) -> Position {
        position.held = Some(held);
        position.set(slot);
        for (other, open) in self.slots.iter().enumerate() {
            if matches!(open, Some((_, Action::Read(Some(value)))) if *value == held) {
                position.set(other);
            }
        }
        position
    }

    /// An operation of unknown outcome is of no more use.
    pub fn forget(&mut self, step: usize) {
        let slot = self.slot_of(step);
        self.slots[slot] = None;
        self.positions = std::mem::take(&mut self.positions)
            .into_iter()
            .map(|mut position| {
                position.clear(slot);
                position
            })
            .collect();
    }

    fn slot_of(&self, step: usize) -> usize {
        let found = self.slots.iter().position(|open| matches!(open, Some((number, _)) if *number == step));
        found.expect("an operation that ends has begun")
    }

    fn look(&mut self, positions: usize) -> Result<(), String> {
        self.looked += 1;
        if positions > POSITIONS_MAX {
            return Err(format!("more than {POSITIONS_MAX} positions were possible at once"));
        }
        if self.looked % LOOKS == 0 && (self.give_up)() {
            return Err("the time for the check was over".into());
        }
        Ok(())
    }
}
