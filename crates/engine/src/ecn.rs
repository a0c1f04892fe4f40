//! Explicit congestion notification: two bits by which a queue signals congestion to the ends without a loss.
//!
//! A sender whose transport reacts to marks sets ECT(0) or ECT(1). With `ecn: true` in a condition, next to `drop`, a
//! queue sets CE on such a packet where its drop policy would have dropped it to signal congestion. A Not-ECT packet
//! is dropped as without ECN. Packets that do not fit a buffer are dropped whatever their bits. Ghosts are Not-ECT,
//! unless their source sets otherwise.
//!
//! Source: RFC 3168, section 5 (code points and what routers do with them).

use serde::ser::{Serialize, Serializer};

use crate::describe::{Json, Problem, Value};

/// The ECN field of an IP packet; its numbers are the bits (RFC 3168, figure 1).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not react to marks.
    #[default]
    NotEct = 0b00,
    /// It reacts to marks: ECT(1).
    Ect1 = 0b01,
    /// It reacts to marks: ECT(0).
    Ect0 = 0b10,
    /// The packet experienced congestion on its way.
    Ce = 0b11,
}

impl Ecn {
    /// The code point in the two lowest bits.
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }
}

/// How a drop policy signals congestion. A full buffer drops in either case.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Signal {
    /// By dropping the packet.
    #[default]
    Drop,
    /// By marking it, if its transport reacts to marks; otherwise by dropping it.
    Mark,
}

/// `ecn` in conditions.
impl Value for Signal {
    fn from_json(json: &Json) -> Result<Signal, Problem> {
        bool::from_json(json).map(|marks| if marks { Signal::Mark } else { Signal::Drop })
    }
}

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self == Signal::Mark).serialize(serializer)
    }
}
