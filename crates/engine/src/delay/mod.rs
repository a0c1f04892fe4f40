//! Delay. Delays packets, by a constant time or by one that varies from packet to packet; drops nothing.
//!
//! `time`: the static part, at least 0. A variable delay adds a random part drawn from a distribution
//! (`delay/law.rs`). A sum below 0 counts as 0; the sum is rounded to whole nanoseconds.
//!
//! `depth`: `exact` draws from the distribution itself. A number n draws from a table of n quantiles, as hardware
//! would. Entry i is the quantile at (i + 1/2) / n, so the tails end there.
//!
//! `order`: `keep` preserves the order of arrival: if a later packet would be due earlier, it is due with the one
//! before it. `free` lets each packet leave when it is due, so packets overtake each other. If packets arrive closer
//! together than the random part varies, `keep` distorts the distribution, because every packet waits for the slowest
//! before it; give a half-life then.
//!
//! `half_life`: if absent, the delays of packets are independent. If given, the delay drifts: every packet's delay
//! still has exactly the distribution, but the delays of packets that arrive `half_life` apart have a correlation of
//! one half (`delay/drift.rs`). Packets that arrive together have the same delay.
//!
//! New parameters apply to the next packet; a drift continues from its present value. Packets in flight leave at their
//! scheduled instants, and under `keep` no later packet overtakes them.
//!
//! Source: Ashwell et al., "NRG" (2021), section IV (static and random part, table of the shape, multiplier of the scale);
//! tc-netem(8), `delay`. Exception: netem reorders unless its queue is replaced; here the order is a choice.

mod crowd;
mod drift;
mod empirical;
mod law;
mod line;

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use serde::ser::{Serialize, Serializer};

use crate::describe::{choice, page, parameters, Described, Json, Manual, Parameter, Problem, Rule, Value};
use crate::element::{Behaviour, Context, Verdict};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Instant};
use crowd::Crowd;
use drift::Drift;
pub use empirical::{DelayBin, DelayHistogram, DelaySamples};
pub use law::{DelayLaw, Lognormal, Spread};
pub(crate) use line::Line;

parameters! {
    /// Delays packets: by a constant time, or by one that varies around it with a distribution.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct DelaySpec {
        /// The static part; none when 0s or absent.
        time: Duration = [Parameter::time("time", "time_ns").or_zero().or("0s", 0)],
        /// The random part.
        random: Option<RandomDelay> = [
            Parameter::named(None, "random", "variation", |sampler| {
                let random = serde_json::to_value(RandomDelay::sample(sampler)).expect("can be written");
                vec![("random", random)]
            })
            .optional()
        ],
    }
    rules: [Rule::OneNeeded {
        keys: &["time", "jitter", "law"],
        message: "delays nothing; write delay: 20ms, or give a jitter or a law",
    }]
}

impl Described for DelaySpec {
    const MANUAL: Manual = Manual {
        adds_delay: Some("time"),
        idle: Some("time"),
        ..Manual::new("delay", page!("mod.rs")).short("time", "20ms")
    };
}

parameters! {
    /// The part of a delay that varies from packet to packet.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct RandomDelay {
        /// Its distribution.
        law: DelayLaw = [Parameter::choice("law", "law", DelayLaw::values())],
        /// The distribution itself, or a table with this number of entries; exact when absent.
        depth: Depth = [Parameter::count("depth", "depth").within(1, DEPTH_MAX).or_nothing(Json::Null)],
        /// Whether packets stay in order or may overtake; keep when absent.
        order: Order = [Parameter::choice("order", "order", Order::values()).or("keep", "keep")],
        /// Interval at which the delays of packets have a correlation of one half; absent: all are independent.
        half_life: Option<Duration> = [Parameter::time("half_life", "half_life_ns").or_nothing(Json::Null)],
    }
}

/// Entries of the deepest table: NRG has 8 192, and above this number drawing from the distribution itself is better.
const DEPTH_MAX: u64 = 65_536;

/// How finely a distribution is drawn from.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Depth {
    /// As finely as 52 random bits allow.
    Exact,
    /// From a table with this number of quantiles.
    Entries(NonZeroU32),
}

impl Value for Depth {
    fn from_json(json: &Json) -> Result<Depth, Problem> {
        let entries = Option::<u32>::from_json(json)?.and_then(NonZeroU32::new);
        Ok(entries.map_or(Depth::Exact, Depth::Entries))
    }

    fn absent() -> Option<Depth> {
        Some(Depth::Exact)
    }
}

/// `null` means the distribution itself.
impl Serialize for Depth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Depth::Exact => serializer.serialize_none(),
            Depth::Entries(entries) => entries.serialize(serializer),
        }
    }
}

choice! {
    /// Whether packets may overtake each other.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub enum Order: "order" {
        /// Packets leave in the order in which they arrived.
        Keep = "keep",
        /// Packets leave when they are due.
        Free = "free",
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

/// The source of the random part.
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
    // Just below 1 the product may round up to the number of entries.
    entries[((probability * entries.len() as f64) as usize).min(entries.len() - 1)]
}

impl Behaviour for Delay {
    type Spec = DelaySpec;

    fn new(spec: &DelaySpec, stream: Stream) -> Delay {
        let (order, line, crowd) = (Order::Keep, Line::new(), Crowd::new());
        let mut delay = Delay { time: spec.time, order, variation: None, stream, line, crowd };
        delay.become_like(spec);
        delay
    }

    fn reconfigure(&mut self, spec: &DelaySpec, _: &mut Context<'_>) {
        self.become_like(spec);
    }

    /// A drift is the same for packets that arrive together.
    fn treats_alike(&self, _: Instant) -> bool {
        self.variation.as_ref().is_none_or(|variation| variation.drift.is_some())
    }

    /// The random part may be zero, or negative.
    fn holds_at_least(&self) -> Duration {
        if self.variation.is_some() {
            Duration::ZERO
        } else {
            self.time
        }
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let time = self.draw(context.shared.now);
        match self.order {
            Order::Keep => self.line.enter(slot, time, context),
            Order::Free => self.crowd.enter(slot, time, context),
        }
    }

    /// The next packet of the line or the crowd is due: after a change of order both may have packets.
    #[inline]
    fn wake_line(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        match (self.line.next(&context.shared.slab), self.crowd.next()) {
            (Some(in_line), Some(in_crowd)) if in_crowd < in_line => self.crowd.wake(),
            (None, _) => self.crowd.wake(),
            _ => self.line.wake(context),
        }
    }
}

impl Delay {
    fn become_like(&mut self, spec: &DelaySpec) {
        self.time = spec.time;
        let drifted = self.variation.take().and_then(|variation| variation.drift);
        let Some(random) = &spec.random else { return self.keep_order() };
        let drift = random.half_life.map(|half_life| match drifted {
            Some(drift) => drift.with(half_life),
            None => Drift::new(half_life),
        });
        self.variation = Some(Variation { shape: Shape::new(&random.law, random.depth), drift });
        match random.order {
            Order::Keep => self.keep_order(),
            Order::Free => self.order = Order::Free,
        }
    }

    /// From now on; packets that left the ordered line are not overtaken either.
    fn keep_order(&mut self) {
        self.order = Order::Keep;
        self.line.not_before(self.crowd.last_due());
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
