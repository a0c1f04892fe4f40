//! Lookahead: how long nothing can leave, whatever happens inside meanwhile.
//!
//! Most events only move a packet on to an element that holds it again. A caller that has to be there when packets leave, and
//! only then, need not come for those: departures carry the instant they were due, however late the engine is advanced.
//!
//! What happens at an element can make others leave earlier, where a head is dropped for whom they wait, and they may go another
//! way. But nothing spreads faster than packets, and from an element they need at least what is constant on the shortest way
//! out, over any path from element to element.
//!
//! Source: Bellman 1958, "On a routing problem", Quart. Appl. Math. 16; Chandy and Misra 1979, "Distributed simulation", IEEE
//! Trans. Softw. Eng. 5(5) (lookahead, for another purpose).

use alloc::vec::Vec;

use super::Engine;
use crate::agenda::Target;
use crate::element::ElementId;
use crate::units::{Duration, Instant};

/// With more events than this pending it is not worth looking.
const PENDING_MAX: usize = 64;

/// How far it is to the exit.
#[derive(Default)]
pub(super) struct Beyond {
    /// From behind each element.
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
    /// An instant before which no real packet leaves or crosses into another engine, unless something is pushed or given new parameters; `None` while nothing is
    /// going to happen. Never before [`Engine::next_event`]; drops, sightings and duplicates can come earlier.
    pub fn lookahead(&mut self) -> Option<Instant> {
        let next = self.shared.agenda.next()?;
        if self.shared.agenda.pending().nth(PENDING_MAX).is_some() {
            return Some(next);
        }
        self.look_beyond();
        let leaves = |(at, target): (Instant, Target)| match target {
            Target::Tokens(id) | Target::Line(id) => self.beyond(id, at),
            Target::Transmitter(id) => self.beyond(id, self.propagated(id, at)),
            // What waits for a capacity may have no other event.
            Target::Process(id) => {
                let link = self.processes[id.index()].link();
                self.beyond(link, self.propagated(link, at))
            }
            Target::Source(_) => at.saturating_add(self.beyond.entry),
        };
        self.shared.agenda.pending().map(leaves).min()
    }

    /// Not after a packet that leaves an element at `at` leaves the engine.
    fn beyond(&self, id: ElementId, at: Instant) -> Instant {
        at.saturating_add(self.beyond.least[id.index()])
    }

    /// When a packet that leaves a link's transmitter at `at` is at its other end.
    fn propagated(&self, link: ElementId, at: Instant) -> Instant {
        at.saturating_add(self.elements[link.index()].element.holds_at_least())
    }

    /// Learns what is beyond each element, where that is not known.
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
                    if self.elements[id].watch.as_ref().is_some_and(|watch| watch.leads_away) {
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
