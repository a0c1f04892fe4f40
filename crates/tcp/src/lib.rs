//! TCP as Linux runs it, both ends, without a clock, sockets or bytes: time is an argument, data are counted.
//!
//! The simulator drives two [`Endpoint`]s over the engine's network. What leaves one end is a [`Segment`]: a packet, or a
//! train of packets that the network treats one by one. What is modelled and what is not:
//! docs/explanation/tcp.md.
//!
//! A file for each concept:
//!
//! * `endpoint`: an end, its handshake, what the application does.
//! * `sender`: acknowledgements; `scoreboard`: packets that were sent; `send_queue`: data that were not.
//! * `transmit`: trains, and what the windows allow; `probe`, `timer`: probes and timeouts.
//! * `recovery`: states of congestion; `rack`: which packets are lost; `reduction`, `undo`: how windows shrink and
//!   whether that was for nothing; `congestion`: how they grow (Reno, CUBIC, HyStart).
//! * `receiver`, `reassembly`, `receive_buffer`, `delayed_ack`: the other direction.
//! * `round_trip`: round trips and timeouts; `tick`: the kernel's timers.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod congestion;
mod delayed_ack;
mod endpoint;
mod probe;
mod rack;
mod reassembly;
mod receive_buffer;
mod receiver;
mod recovery;
mod reduction;
mod round_trip;
mod scoreboard;
mod segment;
mod send_queue;
mod sender;
mod settings;
mod tick;
mod timer;
mod transmit;
mod undo;

pub use endpoint::{Changed, Endpoint};
pub use segment::{Blocks, Kind, Range, Segment};
pub use sender::SenderCounts;
pub use settings::{Algorithm, Buffer, Settings, HEADER_BYTES};
