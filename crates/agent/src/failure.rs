//! Why a request was refused: a kind for programs and a sentence for people.

use serde::{Deserialize, Serialize};

/// What the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The request is wrong; send a different one.
    Invalid,
    /// This machine cannot honour the request; change the machine or use another.
    Preflight,
    /// The agent is at fault.
    Internal,
}

/// The content of an error reply. The message names thing, value, rule and remedy.
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
