//! Other CPUs: nothing can be dilated there, and a [`Supervisor`] cannot be made.

use std::convert::Infallible;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::clocks::Clocks;
use crate::report::Report;

/// Does not exist here.
pub struct Supervisor(Infallible);

impl Supervisor {
    /// `None`.
    pub fn new(_clocks: Clocks) -> Option<Self> {
        None
    }

    /// Never called.
    pub fn change(&mut self, _clocks: Clocks) {
        match self.0 {}
    }

    /// Never called.
    pub fn listen(&mut self, _listener: OwnedFd, _ended: Option<OwnedFd>) {
        match self.0 {}
    }

    /// Never called.
    pub fn serve_until<const N: usize>(&mut self, _others: [BorrowedFd<'_>; N]) -> io::Result<[bool; N]> {
        match self.0 {}
    }

    /// Never called.
    pub fn report(&self) -> Report {
        match self.0 {}
    }
}

/// # Errors
/// Always.
pub fn install() -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}
