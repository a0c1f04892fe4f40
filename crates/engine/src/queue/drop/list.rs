//! The list of drop policies. A new policy needs its file and its line here.

use alloc::vec::Vec;

use super::dispatch::drop_policies;
use super::policy::{Detected, DropPolicy};
use crate::describe::choice;
use crate::ecn::Signal;
use crate::element::Context;
use crate::outcome::DropReason;
use crate::packet::Packet;
use crate::queue::Buffer;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

drop_policies! {
    /// Drops the new packet.
    "tail.rs" tail::Tail = "tail",
    /// Drops the oldest packet.
    "head.rs" head::Head = "head",
    "red.rs" red::Red(RedSpec) = "red",
    "wred.rs" wred::Wred(WredSpec) = "wred",
    "codel.rs" codel::Codel(CodelSpec) = "codel",
    "pie.rs" pie::Pie(PieSpec) = "pie",
}
