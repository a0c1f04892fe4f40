//! The virtual clock: drives the engine with recorded or synthetic arrivals, as fast as the machine can.
//!
//! The emulator is the other clock over the same engine. What it recorded (`crosswind_recording`), replayed here on an equal
//! network, has identical departures and drops; [`replay()`] checks that decision by decision. Under another condition the
//! recorded arrivals show what that condition would have done to the same packets: an open loop, because an application
//! that had lost other packets would have sent others.
//!
//! * [`run`]: arrivals on any engine, for tests and oracles.
//! * [`replay()`]: a recording, under its own condition or another.
//! * [`offer`]: a condition under synthetic traffic.
//! * [`trial`]: an application that speaks TCP, in a closed loop with the network.
//! * [`domains`]: one fabric on several threads, with the same decisions.
//! * [`play`]: a fabric over a table of packets, text in and text out.
//! * [`capture()`]: TCP's round trips, retransmissions and timeouts in a capture file.
//! * [`Summary`]: the result, pair by pair and element by element.

mod arrivals;
mod capture;
pub mod describe;
pub mod domains;
pub mod offer;
mod packets;
pub mod replay;
mod summary;
mod table;
pub mod trial;

pub use arrivals::{run, Arrival};
pub use capture::{capture, Captured};
pub use packets::PacketFile;
pub use replay::replay;
pub use summary::{Pair, Summary};
pub use table::{play, TableError};
