//! What a check found, as it is written and shown.

use serde::Serialize;

use crate::event::{Event, Function, Value, Workload};
use crate::operations::{pair, Counts, Operation};
use crate::{append, register, set};

/// Keys whose operations are shown; the others are counted.
const SHOWN_MAX: usize = 8;
/// Operations of one key that are shown: the last ones.
const OPERATIONS_SHOWN: usize = 40;

/// The answer to "is the data still right?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A correct store could have answered so, on every key.
    Ok,
    /// A correct store cannot have answered so, on one key at least.
    Violation,
    /// No violation was found, but not every key could be checked to the end.
    Unknown,
}

/// An operation of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The client.
    pub process: u64,
    /// Such as `write 3` or `read 7`.
    pub words: String,
    /// Since the start of the run.
    pub began_ns: u64,
    /// None: its outcome is unknown.
    pub ended_ns: Option<u64>,
    /// The operation whose answer cannot be right.
    pub is_wrong: bool,
}

impl Shown {
    fn of(operation: &Operation, is_wrong: bool) -> Shown {
        Shown {
            process: operation.process,
            words: words(operation),
            began_ns: operation.began_ns,
            ended_ns: operation.ended_ns,
            is_wrong,
        }
    }
}

/// Elements that are read or written are more than fit into a picture; this many of the last are shown.
const ELEMENTS_SHOWN: usize = 4;

fn words(operation: &Operation) -> String {
    let name = operation.function.name();
    match (operation.function, &operation.value) {
        (Function::Cas, Value::Many(values)) => format!("{name} {} to {}", values[0], values[1]),
        (_, Value::Nothing) => format!("{name} nothing"),
        (_, Value::One(value)) => format!("{name} {value}"),
        (_, Value::Many(elements)) => {
            let hidden = elements.len().saturating_sub(ELEMENTS_SHOWN);
            let last: Vec<String> = elements[hidden..].iter().map(i64::to_string).collect();
            let before = if hidden > 0 { format!("{hidden} others, ") } else { String::new() };
            format!("{name} {before}{}", if elements.is_empty() { "nothing".into() } else { last.join(" ") })
        }
    }
}

/// Why a key is not right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The key.
    pub key: u64,
    /// A sentence without its end.
    pub why: String,
    /// The fewest operations found that no correct store can have answered so, in the order in which they began.
    pub operations: Vec<Shown>,
    /// Operations that belong to these, and are too many to be shown.
    pub hidden: u64,
}

impl Violation {
    /// A violation with the operations that show it, by their numbers in order.
    pub(crate) fn new(
        key: u64,
        why: String,
        operations: &[Operation],
        shown: &[usize],
        wrong: usize,
    ) -> Violation {
        let hidden = shown.len().saturating_sub(OPERATIONS_SHOWN);
        Violation {
            key,
            why,
            operations: shown[hidden..]
                .iter()
                .map(|&number| Shown::of(&operations[number], number == wrong))
                .collect(),
            hidden: hidden as u64,
        }
    }
}

/// What a key's operations are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfKey {
    Right,
    Wrong(Violation),
    /// Says why it could not be found out.
    Unknown(String),
}

/// What is the matter with elements of sets and lists; all 0 for registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Elements {
    /// Confirmed, or read once, and missing from then on.
    pub lost: u64,
    /// Confirmed, missing from a later read, and there again.
    pub stale: u64,
    /// Read, and never written, or refused.
    pub unexpected: u64,
    /// Read twice in one read.
    pub repeated: u64,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// What the clients did.
    pub workload: Workload,
    /// The answer.
    pub verdict: Verdict,
    /// Keys that clients used.
    pub keys: u64,
    /// Operations that took effect for sure.
    pub confirmed: u64,
    /// Those that took none for sure.
    pub refused: u64,
    /// Those whose outcome is unknown.
    pub unknown: u64,
    /// Those that are not right.
    pub wrong_keys: Vec<u64>,
    /// Those that could not be checked to the end.
    pub undecided_keys: Vec<u64>,
    /// Of sets and lists.
    pub elements: Elements,
    /// Some of the keys that are not right.
    pub shown: Vec<Violation>,
    /// Why the first undecided key could not be checked.
    pub undecided_because: Option<String>,
}

/// Checks a history.
///
/// # Errors
/// When it is none, such as one in which a process does two things at once. Names the event.
pub fn check(workload: Workload, events: &[Event], give_up: &dyn Fn() -> bool) -> Result<Checked, String> {
    let paired = pair(workload, events)?;
    let Counts { confirmed, refused, unknown } = paired.counts;
    let mut checked = Checked {
        workload,
        verdict: Verdict::Ok,
        keys: paired.keys.len() as u64,
        confirmed,
        refused,
        unknown,
        wrong_keys: Vec::new(),
        undecided_keys: Vec::new(),
        elements: Elements::default(),
        shown: Vec::new(),
        undecided_because: None,
    };
    for (&key, operations) in &paired.keys {
        let of_key = match workload {
            Workload::Register => register::check(key, operations, give_up),
            Workload::Set => set::check(key, operations, &mut checked.elements),
            Workload::Append => append::check(key, operations, &mut checked.elements),
        };
        match of_key {
            OfKey::Right => {}
            OfKey::Wrong(violation) => {
                checked.wrong_keys.push(key);
                if checked.shown.len() < SHOWN_MAX {
                    checked.shown.push(violation);
                }
            }
            OfKey::Unknown(why) => {
                checked.undecided_keys.push(key);
                checked.undecided_because.get_or_insert(why);
            }
        }
    }
    checked.verdict = match (checked.wrong_keys.len(), checked.undecided_keys.len()) {
        (0, 0) => Verdict::Ok,
        (0, _) => Verdict::Unknown,
        _ => Verdict::Violation,
    };
    // A history in which nothing was confirmed proves nothing.
    if checked.verdict == Verdict::Ok && confirmed == 0 {
        checked.verdict = Verdict::Unknown;
        checked.undecided_keys = paired.keys.keys().copied().collect();
        checked.undecided_because = Some("no operation was confirmed".into());
    }
    Ok(checked)
}
