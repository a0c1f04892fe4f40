//! The order in which the search goes through operations: they begin, end, and are forgotten.

use std::collections::HashMap;

use super::{Action, Step};

/// What happens to an operation, by its number.
pub enum Moment {
    Begins(usize),
    Ends(usize),
    /// Of an operation of unknown outcome: nothing that follows depends on it.
    Forgotten(usize),
}

/// All moments in their order. A beginning and an end never have the same place; forgetting comes after the end that it follows.
pub fn moments(steps: &[Step]) -> Vec<Moment> {
    let lasts = last_uses(steps);
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
