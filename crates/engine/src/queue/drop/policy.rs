//! The interface between a drop policy and a queue. A policy decides at three points: when a packet arrives, when
//! there is no room for it, and when the queue releases one.

use crate::describe::Page;
use crate::ecn::Signal;
use crate::element::Context;
use crate::outcome::DropReason;
use crate::packet::Packet;
use crate::queue::Buffer;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Instant, Rate};

/// A policy's decision about an arriving packet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Detected {
    /// No action.
    Nothing,
    /// Signal congestion to its transport, by a mark or by dropping it.
    Early,
    /// Drop it.
    Overload,
}

/// A drop policy in operation, with its state.
pub(crate) trait DropPolicy: Sized {
    /// Its parameters.
    type Spec;

    /// The header of its file, if it has one.
    const PAGE: Option<Page>;
    /// Whether it signals congestion before the buffer is full, and so can mark packets and has state.
    const IS_EARLY: bool = true;
    /// Whether its queue can be part of a memory.
    const CAN_SHARE: bool = true;
    /// The reason for packets that it drops on arrival.
    const REASON: DropReason = DropReason::Early;

    /// `spec` has been checked; `rate` empties the buffer.
    fn new(spec: &Self::Spec, buffer: &Buffer, rate: Rate) -> Self;

    /// The rate that empties the buffer has changed.
    fn set_rate(&mut self, _: &Buffer, _: Rate) {}

    /// Decides about a packet that arrives at the buffer.
    fn at_arrival(&mut self, _: &Packet, _: &Buffer, _: Instant, _: &mut Stream) -> Detected {
        Detected::Nothing
    }

    /// Makes room for a packet, or changes nothing if it cannot.
    fn make_room(&mut self, _: SlotId, _: &mut Buffer, _: &mut Context<'_>) -> Result<(), DropReason> {
        Err(DropReason::QueueFull)
    }

    /// A packet will wait in the buffer.
    fn entered(&mut self, _: &Packet, _: &Buffer) {}

    /// Takes the packet that leaves now, after dropping packets that must go before it; `None` if none is left.
    fn take(&mut self, buffer: &mut Buffer, _: Signal, context: &mut Context<'_>) -> Option<SlotId> {
        buffer.pop(&context.shared.slab)
    }

    /// The last packet has left the buffer.
    fn emptied(&mut self, _: Instant) {}
}
