//! Elements: what treats packets. Their specifications, and the dispatch to the file that has each one.
//!
//! Dispatch is a `match`, not a virtual call: elements are few, calls are many. An element decides about one packet at a
//! time (`arrive`), and may hold it and be woken later (`wake`). It never looks at a packet's class.

use crate::agenda::Agenda;
use crate::delay::Delay;
use crate::error::Problem;
use crate::link::Link;
use crate::marker::Mark;
use crate::meter::Police;
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::queue::Queueing;
use crate::shaper::Shape;
use crate::slab::{Slab, SlotId};
use crate::units::{Duration, Instant, Limit, Rate};

/// An element of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ElementId(pub(crate) u32);

impl ElementId {
    /// The element's place in the order of adding, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an element does. Each variant's file is its manual page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElementSpec {
    /// Drops what the token bucket has no tokens for (`meter/police.rs`).
    Police {
        /// IP bits per second at which tokens come.
        rate: Rate,
        /// Depth of the bucket in IP bytes, at least the largest packet.
        burst_bytes: u64,
    },
    /// Delays packets until the token bucket has tokens for them (`shaper/shape.rs`).
    Shape {
        /// IP bits per second at which tokens come.
        rate: Rate,
        /// Depth of the bucket in IP bytes, at least the largest packet.
        burst_bytes: u64,
        /// IP bytes that can wait.
        buffer: Limit,
    },
    /// Rewrites the DSCP (`marker/mark.rs`).
    Mark {
        /// In [0, 63].
        dscp: u8,
    },
    /// Delays every packet by the same time (`delay/constant.rs`).
    Delay {
        /// The time.
        time: Duration,
    },
    /// Queues, serialises, and propagates (`link/mod.rs`).
    Link {
        /// Wire bits per second.
        rate: Rate,
        /// Propagation delay.
        delay: Duration,
        /// What waits where, and who goes first.
        queueing: Queueing,
    },
}

impl ElementSpec {
    /// The element's kind, as conditions call it.
    pub const fn kind(&self) -> &'static str {
        match self {
            ElementSpec::Police { .. } => "police",
            ElementSpec::Shape { .. } => "shape",
            ElementSpec::Mark { .. } => "mark",
            ElementSpec::Delay { .. } => "delay",
            ElementSpec::Link { .. } => "link",
        }
    }

    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self {
            ElementSpec::Police { burst_bytes: 0, .. } | ElementSpec::Shape { burst_bytes: 0, .. } => {
                Err(Problem::ZeroBurst)
            }
            ElementSpec::Mark { dscp } if *dscp > 63 => Err(Problem::DscpOutOfRange { dscp: *dscp }),
            ElementSpec::Link { queueing, .. } => queueing.check(),
            _ => Ok(()),
        }
    }
}

/// What an element needs of the engine while it treats a packet.
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    /// The element itself, to be woken.
    pub(crate) element: ElementId,
    pub(crate) slab: &'a mut Slab,
    pub(crate) agenda: &'a mut Agenda,
}

/// What becomes of a packet now.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Passed,
    Held,
    Dropped(DropReason),
}

/// Which of its two stages an element is woken for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Service,
    Line,
}

/// An element at work.
pub(crate) enum Element {
    Police(Police),
    Shape(Shape),
    Mark(Mark),
    Delay(Delay),
    Link(Link),
}

impl Element {
    /// `spec` has been checked.
    pub(crate) fn new(spec: &ElementSpec, now: Instant) -> Element {
        match *spec {
            ElementSpec::Police { rate, burst_bytes } => Element::Police(Police::new(rate, burst_bytes, now)),
            ElementSpec::Shape { rate, burst_bytes, buffer } => {
                Element::Shape(Shape::new(rate, burst_bytes, buffer, now))
            }
            ElementSpec::Mark { dscp } => Element::Mark(Mark::new(dscp)),
            ElementSpec::Delay { time } => Element::Delay(Delay::new(time)),
            ElementSpec::Link { rate, delay, ref queueing } => {
                Element::Link(Link::new(rate, delay, queueing))
            }
        }
    }

    /// Takes new parameters from now on; `spec` has been checked and is of this element's kind.
    pub(crate) fn reconfigure(&mut self, spec: &ElementSpec, context: &mut Context<'_>) {
        match (self, spec) {
            (Element::Police(police), &ElementSpec::Police { rate, burst_bytes }) => {
                police.reconfigure(rate, burst_bytes, context.now);
            }
            (Element::Shape(shape), &ElementSpec::Shape { rate, burst_bytes, buffer }) => {
                shape.reconfigure(rate, burst_bytes, buffer, context);
            }
            (Element::Mark(mark), &ElementSpec::Mark { dscp }) => *mark = Mark::new(dscp),
            (Element::Delay(delay), &ElementSpec::Delay { time }) => delay.reconfigure(time),
            (Element::Link(link), ElementSpec::Link { rate, delay, queueing }) => {
                link.reconfigure(*rate, *delay, queueing, context);
            }
            _ => unreachable!("kinds have been compared"),
        }
    }

    /// Whether packets that come together leave together, whatever their sizes and number.
    pub(crate) fn treats_alike(&self) -> bool {
        match self {
            Element::Mark(_) | Element::Delay(_) => true,
            Element::Link(link) => link.is_unlimited(),
            Element::Police(_) | Element::Shape(_) => false,
        }
    }

    /// A packet has come.
    #[inline]
    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        match self {
            Element::Police(police) => police.arrive(slot, context),
            Element::Shape(shape) => shape.arrive(slot, context),
            Element::Mark(mark) => mark.arrive(slot, context),
            Element::Delay(delay) => delay.arrive(slot, context),
            Element::Link(link) => link.arrive(slot, context),
        }
    }

    /// An event of this element is due; returns the packet whose fate it settles.
    #[inline]
    pub(crate) fn wake(&mut self, stage: Stage, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        match (self, stage) {
            (Element::Shape(shape), Stage::Service) => shape.wake(context),
            (Element::Delay(delay), Stage::Line) => delay.wake(context),
            (Element::Link(link), Stage::Service) => link.transmitted(context),
            (Element::Link(link), Stage::Line) => link.propagated(context),
            _ => unreachable!("only stages that schedule events are woken"),
        }
    }

    /// IP bytes of `class` that wait in a queue; those being serialised or propagating do not wait.
    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        match self {
            Element::Shape(shape) => shape.queued_bytes(class),
            Element::Link(link) => link.queued_bytes(class),
            Element::Police(_) | Element::Mark(_) | Element::Delay(_) => 0,
        }
    }

    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Element::Police(_) => "police",
            Element::Shape(_) => "shape",
            Element::Mark(_) => "mark",
            Element::Delay(_) => "delay",
            Element::Link(_) => "link",
        }
    }
}
