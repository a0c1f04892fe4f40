//! The fewest operations that show why a register is not linearizable.
//!
//! A violation is found at the end of one operation; what made it impossible may be long before. The search begins with that
//! operation alone and goes back in time, one beginning after the other, until what is in the window is impossible *whatever
//! the register held before*. Then operations are left out that are not needed, first
//! many at once.
//!
//! What is shown is impossible by itself, for anybody who looks at it alone:
//! * an operation that began before the window may have taken effect before it, so a read of that kind is left out, and a write is
//!   taken as one of unknown outcome;
//! * only reads, and writes whose value nobody in the window saw, may be left out: each only excludes orders.

use std::ops::Range;

use ahash::AHashSet;

use crate::linearize::{linearize, Action, Answer, First, Step};

/// Windows that are tried; behind them the whole history up to the violation is shown, reduced.
const WINDOWS_MAX: usize = 400;

/// Returns the numbers of the operations, in the order in which they began.
///
/// # Arguments
/// * `steps`: of one register, in the order in which they began.
/// * `wrong`: the one at whose end no order was left.
pub fn smallest(steps: &[Step], wrong: usize, give_up: &dyn Fn() -> bool) -> Vec<usize> {
    let end = steps[wrong].ended.unwrap_or(usize::MAX);
    // What began later cannot be the reason.
    let before: Vec<usize> = (0..steps.len()).filter(|&number| steps[number].began < end).collect();
    let mut first = First::Anything;
    let mut shown = before
        .iter()
        .rev()
        .skip_while(|&&number| number > wrong)
        .take(WINDOWS_MAX)
        .map(|&number| window(steps, &before, steps[number].began))
        .find(|window| is_impossible(window, First::Anything, end, give_up))
        .unwrap_or_else(|| {
            first = First::Held(None);
            before.iter().map(|&number| (number, steps[number])).collect()
        });
    let mut chunk = shown.len().div_ceil(2);
    while chunk > 0 {
        let before = shown.len();
        let mut from = 0;
        while from < shown.len() {
            let rest = without(&shown, from..(from + chunk).min(shown.len()), wrong);
            if rest.len() < shown.len() && is_impossible(&rest, first, end, give_up) {
                shown = rest;
            } else {
                from += chunk;
            }
        }
        // One that is gone may have been what another one was needed for.
        if chunk > 1 || shown.len() == before {
            chunk /= 2;
        }
    }
    shown.into_iter().map(|(number, _)| number).collect()
}

/// What is shown without those in a range that may be left out.
fn without(shown: &[(usize, Step)], range: Range<usize>, wrong: usize) -> Vec<(usize, Step)> {
    let seen: AHashSet<i64> = shown
        .iter()
        .filter_map(|(_, step)| match step.action {
            Action::Read(saw) => saw,
            Action::Cas(from, _) => Some(from),
            Action::Write(_) => None,
        })
        .collect();
    let may_go = |(number, step): (usize, Step)| match step.action {
        _ if number == wrong => false,
        Action::Read(_) => true,
        Action::Write(value) | Action::Cas(_, value) => !seen.contains(&value),
    };
    shown
        .iter()
        .enumerate()
        .filter(|(place, one)| !range.contains(place) || !may_go(**one))
        .map(|(_, one)| *one)
        .collect()
}

/// The operations that may take effect from an instant on.
fn window(steps: &[Step], before: &[usize], from: usize) -> Vec<(usize, Step)> {
    before
        .iter()
        .map(|&number| (number, steps[number]))
        .filter(|(_, step)| step.ended.is_none_or(|ended| ended > from))
        .filter_map(|(number, step)| match step.action {
            _ if step.began >= from => Some((number, step)),
            Action::Read(_) => None,
            Action::Write(_) | Action::Cas(..) => Some((number, Step { ended: None, ..step })),
        })
        .collect()
}

fn is_impossible(window: &[(usize, Step)], first: First, end: usize, give_up: &dyn Fn() -> bool) -> bool {
    if give_up() {
        return false;
    }
    // What had not ended by then is open, as far as this window knows.
    let steps: Vec<Step> = window
        .iter()
        .map(|&(_, step)| Step { ended: step.ended.filter(|&ended| ended <= end), ..step })
        .collect();
    matches!(linearize(&steps, first, give_up), Answer::Impossible { .. })
}
