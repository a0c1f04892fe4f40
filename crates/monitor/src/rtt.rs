//! Round-trip time from the monitor to the far end of a flow and back, where both directions pass: by the handshake, and by TCP
//! timestamps.
//!
//! Handshake: from a SYN (or SYN-ACK) to the segment in the other direction that acknowledges it. A SYN that was sent twice
//! has no time: which of the two is answered is unknown (Karn's algorithm).
//! Timestamps: from the first segment with data that carries a value to the first in the other direction that echoes it. The
//! echo may be a delayed acknowledgement, which is part of the time, as it is for the sender.
//!
//! At `link` a monitor stands in front of the wire in each direction, so the time from what goes up does not hold the way down to
//! the host itself, and the time from what comes down does not hold the way up from the monitor.
//!
//! Up to 32 values wait for their echo in each flow; older ones are forgotten.
//!
//! Source: RFC 9293, section 3.5 (handshake); RFC 7323, sections 3 and 4 (timestamps, RTTM); RFC 6298, section 3 (Karn).

use std::collections::VecDeque;

use crosswind_engine::Histogram;

use crate::segment::Segment;

const WAITING_MAX: usize = 32;

/// What a flow has sent that will be answered in the other direction.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// The acknowledgement that answers the SYN, and when it passed; no instant once it passed twice.
    syn: Option<(u32, Option<u64>)>,
    /// Timestamp values and when each first passed.
    timestamps: VecDeque<(u32, u64)>,
    /// The newest value that was sent.
    newest: Option<u32>,
}

/// By what an answer was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Handshake,
    Timestamp,
}

/// Of the flows of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    pub(crate) handshake: Histogram,
    pub(crate) timestamps: Histogram,
}

impl Rtt {
    pub(crate) fn new() -> Self {
        Self { handshake: Histogram::logarithmic(), timestamps: Histogram::logarithmic() }
    }

    pub(crate) fn record(&mut self, answer: Answer, since_ns: u64) {
        match answer {
            Answer::Handshake => self.handshake.record(since_ns),
            Answer::Timestamp => self.timestamps.record(since_ns),
        }
    }
}

impl Probes {
    /// A segment of the flow passes.
    pub(crate) fn sent(&mut self, segment: &Segment) {
        let Some((sequence, payload, tcp)) = segment.tcp else { return };
        if segment.is_syn() {
            let answer = sequence.wrapping_add(1);
            let again = self.syn.is_some_and(|(expected, _)| expected == answer);
            *self = Self { syn: Some((answer, (!again).then_some(segment.at_ns))), ..Self::default() };
        }
        let Some((value, _)) = tcp.timestamps.filter(|_| payload > 0) else { return };
        if self.newest.is_none_or(|newest| (value.wrapping_sub(newest) as i32) > 0) {
            self.newest = Some(value);
            if self.timestamps.len() == WAITING_MAX {
                self.timestamps.pop_front();
            }
            self.timestamps.push_back((value, segment.at_ns));
        }
    }

    /// A segment of the other direction passes; what it answers, and after how many nanoseconds, is handed to `record`.
    pub(crate) fn answered(&mut self, segment: &Segment, mut record: impl FnMut(Answer, u64)) {
        let Some((_, _, tcp)) = segment.tcp.filter(|_| segment.acknowledges()) else { return };
        if let Some((_, since)) = self.syn.filter(|&(answer, _)| answer == tcp.acknowledgement) {
            if let Some(since_ns) = since {
                record(Answer::Handshake, segment.at_ns.saturating_sub(since_ns));
            }
            self.syn = Some((tcp.acknowledgement, None));
        }
        if let Some((_, echo)) = tcp.timestamps {
            while let Some(&(value, at_ns)) = self.timestamps.front() {
                if (value.wrapping_sub(echo) as i32) > 0 {
                    break;
                }
                if value == echo {
                    record(Answer::Timestamp, segment.at_ns.saturating_sub(at_ns));
                }
                self.timestamps.pop_front();
            }
        }
    }
}
