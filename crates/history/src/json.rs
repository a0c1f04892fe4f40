//! A history as lines of JSON, written and read. The keys and words are those of Jepsen's EDN.
//!
//! `{"index":4,"process":0,"type":"ok","f":"read","value":[2,17],"time":1234}`: process 0 read 17 of key 2. What was done by hand has
//! the process `"nemesis"`.

use std::io::{self, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::event::{Event, Function, Line, Type, Value};

/// The process of what was done by hand, and its type.
const NEMESIS: &str = "nemesis";

#[derive(Serialize)]
struct Written<'a, P, F, V> {
    index: usize,
    process: P,
    r#type: Type,
    f: F,
    value: V,
    time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Writes a history, one line each.
pub fn write(mut file: impl Write, lines: &[Line]) -> io::Result<()> {
    for (index, line) in lines.iter().enumerate() {
        match line {
            Line::Event(event) => serde_json::to_writer(
                &mut file,
                &Written {
                    index,
                    process: event.process,
                    r#type: event.kind,
                    f: event.function,
                    value: (event.key, &event.value),
                    time: event.time_ns,
                    error: event.error.as_deref(),
                },
            ),
            Line::Intervention(done) => serde_json::to_writer(
                &mut file,
                &Written {
                    index,
                    process: NEMESIS,
                    r#type: Type::Info,
                    f: &done.what,
                    value: &done.value,
                    time: done.time_ns,
                    error: None,
                },
            ),
        }?;
        writeln!(file)?;
    }
    file.flush()
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Process {
    ByHand(String),
    Client(IgnoredAny),
}

#[derive(Deserialize)]
struct Head {
    process: Process,
}

#[derive(Deserialize)]
struct Read {
    process: u64,
    r#type: Type,
    f: Function,
    value: (u64, Value),
    time: u64,
    error: Option<String>,
}

/// Reads the events of clients in a history; what was done by hand is skipped.
///
/// # Errors
/// Names the first line that is none, from 1.
pub fn read(text: &str) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |error: serde_json::Error| format!("line {number}: {error}");
        match serde_json::from_str::<Head>(line).map_err(wrong)?.process {
            Process::ByHand(name) if name == NEMESIS => continue,
            Process::ByHand(name) => return Err(format!("line {number}: process \"{name}\" is no number")),
            Process::Client(IgnoredAny) => {}
        }
        let Read { process, r#type, f, value: (key, value), time, error } =
            serde_json::from_str(line).map_err(wrong)?;
        events.push(Event { process, kind: r#type, function: f, key, value, time_ns: time, error });
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Intervention;

    #[test]
    fn a_history_that_was_written_can_be_read() {
        let event = |kind, function, value, error: Option<&str>| Event {
            process: 3,
            kind,
            function,
            key: 2,
            value,
            time_ns: 7,
            error: error.map(str::to_string),
        };
        let events = [
            event(Type::Invoke, Function::Read, Value::Nothing, None),
            event(Type::Ok, Function::Read, Value::Many(vec![1, 2]), None),
            event(Type::Info, Function::Write, Value::One(-4), Some("no answer")),
        ];
        let by_hand = Intervention { what: "promote".into(), value: "db1".into(), time_ns: 8 };
        let mut lines: Vec<Line> = events.iter().cloned().map(Line::Event).collect();
        lines.insert(1, Line::Intervention(by_hand));
        let mut text = Vec::new();
        write(&mut text, &lines).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text.lines().next(),
            Some(r#"{"index":0,"process":3,"type":"invoke","f":"read","value":[2,null],"time":7}"#)
        );
        assert_eq!(read(&text).unwrap(), events);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        assert!(read("\n{}").unwrap_err().starts_with("line 2: missing field `process`"));
        assert!(read(r#"{"process":"x"}"#).unwrap_err().contains("\"x\" is no number"));
    }
}
