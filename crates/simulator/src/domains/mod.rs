//! Domains in virtual time: several networks that carry one fabric, each on a thread of its own, and decide as one would.
//!
//! All advance in rounds. In each, every domain says when its next thing happens (an event, an arrival, a step of the timeline, or a
//! packet that it has just handed out); the earliest of all is `next`. Nothing that happens from then on can reach another domain
//! before `next` plus the least delay at a cut, so every domain does what lies before that instant, and hands out what crossed. Then
//! they meet.
//!
//! What a domain does by itself is a [`Lane`]. A single lane needs no thread and no meeting.
//!
//! Source: Chandy and Misra 1979, "Distributed simulation" (lookahead); Nicol 1993, "The cost of conservative synchronization in
//! parallel discrete event simulations", J. ACM 40(2) (rounds).

mod exchange;
mod meeting;

use std::thread;

use crosswind_engine::{Instant, Outcome};
use crosswind_fabric::{Domains, Network};

use exchange::{Exchange, Outbox, Side};
use meeting::Broken;

/// One domain at work: a network, and what is done to it.
pub trait Lane: Send {
    /// Why it cannot go on.
    type Error: Send;

    /// The network, to exchange what crosses its border.
    fn network(&mut self) -> &mut Network;

    /// The instant of the next thing that happens to it or in it, packets from other domains aside; `None` where nothing will.
    fn next(&self) -> Option<Instant>;

    /// Does everything up to and including `to`; the engine is there then.
    ///
    /// # Errors
    /// Where something cannot be done; no domain goes on then.
    fn advance(&mut self, to: Instant) -> Result<(), Self::Error>;
}

/// All domains of a fabric, by their numbers.
#[derive(Debug)]
pub struct Lanes<L> {
    lanes: Vec<L>,
    outboxes: Vec<Outbox>,
    exchange: Exchange,
    /// The most nanoseconds by which a domain may be ahead of the others; `None` where nothing is cut.
    lookahead_ns: Option<u64>,
}

impl<L: Lane> Lanes<L> {
    /// `lanes` are the domains in order.
    pub fn new(domains: &Domains, lanes: Vec<L>) -> Self {
        assert_eq!(lanes.len(), domains.count(), "a lane for every domain");
        Self {
            outboxes: lanes.iter().map(|_| Outbox::to(lanes.len())).collect(),
            exchange: Exchange::between(lanes.len()),
            lookahead_ns: domains.shortest_cut().map(|cut| cut.delay_ns),
            lanes,
        }
    }

    /// The domains.
    pub fn each(&self) -> &[L] {
        &self.lanes
    }

    /// The domains, between two advances.
    pub fn each_mut(&mut self) -> &mut [L] {
        &mut self.lanes
    }

    /// The domains, when all is done.
    pub fn into_each(self) -> Vec<L> {
        self.lanes
    }

    /// Does everything up to and including `to`, every domain on a thread of its own.
    ///
    /// # Errors
    /// The first error of a domain, by their order. What the others have done until then stands.
    pub fn advance(&mut self, to: Instant) -> Result<(), L::Error> {
        if self.lanes.len() == 1 {
            return self.advance_here(to);
        }
        let (exchange, lookahead_ns) = (&self.exchange, self.lookahead_ns);
        let mut domains = self.lanes.iter_mut().zip(&mut self.outboxes).enumerate();
        let work = move |(number, (lane, outbox)): (usize, (&mut L, &mut Outbox))| {
            Domain { number, lane, outbox, exchange, lookahead_ns }.run(to)
        };
        let first = domains.next().expect("there is a domain");
        let outcomes: Vec<Result<(), Stop<L::Error>>> = thread::scope(|scope| {
            let others: Vec<_> = domains.map(|domain| scope.spawn(move || work(domain))).collect();
            let first = work(first);
            let others = others.into_iter().map(|other| match other.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(first).chain(others).collect()
        });
        for outcome in outcomes {
            if let Err(Stop::Failed(error)) = outcome {
                return Err(error);
            }
        }
        Ok(())
    }

    /// As [`Lanes::advance`], one domain after the other on the caller's thread: for a step that is too short to share.
    ///
    /// # Errors
    /// As [`Lanes::advance`].
    pub fn advance_here(&mut self, to: Instant) -> Result<(), L::Error> {
        for side in Side::alternating() {
            for (number, (lane, outbox)) in self.lanes.iter_mut().zip(&mut self.outboxes).enumerate() {
                self.exchange.post(side, number, lane, outbox);
            }
            let next = self.exchange.next(side);
            for (number, lane) in self.lanes.iter_mut().enumerate() {
                self.exchange.collect(side, number, lane.network());
                lane.advance(horizon(next, to, self.lookahead_ns))?;
            }
            if next.is_none_or(|next| next > to) {
                break;
            }
        }
        Ok(())
    }
}

/// Why a domain has stopped before the others.
enum Stop<E> {
    /// It cannot go on.
    Failed(E),
    /// Another one cannot.
    Left,
}

/// One domain on its thread.
struct Domain<'a, L> {
    number: usize,
    lane: &'a mut L,
    outbox: &'a mut Outbox,
    exchange: &'a Exchange,
    lookahead_ns: Option<u64>,
}

impl<L: Lane> Domain<'_, L> {
    fn run(self, to: Instant) -> Result<(), Stop<L::Error>> {
        // However it ends before the others, by an error or a panic, they do not wait for it.
        let leaving = self.exchange.meeting.leaving();
        for side in Side::alternating() {
            self.exchange.post(side, self.number, self.lane, self.outbox);
            self.exchange.meeting.meet().map_err(|Broken| Stop::Left)?;
            let next = self.exchange.next(side);
            self.exchange.collect(side, self.number, self.lane.network());
            self.lane.advance(horizon(next, to, self.lookahead_ns)).map_err(Stop::Failed)?;
            if next.is_none_or(|next| next > to) {
                break;
            }
        }
        leaving.after_all_is_done();
        Ok(())
    }
}

/// Where an outcome stands among those of all domains, whichever they are: by its instant, its packet's tag and its element, ends of
/// paths last. A sort that is stable leaves the rest in the order in which they happened, which is then in one domain.
pub fn place(outcome: &Outcome) -> (Instant, u64, usize) {
    let element = match outcome {
        Outcome::Departure { .. } => usize::MAX,
        Outcome::Duplicated { element, .. } | Outcome::Dropped { element, .. } => element.index(),
    };
    (outcome.at(), outcome.packet().tag, element)
}

/// How far every domain may go when the earliest event of all is at `next`.
fn horizon(next: Option<Instant>, to: Instant, lookahead_ns: Option<u64>) -> Instant {
    match (next, lookahead_ns) {
        (Some(next), Some(lookahead_ns)) => {
            // At least 1: a cut has a delay.
            Instant::from_nanos(next.as_nanos().saturating_add(lookahead_ns - 1)).min(to)
        }
        _ => to,
    }
}
