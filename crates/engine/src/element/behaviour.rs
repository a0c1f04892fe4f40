//! What an element is to the engine. What most elements have no use for has a default.

use alloc::vec::Vec;

use super::Context;
use crate::describe::{Described, Parameters, Problem};
use crate::link::Link;
use crate::monitor::Monitor;
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::random::Stream;
use crate::shaper::CreditLevel;
use crate::slab::SlotId;
use crate::units::{Duration, Instant};

/// What becomes of a packet now.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Passed,
    /// Passes, and so does a second one like it.
    PassedTwice,
    /// Passes with a bit flipped.
    PassedDamaged,
    /// Passed a monitor, which wants it reported or not.
    Seen {
        reported: bool,
    },
    Held,
    Dropped(DropReason),
}

/// The parameters of an element, as the engine sees them.
pub(crate) trait Spec {
    /// The element's kind, as conditions call it.
    const KIND: &'static str;
    /// Whether packets wait in it for a transmitter or for tokens, so that a monitor can measure its queue.
    const QUEUES: bool;

    /// The kind of an element with these parameters.
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    /// Everything that is wrong with them.
    fn problems(&self) -> Vec<Problem>;
}

impl<T: Described> Spec for T {
    const KIND: &'static str = T::MANUAL.kind;
    const QUEUES: bool = T::MANUAL.queues;

    fn kind(&self) -> &'static str {
        Described::kind(self)
    }

    fn problems(&self) -> Vec<Problem> {
        Parameters::problems(self)
    }
}

/// An element at work.
pub(crate) trait Behaviour: Sized {
    /// Its parameters.
    type Spec: Spec;

    /// Whether packets wait in its delay line, from the arrival on for a time that is known; others only propagate in theirs.
    const LINE_IS_QUEUE: bool = false;

    /// `spec` has been checked; `random` is the element's own. It is made before it is needed, so it knows no instant.
    fn new(spec: &Self::Spec, random: Stream) -> Self;

    /// It works from now on.
    fn begin(&mut self, _now: Instant) {}

    /// Takes new parameters from now on; `spec` has been checked and is of this element's kind.
    fn reconfigure(&mut self, spec: &Self::Spec, context: &mut Context<'_>);

    /// A packet has come.
    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict;

    /// The tokens may be there for the packet that a shaper serves next; returns it if its fate is settled.
    fn wake_shaper(&mut self, _: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        None
    }

    /// The head of its delay line is due; returns it.
    fn wake_line(&mut self, _: &mut Context<'_>) -> Option<SlotId> {
        None
    }

    /// Its transmitter may have sent the last bit of a packet.
    fn wake_transmitter(&mut self, _: &mut Context<'_>) {}

    /// Does what was due and nobody had to know of: its queue is as long now as it says.
    fn catch_up(&mut self, _: &mut Context<'_>) {}

    /// From now on somebody looks at its queue at every instant, or nobody does.
    fn set_watched(&mut self, _watched: bool, _: &mut Context<'_>) {}

    /// Whether packets that come together leave together, whatever their sizes and number.
    fn treats_alike(&self, _now: Instant) -> bool {
        false
    }

    /// How long it holds every packet at least, from the last bit on its transmitter where it has one.
    fn holds_at_least(&self) -> Duration {
        Duration::ZERO
    }

    /// IP bytes of a class that wait in a queue; those being serialised or propagating do not wait.
    fn queued_bytes(&self, _: Class) -> u64 {
        0
    }

    /// Whether the packet that it holds since now may have to wait.
    fn waits(&self) -> bool {
        true
    }

    /// The packet on the transmitter, where there is one.
    fn serving(&self) -> Option<SlotId> {
        None
    }

    /// Counters were reset: what it has measured is forgotten.
    fn reset(&mut self, _now: Instant) {}

    /// Its kind, as conditions call it.
    fn kind(&self) -> &'static str {
        Self::Spec::KIND
    }

    /// What it holds, if it is a credit bucket.
    fn credit(&self, _now: Instant) -> Option<CreditLevel> {
        None
    }

    /// The monitor that it is, if it is one.
    fn monitor(&self) -> Option<&Monitor> {
        None
    }

    /// As `monitor`.
    fn monitor_mut(&mut self) -> Option<&mut Monitor> {
        None
    }

    /// The link that it is, if it is one: only that has a capacity.
    fn link(&self) -> Option<&Link> {
        None
    }

    /// As `link`.
    fn link_mut(&mut self) -> Option<&mut Link> {
        None
    }
}
