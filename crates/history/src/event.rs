//! One line of a history: a client begins an operation, or learns how it ended.

use serde::{Deserialize, Serialize};

/// What clients do to keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workload {
    /// Reads, writes, and compare-and-sets of a value.
    Register,
    /// Additions of elements, and reads of all of them.
    Set,
    /// Appends of elements to a list, and reads of all of it.
    Append,
}

impl Workload {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Register => "register",
            Workload::Set => "set",
            Workload::Append => "append",
        }
    }

    /// The functions that this workload has.
    pub fn functions(self) -> &'static [Function] {
        match self {
            Workload::Register => &[Function::Read, Function::Write, Function::Cas],
            Workload::Set => &[Function::Read, Function::Add],
            Workload::Append => &[Function::Read, Function::Append],
        }
    }
}

/// An event of an operation, in Jepsen's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// It begins.
    Invoke,
    /// It took effect.
    Ok,
    /// It took no effect, and never will.
    Fail,
    /// Unknown: it may have taken effect, may do so later, or never.
    Info,
}

impl Type {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Type::Invoke => "invoke",
            Type::Ok => "ok",
            Type::Fail => "fail",
            Type::Info => "info",
        }
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Function {
    /// Takes the value, or all elements.
    Read,
    /// Replaces the value.
    Write,
    /// Compare-and-set: writes the second value if the first one is there, and fails otherwise.
    Cas,
    /// Adds an element to a set.
    Add,
    /// Puts an element at the end of a list.
    Append,
}

impl Function {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Function::Read => "read",
            Function::Write => "write",
            Function::Cas => "cas",
            Function::Add => "add",
            Function::Append => "append",
        }
    }
}

/// What is written or read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A read that begins, or the register that was never written.
    Nothing,
    /// A register's value, or an element.
    One(i64),
    /// The two values of a compare-and-set, or the elements that were read.
    Many(Vec<i64>),
}

/// An event of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The client; one whose operation ended as `info` goes on under another number, since the operation may go on, too.
    pub process: u64,
    /// Whether it begins, or how it ended.
    pub kind: Type,
    /// What is done.
    pub function: Function,
    /// To which key.
    pub key: u64,
    /// With what, or the result.
    pub value: Value,
    /// Since the start of the run.
    pub time_ns: u64,
    /// Why it is `fail` or `info`.
    pub error: Option<String>,
}

/// Something that was done to the store by hand, such as a failover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervention {
    /// In a word, such as `promote`.
    pub what: String,
    /// To what, such as the name of a server.
    pub value: String,
    /// Since the start of the run.
    pub time_ns: u64,
}

/// A line of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Of a client.
    Event(Event),
    /// By hand.
    Intervention(Intervention),
}

impl Line {
    /// When it happened, since the start of the run.
    pub fn time_ns(&self) -> u64 {
        match self {
            Line::Event(event) => event.time_ns,
            Line::Intervention(intervention) => intervention.time_ns,
        }
    }
}
