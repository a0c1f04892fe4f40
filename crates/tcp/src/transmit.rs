//! Sending: how much may leave now, in what trains, and lost packets again.
//!
//! A train carries about a millisecond of data at the sender's rate, more on short paths; at most half of the window, so
//! that two are under way; and at most 64 KiB. A sender waits for more room rather than send a small train while
//! acknowledgements are near. Nothing is paced: without a pacing queue Linux sends trains of CUBIC and Reno as soon as the
//! window allows.
//!
//! Source: Linux, `tcp_write_xmit`, `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_xmit_retransmit_queue`,
//! `tcp_cwnd_validate`; RFC 7661 (validating a window that was not used).

use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::congestion::INITIAL_PACKETS;
use crate::recovery::State;
use crate::send_queue::TRAIN_BYTES_MOST;
use crate::sender::{Payload, Sender};
use crate::timer::Kind;

/// Linux, `tcp_min_tso_segs`.
const TRAIN_PACKETS_LEAST: u64 = 2;
/// `sk_pacing_shift`: trains of a 1024th of a second at the sender's rate.
const TRAIN_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: trains of 64 KiB on paths without delay, and half of that for every 512 us of round trip.
const ROUND_TRIP_SHIFT: u32 = 9;
/// `tcp_tso_win_divisor`.
const WINDOW_PARTS: u64 = 3;
const MILLISECOND_NS: u64 = 1_000_000;

/// Why data are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// Everything that may be sent.
    All,
    /// One train, while the application goes on writing.
    One,
    /// One packet, whatever the window.
    Probe,
}

impl Sender {
    /// RFC 9002 and others pace at a multiple of the window per round trip; here it decides the length of trains.
    pub(crate) fn update_pacing_rate(&mut self) {
        let window = &self.congestion.window;
        let percent: u128 = if window.packets < window.threshold / 2 { 200 } else { 120 };
        let packets = u128::from(window.packets.max(self.board.out()));
        let bytes = packets * u128::from(self.payload_bytes()) * 8_000_000 * percent / 100;
        if self.round_trip.smoothed_us_x8() > 0 {
            self.pacing_rate = (bytes / u128::from(self.round_trip.smoothed_us_x8())) as u64;
        }
    }

    /// Packets of a train.
    fn train_packets(&self) -> u64 {
        let mut bytes = self.pacing_rate >> TRAIN_SHIFT;
        let halvings = self.round_trip.shortest_us() >> ROUND_TRIP_SHIFT;
        if halvings < 32 {
            bytes = bytes.saturating_add(TRAIN_BYTES_MOST >> halvings);
        }
        (bytes.min(TRAIN_BYTES_MOST) / self.payload_bytes()).max(TRAIN_PACKETS_LEAST)
    }

    /// Packets that the congestion window allows for one train.
    fn window_allows(&self) -> u64 {
        let window = self.congestion.window.packets;
        let in_flight = self.board.in_flight();
        if in_flight >= window {
            return 0;
        }
        (window / 2).max(1).min(window - in_flight).into()
    }

    /// Bytes that a buffer of written data gets at most: a train, or half of the largest window.
    pub(crate) fn buffer_goal(&self) -> u64 {
        let half = if self.window_most > 536 { self.window_most / 2 } else { self.window_most };
        let most = TRAIN_BYTES_MOST.min(half.max(self.payload_bytes()));
        most / self.payload_bytes() * self.payload_bytes()
    }

    /// Sends what may be sent.
    pub(crate) fn push(&mut self, now: Instant, out: &mut Vec<Payload>) {
        self.transmit(now, Push::All, out);
        let waits = self.board.out() == 0 && !self.queue.is_empty();
        if waits && self.timer.kind.is_none() {
            self.set_timer(now, Kind::ClosedWindow, self.round_trip.timeout());
        }
    }

    pub(crate) fn transmit(&mut self, now: Instant, push: Push, out: &mut Vec<Payload>) {
        let packet = self.payload_bytes();
        let most = self.train_packets();
        let mut sent = 0;
        let mut by_window = false;
        while !self.queue.is_empty() {
            let mut quota = self.window_allows();
            if quota == 0 {
                if push != Push::Probe {
                    break;
                }
                quota = 1;
            }
            let quota = quota.min(most);
            self.queue.fill_first(quota * packet);
            let first = self.queue.first();
            let room = self.window_end().saturating_sub(self.next);
            if room < first.min(packet) {
                break;
            }
            if first > packet && push == Push::All && self.waits_for_more(now, first, most, &mut by_window) {
                break;
            }
            let bytes = first.min(quota * packet).min(if first > packet { room } else { packet });
            self.send_new(now, bytes, out);
            sent += bytes.div_ceil(packet) as u32;
            if push != Push::All {
                break;
            }
        }
        by_window |= self.board.in_flight() >= self.congestion.window.packets;
        if sent > 0 || by_window {
            self.validate_window(now, by_window);
        }
        if sent > 0 {
            if self.is_reducing() {
                self.reduction.sent += sent;
            }
            if push != Push::Probe {
                self.schedule_probe(now, false);
            }
        }
    }

    /// Whether a larger train can be expected soon.
    fn waits_for_more(&self, now: Instant, first: u64, most: u64, by_window: &mut bool) -> bool {
        if self.state >= State::Recovery || (now - self.sent_at).as_nanos() > MILLISECOND_NS {
            return false;
        }
        let packet = self.payload_bytes();
        let window = u64::from(self.congestion.window.packets);
        let receiver = self.window_end() - self.next;
        let congestion = (window - u64::from(self.board.in_flight())) * packet;
        let limit = receiver.min(congestion);
        if limit >= most * packet || (!self.queue.has_one() && limit >= first) {
            return false;
        }
        if limit >= self.window.min(window * packet) / WINDOW_PARTS {
            return false;
        }
        let Some(head) = self.board.head() else { return false };
        let round_trip_ns = self.round_trip.smoothed_us_x8() * 125;
        let expected_ns = head.at.as_nanos() + round_trip_ns;
        if expected_ns > now.as_nanos() + (round_trip_ns / 2).min(MILLISECOND_NS) {
            return false;
        }
        if congestion < receiver && congestion <= first {
            *by_window = true;
        }
        true
    }

    fn send_new(&mut self, now: Instant, bytes: u64, out: &mut Vec<Payload>) {
        let end = self.next + bytes;
        let push = self.queue.take(bytes, end);
        if self.board.in_flight() == 0 {
            let idle = self.tick.at(now).saturating_sub(self.tick.at(self.sent_at));
            self.congestion.resumed(idle);
        }
        let before = self.board.out();
        let packet = self.payload_bytes();
        self.trains += 1;
        let mut from = self.next;
        while from < end {
            let length = packet.min(end - from);
            let ends = push && from + length == end;
            self.board.push(from, length as u32, ends, now, self.trains, self.delivered);
            from += length;
        }
        self.counts.sent += bytes.div_ceil(packet);
        out.push(Payload {
            sequence: self.next,
            bytes: bytes as u32,
            push,
            markable: self.settings.ecn,
            has_reduced: self.settings.ecn && core::mem::take(&mut self.must_announce),
        });
        self.next = end;
        self.sent_at = now;
        if before == 0 || self.timer.kind == Some(Kind::Probe) {
            self.start_timeout_again(now);
        }
    }

    /// Sends packets again, from `number` on.
    pub(crate) fn send_again(
        &mut self,
        now: Instant,
        number: u64,
        packets: u32,
        counted: bool,
        out: &mut Vec<Payload>,
    ) {
        let first = *self.board.get(number);
        let mut last = first;
        for number in number..number + u64::from(packets) {
            last = *self.board.get(number);
            self.board.retransmit(number, now, self.delivered, counted);
        }
        self.counts.retransmitted += u64::from(packets);
        if counted {
            self.undo.retransmitted(packets, now);
        }
        out.push(Payload {
            sequence: first.sequence,
            bytes: (last.end() - first.sequence) as u32,
            push: last.push,
            markable: false,
            has_reduced: false,
        });
        self.sent_at = now;
    }

    /// Sends lost packets again, as many as the window allows.
    pub(crate) fn retransmit_lost(&mut self, now: Instant, out: &mut Vec<Payload>) {
        let packets = self.board.numbers();
        let most = self.train_packets() as u32;
        let mut number = self.board.hint.unwrap_or(packets.start);
        let mut hole = None;
        let mut head_sent = false;
        while number < packets.end {
            if hole.is_none() {
                self.board.hint = Some(number);
            }
            let allowed = self.congestion.window.packets.saturating_sub(self.board.in_flight()).min(most);
            if allowed == 0 || self.board.retransmitted_out >= self.board.lost_out {
                break;
            }
            let sent = self.board.get(number);
            if !sent.lost || sent.sacked || sent.retransmitted {
                if !sent.lost && !sent.sacked && !sent.retransmitted {
                    hole.get_or_insert(number);
                }
                number += 1;
                continue;
            }
            let together = self.lost_together(number, allowed);
            if self.board.get(number).end() > self.window_end() && number != packets.start {
                break;
            }
            self.send_again(now, number, together, true, out);
            if self.is_reducing() {
                self.reduction.sent += together;
            }
            head_sent |= number == packets.start && self.timer.kind != Some(Kind::Reordering);
            number += u64::from(together);
        }
        if head_sent {
            self.set_timer(now, Kind::Retransmission, self.round_trip.timeout());
        }
    }

    /// Lost packets of one train from `number` on.
    fn lost_together(&self, number: u64, most: u32) -> u32 {
        let first = self.board.get(number);
        let packet = self.payload_bytes() as u32;
        let mut together = 1;
        let mut previous = first;
        while together < most && previous.bytes == packet {
            let next = number + u64::from(together);
            if next >= self.board.numbers().end {
                break;
            }
            let sent = self.board.get(next);
            if !sent.lost
                || sent.retransmitted
                || sent.sacked
                || (sent.train, sent.at) != (first.train, first.at)
            {
                break;
            }
            together += 1;
            previous = sent;
        }
        together
    }

    /// Remembers whether the window limits the sender; halves what is not used of it after a timeout's time.
    fn validate_window(&mut self, now: Instant, by_window: bool) {
        let out = self.board.out();
        let limited = &mut self.limited;
        if self.una >= limited.until || by_window || (!limited.by_window && out > limited.most_out) {
            limited.by_window = by_window;
            limited.most_out = out;
            limited.until = self.next;
        }
        let now_tick = self.tick.at(now);
        if self.is_limited_by_window() {
            self.limited.used = 0;
            self.limited.since_tick = now_tick;
            return;
        }
        self.limited.used = self.limited.used.max(out);
        if now_tick - self.limited.since_tick < self.round_trip.timeout() {
            return;
        }
        if self.state == State::Open && !self.queue.blocked {
            let used = self.limited.used.max(INITIAL_PACKETS);
            if used < self.congestion.window.packets {
                self.congestion.window.threshold = self.threshold_now();
                let window = &mut self.congestion.window;
                window.packets = (window.packets + used) / 2;
            }
            self.limited.used = 0;
        }
        self.limited.since_tick = now_tick;
    }

    /// RFC 5681, 4.1: after an idle time the window is that of a new connection; Linux halves it for every timeout's time.
    pub(crate) fn restart_after_idle(&mut self, now: Instant) {
        if self.board.out() > 0 || !self.queue.is_empty() {
            return;
        }
        let timeout = self.round_trip.timeout() as i64;
        let mut idle = self.tick.at(now) as i64 - self.tick.at(self.sent_at) as i64;
        if idle <= timeout {
            return;
        }
        self.congestion.window.threshold = self.threshold_now();
        let window = &mut self.congestion.window;
        let restart = INITIAL_PACKETS.min(window.packets);
        let mut packets = window.packets;
        loop {
            idle -= timeout;
            if idle <= 0 || packets <= restart {
                break;
            }
            packets /= 2;
        }
        window.packets = packets.max(restart);
        self.limited.since_tick = self.tick.at(now);
        self.limited.used = 0;
    }
}
