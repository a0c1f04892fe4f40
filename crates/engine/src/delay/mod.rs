//! Delay. Makes packets later, by the same time or by one that varies from packet to packet; drops nothing.
//!
//! `time`: the static part, at least 0. A variable delay adds a random part drawn from a law (`delay/law.rs`); a sum below 0
//! counts as 0, and it is rounded to whole nanoseconds.
//!
//! `depth`: `exact` draws from the law itself; a number of entries draws from as many quantiles of it, as a table in
//! hardware would (the value of entry i of n is the quantile at (i + 1/2) / n, so that the tails end there).
//!
//! `order`: `keep` sends no packet before one that came earlier: where a later one would be due earlier, it is due with the
//! one before it. `free` lets each leave when it is due, so that packets overtake each other. Where packets come closer
//! than the random part varies, `keep` distorts the law (every packet waits for the slowest before it): give a half-life.
//!
//! `half_life`: absent, each packet's delay is independent of the others'. Given, it drifts: every packet's delay still
//! has exactly the law, but those of packets that come `half_life` apart are correlated with one half (`delay/drift.rs`), and
//! those that come together have the same.
//!
//! New parameters apply to the next packet; a drift goes on from where it is. Packets under way keep their instants, and
//! under `keep` none is overtaken by a later one.
//!
//! Source: Ashwell et al., "NRG" (2021), section IV (static and random part, table of the shape, multiplier of the scale);
//! tc-netem(8), `delay`. Exception: netem reorders unless its queue is replaced; here the order is a choice.

mod crowd;
mod drift;
mod empirical;
mod law;
mod line;

use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::element::{Context, Verdict};
use crate::error::Problem;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Instant};
use crowd::Crowd;
use drift::Drift;
pub use empirical::{DelayBin, DelayHistogram, DelaySamples};
pub use law::{DelayLaw, Sigma};
pub(crate) use line::Line;

/// A delay that varies from packet to packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RandomDelay {
    /// The static part.
    pub time: Duration,
    /// The random part, added to it.
    pub law: DelayLaw,
    /// How finely the law is drawn from.
    pub depth: Depth,
    /// Whether packets may overtake each other.
    pub order: Order,
    /// How far apart packets come whose delays are correlated with one half; `None`: all are independent.
    pub half_life: Option<Duration>,
}

/// How finely a law is drawn from.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Depth {
    /// As finely as 52 random bits allow.
    Exact,
    /// From a table of so many quantiles.
    Entries(NonZeroU32),
}

/// Whether packets may overtake each other.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Packets leave in the order in which they came.
    Keep,
    /// Packets leave when they are due.
    Free,
}

impl RandomDelay {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.half_life == Some(Duration::ZERO) {
            return Err(Problem::ZeroHalfLife);
        }
        self.law.check()
    }
}

pub(crate) struct Delay {
    time: Duration,
    order: Order,
    variation: Option<Variation>,
    stream: Stream,
    line: Line,
    crowd: Crowd,
}

/// Where the random part comes from.
struct Variation {
    shape: Shape,
    drift: Option<Drift>,
}

enum Shape {
    Law(DelayLaw),
    /// Nanoseconds, ascending.
    Table(Vec<i64>),
}

impl Shape {
    fn new(law: &DelayLaw, depth: Depth) -> Shape {
        match depth {
            Depth::Exact => Shape::Law(law.clone()),
            Depth::Entries(count) => {
                let middle = |entry: u32| (f64::from(entry) + 0.5) / f64::from(count.get());
                Shape::Table((0..count.get()).map(|entry| law.quantile_ns(middle(entry))).collect())
            }
        }
    }

    /// The random part at a probability in (0, 1).
    fn nanos(&self, probability: f64) -> i64 {
        match self {
            Shape::Law(law) => law.quantile_ns(probability),
            Shape::Table(entries) => place(entries, probability),
        }
    }
}

/// The entry of a table at a probability in (0, 1).
fn place(entries: &[i64], probability: f64) -> i64 {
    // Just below 1 the product may be rounded up to their number.
    entries[((probability * entries.len() as f64) as usize).min(entries.len() - 1)]
}

impl Delay {
    pub(crate) fn constant(time: Duration, stream: Stream) -> Delay {
        Delay { time, order: Order::Keep, variation: None, stream, line: Line::new(), crowd: Crowd::new() }
    }

    /// `spec` has been checked.
    pub(crate) fn random(spec: &RandomDelay, stream: Stream) -> Delay {
        let mut delay = Delay::constant(spec.time, stream);
        delay.become_random(spec);
        delay
    }

    pub(crate) fn become_constant(&mut self, time: Duration) {
        self.time = time;
        self.variation = None;
        self.keep_order();
    }

    /// `spec` has been checked.
    pub(crate) fn become_random(&mut self, spec: &RandomDelay) {
        let drifted = self.variation.take().and_then(|variation| variation.drift);
        let drift = spec.half_life.map(|half_life| match drifted {
            Some(drift) => drift.with(half_life),
            None => Drift::new(half_life),
        });
        self.time = spec.time;
        self.variation = Some(Variation { shape: Shape::new(&spec.law, spec.depth), drift });
        match spec.order {
            Order::Keep => self.keep_order(),
            Order::Free => self.order = Order::Free,
        }
    }

    /// From now on; those that left the line of the ordered are not overtaken either.
    fn keep_order(&mut self) {
        self.order = Order::Keep;
        self.line.not_before(self.crowd.last_due());
    }

    /// Whether packets that come together leave together.
    pub(crate) fn treats_alike(&self) -> bool {
        self.variation.as_ref().is_none_or(|variation| variation.drift.is_some())
    }

    /// What is drawn can be nothing, and even take from the static part.
    pub(crate) fn holds_at_least(&self) -> Duration {
        if self.variation.is_some() {
            Duration::ZERO
        } else {
            self.time
        }
    }

    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let time = self.draw(context.shared.now);
        match self.order {
            Order::Keep => self.line.enter(slot, time, context),
            Order::Free => self.crowd.enter(slot, time, context),
        }
    }

    /// The next packet of the line or the crowd is due: after a change of order there may be both.
    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        match (self.line.next(&context.shared.slab), self.crowd.next()) {
            (Some(in_line), Some(in_crowd)) if in_crowd < in_line => self.crowd.wake(),
            (None, _) => self.crowd.wake(),
            _ => self.line.wake(context),
        }
    }

    fn draw(&mut self, now: Instant) -> Duration {
        let Some(Variation { shape, drift }) = &mut self.variation else {
            return self.time;
        };
        let probability = match drift {
            Some(drift) => drift.probability(now, &mut self.stream),
            None => self.stream.inside_unit(),
        };
        Duration::from_nanos(self.time.as_nanos().saturating_add_signed(shape.nanos(probability)))
    }
}
