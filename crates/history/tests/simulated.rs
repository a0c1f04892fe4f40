//! Histories of a register that is right are always ok, and one wrong answer in them is always found.

use crosswind_history::event::{Event, Function, Type, Value, Workload};
use crosswind_history::verdict::{check, Checked, Verdict};
use proptest::prelude::*;

/// Clients of a linearizable register: each operation takes effect at one instant, which nobody sees.
#[derive(Default)]
struct Simulated {
    events: Vec<Event>,
    held: [Option<i64>; KEYS],
    written: i64,
}

const KEYS: usize = 2;

/// An operation that is under way.
struct Open {
    process: u64,
    function: Function,
    key: usize,
    value: Value,
    /// What came of it, once it took effect.
    result: Option<Result<Value, ()>>,
}

impl Simulated {
    fn event(&mut self, open: &Open, kind: Type, value: Value) {
        let time_ns = self.events.len() as u64;
        self.events.push(Event {
            process: open.process,
            kind,
            function: open.function,
            key: open.key as u64,
            value,
            time_ns,
            error: None,
        });
    }

    fn begin(&mut self, process: u64, key: usize, function: Function) -> Open {
        self.written += 1;
        let value = match function {
            Function::Read => Value::Nothing,
            // Half of them have the value that is there, and may succeed.
            Function::Cas => Value::Many(vec![self.held[key].unwrap_or(-self.written), self.written]),
            _ => Value::One(self.written),
        };
        let open = Open { process, function, key, value: value.clone(), result: None };
        self.event(&open, Type::Invoke, value);
        open
    }

    fn take_effect(&mut self, open: &mut Open) {
        let held = &mut self.held[open.key];
        open.result = Some(match &open.value {
            Value::Nothing => Ok(held.map_or(Value::Nothing, Value::One)),
            Value::One(value) => {
                *held = Some(*value);
                Ok(open.value.clone())
            }
            Value::Many(values) if *held == Some(values[0]) => {
                *held = Some(values[1]);
                Ok(open.value.clone())
            }
            Value::Many(_) => Err(()),
        });
    }

    fn end(&mut self, open: Open) {
        match open.result.clone() {
            Some(Ok(value)) => self.event(&open, Type::Ok, value),
            Some(Err(())) => self.event(&open, Type::Fail, open.value.clone()),
            None => unreachable!("it ends after it took effect"),
        }
    }

    /// An operation from its beginning to its end, with an answer of our own.
    fn alone(&mut self, function: Function, asked: Value, answered: Value) {
        let process = 1_000_000 + self.events.len() as u64;
        let open = Open { process, function, key: 0, value: asked.clone(), result: None };
        self.event(&open, Type::Invoke, asked);
        self.event(&open, Type::Ok, answered);
    }

    fn write(&mut self) -> i64 {
        self.written += 1;
        self.alone(Function::Write, Value::One(self.written), Value::One(self.written));
        self.written
    }

    fn checked(&self) -> Checked {
        check(Workload::Register, &self.events, &|| false).unwrap()
    }
}

/// What happens next: to which client, and what.
type Choice = (usize, u8, usize);

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    proptest::collection::vec((0..5usize, any::<u8>(), 0..KEYS), 0..400)
}

fn simulate(choices: &[Choice]) -> Simulated {
    let mut simulated = Simulated::default();
    let mut clients: Vec<Option<Open>> = (0..5).map(|_| None).collect();
    // Operations of unknown outcome that may still take effect.
    let mut lingering: Vec<Open> = Vec::new();
    let mut processes: Vec<u64> = (0..5).collect();
    for &(client, what, key) in choices {
        if what % 16 == 0 {
            if let Some(mut late) = lingering.pop() {
                simulated.take_effect(&mut late);
            }
        }
        clients[client] = match clients[client].take() {
            None => {
                let function = [Function::Read, Function::Write, Function::Cas][usize::from(what % 3)];
                Some(simulated.begin(processes[client], key, function))
            }
            Some(open) if what % 10 == 9 => {
                simulated.event(&open, Type::Info, open.value.clone());
                processes[client] += 5;
                if open.result.is_none() {
                    lingering.push(open);
                }
                None
            }
            Some(mut open) if open.result.is_none() => {
                simulated.take_effect(&mut open);
                Some(open)
            }
            Some(open) => {
                simulated.end(open);
                None
            }
        };
    }
    simulated
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_register_that_is_right_is_ok(choices in choices()) {
        let mut simulated = simulate(&choices);
        simulated.write();
        let checked = simulated.checked();
        prop_assert_eq!(checked.verdict, Verdict::Ok, "{:?}", checked.shown);
    }

    #[test]
    fn a_stale_read_is_found(choices in choices()) {
        let mut simulated = simulate(&choices);
        let old = simulated.write();
        simulated.write();
        simulated.alone(Function::Read, Value::Nothing, Value::One(old));
        prop_assert_eq!((simulated.checked().verdict, simulated.checked().wrong_keys), (Verdict::Violation, vec![0]));
        // The last write and the read are enough to see it.
        prop_assert_eq!(simulated.checked().shown[0].operations.len(), 2);
    }

    #[test]
    fn a_lost_write_is_found(choices in choices()) {
        let mut simulated = simulate(&choices);
        let before = simulated.write();
        simulated.alone(Function::Read, Value::Nothing, Value::One(before));
        simulated.write();
        simulated.alone(Function::Read, Value::Nothing, Value::One(before));
        prop_assert_eq!(simulated.checked().verdict, Verdict::Violation);
    }

    #[test]
    fn two_compare_and_sets_of_one_value_are_found(choices in choices()) {
        let mut simulated = simulate(&choices);
        let from = simulated.write();
        for to in [from + 1, from + 2] {
            simulated.alone(Function::Cas, Value::Many(vec![from, to]), Value::Many(vec![from, to]));
        }
        prop_assert_eq!(simulated.checked().verdict, Verdict::Violation);
    }
}
