//! Elements, which process packets: the interface to the engine (`behaviour`), the list of all (`list`), and the
//! dispatch between the two (`dispatch`).
//!
//! An element decides about one packet at a time (`arrive`), and may hold it and be woken later. It never uses a
//! packet's class (monitors may, but their results change nothing).

mod behaviour;
mod context;
mod dispatch;
mod id;
mod list;

pub(crate) use behaviour::{Behaviour, Spec, Verdict};
pub(crate) use context::{Context, Shared};
pub use id::ElementId;
pub(crate) use list::Element;
pub use list::{ElementSpec, Treatment};
