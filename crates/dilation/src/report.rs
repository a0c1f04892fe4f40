//! What is known of the processes of a node.

use serde::{Deserialize, Serialize};

/// What happened in a node under dilation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Processes that have the filter and the image with the node's factor, at this moment.
    pub processes: u64,
    /// Those that have not.
    pub undilated: Vec<Undilated>,
    /// Programs that were begun dilated.
    pub execs: u64,
    /// Programs that could not be dilated and were ended before their first instruction.
    pub killed: Vec<Killed>,
    /// Calls that were refused or could not be honoured in full.
    pub refused: Vec<Refused>,
    /// Programs that read the time-stamp counter themselves.
    pub counters: Vec<Counter>,
}

/// A program whose processes run in real time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undilated {
    /// Path of the program.
    pub program: String,
    /// How many.
    pub count: u64,
}

/// A program that was ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Killed {
    /// Path of the program.
    pub program: String,
    /// The reason.
    pub why: String,
    /// How many.
    pub count: u64,
}

/// A call that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Name of the call, or of what it was to do.
    pub call: String,
    /// How many.
    pub count: u64,
}

/// A program that read the time-stamp counter, which is not slowed down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Path of the program.
    pub program: String,
    /// Path of the file whose code did, or what there is instead of a file.
    pub file: String,
    /// How often, at least.
    pub reads: u64,
}
