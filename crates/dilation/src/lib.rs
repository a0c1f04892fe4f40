//! Slows the clock of every program that a node starts, by a factor, or makes it wrong, by an offset and a rate, without a
//! patched kernel and without preloading.
//!
//! [`install`], in a process before its first program, hands the beginning of every program below it to a
//! [`Supervisor`], which puts an `image` into the new process: a vDSO with slower clocks, and a handler. Calls with a
//! time trap into the handler, which makes them with a stretched time (`calls` is the table, `map` the arithmetic).
//! Waits without end, polls of zero and all other calls pass untouched. A program that cannot be dilated is ended
//! before its first instruction, and calls that cannot be honoured are refused; both are counted by name.
//!
//! Not dilated: the time-stamp counter, whose readers are found and named, and times that the kernel writes into files,
//! /proc and control messages (docs/limits.md). The kernel's own timers, of TCP for example, are the caller's business.
//!
//! Source: Gupta et al., "To Infinity and Beyond: Time-Warped Network Emulation", NSDI 2006; docs/decisions/0041.

mod anchor;
mod available;
mod clocks;
pub mod map;
mod report;

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod elf;
#[cfg(target_arch = "x86_64")]
mod filter;
#[cfg(target_arch = "x86_64")]
mod image;
#[cfg(target_arch = "x86_64")]
mod inject;
#[cfg(target_arch = "x86_64")]
mod layout;
#[cfg(target_arch = "x86_64")]
mod live;
#[cfg(target_arch = "x86_64")]
mod supervisor;
#[cfg(target_arch = "x86_64")]
mod tracee;

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;

pub use anchor::Anchor;
pub use available::available;
pub use clocks::{Clocks, Wrong, FACTOR_MAX};
#[cfg(not(target_arch = "x86_64"))]
pub use elsewhere::{install, Supervisor};
#[cfg(target_arch = "x86_64")]
pub use filter::install;
pub use report::{Counter, Killed, Refused, Report, Undilated};
#[cfg(target_arch = "x86_64")]
pub use supervisor::Supervisor;
