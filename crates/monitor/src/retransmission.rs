//! Retransmissions: TCP segments (or SYN, FIN) that start below the highest sequence number their flow has sent.
//!
//! The last 128 segments of a flow are remembered with their instants, so that the time since the same bytes first passed
//! shows a timeout as what it is. Where they never passed (they were lost before the monitor, or it started later) that time is
//! unknown and the segment is counted as `not-seen-before`.
//!
//! Source: RFC 9293, section 3.4 (sequence numbers), compared after RFC 1982.

use std::collections::VecDeque;

use crosswind_engine::Histogram;

/// Segments remembered per flow: enough for those in flight of a connection in a data centre.
const HISTORY: usize = 128;

const TCP_SYN: u8 = 0x02;

/// A segment that was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// Since the same bytes first passed; `None` when that is no longer, or was never, known.
    pub since_first_ns: Option<u64>,
}

/// What a flow has sent.
#[derive(Clone, Debug)]
pub struct Sent {
    highest: u32,
    history: VecDeque<(u32, u32, u64)>,
}

impl Sent {
    /// A flow whose first segment starts at `sequence`.
    pub fn new(sequence: u32) -> Self {
        Self { highest: sequence, history: VecDeque::new() }
    }

    /// A segment of `length` sequence numbers passes; says whether it passes again.
    pub fn passes(&mut self, sequence: u32, length: u32, flags: u8, at_ns: u64) -> Option<Again> {
        let end = sequence.wrapping_add(length);
        if flags & TCP_SYN != 0 && end != self.highest {
            // The ports are used again by a new connection.
            *self = Self::new(sequence);
        }
        let again = (distance(sequence, self.highest) < 0)
            .then(|| Again { since_first_ns: self.since_first_ns(sequence, at_ns) });
        if distance(end, self.highest) > 0 {
            if self.history.len() == HISTORY {
                self.history.pop_front();
            }
            // What lies between was lost before it came here, or is late.
            let from = if distance(sequence, self.highest) > 0 { sequence } else { self.highest };
            self.history.push_back((from, end, at_ns));
            self.highest = end;
        }
        again
    }

    /// Since the byte with this number first passed; `None` when that is no longer, or was never, known.
    pub fn since_first_ns(&self, sequence: u32, at_ns: u64) -> Option<u64> {
        let first = self
            .history
            .iter()
            .rev()
            .find(|(from, to, _)| distance(sequence, *from) >= 0 && distance(sequence, *to) < 0);
        first.map(|(_, _, at)| at_ns.saturating_sub(*at))
    }
}

/// How far `a` lies behind `b` in the order of sequence numbers; negative when before it.
fn distance(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
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
        match again.since_first_ns {
            Some(since_ns) => {
                self.since_first.record(since_ns);
                self.seen_before += 1;
            }
            None => self.not_seen_before += 1,
        }
    }
}
