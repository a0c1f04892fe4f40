//! The fate of a real packet, and the monitors that reported it on its way. Ghosts are only counted.

use crate::element::ElementId;
use crate::packet::Packet;
use crate::path::PathId;
use crate::units::Instant;

/// An event of a real packet, in the order of occurrence: its end, or its duplication.
///
/// Its kind takes a whole word: with one byte, the rest is copied at odd addresses for every packet, and the CPU waits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Outcome {
    /// It reached the end of its path.
    Departure {
        /// The ideal instant; the caller's lateness is the difference to the real departure.
        due: Instant,
        /// The path it took.
        path: PathId,
        /// The packet, with its present DSCP.
        packet: Packet,
    },
    /// An element sends it twice: from now on there is one more packet with its tag, and one more end will follow.
    Duplicated {
        /// When.
        at: Instant,
        /// Which element.
        element: ElementId,
        /// The path of both.
        path: PathId,
        /// The packet, equal to its copy.
        packet: Packet,
    },
    /// An element dropped it.
    Dropped {
        /// When.
        at: Instant,
        /// Which element.
        element: ElementId,
        /// The path it was on.
        path: PathId,
        /// Why.
        reason: DropReason,
        /// The packet, with its DSCP at that instant.
        packet: Packet,
    },
}

/// A real packet passed a monitor that reports packets; its outcome follows later.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sighting {
    /// When.
    pub at: Instant,
    /// Which monitor.
    pub element: ElementId,
    /// The packet, with its DSCP at that instant.
    pub packet: Packet,
}

impl Outcome {
    /// When it happened.
    pub const fn at(&self) -> Instant {
        match *self {
            Outcome::Departure { due: at, .. }
            | Outcome::Dropped { at, .. }
            | Outcome::Duplicated { at, .. } => at,
        }
    }

    /// The packet.
    pub const fn packet(&self) -> &Packet {
        match self {
            Outcome::Departure { packet, .. }
            | Outcome::Dropped { packet, .. }
            | Outcome::Duplicated { packet, .. } => packet,
        }
    }
}

/// Why an element dropped a packet.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// A policer's bucket had no tokens for it.
    NoTokens = 0,
    /// The buffer could not hold it.
    QueueFull = 1,
    /// It was waiting in a shaper whose burst was reduced below its size.
    ConditionChanged = 2,
    /// It was lost as if on a lossy line (`loss`).
    Lost = 3,
    /// A three-colour meter gave it a colour that is dropped.
    Colour = 4,
    /// It had waited longest when a newer packet needed its space (`queue/drop/head.rs`).
    PushedOut = 5,
    /// Random early detection chose it (`queue/drop/red.rs`, `queue/drop/wred.rs`).
    Red = 6,
    /// CoDel dropped it because packets had waited too long (`queue/drop/codel.rs`).
    Codel = 7,
    /// It would have left a pacer after the horizon.
    BeyondHorizon = 8,
    /// A drop policy without a reason of its own dropped it; the queue's parameters name the policy.
    Early = 9,
    /// A gate on its way was shut to its sender (`gate.rs`).
    Partitioned = 10,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [DropReason; 11] = [
        DropReason::NoTokens,
        DropReason::QueueFull,
        DropReason::ConditionChanged,
        DropReason::Lost,
        DropReason::Colour,
        DropReason::PushedOut,
        DropReason::Red,
        DropReason::Codel,
        DropReason::BeyondHorizon,
        DropReason::Early,
        DropReason::Partitioned,
    ];

    /// The reason's name in measurements.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::NoTokens => "no-tokens",
            DropReason::QueueFull => "queue-full",
            DropReason::ConditionChanged => "condition-changed",
            DropReason::Lost => "lost",
            DropReason::Colour => "colour",
            DropReason::PushedOut => "pushed-out",
            DropReason::Red => "red",
            DropReason::Codel => "codel",
            DropReason::BeyondHorizon => "beyond-horizon",
            DropReason::Early => "early-drop",
            DropReason::Partitioned => "partitioned",
        }
    }
}
