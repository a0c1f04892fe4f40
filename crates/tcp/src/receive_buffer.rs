//! The receiver's window: how much memory a connection gets, and how much of it is offered.
//!
//! Memory counts what the kernel takes for a packet, which is more than its payload: 2304 bytes for a packet of 1448. So
//! 0.63 of `tcp_rmem` is offered. The window begins with 64 KiB, grows with what comes (two packets for each), and the
//! memory with twice of what is read in a round trip, up to `tcp_rmem`.
//!
//! Source: Linux, `tcp_grow_window`, `tcp_rcv_space_adjust`, `__tcp_select_window`; Fisk and Feng 2001, "Dynamic
//! right-sizing in TCP".

use crosswind_engine::Instant;

use crate::settings::Settings;

/// Parts of memory.
const WHOLE: u64 = 256;
/// Of a new connection: half (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_SHARE: u64 = WHOLE / 2;
/// Headers, the room before them, and `struct skb_shared_info` behind the data.
const AROUND_BYTES: u64 = 66 + 32 + 320;
/// `struct sk_buff`.
const DESCRIPTION_BYTES: u64 = 256;
const PAGE_BYTES: u64 = 4_096;
/// Linux, `TCP_INIT_CWND`.
const FIRST_PACKETS: u64 = 10;

#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    packet_bytes: u64,
    most_bytes: u64,
    memory_bytes: u64,
    /// The part of memory that holds payload, in 256ths.
    share: u64,
    share_is_measured: bool,
    /// The most that may be offered, and what grows towards it.
    clamp: u64,
    offered_most: u64,
    /// Granularity of the window on the wire.
    scale_bits: u32,
    /// What was read in a round trip, and since when.
    space: u64,
    read_at_start: u64,
    started: Instant,
    /// Eight times the round trip as the receiver sees it; 0 before the first.
    round_trip_us_x8: u64,
    /// A round trip by window: it ends when data from here on come.
    round_ends: Option<(u64, Instant)>,
    echoed_last_ms: u64,
}

impl ReceiveBuffer {
    pub(crate) fn new(settings: &Settings, now: Instant) -> Self {
        // As MSS is announced: without timestamps.
        let packet_bytes = u64::from(settings.mtu_bytes) - 40;
        let memory_bytes = settings.receive_buffer.initial_bytes;
        let share = memory_bytes * FIRST_SHARE / WHOLE;
        let first = share / packet_bytes * packet_bytes;
        let bits = settings.receive_buffer.most_bytes.max(65_535).ilog2();
        Self {
            packet_bytes,
            most_bytes: settings.receive_buffer.most_bytes,
            memory_bytes,
            share: FIRST_SHARE,
            share_is_measured: false,
            clamp: share,
            offered_most: first,
            scale_bits: bits.saturating_sub(15).min(14),
            space: first.min(FIRST_PACKETS * packet_bytes),
            read_at_start: 0,
            started: now,
            round_trip_us_x8: 0,
            round_ends: None,
            echoed_last_ms: 0,
        }
    }

    /// The window of a new connection; the field has 16 bits before scaling is agreed.
    pub(crate) fn first_window(&self) -> u64 {
        self.offered_most.min(65_535)
    }

    fn payload_of(&self, memory: u64) -> u64 {
        memory * self.share / WHOLE
    }

    /// A full packet came: its memory is known from now on.
    pub(crate) fn measure_packet(&mut self, payload: u64) {
        if self.share_is_measured {
            return;
        }
        self.share_is_measured = true;
        // Up to a page in one piece, whose sizes are powers of two; a super-packet in pages.
        let memory = if payload + AROUND_BYTES <= PAGE_BYTES {
            (payload + AROUND_BYTES).next_power_of_two()
        } else {
            payload.next_multiple_of(PAGE_BYTES) + AROUND_BYTES.next_power_of_two()
        };
        self.share = (payload * WHOLE / (memory + DESCRIPTION_BYTES)).max(1);
        self.clamp = self.payload_of(self.memory_bytes);
        self.space = self.space.min(self.clamp);
    }

    /// Data came; `held` bytes were not read yet. Returns whether the window grows.
    pub(crate) fn grow(&mut self, bytes: u64, held: u64) -> bool {
        if bytes < 128 {
            return false;
        }
        let free = self.payload_of(self.memory_bytes).saturating_sub(held);
        let room = self.clamp.min(free).saturating_sub(self.offered_most);
        self.offered_most += room.min((2 * self.packet_bytes).max(2 * bytes));
        room > 0
    }

    /// The window to offer; what was offered is not taken back by the caller.
    pub(crate) fn window(&self, held: u64) -> u64 {
        let whole = self.payload_of(self.memory_bytes);
        let free = whole.saturating_sub(held);
        if self.is_half_full(held) && (free < whole / 16 || free < self.packet_bytes) {
            return 0;
        }
        self.on_the_wire(free.min(self.offered_most))
    }

    /// Whether more than half of what may be offered is held.
    pub(crate) fn is_half_full(&self, held: u64) -> bool {
        let whole = self.payload_of(self.memory_bytes);
        whole.saturating_sub(held) < self.clamp.min(whole) / 2
    }

    fn on_the_wire(&self, window: u64) -> u64 {
        window.next_multiple_of(1 << self.scale_bits).min(65_535 << self.scale_bits)
    }

    pub(crate) fn clamp(&self) -> u64 {
        self.clamp
    }

    /// Data came whose stamp answers one that left at `echo_ms`: a round trip, if the sender was not waiting.
    pub(crate) fn measure_by_stamp(&mut self, now: Instant, echo_ms: u64, is_full: bool) {
        if echo_ms == self.echoed_last_ms {
            return;
        }
        self.echoed_last_ms = echo_ms;
        let ms = (now.as_nanos() / 1_000_000).saturating_sub(echo_ms);
        if is_full && ms > 0 && echo_ms > 0 {
            self.measured(ms * 1_000, false);
        }
    }

    /// Data came up to `next`; a window that was offered at the start of the round has been filled.
    pub(crate) fn measure_by_window(&mut self, now: Instant, next: u64, window: u64) {
        if let Some((ends, started)) = self.round_ends {
            if next < ends {
                return;
            }
            self.measured(((now - started).as_nanos() / 1_000).max(1), true);
        }
        self.round_ends = Some((next + window, now));
    }

    fn measured(&mut self, us: u64, by_window: bool) {
        let known = self.round_trip_us_x8;
        if known == 0 || us * 8 < known {
            self.round_trip_us_x8 = us * 8;
        } else if !by_window {
            self.round_trip_us_x8 = known - known / 8 + us;
        }
    }

    pub(crate) fn round_trip_us(&self) -> u64 {
        self.round_trip_us_x8 / 8
    }

    /// The application has read up to `read` of `next` bytes; `beyond` bytes are after a gap.
    pub(crate) fn adapt(&mut self, now: Instant, read: u64, next: u64, beyond: u64) {
        let us = (now - self.started).as_nanos() / 1_000;
        if self.round_trip_us_x8 == 0 || us < self.round_trip_us_x8 / 8 {
            return;
        }
        let copied = (read - self.read_at_start).saturating_sub(next - read);
        if copied > self.space {
            let mut window = 2 * copied;
            window += 2 * (window * (copied - self.space) / self.space);
            self.enlarge(window + beyond);
            self.space = copied;
        }
        (self.started, self.read_at_start) = (now, read);
    }

    /// Makes room for a window of this number of bytes.
    pub(crate) fn enlarge(&mut self, window: u64) {
        let memory = (window * WHOLE / self.share).min(self.most_bytes);
        if memory > self.memory_bytes {
            self.memory_bytes = memory;
            self.clamp = self.payload_of(memory);
        }
    }

    /// Twice what was read in a round trip, and what is beyond a gap.
    pub(crate) fn enlarge_beyond_gap(&mut self, beyond: u64) {
        self.enlarge(2 * self.space + beyond);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Algorithm, Buffer};
    use crosswind_engine::Duration;

    fn settings(most_bytes: u64) -> Settings {
        Settings {
            mtu_bytes: 1_500,
            congestion: Algorithm::Cubic,
            rto_min: Duration::from_millis(200),
            ecn: false,
            receive_buffer: Buffer { initial_bytes: 131_072, most_bytes },
            send_buffer: Buffer { initial_bytes: 16_384, most_bytes: 4_194_304 },
            tick: Duration::from_millis(4),
            tick_phase: Duration::ZERO,
        }
    }

    #[test]
    fn the_first_window_is_of_whole_packets_below_64_kib() {
        let buffer = ReceiveBuffer::new(&settings(6_291_456), Instant::ZERO);
        assert_eq!(buffer.first_window(), 64_240);
    }

    #[test]
    fn a_fast_sender_gets_a_window_up_to_its_share_of_memory() {
        let mut buffer = ReceiveBuffer::new(&settings(6_291_456), Instant::ZERO);
        buffer.measure_packet(1_448);
        let (mut next, mut now) = (0, 0);
        for round in 1..30_u64 {
            now += 100_000_000;
            buffer.measured(100_000, true);
            // The sender fills the window.
            let packets = buffer.window(0) / 1_448;
            for _ in 0..packets {
                next += 1_448;
                buffer.grow(1_448, 0);
            }
            buffer.adapt(Instant::from_nanos(now), next, next, 0);
            assert!(round < 30);
        }
        // 1448 of 2304 bytes are payload: 160 / 256.
        let most = 6_291_456 * 160 / 256;
        assert!((most..most + 1_024).contains(&buffer.window(0)), "{}", buffer.window(0));
    }
}
