//! Drop policies: which packet is lost when a queue is full, and which before that, to tell the ends of congestion.
//!
//! `tail` (the default) refuses the newcomer that has no room, and is the only one that never touches what waits; `head` pushes out
//! the oldest instead; `red` and `wred` watch how much waits on average, `codel` how long. Every policy has the buffer's limit above
//! it, where it refuses newcomers as `tail` does. Drop reason there: `queue-full`.
//!
//! With `ecn: true` a policy that acts before the buffer is full marks packets whose transport takes marks (`ecn.rs`). `tail` and
//! `head` have nothing to mark.
//!
//! Source: RFC 7567, section 2 (tail drop and its faults).

mod average;
mod codel;
mod head;
mod red;
#[cfg(test)]
mod tests;
mod wred;

use crate::error::Problem;
use crate::meter::Colour;
use crate::packet::Packet;
use crate::queue::Buffer;
use crate::random::Stream;
use crate::units::{Instant, Rate};
use average::Average;
pub(crate) use codel::Codel;
pub use codel::CodelSpec;
pub(crate) use head::make_room;
pub(crate) use red::Detected;
use red::Detector;
pub use red::{RedProfile, RedSpec};
pub use wred::WredSpec;

/// What a queue drops.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum DropSpec {
    /// The newcomer, when it has no room.
    #[default]
    Tail,
    /// The oldest, until the newcomer has room (`queue/drop/head.rs`).
    Head,
    /// Newcomers at random, the more the longer the average queue (`queue/drop/red.rs`).
    Red(RedSpec),
    /// The same, with a profile for each colour (`queue/drop/wred.rs`).
    Wred(WredSpec),
    /// What leaves after waiting too long for too long (`queue/drop/codel.rs`).
    Codel(CodelSpec),
}

impl DropSpec {
    /// Whether it signals congestion before the buffer is full, and so has something to mark.
    pub const fn signals_early(self) -> bool {
        !matches!(self, DropSpec::Tail | DropSpec::Head)
    }

    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self {
            DropSpec::Tail | DropSpec::Head => Ok(()),
            DropSpec::Red(spec) => spec.check(),
            DropSpec::Wred(spec) => spec.check(),
            DropSpec::Codel(spec) => spec.check(),
        }
    }
}

/// A drop policy at work: what it remembers.
pub(crate) enum Policy {
    Tail,
    Head,
    Red(Average, Detector),
    /// Detectors by colour, best first.
    Wred(Average, [Detector; 3]),
    Codel(Codel),
}

impl Policy {
    /// `spec` has been checked; `rate` empties the buffer.
    pub(crate) fn new(spec: &DropSpec, buffer: &Buffer, rate: Rate) -> Policy {
        let average = |weight| Average::new(weight, buffer.measure(), rate);
        match spec {
            DropSpec::Tail => Policy::Tail,
            DropSpec::Head => Policy::Head,
            DropSpec::Red(spec) => Policy::Red(average(spec.weight), Detector::new(spec.profile)),
            DropSpec::Wred(spec) => Policy::Wred(average(spec.weight), spec.profiles().map(Detector::new)),
            DropSpec::Codel(spec) => Policy::Codel(Codel::new(*spec)),
        }
    }

    /// The rate that empties the buffer has changed.
    pub(crate) fn set_rate(&mut self, buffer: &Buffer, rate: Rate) {
        if let Policy::Red(average, _) | Policy::Wred(average, _) = self {
            average.set_rate(buffer.measure(), rate);
        }
    }

    /// Judges a packet that arrives at the buffer.
    pub(crate) fn at_arrival(
        &mut self,
        packet: &Packet,
        buffer: &Buffer,
        now: Instant,
        random: &mut Stream,
    ) -> Detected {
        match self {
            Policy::Tail | Policy::Head | Policy::Codel(_) => Detected::Nothing,
            Policy::Red(average, detector) => detector.judge(average.at_arrival(buffer, now), random),
            Policy::Wred(average, detectors) => {
                let detector = &mut detectors[Colour::of(packet) as usize];
                detector.judge(average.at_arrival(buffer, now), random)
            }
        }
    }

    /// A packet will wait in the buffer.
    pub(crate) fn entered(&mut self, packet: &Packet, buffer: &Buffer) {
        if let Policy::Codel(codel) = self {
            codel.saw(packet, buffer);
        }
    }

    /// The last packet has left the buffer.
    pub(crate) fn emptied(&mut self, now: Instant) {
        if let Policy::Red(average, _) | Policy::Wred(average, _) = self {
            average.emptied(now);
        }
    }
}
