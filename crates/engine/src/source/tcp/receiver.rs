//! The receiving end of a connection: received packets, and when to acknowledge them.
//!
//! RFC 5681, 4.2: "an ACK SHOULD be generated for at least every second full-sized segment"; a packet out of order is
//! acknowledged at once. An acknowledgement reports everything received before it was sent (a selective
//! acknowledgement without a limit on its blocks), so the next acknowledgement makes up for a lost one.
//!
//! Deviation: the last packet of the sender's present data is acknowledged at once, not after the delayed
//! acknowledgement's timer (Linux: 40 ms), during which nothing would happen in any case.

use alloc::collections::vec_deque::{Drain, VecDeque};

const ACK_EVERY: u32 = 2;

/// A received packet.
#[derive(Copy, Clone)]
pub(super) struct Came {
    pub(super) number: u64,
    /// A queue on the way marked it with congestion experienced.
    pub(super) marked: bool,
}

#[derive(Default)]
pub(super) struct Receiver {
    /// Received packets that the sender does not know of yet, in the order of arrival.
    unknown: VecDeque<Came>,
    /// Number of packets received before those.
    known: u64,
    /// The next number if no packet is lost or reordered.
    expected: u64,
    /// Packets since the last acknowledgement.
    owed: u32,
}

impl Receiver {
    /// Receives a packet; returns the serial of an acknowledgement if one must be sent: the number of packets received
    /// so far, last 32 bits.
    pub(super) fn receive(&mut self, packet: Came, last: bool) -> Option<u32> {
        let in_order = packet.number == self.expected;
        self.expected = self.expected.max(packet.number + 1);
        self.unknown.push_back(packet);
        self.owed += 1;
        if in_order && !last && self.owed < ACK_EVERY {
            return None;
        }
        self.owed = 0;
        Some((self.known + self.unknown.len() as u64) as u32)
    }

    /// The packets that an acknowledgement reports; none if a later acknowledgement arrived before it.
    pub(super) fn reported(&mut self, serial: u32) -> Drain<'_, Came> {
        let told = (serial.wrapping_sub(self.known as u32) as i32).max(0) as usize;
        self.known += told as u64;
        self.unknown.drain(..told)
    }
}
