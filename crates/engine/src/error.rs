//! Errors in a specification that the engine refuses.

use alloc::string::String;
use core::fmt;

use crate::describe::Problem;

/// A specification that the engine cannot carry out; nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// The element's or source's name.
    pub name: String,
    /// The error: the value, the rule and the remedy.
    pub problem: Problem,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.problem)
    }
}

impl core::error::Error for SpecError {}
