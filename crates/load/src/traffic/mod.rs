//! Traffic of a chosen pattern among many nodes, all of it from one instant and counted over one window.
//!
//! Every node runs a `traffic-serve` ([`node`]): it accepts data from others, and sends its own part. One
//! `traffic` ([`coordinator`]) orders which node sends what to which ([`pattern`], [`size`]), waits until all connections
//! are made, announces the instant at which all begin, and collects their counts ([`meter`]).
//!
//! **Why the two talk over Unix sockets ([`control`]).** Nodes have networks of their own, and the network between them is
//! under test: commands and results that crossed it would be delayed by it and would disturb it. A socket with
//! a path belongs to the file system, which the nodes of one machine share, as they share CLOCK_MONOTONIC. For a node on
//! another machine, a relay (`crate::relay`) stands in the place of its socket, and its clock is known ([`elsewhere`]).
//!
//! Two exchanges are enough for every kind of load: an endless [`stream`], and [`message`]s, each of which is answered.
//! A transfer of a size is a message whose answer is the least there is; a ping-pong is one whose answer is as long.

pub mod control;
pub mod coordinator;
mod cpu;
pub mod elsewhere;
mod hello;
#[cfg(any(test, fuzzing))]
pub mod hostile;
mod incoming;
mod message;
mod meter;
pub mod node;
mod outgoing;
pub mod pattern;
mod progress;
mod round_trip;
pub mod size;
mod start;
mod stream;
mod tcp;
