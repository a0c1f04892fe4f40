//! The records, and how each is written.

use crosswind_engine::{DropReason, Ecn, Outcome, Packet};
use crosswind_fabric::Frame;

use crate::number::{put, zigzag};

/// One thing that happened to the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A frame entered.
    Entered {
        /// The instant that the engine used.
        at_ns: u64,
        /// Position of the sending node.
        from: usize,
        /// Position of the receiving node.
        to: usize,
        /// The part of its flow that decides its route (`crosswind_fabric::Network::flow`).
        flow: u32,
        /// What entered.
        frame: Frame,
    },
    /// The engine decided about a real packet.
    Decided(Decision),
    /// A condition became active.
    Condition {
        /// When it took effect.
        at_ns: u64,
        /// The condition, as JSON.
        json: String,
    },
    /// A step of the condition's timeline became active.
    Step {
        /// When it took effect.
        at_ns: u64,
        /// Its places, as JSON.
        json: String,
    },
    /// A measurement window started.
    Window {
        /// When.
        at_ns: u64,
    },
    /// Nothing follows.
    End {
        /// The instant up to which everything had been done.
        at_ns: u64,
        /// Records that could not be written.
        lost: u64,
    },
}

/// What the engine decided about one real packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When.
    pub at_ns: u64,
    /// Which packet: key and index as in `crosswind_fabric::Frame`.
    pub tag: u64,
    /// Its code point then.
    pub dscp: u8,
    /// Its congestion bits then.
    pub ecn: Ecn,
    /// Its IP bytes; of a train the sum.
    pub ip_bytes: u32,
    /// Wire packets it stands for.
    pub count: u16,
    /// 0, or 1 more than the place of its flipped bit among 65 535.
    pub damage: u16,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It left the engine, due at that instant.
    Departed,
    /// An element sends it on twice: two packets have this tag from now on.
    Duplicated {
        /// Position in the order of adding.
        element: usize,
    },
    /// An element dropped it.
    Dropped {
        /// Position in the order of adding.
        element: usize,
        /// Position in the header's names of reasons.
        reason: usize,
    },
}

impl Decision {
    /// The decision that an outcome reports.
    pub fn of(outcome: &Outcome) -> Self {
        let decided = |at_ns, packet: &Packet, fate| Self {
            at_ns,
            tag: packet.tag,
            dscp: packet.dscp,
            ecn: packet.ecn,
            ip_bytes: packet.ip_bytes,
            count: packet.count,
            damage: packet.damage.map_or(0, |damage| damage.bit(usize::from(u16::MAX)) as u16 + 1),
            fate,
        };
        match outcome {
            Outcome::Departure { due, packet, .. } => decided(due.as_nanos(), packet, Fate::Departed),
            Outcome::Duplicated { at, element, packet, .. } => {
                decided(at.as_nanos(), packet, Fate::Duplicated { element: element.index() })
            }
            Outcome::Dropped { at, element, reason, packet, .. } => {
                let fate = Fate::Dropped { element: element.index(), reason: number_of(*reason) };
                decided(at.as_nanos(), packet, fate)
            }
        }
    }
}

/// The number under which the header names a reason.
fn number_of(reason: DropReason) -> usize {
    DropReason::ALL.iter().position(|&other| other == reason).expect("every reason is among all reasons")
}

/// Code point and congestion bits as they stand in an IP header.
fn traffic_class(dscp: u8, ecn: Ecn) -> u64 {
    u64::from(dscp << 2 | ecn.bits())
}

pub(crate) const ENTERED: u8 = 1;
pub(crate) const DEPARTED: u8 = 2;
pub(crate) const DROPPED: u8 = 3;
pub(crate) const DUPLICATED: u8 = 4;
pub(crate) const CONDITION: u8 = 5;
pub(crate) const STEP: u8 = 6;
pub(crate) const WINDOW: u8 = 7;
pub(crate) const END: u8 = 8;

impl Record {
    /// When it happened.
    pub fn at_ns(&self) -> u64 {
        match *self {
            Self::Entered { at_ns, .. }
            | Self::Decided(Decision { at_ns, .. })
            | Self::Condition { at_ns, .. }
            | Self::Step { at_ns, .. }
            | Self::Window { at_ns }
            | Self::End { at_ns, .. } => at_ns,
        }
    }

    /// Appends the record to `bytes`; `before_ns` is the instant of the record before it.
    pub(crate) fn put(&self, bytes: &mut Vec<u8>, before_ns: u64) {
        bytes.push(match self {
            Self::Entered { .. } => ENTERED,
            Self::Decided(decision) => match decision.fate {
                Fate::Departed => DEPARTED,
                Fate::Dropped { .. } => DROPPED,
                Fate::Duplicated { .. } => DUPLICATED,
            },
            Self::Condition { .. } => CONDITION,
            Self::Step { .. } => STEP,
            Self::Window { .. } => WINDOW,
            Self::End { .. } => END,
        });
        put(bytes, zigzag(self.at_ns().wrapping_sub(before_ns) as i64));
        match self {
            Self::Entered { from, to, flow, frame, .. } => {
                put(bytes, *from as u64);
                put(bytes, *to as u64);
                put(bytes, u64::from(*flow));
                put(bytes, u64::from(frame.key));
                put(bytes, u64::from(frame.count));
                put(bytes, u64::from(frame.ip_bytes));
                put(bytes, u64::from(frame.last_ip_bytes));
                put(bytes, traffic_class(frame.dscp, frame.ecn));
            }
            Self::Decided(decision) => {
                put(bytes, decision.tag >> 32);
                put(bytes, u64::from((decision.tag as u32).wrapping_add(1)));
                put(bytes, traffic_class(decision.dscp, decision.ecn));
                put(bytes, u64::from(decision.ip_bytes));
                put(bytes, u64::from(decision.count));
                put(bytes, u64::from(decision.damage));
                match decision.fate {
                    Fate::Departed => {}
                    Fate::Duplicated { element } => put(bytes, element as u64),
                    Fate::Dropped { element, reason } => {
                        put(bytes, element as u64);
                        put(bytes, reason as u64);
                    }
                }
            }
            Self::Condition { json, .. } | Self::Step { json, .. } => {
                put(bytes, json.len() as u64);
                bytes.extend_from_slice(json.as_bytes());
            }
            Self::Window { .. } => {}
            Self::End { lost, .. } => put(bytes, *lost),
        }
    }
}
