//! Histories of concurrent operations on a store, and whether a correct store could have answered so.
//!
//! A history is what clients saw: each operation with the instants at which it began and ended, and its outcome. An outcome that
//! no client knows (a time-out, a broken connection) stays unknown: the operation may take effect later, or never.
//!
//! | workload | operations | what is checked, for each key |
//! |---|---|---|
//! | register | read, write, compare-and-set | linearizable: some order explains all answers |
//! | set | add, read |  no element is lost, stale, unexpected or there twice |
//! | append | append, read |  reads are prefixes of one order that keeps real time, and none lacks what was confirmed before |
//!
//! Pure: no clock, no files. Who checks gives a function that says when to give up; the verdict is then `unknown`, never `ok`.
//!
//! Source: Herlihy and Wing, "Linearizability" (1990); the format of histories is Jepsen's (`edn`).

mod append;
mod counterexample;
pub mod edn;
pub mod event;
pub mod json;
mod linearize;
mod operations;
#[cfg(test)]
mod oracle;
mod register;
mod set;
pub mod verdict;
