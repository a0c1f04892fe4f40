//! Round-trip time by sequence numbers: from a segment with data to the first acknowledgement of exactly its last byte.
//!
//! It needs no timestamps. What a retransmission follows has no time, nor has what was waiting with it: the answer may be to either
//! sending, and may have waited for the hole in front of it (Karn's algorithm). An acknowledgement that ends inside a segment gives none either.
//! The receiver's delayed acknowledgement is part of the time, as it is for the sender.
//!
//! Up to 1024 segments wait in each flow; older ones are forgotten.
//!
//! Source: RFC 9293, section 3.4; RFC 6298, section 3 (Karn).

use std::collections::VecDeque;

const WAITING_MAX: usize = 1024;

/// Segments of a flow that wait for their acknowledgement: one past the last sequence number, and when they passed.
#[derive(Debug, Default)]
pub(crate) struct Unacknowledged(VecDeque<(u32, u64)>);

impl Unacknowledged {
    /// A segment that ends before `end` passes for the first time.
    pub(crate) fn sent(&mut self, end: u32, at_ns: u64) {
        if self.0.len() == WAITING_MAX {
            self.0.pop_front();
        }
        self.0.push_back((end, at_ns));
    }

    /// Something passes again.
    pub(crate) fn sent_again(&mut self) {
        self.0.clear();
    }

    /// Everything before `acknowledgement` has arrived; since when its last byte was under way.
    pub(crate) fn answered(&mut self, acknowledgement: u32, at_ns: u64) -> Option<u64> {
        let mut since = None;
        while let Some(&(end, sent_ns)) = self.0.front() {
            if (end.wrapping_sub(acknowledgement) as i32) > 0 {
                break;
            }
            since = (end == acknowledgement).then(|| at_ns.saturating_sub(sent_ns));
            self.0.pop_front();
        }
        since
    }
}
