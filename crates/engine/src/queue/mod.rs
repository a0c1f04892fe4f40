//! Queues, where packets wait: which packets wait in which queue (DSCP), how much can wait (buffer), what is dropped
//! (policy), and the order of service (scheduler). One description serves links, schedulers' queues and shapers.

mod buffer;
mod drop;
mod managed;
mod memory;
mod parameters;
mod queues;
mod spec;

pub(crate) use buffer::{Buffer, Measure};
pub use drop::{policies, DropSpec, RedProfile};
pub(crate) use managed::{ManagedQueue, Server};
pub(crate) use memory::Memory;
pub use memory::{MemoryId, MemoryShare};
pub use parameters::{QueueParameters, ScheduleParameters, ScheduledQueue};
pub(crate) use queues::Queues;
pub use spec::{BufferSpec, QueueSpec, Queueing};

use crate::describe::{page, Page};

/// The page of `queue`.
const PAGE: Page = page!("mod.rs");
