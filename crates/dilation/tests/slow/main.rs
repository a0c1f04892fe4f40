//! Programs whose clock is slower: every call of the table, every family of programs, and what cannot be dilated.
//!
//! They run as the user who runs the tests. Waiting is most of what they do.
#![cfg(target_arch = "x86_64")]

mod counter;
mod driver;
mod families;
mod table;
