//! Events paired into operations, by key.

use std::collections::{BTreeMap, HashMap};

use crate::event::{Event, Function, Type, Value, Workload};

/// An operation that may have taken effect; those that failed have none, and are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub process: u64,
    pub function: Function,
    /// What was written; of a read, what was read.
    pub value: Value,
    /// Its place among all events when it began, which decides what was before what.
    pub began: usize,
    /// Its place when it ended; `None` if its outcome is unknown, so that it may take effect at any time after it began.
    pub ended: Option<usize>,
    pub began_ns: u64,
    pub ended_ns: Option<u64>,
}

impl Operation {
    /// Whether it took effect for sure.
    pub fn is_confirmed(&self) -> bool {
        self.ended.is_some()
    }
}

/// How operations ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub confirmed: u64,
    pub refused: u64,
    pub unknown: u64,
}

/// Operations by key, in the order in which they began.
#[derive(Debug, Default)]
pub struct ByKey {
    pub keys: BTreeMap<u64, Vec<Operation>>,
    pub counts: Counts,
}

/// Pairs the events of a history.
///
/// # Errors
/// When it cannot be one: an operation of another workload, a process that does two things at once, an end without a
/// beginning, a value that does not fit. Names the event, from 0.
pub fn pair(workload: Workload, events: &[Event]) -> Result<ByKey, String> {
    let mut open: HashMap<u64, (u64, Operation)> = HashMap::new();
    let mut paired = ByKey::default();
    for (place, event) in events.iter().enumerate() {
        let wrong = |why: &str| format!("event {place}, of process {}: {why}", event.process);
        check(workload, event).map_err(|why| wrong(&why))?;
        paired.keys.entry(event.key).or_default();
        if event.kind == Type::Invoke {
            let operation = Operation {
                process: event.process,
                function: event.function,
                value: event.value.clone(),
                began: place,
                ended: None,
                began_ns: event.time_ns,
                ended_ns: None,
            };
            if open.insert(event.process, (event.key, operation)).is_some() {
                return Err(wrong("begins an operation before its last one has ended"));
            }
            continue;
        }
        let (key, mut operation) =
            open.remove(&event.process).ok_or_else(|| wrong("ends an operation that did not begin"))?;
        if (key, operation.function) != (event.key, event.function) {
            return Err(wrong("ends another operation than it began"));
        }
        match event.kind {
            Type::Ok => {
                paired.counts.confirmed += 1;
                operation.value = event.value.clone();
                operation.ended = Some(place);
                operation.ended_ns = Some(event.time_ns);
            }
            Type::Fail => {
                paired.counts.refused += 1;
                continue;
            }
            Type::Info | Type::Invoke => paired.counts.unknown += 1,
        }
        paired.keys.entry(key).or_default().push(operation);
    }
    // A run that was killed has operations without an end: their outcome is unknown.
    for (key, operation) in open.into_values() {
        paired.counts.unknown += 1;
        paired.keys.entry(key).or_default().push(operation);
    }
    for operations in paired.keys.values_mut() {
        operations.sort_by_key(|operation| operation.began);
    }
    Ok(paired)
}

fn check(workload: Workload, event: &Event) -> Result<(), String> {
    let (function, value) = (event.function, &event.value);
    if !workload.functions().contains(&function) {
        return Err(format!("the workload {} has no {}", workload.name(), function.name()));
    }
    let fits = match function {
        Function::Read if event.kind != Type::Ok => true,
        Function::Read if workload == Workload::Register => matches!(value, Value::Nothing | Value::One(_)),
        Function::Read => matches!(value, Value::Many(_)),
        Function::Cas => matches!(value, Value::Many(values) if values.len() == 2),
        Function::Write | Function::Add | Function::Append => matches!(value, Value::One(_)),
    };
    fits.then_some(()).ok_or_else(|| format!("{value:?} is no value of a {}", function.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(process: u64, kind: Type, function: Function, value: Value) -> Event {
        Event { process, kind, function, key: 1, value, time_ns: 0, error: None }
    }

    #[test]
    fn an_operation_without_an_answer_is_unknown_and_one_that_failed_is_left_out() {
        let write = |process, kind| event(process, kind, Function::Write, Value::One(process as i64));
        let events = [
            write(0, Type::Invoke),
            write(1, Type::Invoke),
            write(2, Type::Invoke),
            write(3, Type::Invoke),
            write(0, Type::Ok),
            write(1, Type::Fail),
            write(2, Type::Info),
        ];
        let paired = pair(Workload::Register, &events).unwrap();
        let ended: Vec<_> = paired.keys[&1].iter().map(|one| (one.process, one.ended)).collect();
        assert_eq!(ended, [(0, Some(4)), (2, None), (3, None)]);
        assert_eq!(paired.counts, Counts { confirmed: 1, refused: 1, unknown: 2 });
    }

    #[test]
    fn what_cannot_be_a_history_is_refused() {
        let read = |kind, value| event(0, kind, Function::Read, value);
        let refused = |events: &[Event]| pair(Workload::Register, events).unwrap_err();
        let begun = read(Type::Invoke, Value::Nothing);
        assert!(refused(&[begun.clone(), begun.clone()]).contains("before its last one"));
        assert!(refused(&[read(Type::Ok, Value::One(1))]).contains("did not begin"));
        assert!(refused(&[begun.clone(), read(Type::Ok, Value::Many(vec![]))]).contains("no value of a read"));
        let other = event(0, Type::Ok, Function::Write, Value::One(1));
        assert!(refused(&[begun, other]).contains("another operation"));
        let add = event(0, Type::Invoke, Function::Add, Value::One(1));
        assert!(refused(&[add]).contains("register has no add"));
    }
}
