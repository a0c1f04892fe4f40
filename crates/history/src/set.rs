//! A set: elements are added once each and never removed, so later reads see no fewer.
//!
//! An element is *known* from the moment on at which its addition was confirmed, or a read that saw it ended. A read that begins
//! later must have it. Lacking it is *stale* where a later read has it again, and *lost* where none has. An element that was
//! never added, or whose addition failed, is *unexpected*. Additions of unknown outcome that nobody saw are neither.
//!
//! Without a read after an addition nothing is known of it, so a run ends with a read of every key. A key without one is unknown.
//!
//! Source: Jepsen 0.3, `checker/set-full` with `:linearizable? true`.

use std::collections::{HashMap, HashSet};

use crate::event::{Function, Value};
use crate::operations::Operation;
use crate::verdict::{Elements, OfKey, Violation};

/// What is known of an element.
#[derive(Clone, Copy)]
struct Known {
    /// The operation by which it became known.
    by: usize,
    /// When that ended.
    since: usize,
}

/// Checks the operations of one key, in the order in which they began, and adds what is the matter to `elements`.
pub fn check(key: u64, operations: &[Operation], elements: &mut Elements) -> OfKey {
    let reads: Vec<(usize, usize, HashSet<i64>)> = operations
        .iter()
        .enumerate()
        .filter_map(|(number, one)| match (one.function, &one.value, one.ended) {
            (Function::Read, Value::Many(values), Some(ended)) => {
                Some((number, ended, values.iter().copied().collect()))
            }
            _ => None,
        })
        .collect();
    let additions: HashMap<i64, usize> = operations
        .iter()
        .enumerate()
        .filter_map(|(number, one)| match (one.function, &one.value) {
            (Function::Add, Value::One(element)) => Some((*element, number)),
            _ => None,
        })
        .collect();
    let mut found = Found { first: None, before: *elements };
    for (number, _, seen) in &reads {
        let values = if let Value::Many(values) = &operations[*number].value { values.len() } else { 0 };
        let repeated = values - seen.len();
        if repeated > 0 {
            elements.repeated += repeated as u64;
            found.add(*number, || (format!("a read has {repeated} elements twice"), vec![*number]));
        }
        for element in seen.iter().filter(|element| !additions.contains_key(element)) {
            // Counted once, at the first read that has it.
            if reads.iter().take_while(|(other, ..)| other < number).all(|(.., seen)| !seen.contains(element))
            {
                elements.unexpected += 1;
                let why = format!("{element} was read, and no addition of it can have succeeded");
                found.add(*number, || (why, vec![*number]));
            }
        }
    }
    for (&element, &addition) in &additions {
        let Some(known) = known(operations, &reads, element, addition) else { continue };
        let mut lacking = None;
        let mut seen_again = false;
        for (number, _, seen) in reads.iter().filter(|(number, ..)| operations[*number].began > known.since) {
            if seen.contains(&element) {
                seen_again |= lacking.is_some();
            } else {
                lacking.get_or_insert(*number);
                seen_again = false;
            }
        }
        let Some(lacking) = lacking else { continue };
        let (word, count) =
            if seen_again { ("stale", &mut elements.stale) } else { ("lost", &mut elements.lost) };
        *count += 1;
        found.add(lacking, || {
            let mut shown = vec![addition, known.by, lacking];
            shown.sort_unstable();
            shown.dedup();
            (format!("{element} is {word}: known before a read began that lacks it"), shown)
        });
    }
    let after = *elements;
    match found.first {
        Some((wrong, why, shown)) => {
            let why = format!("{why} ({})", counts(found.before, after));
            OfKey::Wrong(Violation::new(key, why, operations, &shown, wrong))
        }
        None => match unread(operations, &reads, &additions) {
            Some(why) => OfKey::Unknown(why),
            None => OfKey::Right,
        },
    }
}

/// When an element is known for the first time.
fn known(
    operations: &[Operation],
    reads: &[(usize, usize, HashSet<i64>)],
    element: i64,
    addition: usize,
) -> Option<Known> {
    let confirmed = operations[addition].ended.map(|since| Known { by: addition, since });
    let read = reads
        .iter()
        .filter(|(.., seen)| seen.contains(&element))
        .map(|&(by, since, _)| Known { by, since })
        .min_by_key(|known| known.since);
    confirmed.into_iter().chain(read).min_by_key(|known| known.since)
}

/// Why nothing is known of some element, if so.
fn unread(
    operations: &[Operation],
    reads: &[(usize, usize, HashSet<i64>)],
    additions: &HashMap<i64, usize>,
) -> Option<String> {
    let last_read = reads.iter().map(|&(number, ..)| operations[number].began).max();
    let confirmed = additions.values().filter_map(|&number| operations[number].ended);
    let many = confirmed.filter(|&ended| last_read.is_none_or(|began| began < ended)).count();
    (many > 0).then(|| format!("no read began after {many} of the additions were confirmed"))
}

/// The violation that is shown: the one whose read began first.
struct Found {
    first: Option<(usize, String, Vec<usize>)>,
    before: Elements,
}

impl Found {
    fn add(&mut self, wrong: usize, describe: impl FnOnce() -> (String, Vec<usize>)) {
        if self.first.as_ref().is_none_or(|(first, ..)| wrong < *first) {
            let (why, shown) = describe();
            self.first = Some((wrong, why, shown));
        }
    }
}

fn counts(before: Elements, after: Elements) -> String {
    let all = [
        ("lost", after.lost - before.lost),
        ("stale", after.stale - before.stale),
        ("unexpected", after.unexpected - before.unexpected),
        ("read twice", after.repeated - before.repeated),
    ];
    let found: Vec<String> =
        all.iter().filter(|(_, many)| *many > 0).map(|(what, many)| format!("{many} {what}")).collect();
    format!("of this key {}", found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation from its beginning to its end, None where that is unknown.
    fn operation(function: Function, value: Value, began: usize, ended: Option<usize>) -> Operation {
        Operation { process: 0, function, value, began, ended, began_ns: 0, ended_ns: None }
    }

    fn add(element: i64, began: usize, ended: Option<usize>) -> Operation {
        operation(Function::Add, Value::One(element), began, ended)
    }

    fn read(elements: &[i64], began: usize) -> Operation {
        operation(Function::Read, Value::Many(elements.to_vec()), began, Some(began + 1))
    }

    fn checked(operations: &[Operation]) -> (OfKey, Elements) {
        let mut elements = Elements::default();
        (check(1, operations, &mut elements), elements)
    }

    #[test]
    fn confirmed_elements_that_no_later_read_has_are_lost_and_those_that_come_back_were_stale() {
        let adds = [add(1, 0, Some(1)), add(2, 2, Some(3))];
        let with = |reads: &[Operation]| checked(&[&adds[..], reads].concat());
        assert_eq!(with(&[read(&[1, 2], 10)]).0, OfKey::Right);
        let (found, elements) = with(&[read(&[1], 10)]);
        assert_eq!(elements, Elements { lost: 1, ..Elements::default() });
        let OfKey::Wrong(violation) = found else { panic!("{found:?}") };
        assert_eq!(violation.why, "2 is lost: known before a read began that lacks it (of this key 1 lost)");
        let shown: Vec<_> =
            violation.operations.iter().map(|one| (one.words.as_str(), one.is_wrong)).collect();
        assert_eq!(shown, [("add 2", false), ("read 1", true)]);
        assert_eq!(
            with(&[read(&[1], 10), read(&[1, 2], 12)]).1,
            Elements { stale: 1, ..Elements::default() }
        );
        // Seen, then gone for good.
        assert_eq!(with(&[read(&[1, 2], 10), read(&[1], 12)]).1.lost, 1);
    }

    #[test]
    fn a_read_that_began_before_the_confirmation_may_lack_the_element() {
        let concurrent = Operation { ended: Some(8), ..add(1, 0, None) };
        assert_eq!(checked(&[concurrent, read(&[], 2), read(&[1], 10)]).0, OfKey::Right);
    }

    #[test]
    fn an_unknown_addition_may_be_there_or_not_but_not_go_once_it_was_seen() {
        let unknown = add(1, 0, None);
        assert_eq!(checked(&[unknown.clone(), read(&[], 2)]).0, OfKey::Right);
        assert_eq!(checked(&[unknown.clone(), read(&[], 2), read(&[1], 4)]).0, OfKey::Right);
        assert_eq!(checked(&[unknown, read(&[1], 2), read(&[], 4)]).1.lost, 1);
    }

    #[test]
    fn what_nobody_added_is_unexpected_and_what_is_there_twice_is_repeated() {
        let found = checked(&[add(1, 0, Some(1)), read(&[1, 7, 1], 2), read(&[1, 7], 4)]).1;
        assert_eq!(found, Elements { unexpected: 1, repeated: 1, ..Elements::default() });
    }

    #[test]
    fn without_a_read_afterwards_nothing_is_known() {
        assert!(
            matches!(checked(&[add(1, 0, Some(1))]).0, OfKey::Unknown(why) if why.contains("1 of the additions"))
        );
        assert!(matches!(checked(&[read(&[], 0), add(1, 2, Some(3))]).0, OfKey::Unknown(_)));
        assert_eq!(checked(&[add(1, 0, None)]).0, OfKey::Right);
    }
}
