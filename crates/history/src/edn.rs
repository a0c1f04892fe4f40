//! A history as EDN, one map a line, for Jepsen's own checkers.
//!
//! Registers and sets are as `jepsen.independent` has them: each value is a pair of key and value, read by
//! `(independent/history-keys ...)` after `(independent/tuple ...)`. Lists are the transactions of one operation that
//! Elle's list-append reads: `[[:append 3 17]]`, `[[:r 3 [17 18]]]`.
//!
//! Source: the EDN format (edn-format/edn); Jepsen 0.3, `jepsen.history`, `jepsen.independent`; Elle, `elle.list-append`.

use std::fmt::{Display, Formatter};
use std::io::{self, Write};

use crate::event::{Event, Function, Line, Type, Value, Workload};

/// Writes a history of a workload.
pub fn write(mut file: impl Write, workload: Workload, lines: &[Line]) -> io::Result<()> {
    for (index, line) in lines.iter().enumerate() {
        match line {
            Line::Event(event) => {
                let Event { process, kind, time_ns, error, .. } = event;
                let (function, value) = written(workload, event);
                write!(
                    file,
                    "{{:index {index}, :time {time_ns}, :process {process}, :type :{}, :f :{function}, :value {value}",
                    kind.name()
                )?;
                match error {
                    Some(error) => writeln!(file, ", :error {}}}", Text(error))?,
                    None => writeln!(file, "}}")?,
                }
            }
            Line::Intervention(done) => writeln!(
                file,
                "{{:index {index}, :time {}, :process :nemesis, :type :info, :f :{}, :value {}}}",
                done.time_ns,
                done.what,
                Text(&done.value)
            )?,
        }
    }
    file.flush()
}

/// The function and the value of an event, as Jepsen has them for the workload.
fn written(workload: Workload, event: &Event) -> (&'static str, String) {
    let (key, value) = (event.key, &event.value);
    if workload == Workload::Append {
        return (
            "txn",
            match (event.function, value) {
                (Function::Read, Value::Many(elements)) => format!("[[:r {key} {}]]", vector(elements)),
                (Function::Read, _) => format!("[[:r {key} nil]]"),
                (_, Value::One(element)) => format!("[[:append {key} {element}]]"),
                (_, _) => format!("[[:append {key} nil]]"),
            },
        );
    }
    let value = match value {
        Value::Nothing => "nil".to_string(),
        Value::One(value) => value.to_string(),
        // A set that is read twice the same element would be no set; then it is a vector, as it came.
        Value::Many(elements)
            if event.function == Function::Read && event.kind == Type::Ok && differ(elements) =>
        {
            format!("#{{{}}}", spaced(elements))
        }
        Value::Many(values) => vector(values),
    };
    (event.function.name(), format!("[{key} {value}]"))
}

fn differ(elements: &[i64]) -> bool {
    let mut sorted = elements.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

fn vector(values: &[i64]) -> String {
    format!("[{}]", spaced(values))
}

fn spaced(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

/// A string of EDN.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "\"")?;
        for character in self.0.chars() {
            match character {
                '"' => write!(formatter, "\\\"")?,
                '\\' => write!(formatter, "\\\\")?,
                '\n' => write!(formatter, "\\n")?,
                '\r' => write!(formatter, "\\r")?,
                '\t' => write!(formatter, "\\t")?,
                other => write!(formatter, "{other}")?,
            }
        }
        write!(formatter, "\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Intervention;

    fn line(workload: Workload, kind: Type, function: Function, value: Value, error: Option<&str>) -> String {
        let error = error.map(str::to_string);
        let event = Event { process: 1, kind, function, key: 2, value, time_ns: 9, error };
        let mut text = Vec::new();
        write(&mut text, workload, &[Line::Event(event)]).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn operations_are_those_that_jepsen_and_elle_read() {
        let head = "{:index 0, :time 9, :process 1, :type";
        for (workload, kind, function, value, expected) in [
            (
                Workload::Register,
                Type::Invoke,
                Function::Read,
                Value::Nothing,
                ":invoke, :f :read, :value [2 nil]",
            ),
            (Workload::Register, Type::Ok, Function::Read, Value::One(7), ":ok, :f :read, :value [2 7]"),
            (
                Workload::Register,
                Type::Ok,
                Function::Cas,
                Value::Many(vec![7, 8]),
                ":ok, :f :cas, :value [2 [7 8]]",
            ),
            (
                Workload::Set,
                Type::Ok,
                Function::Read,
                Value::Many(vec![7, 8]),
                ":ok, :f :read, :value [2 #{7 8}]",
            ),
            (
                Workload::Set,
                Type::Ok,
                Function::Read,
                Value::Many(vec![7, 7]),
                ":ok, :f :read, :value [2 [7 7]]",
            ),
            (
                Workload::Append,
                Type::Ok,
                Function::Append,
                Value::One(7),
                ":ok, :f :txn, :value [[:append 2 7]]",
            ),
            (
                Workload::Append,
                Type::Ok,
                Function::Read,
                Value::Many(vec![7]),
                ":ok, :f :txn, :value [[:r 2 [7]]]",
            ),
        ] {
            assert_eq!(line(workload, kind, function, value, None), format!("{head} {expected}}}\n"));
        }
    }

    #[test]
    fn texts_are_quoted() {
        let text = line(Workload::Set, Type::Info, Function::Add, Value::One(1), Some("a \"b\"\n"));
        assert!(text.ends_with(", :error \"a \\\"b\\\"\\n\"}\n"), "{text}");
        let by_hand = Intervention { what: "promote".into(), value: "db1".into(), time_ns: 3 };
        let mut text = Vec::new();
        write(&mut text, Workload::Set, &[Line::Intervention(by_hand)]).unwrap();
        let expected = "{:index 0, :time 3, :process :nemesis, :type :info, :f :promote, :value \"db1\"}\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
