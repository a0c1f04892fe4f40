//! Drop policies: which packet is lost when a queue is full, and which earlier, to signal congestion to the ends.
//!
//! `tail` (the default) refuses the new packet that has no room, and is the only policy that never touches waiting
//! packets; `head` pushes out the oldest instead. `red` and `wred` watch the average queue, `codel` the waiting time.
//! With every policy the buffer's limit also applies, where it refuses new packets as `tail` does, with drop reason
//! `queue-full`.
//!
//! With `ecn: true` a policy that acts before the buffer is full marks packets whose transport reacts to marks
//! (`ecn.rs`). `tail` and `head` cannot mark.
//!
//! Source: RFC 7567, section 2 (tail drop and its faults).

mod average;
mod dispatch;
mod list;
mod policy;
#[cfg(test)]
mod tests;

pub use list::red::RedProfile;
pub(crate) use list::Policy;
pub use list::{policies, DropSpec};
pub(crate) use policy::Detected;
