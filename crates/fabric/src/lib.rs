//! From the words of an experiment to the engine: hosts, nodes, one switch, and a condition by place.
//!
//! [`Fabric`] and [`Condition`] are the resolved form that the agent receives (docs/reference/contracts.md, section 1);
//! every number is an SI integer, `None` means unlimited. [`Network`] compiles them into elements, paths and ghost
//! sources of a `crosswind_engine::Engine`. Both the emulator (wall clock) and the simulator (virtual clock) use this
//! crate, so that a condition means the same in both.
//!
//! It does not read packets, know addresses on a wire or tell the time.

mod capacity;
mod check;
mod delays;
mod frame;
mod impairments;
mod interference;
mod labels;
mod meters;
mod monitor;
mod network;
mod process;
mod queue;
mod shapers;
mod spec;

pub use check::FabricError;
pub use frame::Frame;
pub use interference::{
    ArrivalsEntry, Control, Interference, Law, Mix, NormalLaw, OnOff, PacketBytes, ReplayEntry, TcpEntry,
    Zero,
};
pub use labels::Facts;
pub use meters::{ColourAction, ColourMode, SrtcmEntry, TrtcmEntry};
pub use monitor::HeaderReader;
pub use network::{ElementAt, Network, Place};
pub use process::{Cell, Direction, Process, State};
pub use queue::{By, CodelEntry, DropEntry, ProfileEntry, QueueEntry, RedEntry, WredEntry};
pub use shapers::{CreditEntry, LoopEntry, PaceEntry};
pub use spec::{
    BinEntry, ClassWord, Condition, DelayLawEntry, ElementEntry, Fabric, Host, LossEntry, Match, Node,
    OrderEntry, Places, RandomEntry, Start, Step, Tcp, Uplink, Wait, What,
};
