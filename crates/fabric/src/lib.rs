//! From the words of an experiment to the engine: hosts, nodes, one switch, and a condition by place.
//!
//! [`Fabric`] and [`Condition`] are the resolved form that the agent receives (docs/reference/contracts.md, section 1);
//! every number is an SI integer, `None` means unlimited. [`Network`] compiles them into elements, paths and ghost
//! sources of a `crosswind_engine::Engine`. Both the emulator (wall clock) and the simulator (virtual clock) use this
//! crate, so that a condition means the same in both.
//!
//! It does not read packets, know addresses on a wire or tell the time.

mod check;
mod network;
mod spec;

pub use check::FabricError;
pub use network::{ElementAt, Network, Place};
pub use spec::{
    By, Condition, ElementEntry, Fabric, Host, Interference, Law, Node, NormalLaw, Places, QueueEntry, Step,
    Tcp, Uplink, Zero,
};
