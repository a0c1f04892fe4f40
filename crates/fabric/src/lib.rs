//! Compiles an experiment's network for the engine: a graph of hosts, switches and links, nodes, and a condition by
//! place.
//!
//! [`Fabric`] and [`Condition`] are the resolved form that the agent receives (docs/reference/contracts.md, section
//! 1). Every number is an SI integer; `None` means unlimited. [`Network`] compiles them into elements, paths and ghost
//! sources of a `crosswind_engine::Engine`. Both the emulator (wall clock) and the simulator (virtual clock) use this
//! crate, so that a condition means the same in both.
//!
//! It does not read packets, handle wire addresses or read a clock.

mod border;
mod capacity;
mod check;
mod compile;
mod cuts;
mod domains;
mod elements;
mod entry;
mod frame;
mod graph;
mod interference;
mod labels;
mod monitor_spec;
mod network;
mod paths;
mod places;
mod plan;
mod planner;
mod register;
mod requested;
mod routes;
mod site;
mod spec;
mod stands;
mod timeline;
mod topology;

pub use border::Crosses;
pub use capacity::Levels;
pub use check::FabricError;
pub use crosswind_engine::What;
pub use cuts::{Answer, Cuts, NodeCut};
pub use domains::{Cut, Division, Domains};
pub use elements::ElementAt;
pub use entry::{samples, ElementEntry};
pub use frame::Frame;
pub use interference::{
    ArrivalsEntry, Control, Interference, Law, Mix, NormalLaw, OnOff, PacketBytes, ReplayEntry, TcpEntry,
    Zero,
};
pub use labels::Facts;
pub use monitor_spec::HeaderReader;
pub use network::{Applied, Network, Offering, Spent};
pub use plan::{About, Plan};
pub use planner::Planner;
pub use site::Place;
pub use spec::{Condition, Fabric, Host, Node, Places, Step, Tcp, Wait};
pub use timeline::{Stepped, Timeline};
pub use topology::{star, Link, Routing};
