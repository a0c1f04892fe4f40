//! Why a command ended without a result, and the exit status that says so.
//!
//! A run that has a result, even a bad one, does not come here: see [`crate::driver::Outcome::exit_code`].

use std::fmt;
use std::process::ExitCode;

/// The exit status of a run with too many errors.
pub const TOO_MANY_ERRORS: u8 = 4;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failed {
    /// Our own fault, or the disk's.
    Internal(String),
    /// An argument that cannot be meant.
    Usage(String),
    /// The server (or, for one that listens, the address) cannot be had.
    Unreachable(String),
}

impl Failed {
    /// The status that contracts.md section 4 gives to it.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failed::Internal(_) => 1,
            Failed::Usage(_) => 2,
            Failed::Unreachable(_) => 3,
        })
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failed::Internal(message) | Failed::Usage(message) | Failed::Unreachable(message)) =
            self;
        formatter.write_str(message)
    }
}
