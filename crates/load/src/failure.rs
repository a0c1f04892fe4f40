//! Why an operation on a server failed.
//!
//! Clients of servers and the loop that drives them both use this module, so neither depends on the other.

use std::fmt;

/// Why an operation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server answered with an error or the wrong content; the connection can go on.
    Refused(String),
    /// The connection cannot be used any more.
    Lost(String),
    /// A stop was requested during the wait: neither a success nor an error, and not recorded.
    Stopped,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(message) | Failure::Lost(message) => formatter.write_str(message),
            Failure::Stopped => formatter.write_str("stopped while waiting for the server"),
        }
    }
}

/// Why a store could not be filled.
#[derive(Debug)]
pub enum NotPrepared {
    /// There is no connection.
    Unreachable(String),
    /// The store refused, or the connection was lost.
    Failed(Failure),
}
