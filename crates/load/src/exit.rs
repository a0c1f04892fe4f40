//! Why a command ended without a result, and the exit status that says so.
//!
//! A run that has a result, even a bad one, does not come here: see [`crate::driver::Outcome::exit_code`].

use std::fmt;
use std::process::ExitCode;

/// The exit status of a run with too many errors.
pub const TOO_MANY_ERRORS: u8 = 4;

/// The exit status of a command that a signal ended, as shells count it.
pub fn after_signal(number: u8) -> u8 {
    128 + number
}

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failed {
    /// Our own fault, or the disk's.
    Internal(String),
    /// An invalid argument.
    Usage(String),
    /// The server cannot be reached or, for a command that listens, the address is not available.
    Unreachable(String),
    /// The server answered, but refused.
    Refused(String),
    /// A signal with this number arrived before the work was done.
    Stopped(u8),
}

impl Failed {
    /// The status that contracts.md section 4 gives to it.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failed::Internal(_) => 1,
            Failed::Usage(_) => 2,
            Failed::Unreachable(_) => 3,
            Failed::Refused(_) => TOO_MANY_ERRORS,
            Failed::Stopped(number) => after_signal(*number),
        })
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Internal(message)
            | Failed::Usage(message)
            | Failed::Unreachable(message)
            | Failed::Refused(message) => formatter.write_str(message),
            Failed::Stopped(number) => {
                write!(formatter, "stopped by signal {number} before the work was done")
            }
        }
    }
}
