//! What became of a real packet. Ghosts are only counted.

use crate::element::ElementId;
use crate::packet::Packet;
use crate::path::PathId;
use crate::units::Instant;

/// One real packet's end, in the order in which they happened.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It reached the end of its path.
    Departure {
        /// The ideal instant; the caller's lateness is the difference to when it really leaves.
        due: Instant,
        /// The path it took.
        path: PathId,
        /// The packet, with the DSCP it has now.
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
        /// The packet, with the DSCP it had then.
        packet: Packet,
    },
}

/// Why an element dropped a packet.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// A policer's bucket had no tokens for it.
    NoTokens = 0,
    /// The buffer could not hold it.
    QueueFull = 1,
    /// It was waiting in a shaper whose burst was made smaller than the packet.
    ConditionChanged = 2,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [DropReason; 3] =
        [DropReason::NoTokens, DropReason::QueueFull, DropReason::ConditionChanged];

    /// The reason's name in measurements.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::NoTokens => "no-tokens",
            DropReason::QueueFull => "queue-full",
            DropReason::ConditionChanged => "condition-changed",
        }
    }
}
