//! Specifications that have been checked. Checking a trace of a million points takes milliseconds, so it is done where
//! there is time, and the type records that it was done.

use alloc::borrow::ToOwned;

use crate::describe::Problem;
use crate::element::ElementSpec;
use crate::error::SpecError;
use crate::process::ProcessSpec;
use crate::source::{ReplaySpec, SourceSpec};

/// A specification that an engine can carry out.
pub trait Specification {
    /// The first error in it.
    fn first_problem(&self) -> Option<Problem>;
}

impl Specification for ElementSpec {
    fn first_problem(&self) -> Option<Problem> {
        self.problems().into_iter().next()
    }
}

impl Specification for ProcessSpec {
    fn first_problem(&self) -> Option<Problem> {
        self.check().err()
    }
}

impl Specification for SourceSpec {
    fn first_problem(&self) -> Option<Problem> {
        self.check().err()
    }
}

impl Specification for ReplaySpec {
    fn first_problem(&self) -> Option<Problem> {
        self.check().err()
    }
}

/// A specification that can be carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sound<T>(T);

impl<T: Specification> Sound<T> {
    /// Checks the specification of the object `name`.
    ///
    /// # Errors
    /// The first error in it.
    pub fn new(name: &str, spec: T) -> Result<Sound<T>, SpecError> {
        match spec.first_problem() {
            None => Ok(Sound(spec)),
            Some(problem) => Err(SpecError { name: name.to_owned(), problem }),
        }
    }
}

impl<T> Sound<T> {
    /// The specification.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// The specification, to be changed.
    pub fn into_inner(self) -> T {
        self.0
    }
}
