//! Drop policies: which packet is lost when a queue is full, and which before that, to tell the ends of congestion.
//!
//! `tail` (the default) refuses the newcomer that has no room, and is the only one that never touches what waits; `head` pushes out
//! the oldest instead; `red` and `wred` watch how much waits on average, `codel` how long. Every policy has the buffer's limit above
//! it, where it refuses newcomers as `tail` does. Drop reason there: `queue-full`.
//!
//! With `ecn: true` a policy that acts before the buffer is full marks packets whose transport takes marks (`ecn.rs`). `tail` and
//! `head` have nothing to mark.
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
