//! Queues: where packets wait. What waits where (DSCP), how much can wait (buffer), what is dropped (policy), and, by a scheduler,
//! who goes first. One description serves links, schedulers' queues and shapers.

mod buffer;
mod drop;
mod managed;
mod memory;
mod queues;
mod spec;

pub(crate) use buffer::{Buffer, Measure};
pub use drop::{CodelSpec, DropSpec, RedProfile, RedSpec, WredSpec};
pub(crate) use managed::{ManagedQueue, Server};
pub(crate) use memory::Memory;
pub use memory::{MemoryId, MemoryShare};
pub(crate) use queues::Queues;
pub use spec::{BufferSpec, QueueSpec, Queueing};
