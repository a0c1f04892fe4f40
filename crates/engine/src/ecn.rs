//! Explicit congestion notification: the two bits by which a queue tells the ends that it is filling, instead of by a loss.
//!
//! A sender whose transport heeds marks sets ECT(0) or ECT(1). A queue told to mark (`ecn: true` in a condition, next to `drop`)
//! sets CE on such a packet where its drop policy would have dropped it to signal congestion; a packet that is Not-ECT is dropped
//! as before. What does not fit a buffer is dropped whatever its bits. Ghosts are Not-ECT, unless their source says otherwise.
//!
//! Source: RFC 3168, section 5 (code points and what routers do with them).

use serde::ser::{Serialize, Serializer};

use crate::describe::{Json, Problem, Value};

/// The ECN field of an IP packet; its numbers are the bits (RFC 3168, figure 1).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The transport takes no marks.
    #[default]
    NotEct = 0b00,
    /// It takes marks: ECT(1).
    Ect1 = 0b01,
    /// It takes marks: ECT(0).
    Ect0 = 0b10,
    /// Congestion was experienced on the way.
    Ce = 0b11,
}

impl Ecn {
    /// The code point of the two lowest bits.
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

/// How a drop policy tells the ends of congestion. It does not change what a full buffer does.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Signal {
    /// By dropping the packet.
    #[default]
    Drop,
    /// By marking it, where its transport takes marks; otherwise by dropping it.
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
