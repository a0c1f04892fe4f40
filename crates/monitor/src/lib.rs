//! Measures flows from the headers of passing packets: size, TCP window, round-trip time, retransmission, reordering.
//!
//! Pure functions over headers that have been read, with the instant as an argument: no I/O, no clock. What needs no header
//! (rates, gaps, queues) is measured in the engine. A [`Point`] is one place with up to two directions; flows at it are
//! followed in bounded memory, and what no longer fits is counted.
//!
//! Source: Zilberman et al. 2021, NRG, sections V-A (flow size, TCP window size) and V-C (reordering by flow).

#![forbid(unsafe_code)]

mod acknowledgement;
mod conversations;
mod flow_size;
mod flows;
mod point;
mod reordering;
mod retransmission;
mod rtt;
mod segment;
mod tcp_window;
#[cfg(test)]
mod tests;

pub use conversations::{Conversations, Direction, Timeout};
pub use point::{Finding, Point, Quantity, Side};
pub use retransmission::{Again, Sent};
pub use segment::Segment;
