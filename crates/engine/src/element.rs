//! Elements: what treats packets. Their specifications, and the dispatch to the file that has each one.
//!
//! Dispatch is a `match`, not a virtual call: elements are few, calls are many. An element decides about one packet at a
//! time (`arrive`), and may hold it and be woken later (`wake`). It never looks at a packet's class
//! (monitors may, but what they see changes nothing).

use alloc::boxed::Box;

use alloc::vec::Vec;

use crate::agenda::Agenda;
use crate::delay::{Delay, RandomDelay};
use crate::error::Problem;
use crate::impairment::{Corrupt, Duplicate, Reorder};
use crate::link::Link;
use crate::loss::{Lose, LossLaw};
use crate::marker::Mark;
use crate::meter::{Police, Srtcm, SrtcmSpec, Trtcm, TrtcmSpec};
use crate::monitor::{Counters, Monitor, MonitorSpec};
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::queue::{BufferSpec, Memory, Queueing};
use crate::random::Stream;
use crate::shaper::{Credit, CreditLevel, CreditLoop, CreditLoopSpec, CreditSpec, Pace, PaceSpec, Shape};
use crate::slab::{Slab, SlotId};
use crate::units::{Duration, Instant, Rate, Share};

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
        /// What can wait and what is dropped, in IP bytes.
        buffer: BufferSpec,
    },
    /// Lets packets go at a high rate while there is budget, else at a low one (`shaper/credit.rs`).
    Credit(CreditSpec),
    /// The same as emulated by a loop (`shaper/credit_loop.rs`).
    CreditLoop(CreditLoopSpec),
    /// Stamps each packet with its departure, and drops beyond a horizon (`shaper/edt.rs`).
    Pace(PaceSpec),
    /// Colours packets by one rate and two bursts (`meter/srtcm_rfc2697.rs`).
    Srtcm(SrtcmSpec),
    /// Colours packets by two rates with a burst each (`meter/trtcm_rfc2698.rs`).
    Trtcm(TrtcmSpec),
    /// Rewrites the DSCP (`marker/mark.rs`).
    Mark {
        /// In [0, 63].
        dscp: u8,
    },
    /// Delays every packet by the same time (`delay/mod.rs`).
    Delay {
        /// The time.
        time: Duration,
    },
    /// Delays packets by times that vary (`delay/mod.rs`); of one kind with `Delay`, which it can become.
    RandomDelay(RandomDelay),
    /// Loses packets as a lossy line does (`loss/`).
    Lose(LossLaw),
    /// Sends some packets on twice (`impairment/duplicate.rs`).
    Duplicate {
        /// Of the packets.
        share: Share,
    },
    /// Flips a bit of some packets (`impairment/corrupt.rs`).
    Corrupt {
        /// Of the packets.
        share: Share,
    },
    /// Holds some packets back, so that others overtake them (`impairment/reorder.rs`).
    Reorder {
        /// Of the packets.
        share: Share,
        /// For how long.
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
    /// Looks at what passes (`monitor/element.rs`).
    Monitor(MonitorSpec),
}

impl ElementSpec {
    /// The element's kind, as conditions call it.
    pub const fn kind(&self) -> &'static str {
        match self {
            ElementSpec::Police { .. } => "police",
            ElementSpec::Shape { .. } => "shape",
            ElementSpec::Credit(_) => "credit",
            ElementSpec::CreditLoop(_) => "credit-loop",
            ElementSpec::Pace(_) => "pace",
            ElementSpec::Srtcm(_) => "srtcm",
            ElementSpec::Trtcm(_) => "trtcm",
            ElementSpec::Mark { .. } => "mark",
            ElementSpec::Delay { .. } | ElementSpec::RandomDelay(_) => "delay",
            ElementSpec::Lose(_) => "lose",
            ElementSpec::Duplicate { .. } => "duplicate",
            ElementSpec::Corrupt { .. } => "corrupt",
            ElementSpec::Reorder { .. } => "reorder",
            ElementSpec::Link { .. } => "link",
            ElementSpec::Monitor(_) => "monitor",
        }
    }

    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self {
            ElementSpec::Police { burst_bytes: 0, .. } | ElementSpec::Shape { burst_bytes: 0, .. } => {
                Err(Problem::ZeroBurst)
            }
            ElementSpec::Credit(spec) => spec.check(),
            ElementSpec::CreditLoop(spec) => spec.check(),
            ElementSpec::Pace(spec) => spec.check(),
            ElementSpec::Srtcm(spec) => spec.check(),
            ElementSpec::Trtcm(spec) => spec.check(),
            ElementSpec::Mark { dscp } if *dscp > 63 => Err(Problem::DscpOutOfRange { dscp: *dscp }),
            ElementSpec::RandomDelay(delay) => delay.check(),
            ElementSpec::Lose(law) => law.check(),
            ElementSpec::Shape { buffer, .. } => buffer.check(),
            ElementSpec::Link { queueing, .. } => queueing.check(),
            ElementSpec::Monitor(spec) => spec.check(),
            _ => Ok(()),
        }
    }
}

/// What the elements of an engine share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) now: Instant,
    pub(crate) slab: Slab,
    pub(crate) agenda: Agenda,
    /// Packets that an element gives up besides the one it is asked about, in the order in which they are lost. Empty between
    /// calls; kept so that nothing is allocated per packet.
    pub(crate) discarded: Vec<(SlotId, DropReason)>,
    /// Room that queues of several elements take together.
    pub(crate) memories: Vec<Memory>,
}

/// What an element needs of the engine while it treats a packet.
pub(crate) struct Context<'a> {
    /// The element itself, to be woken.
    pub(crate) element: ElementId,
    /// The element's own.
    pub(crate) counters: &'a mut Counters,
    pub(crate) shared: &'a mut Shared,
}

/// What becomes of a packet now.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Passed,
    /// Passes, and so does a second one like it.
    PassedTwice,
    /// Passes with a bit flipped.
    PassedDamaged,
    /// Passed a monitor, which wants it reported or not.
    Seen {
        reported: bool,
    },
    Held,
    Dropped(DropReason),
}

/// An element at work. Every packet asks of which kind: so that lies in a byte of its own, and not in a value that another field
/// leaves free.
#[repr(u8)]
pub(crate) enum Element {
    Police(Police),
    Shape(Shape),
    Credit(Credit),
    CreditLoop(CreditLoop),
    Pace(Pace),
    Srtcm(Srtcm),
    Trtcm(Trtcm),
    Mark(Mark),
    Delay(Delay),
    Lose(Lose),
    Duplicate(Duplicate),
    Corrupt(Corrupt),
    Reorder(Reorder),
    Link(Link),
    /// Boxed: a monitor's own state is larger than any other element's.
    Monitor(Box<Monitor>),
}

impl Element {
    /// `spec` has been checked; `stream` is the element's own.
    pub(crate) fn new(spec: &ElementSpec, now: Instant, stream: Stream) -> Element {
        match *spec {
            ElementSpec::Police { rate, burst_bytes } => Element::Police(Police::new(rate, burst_bytes, now)),
            ElementSpec::Shape { rate, burst_bytes, buffer } => {
                Element::Shape(Shape::new(rate, burst_bytes, buffer, now, stream))
            }
            ElementSpec::Credit(spec) => Element::Credit(Credit::with(spec, now, stream)),
            ElementSpec::CreditLoop(spec) => Element::CreditLoop(CreditLoop::with(spec, now, stream)),
            ElementSpec::Pace(spec) => Element::Pace(Pace::new(spec)),
            ElementSpec::Srtcm(spec) => Element::Srtcm(Srtcm::new(spec, now)),
            ElementSpec::Trtcm(spec) => Element::Trtcm(Trtcm::new(spec, now)),
            ElementSpec::Mark { dscp } => Element::Mark(Mark::new(dscp)),
            ElementSpec::Delay { time } => Element::Delay(Delay::constant(time, stream)),
            ElementSpec::RandomDelay(ref delay) => Element::Delay(Delay::random(delay, stream)),
            ElementSpec::Lose(ref law) => Element::Lose(Lose::new(law, stream)),
            ElementSpec::Duplicate { share } => Element::Duplicate(Duplicate::new(share, stream)),
            ElementSpec::Corrupt { share } => Element::Corrupt(Corrupt::new(share, stream)),
            ElementSpec::Reorder { share, time } => Element::Reorder(Reorder::new(share, time, stream)),
            ElementSpec::Link { rate, delay, ref queueing } => {
                Element::Link(Link::new(rate, delay, queueing, stream))
            }
            ElementSpec::Monitor(ref spec) => Element::Monitor(Box::new(Monitor::new(spec.clone(), now))),
        }
    }

    /// Takes new parameters from now on; `spec` has been checked and is of this element's kind.
    pub(crate) fn reconfigure(&mut self, spec: &ElementSpec, context: &mut Context<'_>) {
        match (self, spec) {
            (Element::Police(police), &ElementSpec::Police { rate, burst_bytes }) => {
                police.reconfigure(rate, burst_bytes, context.shared.now);
            }
            (Element::Shape(shape), &ElementSpec::Shape { rate, burst_bytes, buffer }) => {
                shape.reconfigure(rate, burst_bytes, buffer, context);
            }
            (Element::Credit(credit), &ElementSpec::Credit(spec)) => credit.set(spec, context.shared.now),
            (Element::CreditLoop(credit), &ElementSpec::CreditLoop(spec)) => {
                credit.set(spec, context.shared.now)
            }
            (Element::Pace(pace), &ElementSpec::Pace(spec)) => pace.reconfigure(spec),
            (Element::Srtcm(meter), &ElementSpec::Srtcm(spec)) => meter.reconfigure(spec, context.shared.now),
            (Element::Trtcm(meter), &ElementSpec::Trtcm(spec)) => meter.reconfigure(spec, context.shared.now),
            (Element::Mark(mark), &ElementSpec::Mark { dscp }) => *mark = Mark::new(dscp),
            (Element::Delay(delay), &ElementSpec::Delay { time }) => delay.become_constant(time),
            (Element::Delay(delay), ElementSpec::RandomDelay(spec)) => delay.become_random(spec),
            (Element::Lose(lose), ElementSpec::Lose(law)) => lose.reconfigure(law),
            (Element::Duplicate(duplicate), &ElementSpec::Duplicate { share }) => {
                duplicate.reconfigure(share);
            }
            (Element::Corrupt(corrupt), &ElementSpec::Corrupt { share }) => corrupt.reconfigure(share),
            (Element::Reorder(reorder), &ElementSpec::Reorder { share, time }) => {
                reorder.reconfigure(share, time);
            }
            (Element::Link(link), ElementSpec::Link { rate, delay, queueing }) => {
                link.reconfigure(*rate, *delay, queueing, context);
            }
            (Element::Monitor(monitor), ElementSpec::Monitor(spec)) => {
                monitor.reconfigure(spec, context.shared.now)
            }
            _ => unreachable!("kinds have been compared"),
        }
    }

    /// Whether packets that come together leave together, whatever their sizes and number.
    pub(crate) fn treats_alike(&self, now: Instant) -> bool {
        match self {
            Element::Mark(_) | Element::Monitor(_) => true,
            Element::Delay(delay) => delay.treats_alike(),
            Element::Link(link) => link.treats_alike(now),
            Element::Pace(pace) => pace.is_unlimited(),
            Element::Police(_)
            | Element::Shape(_)
            | Element::Credit(_)
            | Element::CreditLoop(_)
            | Element::Srtcm(_)
            | Element::Trtcm(_)
            | Element::Lose(_)
            | Element::Duplicate(_)
            | Element::Corrupt(_)
            | Element::Reorder(_) => false,
        }
    }

    /// How long it holds every packet at least, from the last bit on its transmitter where it has one.
    pub(crate) fn holds_at_least(&self) -> Duration {
        match self {
            Element::Delay(delay) => delay.holds_at_least(),
            Element::Link(link) => link.propagation(),
            _ => Duration::ZERO,
        }
    }

    /// A packet has come.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        match self {
            Element::Police(police) => police.arrive(slot, context),
            Element::Shape(shape) => shape.arrive(slot, context),
            Element::Credit(credit) => credit.arrive(slot, context),
            Element::CreditLoop(credit) => credit.arrive(slot, context),
            Element::Pace(pace) => pace.arrive(slot, context),
            Element::Srtcm(meter) => meter.arrive(slot, context),
            Element::Trtcm(meter) => meter.arrive(slot, context),
            Element::Mark(mark) => mark.arrive(slot, context),
            Element::Delay(delay) => delay.arrive(slot, context),
            Element::Lose(lose) => lose.arrive(),
            Element::Duplicate(duplicate) => duplicate.arrive(),
            Element::Corrupt(corrupt) => corrupt.arrive(slot, context),
            Element::Reorder(reorder) => reorder.arrive(slot, context),
            Element::Link(link) => link.arrive(slot, context),
            Element::Monitor(monitor) => {
                let counts = monitor.passed(&context.shared.slab[slot].packet, context.shared.now);
                Verdict::Seen { reported: counts && monitor.reports_packets() }
            }
        }
    }

    /// The tokens may be there for the packet that a shaper serves next; returns it if its fate is settled.
    #[inline]
    pub(crate) fn wake_shaper(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        match self {
            Element::Shape(shape) => shape.wake(context),
            Element::Credit(credit) => credit.wake(context),
            Element::CreditLoop(credit) => credit.wake(context),
            _ => unreachable!("only shapers wait for tokens"),
        }
    }

    /// The head of its delay line is due; returns it.
    #[inline]
    pub(crate) fn wake_line(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        match self {
            Element::Link(link) => link.wake_line(context),
            Element::Delay(delay) => delay.wake(context),
            Element::Pace(pace) => pace.wake(context),
            Element::Reorder(reorder) => reorder.wake(context),
            _ => unreachable!("only what has a line waits for its head"),
        }
    }

    /// Its transmitter may have sent the last bit of a packet.
    #[inline]
    pub(crate) fn wake_transmitter(&mut self, context: &mut Context<'_>) {
        match self {
            Element::Link(link) => link.wake_transmitter(context),
            _ => unreachable!("only links have transmitters"),
        }
    }

    /// Does what was due and nobody had to know of: its queue is as long now as it says.
    pub(crate) fn catch_up(&mut self, context: &mut Context<'_>) {
        if let Element::Link(link) = self {
            link.catch_up(context);
        }
    }

    /// From now on somebody looks at its queue at every instant, or nobody does.
    pub(crate) fn set_watched(&mut self, watched: bool, context: &mut Context<'_>) {
        if let Element::Link(link) = self {
            link.set_watched(watched, context);
        }
    }

    /// IP bytes of `class` that wait in a queue; those being serialised or propagating do not wait.
    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        match self {
            Element::Shape(shape) => shape.queued_bytes(class),
            Element::Credit(credit) => credit.queued_bytes(class),
            Element::CreditLoop(credit) => credit.queued_bytes(class),
            Element::Pace(pace) => pace.queued_bytes(class),
            Element::Link(link) => link.queued_bytes(class),
            Element::Police(_)
            | Element::Srtcm(_)
            | Element::Trtcm(_)
            | Element::Mark(_)
            | Element::Delay(_)
            | Element::Lose(_)
            | Element::Duplicate(_)
            | Element::Corrupt(_)
            | Element::Reorder(_)
            | Element::Monitor(_) => 0,
        }
    }

    /// What it holds, if it is a credit bucket.
    pub(crate) fn credit(&self, now: Instant) -> Option<CreditLevel> {
        match self {
            Element::Credit(credit) => Some(credit.level(now)),
            _ => None,
        }
    }

    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Element::Police(_) => "police",
            Element::Shape(_) => "shape",
            Element::Credit(_) => "credit",
            Element::CreditLoop(_) => "credit-loop",
            Element::Pace(_) => "pace",
            Element::Srtcm(_) => "srtcm",
            Element::Trtcm(_) => "trtcm",
            Element::Mark(_) => "mark",
            Element::Delay(_) => "delay",
            Element::Lose(_) => "lose",
            Element::Duplicate(_) => "duplicate",
            Element::Corrupt(_) => "corrupt",
            Element::Reorder(_) => "reorder",
            Element::Link(_) => "link",
            Element::Monitor(_) => "monitor",
        }
    }

    /// The monitor that it is, if it is one.
    pub(crate) fn monitor(&self) -> Option<&Monitor> {
        match self {
            Element::Monitor(monitor) => Some(monitor),
            _ => None,
        }
    }

    pub(crate) fn monitor_mut(&mut self) -> Option<&mut Monitor> {
        match self {
            Element::Monitor(monitor) => Some(monitor),
            _ => None,
        }
    }

    /// Whether packets wait in it for a transmitter or for tokens, so that a monitor can measure its queue.
    pub(crate) fn has_queue(&self) -> bool {
        matches!(self, Element::Link(_) | Element::Shape(_) | Element::Credit(_) | Element::CreditLoop(_))
    }

    /// The packet on the transmitter, where there is one.
    pub(crate) fn serving(&self) -> Option<SlotId> {
        match self {
            Element::Link(link) => link.serving(),
            _ => None,
        }
    }

    /// Counters were reset: what it has measured is forgotten.
    pub(crate) fn reset(&mut self, now: Instant) {
        if let Element::Monitor(monitor) = self {
            monitor.restart(now);
        }
    }
}
