//! The records, and how each is written.

use crosswind_engine::{Class, Crossing, DropReason, Ecn, ElementId, Onward, Outcome, Packet};
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
    /// Other cuts became active.
    Cuts {
        /// When they took effect.
        at_ns: u64,
        /// Whether by hand; otherwise by the timeline.
        by_hand: bool,
        /// All cuts of that kind, as JSON.
        json: String,
    },
    /// A measurement window started.
    Window {
        /// When.
        at_ns: u64,
    },
    /// Packets that come from another machine have a new way in this one's domain.
    Way {
        /// The instant that the engine had reached.
        at_ns: u64,
        /// The domain of the other machine.
        from: usize,
        /// The number of the way there.
        onward: Onward,
        /// Its elements; the first is the link that was crossed.
        elements: Box<[ElementId]>,
    },
    /// A packet came from another machine.
    Came {
        /// The instant that the engine had reached.
        at_ns: u64,
        /// The domain of the other machine.
        from: usize,
        /// The packet, as this engine took it in, without labels.
        crossing: Crossing,
        /// The sending and the receiving node of a real packet; `None` for a ghost.
        nodes: Option<(usize, usize)>,
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
    /// It left the engine for that of another machine, due there at that instant.
    Crossed {
        /// The link, by its position in the order of adding.
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
        match outcome {
            Outcome::Departure { due, packet, .. } => Self::about(due.as_nanos(), packet, Fate::Departed),
            Outcome::Duplicated { at, element, packet, .. } => {
                Self::about(at.as_nanos(), packet, Fate::Duplicated { element: element.index() })
            }
            Outcome::Dropped { at, element, reason, packet, .. } => {
                let fate = Fate::Dropped { element: element.index(), reason: number_of(*reason) };
                Self::about(at.as_nanos(), packet, fate)
            }
        }
    }

    /// The decision about a packet that leaves for another machine; `None` for a ghost.
    pub fn crossed(crossing: &Crossing) -> Option<Self> {
        let Crossing { due, link, packet, .. } = crossing;
        let fate = Fate::Crossed { element: link.index() };
        (packet.class == Class::Real).then(|| Self::about(due.as_nanos(), packet, fate))
    }

    fn about(at_ns: u64, packet: &Packet, fate: Fate) -> Self {
        Self {
            at_ns,
            tag: packet.tag,
            dscp: packet.dscp,
            ecn: packet.ecn,
            ip_bytes: packet.ip_bytes,
            count: packet.count,
            damage: packet.damage.map_or(0, |damage| damage.bit(usize::from(u16::MAX)) as u16 + 1),
            fate,
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
pub(crate) const CROSSED: u8 = 9;
pub(crate) const WAY: u8 = 10;
pub(crate) const CAME: u8 = 11;
pub(crate) const CUTS: u8 = 12;

impl Record {
    /// When it happened.
    pub fn at_ns(&self) -> u64 {
        match *self {
            Self::Entered { at_ns, .. }
            | Self::Decided(Decision { at_ns, .. })
            | Self::Condition { at_ns, .. }
            | Self::Step { at_ns, .. }
            | Self::Cuts { at_ns, .. }
            | Self::Window { at_ns }
            | Self::Way { at_ns, .. }
            | Self::Came { at_ns, .. }
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
                Fate::Crossed { .. } => CROSSED,
            },
            Self::Condition { .. } => CONDITION,
            Self::Step { .. } => STEP,
            Self::Cuts { .. } => CUTS,
            Self::Window { .. } => WINDOW,
            Self::Way { .. } => WAY,
            Self::Came { .. } => CAME,
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
                put_tag(bytes, decision.tag);
                put(bytes, traffic_class(decision.dscp, decision.ecn));
                put(bytes, u64::from(decision.ip_bytes));
                put(bytes, u64::from(decision.count));
                put(bytes, u64::from(decision.damage));
                match decision.fate {
                    Fate::Departed => {}
                    Fate::Duplicated { element } | Fate::Crossed { element } => put(bytes, element as u64),
                    Fate::Dropped { element, reason } => {
                        put(bytes, element as u64);
                        put(bytes, reason as u64);
                    }
                }
            }
            Self::Condition { json, .. } | Self::Step { json, .. } => put_text(bytes, json),
            Self::Cuts { by_hand, json, .. } => {
                put(bytes, u64::from(*by_hand));
                put_text(bytes, json);
            }
            Self::Window { .. } => {}
            Self::Way { from, onward, elements, .. } => {
                put(bytes, *from as u64);
                put(bytes, onward.index() as u64);
                put(bytes, elements.len() as u64);
                elements.iter().for_each(|element| put(bytes, element.index() as u64));
            }
            Self::Came { at_ns, from, crossing, nodes } => {
                let Crossing { due, link, onward, packet } = crossing;
                put(bytes, *from as u64);
                put(bytes, onward.index() as u64);
                put(bytes, link.index() as u64);
                for instant in [due, &packet.entered] {
                    put(bytes, zigzag(instant.as_nanos().wrapping_sub(*at_ns) as i64));
                }
                put_tag(bytes, packet.tag);
                put(bytes, traffic_class(packet.dscp, packet.ecn));
                put(bytes, u64::from(packet.ip_bytes));
                put(bytes, u64::from(packet.count));
                put(bytes, u64::from(packet.segment_ip_bytes));
                put(bytes, packet.damage.map_or(0, |damage| damage.number().get()).into());
                match nodes {
                    None => put(bytes, 0),
                    Some((from, to)) => {
                        put(bytes, *from as u64 + 1);
                        put(bytes, *to as u64);
                    }
                }
            }
            Self::End { lost, .. } => put(bytes, *lost),
        }
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

fn put_tag(bytes: &mut Vec<u8>, tag: u64) {
    put(bytes, tag >> 32);
    put(bytes, u64::from((tag as u32).wrapping_add(1)));
}
