//! Colours: the result of a three-colour meter, the action for each colour, and how a packet carries its colour.
//!
//! A packet carries its colour in its DSCP, as the drop precedence of its assured forwarding class: AFx1 is green,
//! AFx2 yellow, AFx3 red. There is no other mark. So every later queue and capture sees the result of a meter, and a
//! marker that overwrites the DSCP removes it. A packet outside AF11 to AF43 has no colour: a colour-aware meter
//! treats it as green.
//!
//! `mode`: `blind` (default) ignores the colour of an arriving packet, `aware` never improves it. `green` (default
//! `pass`), `yellow`, `red`: `pass` leaves the packet unchanged; `drop` drops it (drop reason `colour`); `remark`
//! leaves its AF class and sets the drop precedence of its new colour, and leaves a packet without a class unchanged;
//! a DSCP sets exactly that one. Remarking never delays; only queues drop by precedence.
//!
//! Source: RFC 2597, section 6 (code points); RFC 2697 and RFC 2698, section 4 (colour as drop precedence).

use alloc::vec;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use crate::describe::{choice, parameters, Json, Parameter, Problem, Value};
use crate::element::Verdict;
use crate::outcome::DropReason;
use crate::packet::Packet;

/// How well a packet conforms, best first.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Colour {
    Green,
    Yellow,
    Red,
}

impl Colour {
    /// The colour of an arriving packet; green if its DSCP has none.
    pub(crate) fn of(packet: &Packet) -> Colour {
        match (assured_forwarding_class(packet.dscp), packet.dscp & PRECEDENCE) {
            (Some(_), 4) => Colour::Yellow,
            (Some(_), 6) => Colour::Red,
            _ => Colour::Green,
        }
    }

    /// The drop precedence as coded in the code point.
    fn precedence(self) -> u8 {
        match self {
            Colour::Green => 2,
            Colour::Yellow => 4,
            Colour::Red => 6,
        }
    }
}

/// The bits of a code point that hold the drop precedence: AFxy is 8x + 2y.
const PRECEDENCE: u8 = 0b111;

/// The class bits of AF11 to AF43; `None` for every other code point.
fn assured_forwarding_class(dscp: u8) -> Option<u8> {
    let class = dscp & !PRECEDENCE;
    let is_assured = matches!(class >> 3, 1..=4) && matches!(dscp & PRECEDENCE, 2 | 4 | 6);
    is_assured.then_some(class)
}

choice! {
    /// Whether a meter uses the colour of an arriving packet.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub enum ColourMode: "mode" {
        /// Every packet is measured as if it had no colour.
        Blind = "blind",
        /// A packet's colour can only become worse.
        Aware = "aware",
    }
}

impl ColourMode {
    /// The colour of a packet before it is measured.
    pub(crate) fn assumed(self, packet: &Packet) -> Colour {
        match self {
            ColourMode::Blind => Colour::Green,
            ColourMode::Aware => Colour::of(packet),
        }
    }
}

/// The action for packets of one colour.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ColourAction {
    /// Nothing.
    Pass,
    /// Dropped.
    Drop,
    /// Its AF class stays and its drop precedence is set; without a class it passes unchanged.
    Remark,
    /// This DSCP is set, in [0, 63].
    Dscp(u8),
}

/// Its form in files: `pass`, `drop`, `remark`, or a DSCP.
fn action(key: &'static str) -> Parameter {
    Parameter::named(key, key, "colour-action", |sampler| {
        let dscp = json!({"dscp": sampler.below(64)});
        vec![("", sampler.one_of(&[json!("pass"), json!("drop"), json!("remark"), dscp]).clone())]
    })
}

impl Value for ColourAction {
    fn from_json(json: &Json) -> Result<ColourAction, Problem> {
        match (json.as_str(), json.get("dscp")) {
            (Some("pass"), _) => Ok(ColourAction::Pass),
            (Some("drop"), _) => Ok(ColourAction::Drop),
            (Some("remark"), _) => Ok(ColourAction::Remark),
            (None, Some(dscp)) => u8::from_json(dscp).map(ColourAction::Dscp),
            _ => Err(Problem::new(alloc::format!("{json} is none of pass, drop, remark and a dscp"))),
        }
    }

    fn problems(&self) -> Vec<Problem> {
        match self {
            ColourAction::Dscp(dscp @ 64..) => {
                vec![Problem::new(alloc::format!("dscp {dscp} is outside 0 to 63"))]
            }
            _ => Vec::new(),
        }
    }
}

impl Serialize for ColourAction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ColourAction::Pass => serializer.serialize_str("pass"),
            ColourAction::Drop => serializer.serialize_str("drop"),
            ColourAction::Remark => serializer.serialize_str("remark"),
            ColourAction::Dscp(dscp) => {
                let mut object = serializer.serialize_map(Some(1))?;
                object.serialize_entry("dscp", dscp)?;
                object.end()
            }
        }
    }
}

parameters! {
    /// The actions for packets of each colour.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct ColourActions {
        /// Action within the committed rate; pass when absent.
        green: ColourAction = [action("green").or("pass", "pass")],
        /// Action above it, within the excess or peak.
        yellow: ColourAction = [action("yellow")],
        /// Action for all other packets.
        red: ColourAction = [action("red")],
    }
}

impl ColourMode {
    /// Its name among a meter's parameters.
    pub(crate) fn parameter() -> Parameter {
        Parameter::choice("mode", "mode", ColourMode::values()).or("blind", "blind")
    }
}

impl ColourActions {
    /// Carries out the action for a packet's colour.
    pub(crate) fn apply(&self, colour: Colour, packet: &mut Packet) -> Verdict {
        let action = match colour {
            Colour::Green => self.green,
            Colour::Yellow => self.yellow,
            Colour::Red => self.red,
        };
        match action {
            ColourAction::Pass => {}
            ColourAction::Drop => return Verdict::Dropped(DropReason::Colour),
            ColourAction::Remark => {
                if let Some(class) = assured_forwarding_class(packet.dscp) {
                    packet.dscp = class | colour.precedence();
                }
            }
            ColourAction::Dscp(dscp) => packet.dscp = dscp,
        }
        Verdict::Passed
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn af11_to_af43_have_a_colour_and_no_other_code_point_has() {
        // RFC 2597, section 6: AF11 = 001010 = 10, AF12 = 12, AF13 = 14, and 8 more for each class.
        let coloured: Vec<u8> = (0..64).filter(|&dscp| assured_forwarding_class(dscp).is_some()).collect();
        assert_eq!(coloured, [10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38]);
        let colour = |dscp| Colour::of(&Packet::real(0, 100, dscp));
        assert_eq!([34, 36, 38].map(colour), [Colour::Green, Colour::Yellow, Colour::Red]);
        assert_eq!([0, 46, 8, 44].map(colour), [Colour::Green; 4], "CS0, EF, CS1 and VOICE-ADMIT");
    }
}
