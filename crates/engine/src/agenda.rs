//! What will happen next: the queue of future events, in the order (instant, ticket).
//!
//! Tickets are handed out in the order of scheduling, so that events at equal instants have one defined order.
//!
//! The few events that come soonest lie in a short sorted list. All others lie in buckets by the highest bit in which their
//! instant differs from a base that is never later than the present: every bucket holds events later than those of the bucket
//! below, so only the lowest is ever opened, and each event moves down at most once per bit. A binary heap is a fifth slower
//! with ten events and less than half as fast with 100 000, because its sifting misses the cache.
//!
//! Source: Ahuja, Mehlhorn, Orlin and Tarjan 1990, "Faster algorithms for the shortest path problem" (radix heap);
//! Tang, Goh and Thng 2005, "Ladder queue" (a sorted list in front).

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

use crate::element::ElementId;
use crate::process::ProcessId;
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
    /// A process that drives a link.
    Process(ProcessId),
}

/// One thing that will happen.
#[derive(Copy, Clone, Debug)]
struct Event {
    at: Instant,
    ticket: Ticket,
    target: Target,
}

impl Event {
    /// As one number: two comparisons instead of up to four.
    #[inline]
    fn order(&self) -> u128 {
        order(self.at, self.ticket)
    }
}

#[inline]
fn order(at: Instant, ticket: Ticket) -> u128 {
    u128::from(at.as_nanos()) << 64 | u128::from(ticket.0)
}

/// The sorted list is kept this short: inserting costs a walk along it.
const SOON_MAX: usize = 32;
/// One per bit of an instant.
const BUCKETS: usize = 64;
/// So that a bucket's first use does not allocate.
const BUCKET_CAPACITY: usize = 8;

/// The future.
pub(crate) struct Agenda {
    /// The next events, latest first.
    soon: Vec<Event>,
    /// What comes before this belongs to `soon`, everything else to the buckets.
    horizon: u128,
    /// Not later than any event in the buckets, nor than any that may still be scheduled.
    base: Instant,
    buckets: [Vec<Event>; BUCKETS],
    /// The first instant in each bucket.
    least: [Instant; BUCKETS],
    /// Bit i says that bucket i has events.
    occupied: u64,
    /// Memory that changes places with a bucket while its events move.
    moving: Vec<Event>,
    tickets: u64,
}

const LAST: Instant = Instant::from_nanos(u64::MAX);

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            soon: Vec::with_capacity(SOON_MAX + 1),
            horizon: u128::MAX,
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

    /// Wakes `target` at `at`, not before the last event taken, in the place that `ticket` reserved.
    #[inline]
    pub(crate) fn schedule_in_place(&mut self, at: Instant, ticket: Ticket, target: Target) {
        let event = Event { at, ticket, target };
        if event.order() >= self.horizon {
            return self.put(event);
        }
        // Most events come soon: shifting from the near end is a few moves, and cheaper than a search.
        self.soon.push(event);
        let mut up_to_gap = self.soon.as_mut_slice();
        while let [before @ .., gap] = up_to_gap {
            match before.last() {
                Some(sooner) if sooner.order() <= event.order() => *gap = *sooner,
                _ => {
                    *gap = event;
                    break;
                }
            }
            up_to_gap = before;
        }
        if self.soon.len() > SOON_MAX {
            self.shorten();
        }
    }

    /// Forgets what was scheduled for `target`. Slow; conditions change rarely.
    pub(crate) fn cancel(&mut self, target: Target) {
        self.soon.retain(|event| event.target != target);
        for (index, bucket) in self.buckets.iter_mut().enumerate() {
            bucket.retain(|event| event.target != target);
            self.least[index] = bucket.iter().map(|event| event.at).min().unwrap_or(LAST);
            if bucket.is_empty() {
                self.occupied &= !(1 << index);
            }
        }
    }

    /// The instant of the next event.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        match self.soon.last() {
            Some(event) => Some(event.at),
            None if self.occupied == 0 => None,
            None => Some(self.least[self.lowest()]),
        }
    }

    /// Takes the next event if it is due by `limit`.
    #[inline]
    pub(crate) fn pop_due(&mut self, limit: Instant) -> Option<(Instant, Target)> {
        if self.next()? > limit {
            return None;
        }
        if self.soon.is_empty() {
            self.refill();
        }
        self.soon.pop().map(|event| (event.at, event.target))
    }

    fn lowest(&self) -> usize {
        self.occupied.trailing_zeros() as usize
    }

    fn put(&mut self, event: Event) {
        let differs = event.at.as_nanos() ^ self.base.as_nanos();
        let index = (differs | 1).ilog2() as usize;
        self.buckets[index].push(event);
        self.occupied |= 1 << index;
        self.least[index] = self.least[index].min(event.at);
    }

    /// Moves the later half of the sorted list into the buckets.
    fn shorten(&mut self) {
        let cut = self.soon.len() / 2;
        self.horizon = self.soon[cut - 1].order();
        let mut moving = mem::take(&mut self.moving);
        moving.extend(self.soon.drain(..cut));
        for event in moving.drain(..) {
            self.put(event);
        }
        self.moving = moving;
    }

    /// Fills the sorted list from the lowest bucket, whose first event is about to be taken: that makes its instant the base.
    fn refill(&mut self) {
        loop {
            let index = self.lowest();
            let bucket_base = self.base.as_nanos();
            self.base = self.least[index];
            self.least[index] = LAST;
            self.occupied &= !(1 << index);
            // The lowest bucket has two instants at most, and cannot be divided.
            if self.buckets[index].len() <= SOON_MAX || index == 0 {
                mem::swap(&mut self.soon, &mut self.buckets[index]);
                self.soon.sort_unstable_by_key(|event| Reverse(event.order()));
                let last_of_bucket = bucket_base | ((1 << index) | ((1 << index) - 1));
                let end = last_of_bucket.saturating_add(1);
                self.horizon = order(Instant::from_nanos(end), Ticket::default());
                return;
            }
            let mut moving = mem::take(&mut self.moving);
            mem::swap(&mut moving, &mut self.buckets[index]);
            for event in moving.drain(..) {
                self.put(event);
            }
            self.moving = moving;
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
        /// So far ahead, this many at once.
        Schedule(u64, usize),
        /// A place taken now and used so far ahead, after others were scheduled.
        Reserve(u64),
        Advance(u64),
        Cancel(u32),
    }

    fn ahead() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0..4u64, 0..5_000u64, 0..10_000_000_000u64]
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (ahead(), 1..60usize).prop_map(|(ahead, times)| Step::Schedule(ahead, times)),
            2 => ahead().prop_map(Step::Reserve),
            6 => ahead().prop_map(Step::Advance),
            1 => (0..50u32).prop_map(Step::Cancel),
        ];
        prop::collection::vec(step, 1..80)
    }

    fn target(number: u32) -> Target {
        Target::Line(ElementId(number))
    }

    proptest! {
        // The oracle is a set sorted by (instant, ticket).
        #[test]
        fn events_come_in_the_order_of_instant_and_ticket(steps in steps()) {
            let (mut agenda, mut oracle) = (Agenda::default(), BTreeSet::new());
            let (mut now, mut number) = (0u64, 0u32);
            let mut reserved = Vec::new();
            for step in steps {
                match step {
                    Step::Schedule(ahead, times) => {
                        for spread in 0..times as u64 {
                            let at = now + ahead + spread % 7;
                            number += 1;
                            oracle.insert((at, agenda.tickets + 1, number % 50));
                            agenda.schedule(Instant::from_nanos(at), target(number % 50));
                        }
                        for (at, ticket) in reserved.drain(..) {
                            let at = Ord::max(at, now);
                            number += 1;
                            oracle.insert((at, ticket, number % 50));
                            agenda.schedule_in_place(Instant::from_nanos(at), Ticket(ticket), target(number % 50));
                        }
                    }
                    Step::Reserve(ahead) => reserved.push((now + ahead, agenda.ticket().0)),
                    Step::Advance(ahead) => {
                        let limit = now + ahead;
                        loop {
                            let first = oracle.first().copied();
                            prop_assert_eq!(agenda.next().map(Instant::as_nanos), first.map(|(at, _, _)| at));
                            let popped = agenda.pop_due(Instant::from_nanos(limit));
                            let Some((at, _, name)) = first.filter(|(at, _, _)| *at <= limit) else {
                                prop_assert!(popped.is_none());
                                break;
                            };
                            prop_assert_eq!(popped, Some((Instant::from_nanos(at), target(name))));
                            oracle.pop_first();
                        }
                        now = limit;
                    }
                    Step::Cancel(name) => {
                        agenda.cancel(target(name));
                        oracle.retain(|(_, _, other)| *other != name);
                    }
                }
            }
        }
    }

    /// Prints events a second of real time, popped and scheduled again, while so many are pending (`python -m bench events`).
    #[test]
    #[ignore = "a measurement: run it with --release, --ignored and --nocapture"]
    fn events_per_second() {
        extern crate std;
        const EVENTS: u64 = 5_000_000;
        for pending in [1_000_u32, 100_000] {
            let mut agenda = Agenda::default();
            // Times without a common measure, about a millisecond, so that events hardly ever meet.
            let again = |number: u32| 1_000_000 + u64::from(number) * 7919 % 999_983;
            for number in 0..pending {
                agenda.schedule(Instant::from_nanos(again(number)), target(number));
            }
            let mut run = |events| {
                for _ in 0..events {
                    let (at, what) =
                        agenda.pop_due(Instant::from_nanos(u64::MAX)).expect("events are pending");
                    let (Target::Service(id) | Target::Line(id)) = what else {
                        unreachable!("no source here")
                    };
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
