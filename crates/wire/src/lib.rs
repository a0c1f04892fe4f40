//! Packet headers: what the emulator must read of a frame, and how a super-packet falls apart into wire packets.
//!
//! Pure functions over byte slices: no I/O, no clock. Hostile bytes give `None` or a [`Headers`] without the parts that
//! could not be read; nothing here panics on any input (property tests).

#![forbid(unsafe_code)]

pub mod capture_file;
mod checksum;
mod damage;
mod flow;
mod headers;
pub mod pcapng;
mod reset;
mod train;
mod vnet;
mod vxlan;

pub use flow::Flow;
pub use headers::{Headers, Tcp, Transport};
pub use reset::reset;
pub use train::{Cut, Scratch, Train};
pub use vnet::VnetHeader;
