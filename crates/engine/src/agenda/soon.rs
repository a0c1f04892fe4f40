//! The next events, in order: a sorted ring of fixed size.
//!
//! A target that serves at even gaps schedules after most pending events; one followed by many events schedules before
//! most of them. An event therefore finds its position by a walk from the nearer end.

use alloc::vec::Vec;

use super::Event;

/// Short, because of the walks. A power of two, so that a position is found without a division.
pub(super) const SOON_MAX: usize = 32;
/// Up to this length a walk from the late end is cheaper than deciding which end is nearer.
const SHORT: usize = 8;

pub(super) struct Soon {
    ring: [Event; SOON_MAX],
    /// The position of the first event.
    begin: usize,
    length: usize,
}

impl Default for Soon {
    fn default() -> Soon {
        Soon { ring: [Event::END; SOON_MAX], begin: 0, length: 0 }
    }
}

impl Soon {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn is_full(&self) -> bool {
        self.length == SOON_MAX
    }

    pub(super) fn first(&self) -> Option<Event> {
        (!self.is_empty()).then(|| self.get(0))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        (0..self.length).map(|index| self.get(index))
    }

    /// The list must not be empty.
    pub(super) fn remove_first(&mut self) {
        self.begin = (self.begin + 1) % SOON_MAX;
        self.length -= 1;
    }

    /// Takes at most `SOON_MAX` events, in order; the list must be empty.
    pub(super) fn fill(&mut self, events: &[Event]) {
        self.ring[..events.len()].copy_from_slice(events);
        self.begin = 0;
        self.length = events.len();
    }

    /// The list must have room.
    pub(super) fn insert(&mut self, event: Event) {
        let mut gap;
        if self.length > SHORT && event < self.get(self.length / 2) {
            self.begin = (self.begin + SOON_MAX - 1) % SOON_MAX;
            gap = 0;
            // The event in the middle ends the walk at the latest.
            while self.get(gap + 1) < event {
                self.set(gap, self.get(gap + 1));
                gap += 1;
            }
        } else {
            gap = self.length;
            while gap > 0 && self.get(gap - 1) > event {
                self.set(gap, self.get(gap - 1));
                gap -= 1;
            }
        }
        self.set(gap, event);
        self.length += 1;
    }

    /// Moves the later half to the end of `cut`, in order.
    pub(super) fn cut_later_half(&mut self, cut: &mut Vec<Event>) {
        let keeps = self.length / 2;
        cut.extend((keeps..self.length).map(|index| self.get(index)));
        self.length = keeps;
    }

    fn get(&self, index: usize) -> Event {
        self.ring[(self.begin + index) % SOON_MAX]
    }

    fn set(&mut self, index: usize, event: Event) {
        self.ring[(self.begin + index) % SOON_MAX] = event;
    }
}
