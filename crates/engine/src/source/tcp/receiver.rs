//! The receiving end of a connection: what has come, and when to say so.
//!
//! RFC 5681, 4.2: "an ACK SHOULD be generated for at least every second full-sized segment", and one is sent at once for a
//! packet out of order. An acknowledgement tells everything that had come when it was sent (a selective acknowledgement
//! without a limit on its blocks), so that one that is lost is made up for by the next.
//!
//! Deviation: the last packet of what the sender has to send is acknowledged at once, not after the delayed
//! acknowledgement's timer (Linux: 40 ms), during which nothing would happen in any case.

use alloc::collections::vec_deque::{Drain, VecDeque};

const ACK_EVERY: u32 = 2;

/// A packet that came.
#[derive(Copy, Clone)]
pub(super) struct Came {
    pub(super) number: u64,
    /// A queue on the way says that it is filling.
    pub(super) marked: bool,
}

#[derive(Default)]
pub(super) struct Receiver {
    /// Packets that came and of which the sender does not know yet, in the order of coming.
    unknown: VecDeque<Came>,
    /// How many came before those.
    known: u64,
    /// The number that comes next when nothing is lost or reordered.
    expected: u64,
    /// Packets since the last acknowledgement.
    owed: u32,
}

impl Receiver {
    /// Takes a packet; returns the serial of an acknowledgement if one is to be sent: how many had come, last 32 bits.
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

    /// The packets that an acknowledgement tells; none where a later one came before it.
    pub(super) fn reported(&mut self, serial: u32) -> Drain<'_, Came> {
        let told = (serial.wrapping_sub(self.known as u32) as i32).max(0) as usize;
        self.known += told as u64;
        self.unknown.drain(..told)
    }
}
