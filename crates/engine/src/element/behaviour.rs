//! The interface between an element and the engine. Methods that most elements do not need have a default.

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

/// The decision about a packet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Passed,
    /// Passes, and so does a copy.
    PassedTwice,
    /// Passes with a bit flipped.
    PassedDamaged,
    /// Passed a monitor; the monitor may want it reported.
    Seen {
        reported: bool,
    },
    Held,
    Dropped(DropReason),
}

/// The parameters of an element, as the engine uses them.
pub(crate) trait Spec {
    /// The element's kind, as conditions name it.
    const KIND: &'static str;
    /// Whether packets wait in it for a transmitter or for tokens, so that a monitor can measure its queue.
    const QUEUES: bool;

    /// The kind of an element with these parameters.
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    /// All errors of the parameters.
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

/// An element in operation.
pub(crate) trait Behaviour: Sized {
    /// Its parameters.
    type Spec: Spec;

    /// Whether packets in its delay line count as waiting, from their arrival on for a known time; otherwise they only
    /// propagate.
    const LINE_IS_QUEUE: bool = false;

    /// `spec` has been checked; `random` is the element's own stream. The element is made before it is needed, so it
    /// has no instant.
    fn new(spec: &Self::Spec, random: Stream) -> Self;

    /// The element works from now on.
    fn begin(&mut self, _now: Instant) {}

    /// Applies new parameters from now on; `spec` has been checked and has this element's kind.
    fn reconfigure(&mut self, spec: &Self::Spec, context: &mut Context<'_>);

    /// A packet arrives.
    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict;

    /// Tokens may suffice for the packet that a shaper serves next; returns that packet if its fate is decided.
    fn wake_shaper(&mut self, _: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        None
    }

    /// The head of its delay line is due; returns it.
    fn wake_line(&mut self, _: &mut Context<'_>) -> Option<SlotId> {
        None
    }

    /// Its transmitter may have sent the last bit of a packet.
    fn wake_transmitter(&mut self, _: &mut Context<'_>) {}

    /// Catches up with past departures that had no event, so that its queue has its present length.
    fn catch_up(&mut self, _: &mut Context<'_>) {}

    /// From now on a monitor watches its queue at every instant, or none does.
    fn set_watched(&mut self, _watched: bool, _: &mut Context<'_>) {}

    /// Whether packets that arrive together leave together, whatever their sizes and number.
    fn treats_alike(&self, _now: Instant) -> bool {
        false
    }

    /// The minimum time for which it holds every packet, counted from the last bit on its transmitter if it has one.
    fn holds_at_least(&self) -> Duration {
        Duration::ZERO
    }

    /// IP bytes of a class that wait in a queue; packets in transmission or propagation do not wait.
    fn queued_bytes(&self, _: Class) -> u64 {
        0
    }

    /// Whether the packet that it has held since now may have to wait.
    fn waits(&self) -> bool {
        true
    }

    /// The packet on the transmitter, if there is one.
    fn serving(&self) -> Option<SlotId> {
        None
    }

    /// Counters were reset: measured values are discarded.
    fn reset(&mut self, _now: Instant) {}

    /// Its kind, as conditions name it.
    fn kind(&self) -> &'static str {
        Self::Spec::KIND
    }

    /// Its content, if it is a credit bucket.
    fn credit(&self, _now: Instant) -> Option<CreditLevel> {
        None
    }

    /// The element as a monitor, if it is one.
    fn monitor(&self) -> Option<&Monitor> {
        None
    }

    /// As `monitor`.
    fn monitor_mut(&mut self) -> Option<&mut Monitor> {
        None
    }

    /// The element as a link, if it is one: only a link has a capacity.
    fn link(&self) -> Option<&Link> {
        None
    }

    /// As `link`.
    fn link_mut(&mut self) -> Option<&mut Link> {
        None
    }
}
