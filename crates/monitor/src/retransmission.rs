//! Retransmissions: TCP segments (or SYN, FIN) that start below the highest sequence number their flow has sent.
//!
//! The last 128 segments of a flow are remembered with their instants, so that the time since the same bytes first passed
//! distinguishes a timeout from a fast retransmission. Where they never passed (they were lost before the monitor, overtaken on the way to it, or it
//! started later) that time is unknown and the segment is counted as `not-seen-before`.
//!
//! Source: RFC 9293, section 3.4 (sequence numbers), compared after RFC 1982.

use std::collections::VecDeque;

use crosswind_engine::Histogram;

/// Segments remembered per flow: enough for those in flight of a connection in a data centre.
const HISTORY: usize = 128;

const TCP_SYN: u8 = 0x02;

/// A segment that starts below what its flow has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The same bytes passed this number of nanoseconds before.
    Since(u64),
    /// They may have passed, too long ago to be remembered.
    Forgotten,
    /// They have not passed: later ones came first.
    Missed,
}

/// What a flow has sent.
#[derive(Clone, Debug)]
pub struct Sent {
    highest: u32,
    history: VecDeque<(u32, u32, u64)>,
    /// What has not passed below `highest`, as first and behind the last number.
    missed: VecDeque<(u32, u32)>,
}

impl Sent {
    /// A flow whose first segment starts at `sequence`.
    pub fn new(sequence: u32) -> Self {
        Self { highest: sequence, history: VecDeque::new(), missed: VecDeque::new() }
    }

    /// A segment of `length` sequence numbers passes; returns whether it passes again.
    pub fn passes(&mut self, sequence: u32, length: u32, flags: u8, at_ns: u64) -> Option<Again> {
        let end = sequence.wrapping_add(length);
        if flags & TCP_SYN != 0 && end != self.highest {
            // The ports are used again by a new connection.
            *self = Self::new(sequence);
        }
        let again = self.is_behind(sequence).then(|| self.seen(sequence, at_ns));
        if again == Some(Again::Missed) {
            self.fill(sequence, end);
            self.remember(sequence, end, at_ns);
        }
        if distance(end, self.highest) > 0 {
            if distance(sequence, self.highest) > 0 {
                if self.missed.len() == HISTORY {
                    self.missed.pop_front();
                }
                self.missed.push_back((self.highest, sequence));
                self.highest = sequence;
            }
            self.remember(self.highest, end, at_ns);
            self.highest = end;
        }
        again
    }

    /// Whether a segment that starts here starts below what the flow has sent.
    pub fn is_behind(&self, sequence: u32) -> bool {
        distance(sequence, self.highest) < 0
    }

    fn seen(&self, sequence: u32, at_ns: u64) -> Again {
        if self.missed.iter().any(|&(from, to)| lies_within(sequence, from, to)) {
            return Again::Missed;
        }
        let first = self.history.iter().rev().find(|&&(from, to, _)| lies_within(sequence, from, to));
        first.map_or(Again::Forgotten, |&(_, _, first_ns)| Again::Since(at_ns.saturating_sub(first_ns)))
    }

    /// Takes a segment out of what has not passed; its first number lies there.
    fn fill(&mut self, sequence: u32, end: u32) {
        let place = self.missed.iter().position(|&(from, to)| lies_within(sequence, from, to));
        let Some((from, to)) = place.and_then(|place| self.missed.remove(place)) else { return };
        for part in [(from, sequence), (end, to)] {
            if distance(part.1, part.0) > 0 && self.missed.len() < HISTORY {
                self.missed.push_back(part);
            }
        }
    }

    fn remember(&mut self, from: u32, to: u32, at_ns: u64) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back((from, to, at_ns));
    }
}

/// How far `a` lies behind `b` in the order of sequence numbers; negative when before it.
fn distance(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
}

fn lies_within(number: u32, from: u32, to: u32) -> bool {
    distance(number, from) >= 0 && distance(number, to) < 0
}

/// Of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Retransmissions {
    pub(crate) since_first: Histogram,
    pub(crate) seen_before: u64,
    pub(crate) not_seen_before: u64,
}

impl Retransmissions {
    pub(crate) fn new() -> Self {
        Self { since_first: Histogram::logarithmic(), seen_before: 0, not_seen_before: 0 }
    }

    pub(crate) fn passed(&mut self, again: Again) {
        match again {
            Again::Since(since_ns) => {
                self.since_first.record(since_ns);
                self.seen_before += 1;
            }
            Again::Forgotten | Again::Missed => self.not_seen_before += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(segments: &[(u32, u32)]) -> Vec<Option<Again>> {
        let mut sent = Sent::new(segments[0].0);
        segments
            .iter()
            .zip((0..).step_by(10))
            .map(|(&(sequence, end), at_ns)| sent.passes(sequence, end.wrapping_sub(sequence), 0, at_ns))
            .collect()
    }

    #[test]
    fn what_was_overtaken_is_missed_once_and_sent_again_after_that() {
        let found = passed(&[(0, 100), (300, 400), (100, 200), (100, 200), (200, 300), (250, 300)]);
        let again = [None, None, Some(Again::Missed), Some(Again::Since(10)), Some(Again::Missed)];
        assert_eq!(found[..5], again);
        assert_eq!(found[5], Some(Again::Since(10)));
    }

    #[test]
    fn a_hole_is_filled_from_its_middle_and_across_the_wrap() {
        let base = u32::MAX - 149;
        let at = |offset: u32| base.wrapping_add(offset);
        let found = passed(&[
            (at(0), at(100)),
            (at(400), at(500)),
            (at(200), at(300)),
            (at(200), at(300)),
            (at(100), at(200)),
            (at(300), at(400)),
            (at(399), at(400)),
        ]);
        let missed = Some(Again::Missed);
        assert_eq!(
            found,
            [None, None, missed, Some(Again::Since(10)), missed, missed, Some(Again::Since(10))]
        );
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut sent = Sent::new(0);
        // Every other segment is missing.
        for index in 0..1_000 {
            sent.passes(200 * index, 100, 0, u64::from(index));
        }
        assert_eq!((sent.history.len(), sent.missed.len()), (HISTORY, HISTORY));
        assert_eq!(sent.passes(100, 100, 0, 1_000), Some(Again::Forgotten));
        assert_eq!(sent.passes(199_700, 100, 0, 1_000), Some(Again::Missed));
    }
}
