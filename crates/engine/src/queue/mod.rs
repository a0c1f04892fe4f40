//! Queues: where packets wait. What waits where (DSCP), how much can wait (buffer), and, by a scheduler, who goes first.

mod buffer;
mod queues;
mod spec;

pub(crate) use buffer::{Buffer, Measure};
pub(crate) use queues::Queues;
pub use spec::{QueueSpec, Queueing};
