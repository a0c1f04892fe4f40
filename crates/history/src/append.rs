//! A list: elements are appended once each, and every read has the whole list, so the order of everything is known.
//!
//! Checked, for each key:
//! * no element is read that nobody appended, or whose append failed (*unexpected*), and none twice in one read (*repeated*);
//! * all reads are prefixes of the longest one;
//! * real time: what ended before something else began comes before it in that order. So a confirmed append is in every read
//!   that begins later (otherwise it is *lost*, or *stale* where a later read has it), two appends have the order in which they were made, and
//!   no read has less than one that ended before it began.
//!
//! Together this is linearizability of a list whose elements differ. Not checked: transactions over several keys, which no
//! workload here makes.
//!
//! Source: Kingsbury and Alvaro, "Elle: Inferring isolation anomalies from experimental observations" (2020), list-append.

use std::collections::HashMap;

use crate::event::{Function, Value};
use crate::operations::Operation;
use crate::verdict::{Elements, OfKey, Violation};

/// Checks the operations of one key, in the order in which they began, and adds what is the matter to `elements`.
pub fn check(key: u64, operations: &[Operation], elements: &mut Elements) -> OfKey {
    let wrong = |why: String, shown: &[usize], wrong: usize| {
        OfKey::Wrong(Violation::new(key, why, operations, shown, wrong))
    };
    let reads: Vec<(usize, &[i64])> = operations
        .iter()
        .enumerate()
        .filter_map(|(number, one)| match (one.function, &one.value) {
            (Function::Read, Value::Many(list)) if one.is_confirmed() => Some((number, list.as_slice())),
            _ => None,
        })
        .collect();
    let appends: HashMap<i64, usize> = operations
        .iter()
        .enumerate()
        .filter_map(|(number, one)| match (one.function, &one.value) {
            (Function::Append, Value::One(element)) => Some((*element, number)),
            _ => None,
        })
        .collect();
    let Some(&(longest, order)) = reads.iter().max_by_key(|(_, list)| list.len()) else {
        let confirmed = appends.values().filter(|&&number| operations[number].is_confirmed()).count();
        return match confirmed {
            0 => OfKey::Right,
            _ => OfKey::Unknown(format!("nothing was read after {confirmed} confirmed appends")),
        };
    };
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut first: Option<OfKey> = None;
    for (place, &element) in order.iter().enumerate() {
        if places.insert(element, place).is_some() {
            elements.repeated += 1;
            first.get_or_insert_with(|| {
                wrong(format!("{element} was read twice in one read"), &[longest], longest)
            });
        }
        if !appends.contains_key(&element) {
            elements.unexpected += 1;
            let why = format!("{element} was read, and no append of it can have succeeded");
            first.get_or_insert_with(|| wrong(why, &[longest], longest));
        }
    }
    count_missing(operations, &reads, &appends, elements);
    if let Some(first) = first {
        return first;
    }
    if let Some(&(other, list)) = reads.iter().find(|(_, list)| !order.starts_with(list)) {
        let mut shown = [longest, other];
        shown.sort_unstable();
        let at = list.iter().zip(order).take_while(|(one, two)| one == two).count();
        let why = format!("two reads disagree on element {} of the list", at + 1);
        return wrong(why, &shown, other);
    }
    match out_of_order(operations, &places) {
        Some((earlier, later)) => {
            let why = why(&operations[earlier], &operations[later]);
            let mut shown = [earlier, later];
            shown.sort_unstable();
            wrong(why, &shown, later)
        }
        None => match unread(operations, &reads, &appends) {
            Some(why) => OfKey::Unknown(why),
            None => OfKey::Right,
        },
    }
}

/// The first pair of operations of which the first ended before the second began, and which the lists order the other way.
fn out_of_order(operations: &[Operation], places: &HashMap<i64, usize>) -> Option<(usize, usize)> {
    // The element at place p is at 2 p + 1, a read of l elements at 2 l. What is in no list comes behind all of them.
    let order_of = |operation: &Operation| match &operation.value {
        Value::Many(list) => 2 * list.len(),
        Value::One(element) => places.get(element).map_or(usize::MAX, |place| 2 * place + 1),
        Value::Nothing => usize::MAX,
    };
    let mut moments: Vec<(usize, bool, usize)> = Vec::new();
    for (number, one) in operations.iter().enumerate() {
        let is_known = one.is_confirmed()
            || (one.function == Function::Append
                && matches!(&one.value, Value::One(element) if places.contains_key(element)));
        if is_known {
            moments.push((one.began, true, number));
        }
        if let Some(ended) = one.ended {
            moments.push((ended, false, number));
        }
    }
    moments.sort_unstable();
    let mut latest: Option<usize> = None;
    for (_, begins, number) in moments {
        let order = order_of(&operations[number]);
        let before = latest.map_or(0, |latest| order_of(&operations[latest]));
        if begins {
            // Two that are in no list may have any order.
            if order < before {
                return latest.map(|latest| (latest, number));
            }
        } else if latest.is_none() || order > before {
            latest = Some(number);
        }
    }
    None
}

fn why(earlier: &Operation, later: &Operation) -> String {
    match (&earlier.value, &later.value) {
        (Value::One(element), Value::Many(_)) => {
            format!("{element} was appended before a read began that lacks it")
        }
        (Value::Many(more), Value::Many(fewer)) => {
            format!("a read has {} elements, and a later one {}", more.len(), fewer.len())
        }
        (Value::Many(_), Value::One(element)) => {
            format!("{element} was read before it was appended, or a read before its append has elements behind it")
        }
        (Value::One(one), Value::One(two)) => {
            format!("{one} was appended before {two}, and stands behind it or is missing")
        }
        _ => "real time and the lists disagree".into(),
    }
}

/// Counts confirmed appends that a read lacks which began later.
fn count_missing(
    operations: &[Operation],
    reads: &[(usize, &[i64])],
    appends: &HashMap<i64, usize>,
    elements: &mut Elements,
) {
    // For each element, the last read that has it.
    let mut last: HashMap<i64, usize> = HashMap::new();
    for (number, list) in reads {
        for element in *list {
            last.insert(*element, *number);
        }
    }
    for (element, &append) in appends {
        let Some(ended) = operations[append].ended else { continue };
        let lacking = reads
            .iter()
            .rev()
            .take_while(|(number, _)| operations[*number].began > ended)
            .filter(|(_, list)| !list.contains(element))
            .map(|(number, _)| *number)
            .max();
        match (lacking, last.get(element)) {
            (Some(lacking), Some(&seen)) if seen > lacking => elements.stale += 1,
            (Some(_), _) => elements.lost += 1,
            (None, _) => {}
        }
    }
}

/// Why nothing is known of some append, if so.
fn unread(
    operations: &[Operation],
    reads: &[(usize, &[i64])],
    appends: &HashMap<i64, usize>,
) -> Option<String> {
    let last_read = reads.iter().map(|&(number, _)| operations[number].began).max();
    let confirmed = appends.values().filter_map(|&number| operations[number].ended);
    let many = confirmed.filter(|&ended| last_read.is_none_or(|began| began < ended)).count();
    (many > 0).then(|| format!("no read began after {many} of the appends were confirmed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(function: Function, value: Value, began: usize, ended: Option<usize>) -> Operation {
        Operation { process: 0, function, value, began, ended, began_ns: 0, ended_ns: None }
    }

    fn append(element: i64, began: usize, ended: Option<usize>) -> Operation {
        operation(Function::Append, Value::One(element), began, ended)
    }

    fn read(list: &[i64], began: usize, ended: usize) -> Operation {
        operation(Function::Read, Value::Many(list.to_vec()), began, Some(ended))
    }

    fn checked(operations: &[Operation]) -> (OfKey, Elements) {
        let mut elements = Elements::default();
        (check(1, operations, &mut elements), elements)
    }

    fn why(operations: &[Operation]) -> String {
        match checked(operations).0 {
            OfKey::Wrong(violation) => violation.why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reads_that_grow_in_one_order_are_right() {
        let operations = [
            append(1, 0, Some(3)),
            append(2, 1, Some(4)),
            read(&[2], 2, 5),
            append(3, 6, None),
            read(&[2, 1], 7, 8),
            read(&[2, 1, 3], 9, 10),
        ];
        assert_eq!(checked(&operations), (OfKey::Right, Elements::default()));
    }

    #[test]
    fn a_confirmed_append_that_a_later_read_lacks_is_lost_or_stale() {
        let lost = [append(1, 0, Some(1)), append(2, 2, Some(3)), read(&[1], 4, 5)];
        assert_eq!(checked(&lost).1, Elements { lost: 1, ..Elements::default() });
        assert_eq!(why(&lost), "2 was appended before a read began that lacks it");
        let stale = [&lost[..], &[read(&[1, 2], 6, 7)]].concat();
        assert_eq!(checked(&stale).1, Elements { stale: 1, ..Elements::default() });
    }

    #[test]
    fn reads_that_disagree_shrink_repeat_or_invent_are_wrong() {
        let appends = [append(1, 0, Some(1)), append(2, 0, None), append(3, 0, None)];
        let with = |reads: &[Operation]| why(&[&appends[..], reads].concat());
        assert_eq!(
            with(&[read(&[1, 2], 4, 5), read(&[1, 3, 2], 6, 7)]),
            "two reads disagree on element 2 of the list"
        );
        assert_eq!(
            with(&[read(&[1, 2], 4, 5), read(&[1], 6, 7)]),
            "a read has 2 elements, and a later one 1"
        );
        assert!(with(&[read(&[1, 1], 4, 5)]).contains("twice"));
        assert!(with(&[read(&[1, 9], 4, 5)]).contains("no append of it can have succeeded"));
    }

    #[test]
    fn appends_keep_the_order_in_which_they_were_made() {
        let operations = [append(1, 0, Some(1)), append(2, 2, Some(3)), read(&[2, 1], 4, 5)];
        assert_eq!(why(&operations), "1 was appended before 2, and stands behind it or is missing");
        let early = [read(&[], 0, 1), read(&[1], 2, 3), append(1, 4, Some(5)), read(&[1], 6, 7)];
        assert!(why(&early).starts_with("1 was read before it was appended"));
    }

    #[test]
    fn without_a_read_afterwards_nothing_is_known() {
        assert!(matches!(checked(&[append(1, 0, Some(1))]).0, OfKey::Unknown(_)));
        assert!(matches!(checked(&[read(&[], 0, 1), append(1, 2, Some(3))]).0, OfKey::Unknown(_)));
    }
}
