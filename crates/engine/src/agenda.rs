//! What will happen next: the queue of future events, in the order (instant, ticket).
//!
//! Tickets are handed out in the order of scheduling, so that events at equal instants have one defined order. Stages
//! put only their next event here, never one per packet waiting; the agenda therefore stays as small as the number of
//! elements, and a binary heap serves it well. Its type hides that, so that another structure can take its place.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::element::ElementId;
use crate::source::SourceId;
use crate::units::Instant;

/// A place in the order of scheduling.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Ticket(u64);

/// Whom an event wakes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Target {
    /// The stage that serves a queue: a transmitter has finished, or tokens are there.
    Service(ElementId),
    /// The head of a delay line is due.
    Line(ElementId),
    /// A source of interference.
    Source(SourceId),
}

/// One thing that will happen.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Event {
    at: Instant,
    ticket: Ticket,
    target: Target,
}

/// The future.
#[derive(Default)]
pub(crate) struct Agenda {
    events: BinaryHeap<Reverse<Event>>,
    tickets: u64,
}

impl Agenda {
    /// Takes the next place in the order of scheduling.
    pub(crate) fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// Wakes `target` at `at`, behind everything already scheduled for that instant.
    pub(crate) fn schedule(&mut self, at: Instant, target: Target) {
        let ticket = self.ticket();
        self.schedule_in_place(at, ticket, target);
    }

    /// Wakes `target` at `at`, in the place that `ticket` reserved.
    pub(crate) fn schedule_in_place(&mut self, at: Instant, ticket: Ticket, target: Target) {
        self.events.push(Reverse(Event { at, ticket, target }));
    }

    /// Forgets what was scheduled for `target`. Slow; conditions change rarely.
    pub(crate) fn cancel(&mut self, target: Target) {
        self.events.retain(|Reverse(event)| event.target != target);
    }

    /// The instant of the next event.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse(event)| event.at)
    }

    /// Takes the next event if it is due by `limit`.
    pub(crate) fn pop_due(&mut self, limit: Instant) -> Option<(Instant, Target)> {
        if self.next()? > limit {
            return None;
        }
        self.events.pop().map(|Reverse(event)| (event.at, event.target))
    }
}
