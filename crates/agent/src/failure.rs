//! Why a request was not honoured: a kind for programs and a sentence for people.

use serde::{Deserialize, Serialize};

/// What the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The request is wrong; ask for something else.
    Invalid,
    /// This machine cannot honour it; change the machine or go to another.
    Preflight,
    /// The agent is at fault.
    Internal,
}

/// An error reply in the making. The message names thing, value, rule and remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// For programs.
    pub kind: Kind,
    /// For people.
    pub message: String,
}

impl Failure {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { kind: Kind::Invalid, message: message.into() }
    }

    pub fn preflight(message: impl Into<String>) -> Self {
        Self { kind: Kind::Preflight, message: message.into() }
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self { kind: Kind::Internal, message: message.into() }
    }
}
