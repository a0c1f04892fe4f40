//! What domains exchange between two rounds: packets, and the instant of their next event.
//!
//! Everything has two sides, which take turns: a domain that is already in the next round writes to the one while a slower one
//! still reads the other. No domain is two rounds ahead, because all meet in between. Vectors are swapped and reuse their memory, so
//! nothing is allocated once they are as large as they need to be. No thread waits for a lock: the writer and the reader use
//! different sides.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use crosswind_engine::Instant;
use crosswind_fabric::{Crosses, Network};

use super::meeting::Meeting;
use super::Lane;

/// Of a domain in which nothing will happen.
const NEVER: u64 = u64::MAX;

/// One of the two sides of an exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side(usize);

impl Side {
    /// One for each round.
    pub(super) fn alternating() -> impl Iterator<Item = Side> {
        [Side(0), Side(1)].into_iter().cycle()
    }
}

/// What one domain hands out in a round, by receiver.
#[derive(Debug)]
pub(super) struct Outbox(Vec<Vec<Crosses>>);

impl Outbox {
    pub(super) fn to(domains: usize) -> Self {
        Self((0..domains).map(|_| Vec::new()).collect())
    }
}

#[derive(Debug)]
pub(super) struct Exchange {
    domains: usize,
    /// By side and domain.
    next_ns: [Vec<AtomicU64>; 2],
    /// By side, sender and receiver.
    boxes: [Vec<Mutex<Vec<Crosses>>>; 2],
    pub(super) meeting: Meeting,
}

impl Exchange {
    pub(super) fn between(domains: usize) -> Self {
        let each_side = || (0..domains * domains).map(|_| Mutex::default()).collect();
        let next_ns = || (0..domains).map(|_| AtomicU64::new(NEVER)).collect();
        Self {
            domains,
            next_ns: [next_ns(), next_ns()],
            boxes: [each_side(), each_side()],
            meeting: Meeting::of(domains),
        }
    }

    /// Hands out what has crossed, and says when the next thing happens.
    pub(super) fn post(&self, side: Side, from: usize, lane: &mut impl Lane, outbox: &mut Outbox) {
        let mut next_ns = lane.next().map_or(NEVER, Instant::as_nanos);
        while let Some((to, crosses)) = lane.network().next_out() {
            if let Crosses::Packet(crossing) = &crosses {
                next_ns = next_ns.min(crossing.due.as_nanos());
            }
            outbox.0[to].push(crosses);
        }
        for (to, out) in outbox.0.iter_mut().enumerate().filter(|(_, out)| !out.is_empty()) {
            let mut taken = self.boxes[side.0][from * self.domains + to].lock().expect("no holder panicked");
            debug_assert!(taken.is_empty(), "what was handed out two rounds ago has been collected");
            std::mem::swap(&mut *taken, out);
        }
        // Read after the meeting, which orders it.
        self.next_ns[side.0][from].store(next_ns, Ordering::Relaxed);
    }

    /// When the next thing of all happens, after all have posted.
    pub(super) fn next(&self, side: Side) -> Option<Instant> {
        let all = self.next_ns[side.0].iter().map(|next_ns| next_ns.load(Ordering::Relaxed));
        all.min().filter(|&next_ns| next_ns != NEVER).map(Instant::from_nanos)
    }

    /// Takes in what all others have handed to a domain.
    pub(super) fn collect(&self, side: Side, to: usize, network: &mut Network) {
        for from in (0..self.domains).filter(|&from| from != to) {
            let mut taken = self.boxes[side.0][from * self.domains + to].lock().expect("no holder panicked");
            for crosses in taken.drain(..) {
                network.take_in(from, crosses);
            }
        }
    }
}
