//! What the application has written and was not sent yet, and the memory that it takes.
//!
//! The kernel stores written data in buffers of up to a super-packet. A train is cut from the first; it takes bytes of
//! the next only to fill up what it may carry. Memory is counted with each buffer's own overhead, and grows with the
//! congestion window up to `tcp_wmem`: a sender never has more than that under way.
//!
//! Source: Linux, `tcp_sendmsg_locked`, `tcp_grow_skb`, `tcp_sndbuf_expand`, `sk_stream_memory_free`,
//! `sk_stream_is_writeable`.

use alloc::collections::VecDeque;

use crate::settings::Buffer;

/// The most payload of a train: 64 KiB less the room for headers (`GSO_LEGACY_MAX_SIZE`, `MAX_TCP_HEADER`).
pub(crate) const TRAIN_BYTES_MOST: u64 = 65_536 - 321;
/// Memory of a buffer besides its data: `struct sk_buff`, and the head that headers go into.
const OVERHEAD_BYTES: u64 = 1_280;
/// Memory that a packet is expected to take (`tcp_sndbuf_expand`): MSS and headers, rounded to a power of two.
const PACKET_BYTES: u64 = 2_048 + 256;
/// Linux, `TCP_INIT_CWND`.
const PACKETS_LEAST: u64 = 10;

/// Written data and memory.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    /// Bytes of each buffer that was not sent.
    buffers: VecDeque<u32>,
    /// Ends of writes in the stream, of which the first has not been sent.
    ends: VecDeque<u64>,
    /// Trains under way: the end of each, for its overhead.
    trains: VecDeque<u64>,
    /// The end of what was written.
    written: u64,
    /// The oldest byte in memory.
    kept_from: u64,
    limit_bytes: u64,
    most_bytes: u64,
    /// The application waits for room.
    pub(crate) blocked: bool,
}

impl SendQueue {
    pub(crate) fn new(buffer: Buffer) -> Self {
        Self {
            buffers: VecDeque::new(),
            ends: VecDeque::new(),
            trains: VecDeque::new(),
            written: 0,
            kept_from: 0,
            limit_bytes: buffer.initial_bytes,
            most_bytes: buffer.most_bytes,
            blocked: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Whether the first buffer is the only one.
    pub(crate) fn has_one(&self) -> bool {
        self.buffers.len() == 1
    }

    /// Bytes of the first buffer.
    pub(crate) fn first(&self) -> u64 {
        self.buffers.front().copied().unwrap_or(0).into()
    }

    /// Memory in use.
    fn memory(&self) -> u64 {
        let buffers = (self.buffers.len() + self.trains.len()) as u64;
        self.written - self.kept_from + buffers * OVERHEAD_BYTES
    }

    /// Room for another buffer.
    fn has_room(&self) -> bool {
        self.memory() < self.limit_bytes
    }

    /// Whether a third of the memory is free, so that a waiting application is woken.
    pub(crate) fn is_writable(&self) -> bool {
        self.limit_bytes.saturating_sub(self.memory()) >= self.memory() / 2
    }

    /// Memory for twice the congestion window.
    pub(crate) fn expand(&mut self, cwnd: u32) {
        let wanted = 2 * u64::from(cwnd).max(PACKETS_LEAST) * PACKET_BYTES;
        self.limit_bytes = self.limit_bytes.max(wanted.min(self.most_bytes));
    }

    /// Adds up to `bytes` to the last buffer, or a new one with at most `goal` bytes; returns how many, 0 without room.
    pub(crate) fn add(&mut self, bytes: u64, goal: u64) -> u64 {
        let is_full = self.buffers.back().is_none_or(|&last| u64::from(last) >= goal);
        if is_full {
            if !self.has_room() {
                return 0;
            }
            self.buffers.push_back(0);
        }
        let last = self.buffers.back_mut().expect("there is one");
        let added = bytes.min(goal - u64::from(*last));
        *last += added as u32;
        self.written += added;
        added
    }

    /// What was written so far ends a write.
    pub(crate) fn end_write(&mut self) {
        if self.ends.back() != Some(&self.written) {
            self.ends.push_back(self.written);
        }
    }

    /// Fills the first buffer up to `bytes` from the next one.
    pub(crate) fn fill_first(&mut self, bytes: u64) {
        let Some(&next) = self.buffers.get(1) else { return };
        let lacks = bytes.saturating_sub(self.first());
        let moved = lacks.min(u64::from(next)) as u32;
        self.buffers[0] += moved;
        self.buffers[1] -= moved;
        if self.buffers[1] == 0 {
            self.buffers.remove(1);
        }
    }

    /// Takes a train of `bytes` from the first buffer, up to position `end` of the stream; returns whether a write
    /// ends with it.
    pub(crate) fn take(&mut self, bytes: u64, end: u64) -> bool {
        let first = self.buffers.front_mut().expect("there is a buffer");
        *first -= bytes as u32;
        if *first == 0 {
            self.buffers.pop_front();
        }
        self.trains.push_back(end);
        let mut ends = false;
        while self.ends.front().is_some_and(|&write| write <= end) {
            ends |= self.ends.pop_front() == Some(end);
        }
        ends
    }

    /// Everything up to here was acknowledged.
    pub(crate) fn release(&mut self, acknowledged: u64) {
        self.kept_from = acknowledged;
        while self.trains.front().is_some_and(|&end| end <= acknowledged) {
            self.trains.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: u64 = 45 * 1_448;

    fn queue() -> SendQueue {
        SendQueue::new(Buffer { initial_bytes: 100_000, most_bytes: 1_000_000 })
    }

    #[test]
    fn writing_stops_where_memory_ends_and_goes_on_when_a_third_is_free() {
        let mut queue = queue();
        let mut written = 0;
        loop {
            match queue.add(131_072, GOAL) {
                0 => break,
                added => written += added,
            }
        }
        assert_eq!(written, 2 * GOAL);
        queue.take(GOAL, GOAL);
        assert!(!queue.is_writable(), "sent data stay in memory");
        queue.release(GOAL);
        assert!(queue.is_writable(), "66 440 of 100 000 bytes are in use");
        queue.expand(1_000);
        assert_eq!(queue.limit_bytes, 1_000_000);
    }

    #[test]
    fn a_train_takes_bytes_of_the_next_buffer_only_to_fill_up() {
        let mut queue = queue();
        queue.add(GOAL, GOAL);
        queue.add(GOAL, GOAL);
        queue.end_write();
        queue.fill_first(20_000);
        assert_eq!(queue.first(), GOAL);
        assert!(!queue.take(60_000, 60_000));
        queue.fill_first(20_000);
        assert_eq!(queue.first(), 20_000);
        assert!(!queue.take(20_000, 80_000));
        assert!(queue.has_one());
        assert!(queue.take(2 * GOAL - 80_000, 2 * GOAL), "the write ends");
        assert!(queue.is_empty());
    }
}
