//! What all clients saw, in the order in which it happened.
//!
//! An event gets its instant and its place at once, while no other event can get one. So the order of the file is that of time, and an
//! operation that ended before another one began stands before it.

use std::sync::{Mutex, PoisonError};

use crosswind_history::event::{Event, Function, Intervention, Line, Type, Value};

use crate::clock::monotonic_ns;

/// A history that grows; instants are CLOCK_MONOTONIC.
#[derive(Default)]
pub struct Log(Mutex<Vec<Line>>);

/// An operation of a process.
#[derive(Clone, Copy)]
pub struct Of {
    pub process: u64,
    pub function: Function,
    pub key: u64,
}

impl Log {
    /// An operation begins.
    pub fn begin(&self, of: Of, value: Value) {
        self.add(of, Type::Invoke, value, None);
    }

    /// It ends.
    pub fn end(&self, of: Of, kind: Type, value: Value, error: Option<String>) {
        self.add(of, kind, value, error);
    }

    fn add(&self, of: Of, kind: Type, value: Value, error: Option<String>) {
        let Of { process, function, key } = of;
        self.push(|time_ns| Line::Event(Event { process, kind, function, key, value, time_ns, error }));
    }

    /// Something was done by hand.
    pub fn intervene(&self, what: &str, value: &str) {
        let (what, value) = (what.to_string(), value.to_string());
        self.push(|time_ns| Line::Intervention(Intervention { what, value, time_ns }));
    }

    fn push(&self, line: impl FnOnce(u64) -> Line) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line(monotonic_ns()));
    }

    /// The instant of the first event, once there is one.
    pub fn began_ns(&self) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first().map(Line::time_ns)
    }

    /// All of it, with instants since `start_ns`.
    pub fn since(&self, start_ns: u64) -> Vec<Line> {
        let mut lines = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for line in &mut lines {
            let time_ns = match line {
                Line::Event(event) => &mut event.time_ns,
                Line::Intervention(intervention) => &mut intervention.time_ns,
            };
            *time_ns = time_ns.saturating_sub(start_ns);
        }
        lines
    }
}
