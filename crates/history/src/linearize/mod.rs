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

mod moments;
mod position;
mod search;

use moments::{moments, Moment};
use position::starts;
use search::Search;

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

/// Finds out.
///
/// # Arguments
/// * `steps`: those that may have taken effect, in any order.
/// * `give_up`: is asked now and then, and true ends the search.
pub fn linearize(steps: &[Step], first: First, give_up: &dyn Fn() -> bool) -> Answer {
    let mut search = Search::new(starts(steps, first), give_up);
    for moment in moments(steps) {
        let ended = match moment {
            Moment::Begins(step) => search.begin(step, steps[step].action),
            Moment::Ends(step) => match search.end(step) {
                Ok(held) if search.is_impossible() => return Answer::Impossible { step, held },
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

#[cfg(test)]
mod tests {
    use super::position::OPEN_MAX;
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
