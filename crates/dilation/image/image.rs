//! The image that every dilated process has: a vDSO, and the handler of the calls that the filter traps.
//!
//! It is linked alone (`build.rs`), mapped at a fixed address (`layout`) and entered by programs of every kind: no
//! memory is allocated, nothing is relocated, nothing can panic (a reference to a panic does not link), and no library
//! is called. Its own system calls pass the filter, which knows its address.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

#[path = "../src/calls.rs"]
#[allow(dead_code)]
mod calls;
#[path = "../src/layout.rs"]
#[allow(dead_code)]
mod layout;
#[path = "../src/map.rs"]
#[allow(dead_code)]
mod map;

mod clocks;
mod counter;
mod faults;
mod futex;
mod handler;
mod kernel;
mod signals;
mod sockets;
mod start;
mod timers;
mod waits;
