//! What answers have in common, whatever their language.

use crate::failure::Failure;

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Incomplete,
    Complete,
}

/// Checks that no bytes follow an answer.
pub fn check_nothing_follows(rest: &[u8]) -> Result<(), Failure> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Failure::Lost(format!("{} bytes came without a request", rest.len())))
    }
}

/// A key that the server does not have.
pub fn not_there(key: &str) -> Failure {
    Failure::Refused(format!(
        "key {key} is not there: it was never stored, or evicted; prepare as many keys, or give the server more memory"
    ))
}
