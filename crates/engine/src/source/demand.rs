//! The rate that a source offers, drawn again from its distribution at every `hold`, and the record of all draws.

use alloc::vec::Vec;

use super::RateLaw;
use crate::random::Stream;
use crate::units::{Duration, Instant};

pub(super) struct Demand {
    law: RateLaw,
    hold: Duration,
    stream: Stream,
    /// Every draw so far: instant, and IP bits per second.
    draws: Vec<(Instant, u64)>,
    next_draw: Instant,
}

impl Demand {
    /// The first draw is due at `start`.
    pub(super) fn new(law: RateLaw, hold: Duration, stream: Stream, start: Instant) -> Demand {
        Demand { law, hold, stream, draws: Vec::new(), next_draw: start }
    }

    /// Draws a new rate if one is due now; returns whether it did.
    pub(super) fn drawn(&mut self, now: Instant) -> bool {
        if self.next_draw != now {
            return false;
        }
        self.draws.push((now, self.law.draw(&mut self.stream)));
        self.next_draw = now.saturating_add(self.hold);
        true
    }

    /// The present rate in IP bits per second; `None` before the first draw.
    pub(super) fn rate(&self) -> Option<u64> {
        self.draws.last().map(|&(_, rate)| rate)
    }

    pub(super) fn next_draw(&self) -> Instant {
        self.next_draw
    }

    pub(super) fn draws(&self) -> &[(Instant, u64)] {
        &self.draws
    }
}
