//! What is to happen at the ends of connections, by instant; among equals in the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crosswind_engine::Instant;

/// Something that happens outside of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A timer of an end may have expired.
    Timer { end: usize },
    /// The application of an end reacts.
    Application { end: usize },
    /// Packets of a train that came one after the other are handed over.
    Handover { train: u32, run: u64 },
    /// All connections are made, and the load begins.
    Begin,
    /// The measured phase begins.
    Measure,
}

/// Events to come.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    scheduled: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, at: Instant, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, event)));
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse((at, _, _))| *at)
    }

    pub(super) fn pop(&mut self) -> Option<(Instant, Event)> {
        self.events.pop().map(|Reverse((at, _, event))| (at, event))
    }
}
