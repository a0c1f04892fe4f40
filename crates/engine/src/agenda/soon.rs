//! The next events, in order: a sorted ring of fixed size.
//!
//! What serves at even gaps schedules behind most of what is pending, and what has a crowd behind it before most of it: an event
//! finds its place by a walk from the end that it is nearer to.

use alloc::vec::Vec;

use super::Event;

/// Kept short, for the walks. A power of two, so that a place is found without a division.
pub(super) const SOON_MAX: usize = 32;
/// Up to here a walk from the late end is cheaper than to ask which one is nearer.
const SHORT: usize = 8;

pub(super) struct Soon {
    ring: [Event; SOON_MAX],
    /// The place of the first.
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

    /// There is one.
    pub(super) fn remove_first(&mut self) {
        self.begin = (self.begin + 1) % SOON_MAX;
        self.length -= 1;
    }

    /// Takes at most `SOON_MAX` events, in order, where there are none.
    pub(super) fn fill(&mut self, events: &[Event]) {
        self.ring[..events.len()].copy_from_slice(events);
        self.begin = 0;
        self.length = events.len();
    }

    /// There is room.
    pub(super) fn insert(&mut self, event: Event) {
        let mut gap;
        if self.length > SHORT && event < self.get(self.length / 2) {
            self.begin = (self.begin + SOON_MAX - 1) % SOON_MAX;
            gap = 0;
            // At the latest the one that was in the middle ends it.
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
