//! Why a server did not do what it was asked.
//!
//! Below all that talk to servers and below the loop that drives them, so that neither has to know the other.

use std::fmt;

/// Why an operation brought no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server answered, but not with what was asked for; the connection can go on.
    Refused(String),
    /// The connection is of no use any more.
    Lost(String),
    /// We were told to stop while waiting: neither a success nor an error, and not recorded.
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
    /// The store did not do what it was asked.
    Failed(Failure),
}
