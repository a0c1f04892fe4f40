//! The queue of future events, in the order (instant, target).
//!
//! At equal instants the order is that of the targets, whenever the events were scheduled (crate documentation). So an
//! element may schedule later, or less often, without any other effect.
//!
//! The few events that come soonest are in a short sorted list. All others are in buckets, by the highest bit in which
//! their instant differs from a base that is never later than the present. Every bucket has events later than those of
//! the bucket below. So only the lowest is ever opened, and each event moves down at most once per bit. A binary heap
//! is a fifth slower with ten events, and less than half as fast with 100 000, because its sifting misses the cache.
//!
//! Nothing is cancelled: an event whose target no longer waits wakes it without effect. Searching an event among all
//! pending ones took time in proportion to their number, at each change of a link's capacity.
//!
//! Source: Ahuja, Mehlhorn, Orlin and Tarjan 1990, "Faster algorithms for the shortest path problem" (radix heap);
//! Tang, Goh and Thng 2005, "Ladder queue" (a sorted list in front).

mod soon;

use alloc::vec::Vec;
use core::mem;

use crate::element::ElementId;
use crate::process::ProcessId;
use crate::source::SourceId;
use crate::units::Instant;
use soon::{Soon, SOON_MAX};

/// A position in the order in which packets begin to wait, over all elements.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Ticket(u64);

/// The target that an event wakes, in the order of events at one instant.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Target {
    /// A transmitter has sent the last bit of a packet.
    Transmitter(ElementId),
    /// A process that drives a link.
    Process(ProcessId),
    /// Tokens suffice for a waiting packet.
    Tokens(ElementId),
    /// The head of a delay line is due.
    Line(ElementId),
    /// A source of interference.
    Source(SourceId),
}

/// One future event as one number, so that events are compared in one step: its instant, the kind of its target, and
/// the number within that kind.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Event(u128);

impl Event {
    /// After all others.
    const END: Event = Event(u128::MAX);

    #[inline]
    fn new(at: Instant, target: Target) -> Event {
        let (kind, number) = match target {
            Target::Transmitter(id) => (0, id.0),
            Target::Process(id) => (1, id.0),
            Target::Tokens(id) => (2, id.0),
            Target::Line(id) => (3, id.0),
            Target::Source(id) => (4, id.0),
        };
        Event(Event::first_at(at).0 | kind << 32 | u128::from(number))
    }

    /// Not after any other event at this instant.
    #[inline]
    fn first_at(at: Instant) -> Event {
        Event(u128::from(at.as_nanos()) << 64)
    }

    #[inline]
    fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    #[inline]
    fn target(self) -> Target {
        let number = self.0 as u32;
        match (self.0 as u64) >> 32 {
            0 => Target::Transmitter(ElementId(number)),
            1 => Target::Process(ProcessId(number)),
            2 => Target::Tokens(ElementId(number)),
            3 => Target::Line(ElementId(number)),
            _ => Target::Source(SourceId(number)),
        }
    }
}

/// One per bit of an instant.
const BUCKETS: usize = 64;
/// Enough that a bucket's first use does not allocate.
const BUCKET_CAPACITY: usize = 8;

/// All future events.
pub(crate) struct Agenda {
    /// The next events.
    soon: Soon,
    /// Events before this are in `soon`, all others in the buckets.
    horizon: Event,
    /// Not later than any event in the buckets, nor than any that may still be scheduled.
    base: Instant,
    buckets: [Vec<Event>; BUCKETS],
    /// The first instant in each bucket.
    least: [Instant; BUCKETS],
    /// Bit i is set if bucket i has events.
    occupied: u64,
    /// Memory that is exchanged with a bucket while its events move.
    moving: Vec<Event>,
    tickets: u64,
}

const LAST: Instant = Instant::from_nanos(u64::MAX);

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            soon: Soon::default(),
            horizon: Event::END,
            base: Instant::ZERO,
            buckets: core::array::from_fn(|_| Vec::with_capacity(BUCKET_CAPACITY)),
            least: [LAST; BUCKETS],
            occupied: 0,
            moving: Vec::with_capacity(BUCKET_CAPACITY),
            tickets: 0,
        }
    }
}

impl Agenda {
    /// Takes the next position in the order of waiting.
    pub(crate) fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// Wakes `target` at `at`, which is not before the last event taken.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, at: Instant, target: Target) {
        // The kind of the target is a constant in the caller, and so is half of the event.
        self.insert(Event::new(at, target));
    }

    #[inline(never)]
    fn insert(&mut self, event: Event) {
        if event >= self.horizon {
            return self.put_apart(event);
        }
        if self.soon.is_full() {
            self.shorten();
            return self.insert(event);
        }
        self.soon.insert(event);
    }

    /// The instant of the next event.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        match self.soon.first() {
            Some(event) => Some(event.at()),
            None if self.occupied == 0 => None,
            None => Some(self.least[self.lowest()]),
        }
    }

    /// All events, in no order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (Instant, Target)> + '_ {
        let later = self.buckets.iter().flatten().copied();
        self.soon.iter().chain(later).map(|event| (event.at(), event.target()))
    }

    /// Takes the next event if it is due by `limit`.
    #[inline]
    pub(crate) fn pop_due(&mut self, limit: Instant) -> Option<(Instant, Target)> {
        if self.soon.is_empty() {
            self.refill(limit);
        }
        let event = self.soon.first().filter(|event| event.at() <= limit)?;
        self.soon.remove_first();
        Some((event.at(), event.target()))
    }

    fn lowest(&self) -> usize {
        self.occupied.trailing_zeros() as usize
    }

    #[inline(always)]
    fn put(&mut self, event: Event) {
        let differs = event.at().as_nanos() ^ self.base.as_nanos();
        let index = (differs | 1).ilog2() as usize;
        self.buckets[index].push(event);
        self.occupied |= 1 << index;
        self.least[index] = self.least[index].min(event.at());
    }

    /// As `put`, but outside of a loop, so that the caller retains its registers.
    #[inline(never)]
    fn put_apart(&mut self, event: Event) {
        self.put(event);
    }

    /// Moves the later half of the sorted list into the buckets.
    #[cold]
    fn shorten(&mut self) {
        let mut moving = mem::take(&mut self.moving);
        self.soon.cut_later_half(&mut moving);
        self.horizon = moving[0];
        for event in moving.drain(..) {
            self.put(event);
        }
        self.moving = moving;
    }

    /// Fills the sorted list from the lowest bucket if that has an event by `limit`, which is about to be taken: its
    /// instant becomes the base.
    #[inline(never)]
    fn refill(&mut self, limit: Instant) {
        if self.next().is_none_or(|next| next > limit) {
            return;
        }
        loop {
            let index = self.lowest();
            let last_of_bucket = self.base.as_nanos() | ((1 << index) | ((1 << index) - 1));
            self.base = self.least[index];
            self.least[index] = LAST;
            self.occupied &= !(1 << index);
            let mut moving = mem::take(&mut self.moving);
            mem::swap(&mut moving, &mut self.buckets[index]);
            // The lowest bucket has at most two instants, and cannot be divided.
            let divides = moving.len() > SOON_MAX && index > 0;
            if !divides {
                moving.sort_unstable();
                let (soon, later) = moving.split_at(moving.len().min(SOON_MAX));
                self.soon.fill(soon);
                let behind_bucket =
                    last_of_bucket.checked_add(1).map(|end| Event::first_at(Instant::from_nanos(end)));
                self.horizon = later.first().copied().or(behind_bucket).unwrap_or(Event::END);
                moving.drain(..self.soon.len());
            }
            for event in moving.drain(..) {
                self.put(event);
            }
            self.moving = moving;
            if !divides {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        /// Delay from now, and number of events scheduled at once.
        Schedule(u64, usize),
        Advance(u64),
    }

    fn ahead() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0..4u64, 0..5_000u64, 0..10_000_000_000u64]
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (ahead(), 1..60usize).prop_map(|(ahead, times)| Step::Schedule(ahead, times)),
            6 => ahead().prop_map(Step::Advance),
        ];
        prop::collection::vec(step, 1..80)
    }

    fn target(number: u32) -> Target {
        match number % 5 {
            0 => Target::Transmitter(ElementId(number)),
            1 => Target::Process(ProcessId(number)),
            2 => Target::Tokens(ElementId(number)),
            3 => Target::Line(ElementId(number)),
            _ => Target::Source(SourceId(number)),
        }
    }

    proptest! {
        // The oracle is a set sorted by instant and target; an event scheduled twice for one instant occurs twice.
        #[test]
        fn events_come_in_the_order_of_instant_and_target(steps in steps()) {
            let (mut agenda, mut oracle) = (Agenda::default(), BTreeSet::new());
            let (mut now, mut number) = (0u64, 0u32);
            for step in steps {
                match step {
                    Step::Schedule(ahead, times) => {
                        for spread in 0..times as u64 {
                            let at = now + ahead + spread % 7;
                            number += 1;
                            oracle.insert((at, target(number % 50), number));
                            agenda.schedule(Instant::from_nanos(at), target(number % 50));
                        }
                    }
                    Step::Advance(ahead) => {
                        let limit = now + ahead;
                        loop {
                            let first = oracle.first().copied();
                            prop_assert_eq!(agenda.next().map(Instant::as_nanos), first.map(|(at, _, _)| at));
                            let popped = agenda.pop_due(Instant::from_nanos(limit));
                            let Some((at, whom, _)) = first.filter(|(at, _, _)| *at <= limit) else {
                                prop_assert!(popped.is_none());
                                break;
                            };
                            prop_assert_eq!(popped, Some((Instant::from_nanos(at), whom)));
                            oracle.pop_first();
                        }
                        now = limit;
                    }
                }
            }
        }
    }

    /// Prints events per second of real time, popped and scheduled again, with the given number pending (`python -m
    /// bench events`).
    #[test]
    #[ignore = "a measurement: run it with --release, --ignored and --nocapture"]
    fn events_per_second() {
        extern crate std;
        const EVENTS: u64 = 5_000_000;
        for pending in [1_000_u32, 100_000] {
            let mut agenda = Agenda::default();
            // Intervals without a common divisor, about a millisecond, so that events hardly ever coincide.
            let again = |number: u32| 1_000_000 + u64::from(number) * 7919 % 999_983;
            for number in 0..pending {
                agenda.schedule(Instant::from_nanos(again(number)), Target::Line(ElementId(number)));
            }
            let mut run = |events| {
                for _ in 0..events {
                    let (at, what) =
                        agenda.pop_due(Instant::from_nanos(u64::MAX)).expect("events are pending");
                    let Target::Line(id) = what else { unreachable!("no other target is scheduled") };
                    let next = Instant::from_nanos(at.as_nanos() + again(id.0));
                    agenda.schedule(next, what);
                }
            };
            run(EVENTS / 10);
            let began = std::time::Instant::now();
            run(EVENTS);
            let rate = EVENTS as f64 / began.elapsed().as_secs_f64();
            std::println!(r#"{{"pending": {pending}, "events_per_s": {rate:.0}}}"#);
        }
    }
}
