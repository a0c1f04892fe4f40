//! Whether some order of the operations on one register explains all of their answers.
//!
//! "Linearizable" means: every operation seems to happen at one instant between its beginning and its end. The events are
//! gone through once. All that is known at each is the set of *positions*: what the register may hold, and which of the open
//! operations have already taken effect. When an operation ends, only positions in which it has taken effect remain;
//! none remain exactly where no order exists.
//!
//! Three rules keep the set small, and change no answer. A read takes effect as soon as the register holds its value. An
//! operation of unknown outcome whose value nobody saw is left out: any order with it is one without it. One whose value is
//! seen is forgotten after the last operation that saw it.
//!
//! Source: Lowe, "Testing for linearizability" (2017), just-in-time linearization; Wing and Gong, "Testing and verifying
//! concurrent objects" (1993).

use std::collections::HashMap;

use ahash::AHashSet;

/// What a register holds; `None` before it is first written.
pub type Held = Option<i64>;

/// An operation on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Read(Held),
    Write(i64),
    Cas(i64, i64),
}

/// An operation with the places of its beginning and its end among all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub action: Action,
    pub began: usize,
    /// `None`: its outcome is unknown.
    pub ended: Option<usize>,
}

/// What the register holds before the first operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    Held(Held),
    /// Whatever fits.
    Anything,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Linearizable,
    /// No order explains the answer of this operation together with those that ended before it. Just before its end the
    /// register can only have held one of these values, in ascending order.
    Impossible {
        step: usize,
        held: Vec<Held>,
    },
    /// The search was given up; says why.
    Unknown(String),
}

/// Most operations that are open at once, those of unknown outcome included.
const OPEN_MAX: usize = 256;
/// Most positions at once; one has 48 bytes.
const POSITIONS_MAX: usize = 1 << 21;
/// How many positions are looked at between two looks at whether to give up.
const LOOKS: usize = 1 << 12;

type Open = [u64; OPEN_MAX / 64];

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Position {
    held: Held,
    /// The open operations that have taken effect, by their slots.
    done: Open,
}

impl Position {
    fn has(&self, slot: usize) -> bool {
        self.done[slot / 64] & (1 << (slot % 64)) != 0
    }

    fn set(&mut self, slot: usize) {
        self.done[slot / 64] |= 1 << (slot % 64);
    }

    fn clear(&mut self, slot: usize) {
        self.done[slot / 64] &= !(1 << (slot % 64));
    }
}

/// Finds out.
///
/// # Arguments
/// * `steps`: those that may have taken effect, in any order.
/// * `give_up`: is asked now and then, and true ends the search.
pub fn linearize(steps: &[Step], first: First, give_up: &dyn Fn() -> bool) -> Answer {
    let lasts = last_uses(steps);
    let mut search =
        Search { positions: starts(steps, first), slots: vec![None; OPEN_MAX], give_up, looked: 0 };
    for moment in moments(steps, &lasts) {
        let ended = match moment {
            Moment::Begins(step) => search.begin(step, steps[step].action),
            Moment::Ends(step) => match search.end(step) {
                Ok(held) if search.positions.is_empty() => return Answer::Impossible { step, held },
                other => other.map(|_| ()),
            },
            Moment::Forgotten(step) => {
                search.forget(step);
                Ok(())
            }
        };
        if let Err(why) = ended {
            return Answer::Unknown(why);
        }
    }
    Answer::Linearizable
}

enum Moment {
    Begins(usize),
    Ends(usize),
    Forgotten(usize),
}

/// Until when an unknown operation is of use, by its number; one of no use has no entry.
///
/// It is of use up to the end of the last operation that saw its value. Where the value was only seen by another unknown
/// operation that is of use, it is of use as long as that one.
fn last_uses(steps: &[Step]) -> HashMap<usize, usize> {
    let mut seen: HashMap<i64, usize> = HashMap::new();
    for step in steps {
        if let (Action::Read(Some(value)) | Action::Cas(value, _), Some(ended)) = (step.action, step.ended) {
            let last = seen.entry(value).or_insert(ended);
            *last = (*last).max(ended);
        }
    }
    let unknown: Vec<(usize, Action)> =
        (0..).zip(steps).filter(|(_, step)| step.ended.is_none()).map(|(n, step)| (n, step.action)).collect();
    // A chain of unknown compare-and-sets is followed link by link.
    loop {
        let mut grew = false;
        for (_, action) in &unknown {
            if let Action::Cas(from, to) = *action {
                if let Some(&until) = seen.get(&to) {
                    let last = seen.entry(from).or_insert(0);
                    grew |= *last < until;
                    *last = (*last).max(until);
                }
            }
        }
        if !grew {
            break;
        }
    }
    unknown
        .into_iter()
        .filter_map(|(number, action)| match action {
            Action::Read(_) => None,
            Action::Write(value) | Action::Cas(_, value) => seen.get(&value).map(|&until| (number, until)),
        })
        .collect()
}

/// All moments in their order. A beginning and an end never have the same place; forgetting comes after the end that it follows.
fn moments(steps: &[Step], lasts: &HashMap<usize, usize>) -> Vec<Moment> {
    let mut placed = Vec::with_capacity(2 * steps.len());
    for (number, step) in steps.iter().enumerate() {
        match (step.ended, lasts.get(&number)) {
            (Some(ended), _) => {
                placed.push((step.began, 0, Moment::Begins(number)));
                placed.push((ended, 0, Moment::Ends(number)));
            }
            (None, Some(&until)) if until > step.began => {
                placed.push((step.began, 0, Moment::Begins(number)));
                placed.push((until, 1, Moment::Forgotten(number)));
            }
            (None, _) => {}
        }
    }
    placed.sort_by_key(|&(place, rank, _)| (place, rank));
    placed.into_iter().map(|(_, _, moment)| moment).collect()
}

fn starts(steps: &[Step], first: First) -> AHashSet<Position> {
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

struct Search<'a> {
    positions: AHashSet<Position>,
    /// The open operations: number and action.
    slots: Vec<Option<(usize, Action)>>,
    give_up: &'a dyn Fn() -> bool,
    looked: usize,
}

impl Search<'_> {
    fn begin(&mut self, step: usize, action: Action) -> Result<(), String> {
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

    /// Leaves the positions in which the operation has taken effect, and returns what the register can have held before.
    fn end(&mut self, step: usize) -> Result<Vec<Held>, String> {
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

    fn forget(&mut self, step: usize) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn never() -> bool {
        false
    }

    fn step(action: Action, began: usize, ended: Option<usize>) -> Step {
        Step { action, began, ended }
    }

    fn answer(steps: &[Step]) -> Answer {
        linearize(steps, First::Held(None), &never)
    }

    #[test]
    fn a_read_of_what_was_overwritten_before_it_began_is_impossible() {
        let steps = [
            step(Action::Write(1), 0, Some(1)),
            step(Action::Write(2), 2, Some(3)),
            step(Action::Read(Some(1)), 4, Some(5)),
        ];
        assert_eq!(answer(&steps), Answer::Impossible { step: 2, held: vec![Some(2)] });
        // While the second write is under way, both values may be read, the new one first or last, but not in between.
        let during = |reads: [i64; 2]| {
            answer(&[
                step(Action::Write(1), 0, Some(1)),
                step(Action::Write(2), 2, Some(9)),
                step(Action::Read(Some(reads[0])), 3, Some(4)),
                step(Action::Read(Some(reads[1])), 5, Some(6)),
            ])
        };
        assert_eq!(during([1, 2]), Answer::Linearizable);
        assert_eq!(during([2, 1]), Answer::Impossible { step: 3, held: vec![Some(2)] });
    }

    #[test]
    fn an_unknown_write_may_take_effect_late_or_never_but_only_once() {
        let reads = |values: &[i64]| {
            let mut steps = vec![step(Action::Write(1), 0, Some(1)), step(Action::Write(2), 2, None)];
            for (number, &value) in values.iter().enumerate() {
                steps.push(step(Action::Read(Some(value)), 4 + 2 * number, Some(5 + 2 * number)));
            }
            answer(&steps)
        };
        assert_eq!(reads(&[1, 1]), Answer::Linearizable);
        assert_eq!(reads(&[1, 2]), Answer::Linearizable);
        assert_eq!(reads(&[2, 2]), Answer::Linearizable);
        assert_eq!(reads(&[2, 1]), Answer::Impossible { step: 3, held: vec![Some(2)] });
    }

    #[test]
    fn a_compare_and_set_needs_its_first_value() {
        let cas =
            |from| answer(&[step(Action::Write(1), 0, Some(1)), step(Action::Cas(from, 3), 2, Some(3))]);
        assert_eq!(cas(1), Answer::Linearizable);
        assert_eq!(cas(2), Answer::Impossible { step: 1, held: vec![Some(1)] });
        // Two from the same value: one of them cannot have succeeded.
        let both = [
            step(Action::Write(1), 0, Some(1)),
            step(Action::Cas(1, 2), 2, Some(5)),
            step(Action::Cas(1, 3), 3, Some(6)),
        ];
        assert!(matches!(answer(&both), Answer::Impossible { step: 2, .. }));
    }

    #[test]
    fn an_unknown_write_that_only_an_unknown_compare_and_set_saw_is_followed() {
        let steps = [
            step(Action::Write(1), 0, None),
            step(Action::Cas(1, 2), 1, None),
            step(Action::Read(Some(2)), 2, Some(3)),
        ];
        assert_eq!(answer(&steps), Answer::Linearizable);
    }

    #[test]
    fn a_register_that_was_never_written_reads_as_nothing() {
        assert_eq!(answer(&[step(Action::Read(None), 0, Some(1))]), Answer::Linearizable);
        let phantom = [step(Action::Read(Some(7)), 0, Some(1))];
        assert_eq!(answer(&phantom), Answer::Impossible { step: 0, held: vec![None] });
        assert_eq!(linearize(&phantom, First::Anything, &never), Answer::Linearizable);
    }

    #[test]
    fn a_search_without_time_does_not_know() {
        // 24 writes at once have 24! orders, and the read excludes none before the end.
        let mut steps: Vec<Step> = (0..24)
            .map(|number| step(Action::Write(number), number as usize, Some(100 + number as usize)))
            .collect();
        steps.push(step(Action::Read(Some(-1)), 50, Some(99)));
        assert_eq!(
            linearize(&steps, First::Held(None), &|| true),
            Answer::Unknown("the time for the check was over".into())
        );
    }

    #[test]
    fn more_open_operations_than_there_is_room_for_is_unknown() {
        let mut steps = Vec::new();
        for number in 0..=OPEN_MAX {
            steps.push(step(Action::Write(number as i64), number, None));
        }
        for number in 0..=OPEN_MAX {
            steps.push(step(Action::Read(Some(number as i64)), 1000 + 2 * number, Some(1001 + 2 * number)));
        }
        assert!(matches!(answer(&steps), Answer::Unknown(why) if why.contains("256")));
    }
}
