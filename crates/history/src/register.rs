//! A register: reads, writes and compare-and-sets of one key are linearizable.

use crate::counterexample::smallest;
use crate::event::{Function, Value};
use crate::linearize::{linearize, Action, Answer, First, Held, Step};
use crate::operations::Operation;
use crate::verdict::{OfKey, Violation};

/// Checks the operations of one key, which was never written before them.
pub fn check(key: u64, operations: &[Operation], give_up: &dyn Fn() -> bool) -> OfKey {
    let steps: Vec<Step> = operations.iter().map(step).collect();
    match linearize(&steps, First::Held(None), give_up) {
        Answer::Linearizable => OfKey::Right,
        Answer::Unknown(why) => OfKey::Unknown(why),
        Answer::Impossible { step: wrong, held } => {
            let shown = smallest(&steps, wrong, give_up);
            let why = why(&operations[wrong], &steps[wrong], &held, &steps);
            OfKey::Wrong(Violation::new(key, why, operations, &shown, wrong))
        }
    }
}

/// An operation as a step of a register.
fn step(operation: &Operation) -> Step {
    let action = match (operation.function, &operation.value) {
        (Function::Read, Value::One(value)) => Action::Read(Some(*value)),
        (Function::Write, Value::One(value)) => Action::Write(*value),
        (Function::Cas, Value::Many(values)) => Action::Cas(values[0], values[1]),
        // A read without an answer says nothing, whatever it is taken for.
        _ => Action::Read(None),
    };
    Step { action, began: operation.began, ended: operation.ended }
}

fn why(operation: &Operation, wrong: &Step, held: &[Held], steps: &[Step]) -> String {
    const NAMED: usize = 4;
    let named: Vec<String> = held.iter().take(NAMED).map(|held| text(*held)).collect();
    let more = held.len().saturating_sub(NAMED);
    let others = if more > 0 { format!(" or {more} other values") } else { String::new() };
    let can = format!("the register can only have held {}{others} then", named.join(" or "));
    let process = operation.process;
    let (did, saw) = match wrong.action {
        Action::Read(saw) => (format!("process {process} read {}", text(saw)), saw),
        Action::Cas(from, to) => (format!("process {process} replaced {from} by {to}"), Some(from)),
        Action::Write(value) => (format!("process {process} wrote {value}"), None),
    };
    let written = |value: i64| {
        steps.iter().any(|step| match step.action {
            Action::Write(to) | Action::Cas(_, to) => to == value,
            Action::Read(_) => false,
        })
    };
    match saw {
        Some(value) if !written(value) => format!("{did}, which nobody had written; {can}"),
        _ => format!("{did}; {can}"),
    }
}

fn text(held: Held) -> String {
    held.map_or("nothing".into(), |value| value.to_string())
}
