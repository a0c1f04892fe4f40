//! One end of a connection: makes it, sends what the application writes, and holds what came until it is read.
//!
//! Whatever an end wants to send now it adds to `out`, in order; the caller carries it to the other end. The caller also
//! wakes it when [`Endpoint::next_timer`] has come, and says when the application reads and writes.

use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::delayed_ack::Decision;
use crate::receiver::{Known, Receiver};
use crate::segment::{Blocks, Kind, Segment};
use crate::sender::{Payload, Sender, SenderCounts};
use crate::settings::Settings;
use crate::tick::Tick;
use crate::transmit::Push;

/// RFC 6298, 2.1, and Linux, `tcp_syn_linear_timeouts`: the number of timeouts of a second before they double.
const FIRST_TIMEOUT_US: u64 = 1_000_000;
const EQUAL_TIMEOUTS: u32 = 4;

/// Where a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A server that waits for a client, or a client that has not asked.
    Closed,
    /// SYN, or the answer to one, is under way.
    Opening {
        kind: Kind,
        first_at: Instant,
        times: u32,
        expires: Instant,
    },
    Established,
}

/// What a segment has changed for the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The connection is made.
    pub established: bool,
    /// There is more to read.
    pub readable: bool,
    /// There is room again for an application that waits to write.
    pub writable: bool,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Endpoint {
    tick: Tick,
    payload_bytes: u32,
    stage: Stage,
    sender: Sender,
    receiver: Receiver,
    payloads: Vec<Payload>,
}

impl Endpoint {
    /// An end that waits for the other.
    pub fn new(settings: Settings, now: Instant) -> Self {
        Self {
            tick: Tick::new(settings.tick, settings.tick_phase),
            payload_bytes: settings.payload_bytes(),
            stage: Stage::Closed,
            sender: Sender::new(settings, now),
            receiver: Receiver::new(&settings, now),
            payloads: Vec::new(),
        }
    }

    /// Asks the other end for a connection.
    pub fn open(&mut self, now: Instant, out: &mut Vec<Segment>) {
        self.ask(now, Kind::Syn, now, 0, out);
    }

    fn ask(&mut self, now: Instant, kind: Kind, first_at: Instant, times: u32, out: &mut Vec<Segment>) {
        let doublings = match kind {
            Kind::Syn => times.saturating_sub(EQUAL_TIMEOUTS),
            _ => times,
        };
        let ticks = self.tick.of_us(FIRST_TIMEOUT_US << doublings.min(6));
        let expires = self.tick.expiry(now, self.tick.at(now) + ticks);
        self.stage = Stage::Opening { kind, first_at, times, expires };
        let segment = self.segment(now, kind);
        out.push(segment);
    }

    /// A segment of this kind without payload.
    fn segment(&mut self, now: Instant, kind: Kind) -> Segment {
        let header = self.receiver.header();
        Segment {
            kind,
            sequence: self.sender.next,
            bytes: 0,
            packet_bytes: self.payload_bytes,
            push: false,
            acknowledged: header.acknowledged,
            window: header.window,
            duplicate: header.duplicate,
            blocks: if kind == Kind::Established { header.blocks } else { Blocks::default() },
            stamp_ms: now.as_nanos() / 1_000_000,
            echo_ms: header.echo_ms,
            markable: false,
            marked: false,
            echoes_mark: header.echoes_mark,
            has_reduced: false,
        }
    }

    /// Whether the connection is made.
    pub fn is_established(&self) -> bool {
        self.stage == Stage::Established
    }

    /// Writes up to `bytes`; returns how many there was room for. An application that could not write all learns when
    /// there is room ([`Changed::writable`]).
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut Vec<Segment>) -> u64 {
        if !self.is_established() {
            return 0;
        }
        let mut written = 0;
        while written < bytes {
            self.sender.restart_after_idle(now);
            let goal = self.sender.buffer_goal();
            let added = self.sender.queue.add(bytes - written, goal);
            if added == 0 {
                self.sender.queue.blocked = true;
                break;
            }
            written += added;
            // A full buffer leaves while the next is written.
            if written < bytes && self.sender.queue.has_one() {
                self.sender.transmit(now, Push::One, &mut self.payloads);
            }
        }
        if written > 0 {
            self.sender.queue.end_write();
            self.sender.push(now, &mut self.payloads);
        }
        self.flush(now, out);
        written
    }

    /// Reads everything that came in order; returns how many bytes.
    pub fn read(&mut self, now: Instant, out: &mut Vec<Segment>) -> u64 {
        let (bytes, acknowledge) = self.receiver.read_all(now);
        if acknowledge {
            let segment = self.segment(now, Kind::Established);
            out.push(segment);
        }
        bytes
    }

    /// A segment has come.
    pub fn receive(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Segment>) -> Changed {
        let mut changed = Changed::default();
        match (self.stage, segment.kind) {
            (Stage::Closed, Kind::Syn) => {
                self.receiver.take_stamp(segment);
                self.ask(now, Kind::SynAck, now, 0, out);
                return changed;
            }
            (Stage::Opening { kind: Kind::SynAck, first_at, times, .. }, Kind::Syn) => {
                self.ask(now, Kind::SynAck, first_at, times, out);
                return changed;
            }
            (Stage::Opening { kind: Kind::Syn, first_at, times, .. }, Kind::SynAck)
            | (Stage::Opening { kind: Kind::SynAck, first_at, times, .. }, Kind::Established) => {
                let us = (now.as_nanos() - first_at.as_nanos()) / 1_000;
                self.stage = Stage::Established;
                self.sender.establish(segment.window, (times == 0).then_some(us.max(1)));
                changed.established = true;
                if segment.kind == Kind::SynAck {
                    self.receiver.take_stamp(segment);
                    let answer = self.segment(now, Kind::Established);
                    out.push(answer);
                    return changed;
                }
            }
            (Stage::Established, Kind::SynAck) => {
                // The acknowledgement of the first was lost.
                let answer = self.segment(now, Kind::Established);
                out.push(answer);
                return changed;
            }
            (Stage::Established, Kind::Established) => {}
            _ => return changed,
        }
        self.receiver.take_stamp(segment);
        self.sender.acknowledge(now, segment, &mut self.payloads);
        self.flush(now, out);
        let known = self.known();
        changed.readable = self.receiver.take(now, segment, known);
        self.sender.push(now, &mut self.payloads);
        self.flush(now, out);
        changed.writable = self.make_room();
        if self.receiver.decide(now, known) == Decision::Now {
            let answer = self.segment(now, Kind::Established);
            out.push(answer);
        }
        changed
    }

    fn known(&self) -> Known {
        Known {
            smoothed_us: self.sender.round_trip.smoothed_us(),
            timeout_ticks: self.sender.round_trip.timeout(),
        }
    }

    /// Whether an application that waits to write has room now.
    fn make_room(&mut self) -> bool {
        let Sender { queue, board, congestion, .. } = &mut self.sender;
        if !queue.blocked {
            return false;
        }
        if board.in_flight() < congestion.window.packets {
            queue.expand(congestion.window.packets);
        }
        queue.blocked = !queue.is_writable();
        !queue.blocked
    }

    /// When to wake it; `None` while nothing is under way.
    pub fn next_timer(&self) -> Option<Instant> {
        match self.stage {
            Stage::Closed => None,
            Stage::Opening { expires, .. } => Some(expires),
            Stage::Established => {
                self.sender.next_timer().into_iter().chain(self.receiver.ack.next_timer()).min()
            }
        }
    }

    /// Does what is due now.
    pub fn wake(&mut self, now: Instant, out: &mut Vec<Segment>) {
        match self.stage {
            Stage::Opening { kind, first_at, times, expires } if expires <= now => {
                self.ask(now, kind, first_at, times + 1, out);
            }
            Stage::Established => {
                self.sender.wake(now, &mut self.payloads);
                self.flush(now, out);
                let timeout_ticks = self.sender.round_trip.timeout();
                if self.receiver.ack.wake(now, timeout_ticks) {
                    let segment = self.segment(now, Kind::Established);
                    out.push(segment);
                }
            }
            _ => {}
        }
    }

    /// Puts headers before what the sender wants to send.
    fn flush(&mut self, now: Instant, out: &mut Vec<Segment>) {
        let mut payloads = core::mem::take(&mut self.payloads);
        for payload in payloads.drain(..) {
            if payload.bytes > 0 {
                self.receiver.ack.data_sent(now);
            }
            let header = self.segment(now, Kind::Established);
            out.push(Segment {
                sequence: payload.sequence,
                bytes: payload.bytes,
                // A train ends what is handed over together.
                push: payload.push || payload.bytes > self.payload_bytes,
                markable: payload.markable,
                has_reduced: payload.has_reduced,
                ..header
            });
        }
        self.payloads = payloads;
    }

    /// What its sender has counted.
    pub fn counts(&self) -> SenderCounts {
        self.sender.counts
    }

    /// Bytes that the other end has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.sender.una
    }

    /// Bytes that came in order.
    pub fn received(&self) -> u64 {
        self.receiver.data.next
    }

    /// The smoothed round trip in microseconds; `None` before the first.
    pub fn round_trip_us(&self) -> Option<u64> {
        self.sender.round_trip.smoothed_us()
    }

    /// The congestion window, in packets.
    pub fn window_packets(&self) -> u32 {
        self.sender.congestion.window.packets
    }

    /// The retransmission timeout in microseconds.
    pub fn timeout_us(&self) -> u64 {
        self.tick.us(self.sender.round_trip.timeout())
    }
}
