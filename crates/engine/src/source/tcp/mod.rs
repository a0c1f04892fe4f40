//! Responsive source: the aggregate of a number of TCP connections. Unlike a paced or Poisson source, it backs off
//! when its packets are lost and when its path gets longer, and uses free capacity.
//!
//! The application offers `rate` x `pacing` bits at every `pacing` to all `flows` together; connections that may send
//! take the next packet in turn. Bits that the network did not take wait (a blocked application catches up), until the
//! next draw of the rate discards them, as a restarted client does. A rate that the path cannot carry is a bulk
//! transfer.
//!
//! Packets of a connection leave as soon as its window allows, all at once, and enter the queue of their own host as
//! those of a real node do; drops there are the only back-pressure. The receiver acknowledges packets that reach the
//! end of their path, at least every second one. An acknowledgement is a ghost of 52 IP bytes on the way back, which
//! is delayed, queued and lost like any other packet. So the sender measures losses and round trips; it has no other
//! information.
//!
//! With `ecn`, packets with data announce that the sender reacts to marks. To the window a mark is the same as a loss,
//! once per round trip (RFC 3168, 6.1.2); nothing is retransmitted.
//!
//! Parameters: `flows` in [1, 1 000]; `control` Reno or CUBIC (`window.rs`); `rto_min` (`rtt.rs`); packets of one
//! size, of which 52 bytes are headers. The connections exist from the start, without handshakes.
//!
//! Source: RFC 9293 with RFC 5681, 6298, 8985, 9438. Deviations: see `sender.rs` and `receiver.rs`.

mod flow_set;
mod receiver;
mod rtt;
mod sender;
mod window;

use alloc::vec::Vec;

use super::demand::Demand;
use super::{CongestionControl, SourceId};
use crate::ecn::Ecn;
use crate::path::PathId;
use crate::units::{Duration, Instant, NANO};
use flow_set::FlowSet;
use receiver::{Came, Receiver};
use sender::Sender;

/// IPv4 and TCP headers with timestamps.
const ACK_IP_BYTES: u32 = 20 + 20 + 12;

/// The value of timers that do not run.
const NEVER: Instant = Instant::from_nanos(u64::MAX);

/// Parameters shared by all connections.
#[derive(Copy, Clone)]
pub(super) struct Parameters {
    pub(super) flows: u16,
    pub(super) control: CongestionControl,
    pub(super) ecn: Ecn,
    pub(super) rto_min: Duration,
    /// Size of every packet with data.
    pub(super) ip_bytes: u32,
}

pub(super) struct Responsive {
    demand: Demand,
    pacing: Duration,
    next_supply: Instant,
    /// Written by the application and not yet sent.
    backlog_nano_bits: u128,
    packet_nano_bits: u128,
    ip_bytes: u32,
    ecn: Ecn,
    source: SourceId,
    acks: PathId,
    connections: Vec<Connection>,
    /// The connections that may send new data, and those that may send even without new data.
    open: FlowSet,
    owing: FlowSet,
    /// No connection's timer is earlier.
    soonest: Instant,
    /// The connection that is checked first for a packet.
    turn: usize,
    now: Instant,
}

struct Connection {
    sender: Sender,
    receiver: Receiver,
}

impl Responsive {
    pub(super) fn new(
        demand: Demand,
        tcp: Parameters,
        pacing: Duration,
        source: SourceId,
        acks: PathId,
        start: Instant,
    ) -> Responsive {
        let connection =
            |_| Connection { sender: Sender::new(tcp.control, tcp.rto_min), receiver: Receiver::default() };
        let mut responsive = Responsive {
            demand,
            pacing,
            next_supply: start,
            backlog_nano_bits: 0,
            packet_nano_bits: u128::from(tcp.ip_bytes) * 8 * u128::from(NANO),
            ip_bytes: tcp.ip_bytes,
            ecn: tcp.ecn,
            source,
            acks,
            connections: (0..tcp.flows).map(connection).collect(),
            open: FlowSet::new(tcp.flows.into()),
            owing: FlowSet::new(tcp.flows.into()),
            soonest: NEVER,
            turn: 0,
            now: start,
        };
        for flow in 0..responsive.connections.len() {
            responsive.note(flow);
        }
        responsive
    }

    pub(super) fn redirect_acks(&mut self, path: PathId) {
        self.acks = path;
    }

    pub(super) fn draws(&self) -> &[(Instant, u64)] {
        self.demand.draws()
    }

    /// ECN bits of its packets with data.
    pub(super) fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// Does what is due now; returns tag and size of the packet that it sends.
    pub(super) fn wake(&mut self, now: Instant) -> Option<(u64, u32)> {
        self.now = now;
        if self.demand.drawn(now) {
            self.backlog_nano_bits = 0;
            self.next_supply = now;
        }
        if self.next_supply == now {
            let rate = self.demand.rate().unwrap_or(0);
            self.backlog_nano_bits += u128::from(rate) * u128::from(self.pacing.as_nanos());
            self.next_supply = now.saturating_add(self.pacing);
        }
        if self.soonest <= now {
            self.soonest = NEVER;
            for flow in 0..self.connections.len() {
                self.connections[flow].sender.wake(now);
                self.note(flow);
            }
        }
        let flow = self.ready()?;
        self.turn = (flow + 1) % self.connections.len();
        let sender = &mut self.connections[flow].sender;
        if !sender.owes_again() && self.backlog_nano_bits >= self.packet_nano_bits {
            self.backlog_nano_bits -= self.packet_nano_bits;
        }
        let more = self.backlog_nano_bits >= self.packet_nano_bits;
        let (number, last) = sender.send(now, more);
        self.note(flow);
        let tag = Tag { source: self.source, flow, kind: Carries::Data { last }, number };
        Some((tag.encoded(), self.ip_bytes))
    }

    pub(super) fn next_wake(&self) -> Instant {
        if self.ready().is_some() {
            return self.now;
        }
        self.demand.next_draw().min(self.next_supply).min(self.soonest)
    }

    /// A packet has reached the end of its path; returns path, tag and size of its acknowledgement, if it requires
    /// one.
    pub(super) fn delivered(&mut self, tag: Tag, ecn: Ecn, now: Instant) -> Option<(PathId, u64, u32)> {
        self.now = now;
        let Connection { sender, receiver } = &mut self.connections[tag.flow];
        match tag.kind {
            Carries::Data { last } => {
                let came = Came { number: sender.whole_number(tag.number), marked: ecn == Ecn::Ce };
                let serial = receiver.receive(came, last)?;
                let ack = Tag { kind: Carries::Ack, number: serial, ..tag };
                Some((self.acks, ack.encoded(), ACK_IP_BYTES))
            }
            Carries::Ack => {
                sender.acknowledge(receiver.reported(tag.number), now);
                self.note(tag.flow);
                None
            }
        }
    }

    /// The next connection in turn that may send and has something to send.
    fn ready(&self) -> Option<usize> {
        let has_data = self.backlog_nano_bits >= self.packet_nano_bits;
        let able = if has_data { &self.open } else { &self.owing };
        able.next_from(self.turn)
    }

    /// The state of a connection has changed. If its timer was moved to later, `soonest` is too early, which costs one
    /// check of all connections; only a late value would be wrong.
    fn note(&mut self, flow: usize) {
        let sender = &self.connections[flow].sender;
        self.open.set(flow, sender.may_send(true));
        self.owing.set(flow, sender.may_send(false));
        self.soonest = sender.timer().map_or(self.soonest, |timer| timer.min(self.soonest));
    }
}

/// The content of the tag of a responsive source's ghost; never 0.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tag {
    pub(crate) source: SourceId,
    flow: usize,
    kind: Carries,
    /// The last 32 bits of the packet's number or of the acknowledgement's serial.
    number: u32,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Carries {
    /// `last`: no packet follows at present, so this one is acknowledged at once.
    Data {
        last: bool,
    },
    Ack,
}

impl Tag {
    const FLOW_SHIFT: u32 = 34;
    const SOURCE_SHIFT: u32 = 44;

    /// # Panics
    /// From the 2^20th source on: an engine that starts one every second reaches this after twelve days.
    fn encoded(self) -> u64 {
        let kind = match self.kind {
            Carries::Data { last: false } => 0,
            Carries::Data { last: true } => 1,
            Carries::Ack => 2,
        };
        let source = u64::from(self.source.0) + 1;
        assert!(
            source < 1 << 20,
            "fewer than 2^20 sources are started in an engine that has responsive ones"
        );
        source << Tag::SOURCE_SHIFT
            | (self.flow as u64) << Tag::FLOW_SHIFT
            | kind << 32
            | u64::from(self.number)
    }

    /// The tag of a ghost; `None` if no source waits for it.
    pub(crate) fn decoded(tag: u64) -> Option<Tag> {
        let source = (tag >> Tag::SOURCE_SHIFT).checked_sub(1)? as u32;
        let kind = match (tag >> 32) & 3 {
            0 => Carries::Data { last: false },
            1 => Carries::Data { last: true },
            _ => Carries::Ack,
        };
        let flow = ((tag >> Tag::FLOW_SHIFT) & 0x3ff) as usize;
        Some(Tag { source: SourceId(source), flow, kind, number: tag as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_the_same_after_encoding_and_decoding_and_never_0() {
        for kind in [Carries::Data { last: false }, Carries::Data { last: true }, Carries::Ack] {
            for (source, flow, number) in [(0, 0, 0), (0xf_fffe, 999, u32::MAX), (7, 3, 5)] {
                let tag = Tag { source: SourceId(source), flow, kind, number };
                assert_eq!(Tag::decoded(tag.encoded()), Some(tag));
            }
        }
        assert_eq!(Tag::decoded(0), None);
    }
}
