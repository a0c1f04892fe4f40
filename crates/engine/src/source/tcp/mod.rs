//! Responsive source: the aggregate of some TCP connections. It backs off when its packets are lost and when its path gets
//! longer, and takes what is free; that is what a paced or Poisson source never does.
//!
//! The application offers `rate` x `pacing` bits every `pacing` to all `flows` together; whichever connection may send takes
//! the next packet, in turn. What the network did not take waits (a blocked application catches up), until the next draw
//! of the rate forgets it, as a client that is started anew does. A rate that the path cannot carry is a bulk transfer.
//!
//! Packets of a connection leave at the instant at which its window allows them, all at once, and meet the queue of their
//! own host as those of a real node do: that it drops them is all the back-pressure there is. Every packet that reaches the
//! end of its path is answered, at every second one, by an acknowledgement: a ghost of 52 IP bytes on the way back, which
//! is delayed, queued and lost like any other. So losses and round trips are what the sender measures; nobody tells it.
//!
//! With `ecn`, packets with data say that marks are heeded, and a mark is to the window what a loss is, once a round trip
//! (RFC 3168, 6.1.2); nothing is sent again.
//!
//! Parameters: `flows` in [1, 1 000]; `control` Reno or CUBIC (`window.rs`); `rto_min` (`rtt.rs`); packets of one size, of
//! which 52 bytes are headers. The connections are there from the start, without handshakes.
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

/// Of timers that do not run.
const NEVER: Instant = Instant::from_nanos(u64::MAX);

/// What the connections have in common.
#[derive(Copy, Clone)]
pub(super) struct Parameters {
    pub(super) flows: u16,
    pub(super) control: CongestionControl,
    pub(super) ecn: Ecn,
    pub(super) rto_min: Duration,
    /// Of every packet with data.
    pub(super) ip_bytes: u32,
}

pub(super) struct Responsive {
    demand: Demand,
    pacing: Duration,
    next_supply: Instant,
    /// Handed over by the application and not yet sent.
    backlog_nano_bits: u128,
    packet_nano_bits: u128,
    ip_bytes: u32,
    ecn: Ecn,
    source: SourceId,
    acks: PathId,
    connections: Vec<Connection>,
    /// Who may send what the application hands over, and who may send even without it.
    open: FlowSet,
    owing: FlowSet,
    /// No connection's timer is earlier.
    soonest: Instant,
    /// Who looks for a packet first.
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

    /// What its packets with data carry.
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

    /// A packet has reached the end of its path; returns path, tag and size of the acknowledgement that it calls for.
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

    /// The next connection in turn that may send and has what to send.
    fn ready(&self) -> Option<usize> {
        let has_data = self.backlog_nano_bits >= self.packet_nano_bits;
        let able = if has_data { &self.open } else { &self.owing };
        able.next_from(self.turn)
    }

    /// Something has happened to a connection. A timer that was put off leaves `soonest` too early, which costs one look at
    /// all; what would be wrong is too late.
    fn note(&mut self, flow: usize) {
        let sender = &self.connections[flow].sender;
        self.open.set(flow, sender.may_send(true));
        self.owing.set(flow, sender.may_send(false));
        self.soonest = sender.timer().map_or(self.soonest, |timer| timer.min(self.soonest));
    }
}

/// What a ghost of a responsive source carries in its packet's tag; never 0.
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
    /// `last`: nothing follows for the moment, so it is acknowledged at once.
    Data {
        last: bool,
    },
    Ack,
}

impl Tag {
    const FLOW_SHIFT: u32 = 34;
    const SOURCE_SHIFT: u32 = 44;

    /// # Panics
    /// From the 2^20th source on: an engine that starts one every second lasts twelve days.
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

    /// The tag of a ghost; `None` for one that nobody waits for.
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
    fn tags_survive_being_encoded_and_are_never_0() {
        for kind in [Carries::Data { last: false }, Carries::Data { last: true }, Carries::Ack] {
            for (source, flow, number) in [(0, 0, 0), (0xf_fffe, 999, u32::MAX), (7, 3, 5)] {
                let tag = Tag { source: SourceId(source), flow, kind, number };
                assert_eq!(Tag::decoded(tag.encoded()), Some(tag));
            }
        }
        assert_eq!(Tag::decoded(0), None);
    }
}
