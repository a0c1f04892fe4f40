//! Recorded loss. Loses the packets that a pattern marks, in order of arrival, and repeats the pattern.
//!
//! `pattern`: one mark per packet, `0` received and `1` lost; at least one is `0`, because a line that loses
//! everything is not a line. After the last mark the first follows. Nothing is random.
//!
//! Source: Salsano et al. 2012, section 5 (deterministic loss patterns); Noble et al. 1997 (trace modulation).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use serde::ser::{Serialize, Serializer};
use serde_json::json;

use crate::describe::{page, parameters, Json, Page, Parameter, Problem, Value};

pub(super) const PAGE: Page = page!("trace.rs");

parameters! {
    /// A recording of which packets were lost, repeated without end.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct LossTrace {
        /// The recording.
        pattern: LossPattern = [Parameter::named(None, "pattern", "losses", |sampler| {
            let mark = |_| *sampler.one_of(&['0', '1']);
            vec![("pattern", json!((0..12).map(mark).chain(['0']).collect::<String>()))]
        })],
    }
}

/// The marks of a recording. Clones share them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LossPattern {
    /// Eight marks per byte, the first in the lowest bit; at least one is not set.
    lost: Arc<[u8]>,
    packets: usize,
}

impl LossPattern {
    /// The pattern of a recording, `true` where a packet was lost; `None` where none was received.
    pub fn new(lost: &[bool]) -> Option<LossPattern> {
        if lost.iter().all(|&lost| lost) {
            return None;
        }
        let byte = |marks: &[bool]| marks.iter().rev().fold(0, |byte, &lost| byte << 1 | u8::from(lost));
        Some(LossPattern { lost: lost.chunks(8).map(byte).collect::<Vec<u8>>().into(), packets: lost.len() })
    }

    /// One mark per packet: `0` received, `1` lost; `None` if there is another character, or no packet was received.
    pub fn from_text(text: &str) -> Option<LossPattern> {
        let mark = |mark| match mark {
            b'0' => Some(false),
            b'1' => Some(true),
            _ => None,
        };
        LossPattern::new(&text.bytes().map(mark).collect::<Option<Vec<bool>>>()?)
    }

    fn lost(&self, packet: usize) -> bool {
        self.lost[packet / 8] >> (packet % 8) & 1 == 1
    }
}

impl Value for LossPattern {
    fn from_json(json: &Json) -> Result<LossPattern, Problem> {
        let refusal = "a trace is a text of 0 (received) and 1 (lost) with at least one 0";
        json.as_str().and_then(LossPattern::from_text).ok_or_else(|| Problem::new(refusal))
    }
}

impl Serialize for LossPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mark = |packet| if self.lost(packet) { '1' } else { '0' };
        serializer.serialize_str(&(0..self.packets).map(mark).collect::<String>())
    }
}

pub(super) struct Trace {
    pattern: LossPattern,
    /// The mark of the next packet; in [0, packets).
    next: usize,
}

impl Trace {
    pub(super) fn new(pattern: LossPattern) -> Trace {
        Trace { pattern, next: 0 }
    }

    pub(super) fn repeats(&self, pattern: &LossPattern) -> bool {
        self.pattern == *pattern
    }

    pub(super) fn loses(&mut self) -> bool {
        let lost = self.pattern.lost(self.next);
        self.next = (self.next + 1) % self.pattern.packets;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_every_mark_and_repeats() {
        let marks: Vec<bool> = (0..21).map(|n| n % 3 == 1 || n == 20).collect();
        let mut trace = Trace::new(LossPattern::new(&marks).unwrap());
        let read: Vec<bool> = (0..63).map(|_| trace.loses()).collect();
        assert_eq!(read, marks.repeat(3));
    }

    #[test]
    fn a_pattern_without_a_received_packet_is_invalid() {
        assert_eq!(LossPattern::new(&[]), None);
        assert_eq!(LossPattern::new(&[true, true]), None);
    }
}
