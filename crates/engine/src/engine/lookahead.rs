//! Lookahead: the time during which no packet can leave, whatever happens inside.
//!
//! Most events only move a packet to an element that holds it again. A caller that must act only when packets leave
//! need not process those events in time: departures carry the instant at which they were due, however late the engine
//! is advanced.
//!
//! An event at an element can make other packets leave earlier, for example if the head that they wait for is dropped,
//! and they may take another path. But no effect spreads faster than packets. From an element these need at least the
//! constant delays on the shortest way out, over any path from element to element.
//!
//! Source: Bellman 1958, "On a routing problem", Quart. Appl. Math. 16; Chandy and Misra 1979, "Distributed simulation", IEEE
//! Trans. Softw. Eng. 5(5) (lookahead, for another purpose).

use alloc::vec::Vec;

use super::Engine;
use crate::agenda::Target;
use crate::element::ElementId;
use crate::units::{Duration, Instant};

/// With more events than this pending, lookahead costs more than it saves.
const PENDING_MAX: usize = 64;

/// Minimum time from an element to the exit.
#[derive(Default)]
pub(super) struct Beyond {
    /// From after each element.
    least: Vec<Duration>,
    /// From before the first element of a path.
    entry: Duration,
    known: bool,
}

impl Beyond {
    /// Paths or delays have changed.
    pub(super) fn forget(&mut self) {
        self.known = false;
    }
}

impl Engine {
    /// An instant before which no real packet leaves or crosses into another engine, unless a packet is pushed or
    /// parameters change; `None` if there is no event. Never before [`Engine::next_event`]; drops, sightings and
    /// duplicates can come earlier.
    pub fn lookahead(&mut self) -> Option<Instant> {
        let next = self.shared.agenda.next()?;
        if self.shared.agenda.pending().nth(PENDING_MAX).is_some() {
            return Some(next);
        }
        self.look_beyond();
        let leaves = |(at, target): (Instant, Target)| match target {
            Target::Tokens(id) | Target::Line(id) => self.beyond(id, at),
            Target::Transmitter(id) => self.beyond(id, self.propagated(id, at)),
            // Packets that wait for a capacity may have no other event.
            Target::Process(id) => {
                let link = self.processes[id.index()].link();
                self.beyond(link, self.propagated(link, at))
            }
            Target::Source(_) => at.saturating_add(self.beyond.entry),
        };
        self.shared.agenda.pending().map(leaves).min()
    }

    /// At most the instant at which a packet that leaves an element at `at` leaves the engine.
    fn beyond(&self, id: ElementId, at: Instant) -> Instant {
        at.saturating_add(self.beyond.least[id.index()])
    }

    /// When a packet that leaves a link's transmitter at `at` arrives at its other end.
    fn propagated(&self, link: ElementId, at: Instant) -> Instant {
        at.saturating_add(self.elements[link.index()].element.holds_at_least())
    }

    /// Computes the time from each element to the exit, if unknown.
    fn look_beyond(&mut self) {
        if self.beyond.known {
            return;
        }
        let beyond = &mut self.beyond;
        beyond.least.clear();
        beyond.least.resize(self.elements.len(), Duration::MAX);
        let mut settled = false;
        while !settled {
            settled = true;
            beyond.entry = Duration::MAX;
            for path in self.paths.all() {
                let mut behind = Duration::ZERO;
                for &element in path.iter().rev() {
                    let id = element.index();
                    if self.elements[id].watch.as_ref().is_some_and(|watch| watch.is_cut) {
                        behind = Duration::ZERO;
                    }
                    settled &= behind >= beyond.least[id];
                    beyond.least[id] = behind.min(beyond.least[id]);
                    behind = beyond.least[id].saturating_add(self.elements[id].element.holds_at_least());
                }
                beyond.entry = behind.min(beyond.entry);
            }
        }
        beyond.known = true;
    }
}
