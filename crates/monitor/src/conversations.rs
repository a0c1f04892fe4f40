//! Measures each TCP flow of a capture: round-trip times, retransmissions, and those that a timeout caused.
//!
//! A **timeout** is a retransmission before which its flow has sent no data for at least the least timeout (`rto_ns`) and the shortest
//! round trip that the flow has had: a sender's timer runs for its round-trip time and 200 ms or more (Linux), and a retransmission that duplicate
//! acknowledgements asked for comes within a round trip of other data. What follows it without a pause repairs the same timeout. A sender that still
//! trickles data while its timer runs has no silence, and its timeout is a retransmission only; so is what was sent again whose first
//! sending was the last of its flow and was lost before the place of capture, which looks like new data.
//!
//! Times are exact (8 bytes for each); 65,536 flows are followed, and packets of others counted.
//!
//! Source: RFC 6298, sections 2 and 5; Linux, `TCP_RTO_MIN`.

use std::collections::BTreeMap;

use ahash::AHashMap;
use crosswind_wire::Flow;

use crate::acknowledgement::Unacknowledged;
use crate::retransmission::Sent;
use crate::rtt::{Answer, Probes};
use crate::segment::Segment;

const FLOWS_MAX: usize = 65_536;

/// A retransmission after silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// When it passed.
    pub at_ns: u64,
    /// Its first sequence number.
    pub sequence: u32,
    /// Since its flow had last sent data.
    pub silence_ns: u64,
}

/// One direction of a conversation.
#[derive(Debug)]
pub struct Direction {
    /// Whose.
    pub flow: Flow,
    /// Packets that were sent, again or not.
    pub packets: u64,
    /// Their IP bytes.
    pub ip_bytes: u64,
    /// When the first of them passed.
    pub first_ns: u64,
    /// From a SYN to its answer.
    pub handshakes_ns: Vec<u64>,
    /// From data to the echo of its timestamp.
    pub echoes_ns: Vec<u64>,
    /// From data to the acknowledgement of its last byte.
    pub acknowledgements_ns: Vec<u64>,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Those that came after silence.
    pub timeouts: Vec<Timeout>,
    /// Packets for which the capture itself gives the reason of the drop.
    pub lost: BTreeMap<String, u64>,
    sent: Option<Sent>,
    probes: Probes,
    unacknowledged: Unacknowledged,
    data_ns: Option<u64>,
    shortest_ns: Option<u64>,
}

impl Direction {
    fn new(flow: Flow, first_ns: u64) -> Self {
        Self {
            flow,
            packets: 0,
            ip_bytes: 0,
            first_ns,
            handshakes_ns: Vec::new(),
            echoes_ns: Vec::new(),
            acknowledgements_ns: Vec::new(),
            retransmissions: 0,
            timeouts: Vec::new(),
            lost: BTreeMap::new(),
            sent: None,
            probes: Probes::default(),
            unacknowledged: Unacknowledged::default(),
            data_ns: None,
            shortest_ns: None,
        }
    }

    fn sent(&mut self, segment: &Segment, rto_ns: u64) {
        self.packets += u64::from(segment.packets);
        self.ip_bytes += u64::from(segment.ip_bytes);
        self.probes.sent(segment);
        let length = segment.length();
        let Some((sequence, _, tcp)) = segment.tcp.filter(|_| length > 0) else { return };
        let known = self.sent.get_or_insert_with(|| Sent::new(sequence));
        if known.passes(sequence, length, tcp.flags, segment.at_ns).is_some() {
            self.retransmissions += 1;
            self.unacknowledged.sent_again();
            let silence_ns = self.data_ns.map_or(0, |last_ns| segment.at_ns.saturating_sub(last_ns));
            if silence_ns >= rto_ns.saturating_add(self.shortest_ns.unwrap_or(0)) {
                self.timeouts.push(Timeout { at_ns: segment.at_ns, sequence, silence_ns });
            }
        } else if !segment.is_syn() {
            // The handshake's own time is reported separately.
            self.unacknowledged.sent(sequence.wrapping_add(length), segment.at_ns);
        }
        self.data_ns = Some(segment.at_ns);
    }

    fn answered(&mut self, segment: &Segment) {
        let (handshakes, echoes) = (&mut self.handshakes_ns, &mut self.echoes_ns);
        let mut shortest = self.shortest_ns.unwrap_or(u64::MAX);
        self.probes.answered(segment, |answer, since_ns| {
            shortest = shortest.min(since_ns);
            match answer {
                Answer::Handshake => handshakes.push(since_ns),
                Answer::Timestamp => echoes.push(since_ns),
            }
        });
        if let Some((_, _, tcp)) = segment.tcp.filter(|_| segment.acknowledges()) {
            if let Some(since_ns) = self.unacknowledged.answered(tcp.acknowledgement, segment.at_ns) {
                shortest = shortest.min(since_ns);
                self.acknowledgements_ns.push(since_ns);
            }
        }
        self.shortest_ns = (shortest < u64::MAX).then_some(shortest);
    }
}

/// All flows at one place.
#[derive(Debug)]
pub struct Conversations {
    rto_ns: u64,
    places: AHashMap<Flow, usize>,
    directions: Vec<Direction>,
    /// Packets of flows for which there was no room.
    pub not_followed: u64,
}

impl Conversations {
    /// Where nothing has passed. `rto_ns`: the shortest time after which a sender's timer retransmits, without the round trip.
    pub fn new(rto_ns: u64) -> Self {
        Self { rto_ns, places: AHashMap::new(), directions: Vec::new(), not_followed: 0 }
    }

    /// A segment of TCP is sent here.
    pub fn sent(&mut self, segment: &Segment) {
        let rto_ns = self.rto_ns;
        match self.follow(&segment.flow, segment.at_ns) {
            Some(direction) => direction.sent(segment, rto_ns),
            None => self.not_followed += u64::from(segment.packets),
        }
    }

    /// A segment arrives here, and answers what was sent in the other direction.
    pub fn answered(&mut self, segment: &Segment) {
        if let Some(&place) = self.places.get(&segment.flow.reversed()) {
            self.directions[place].answered(segment);
        }
    }

    /// A packet that was sent here is dropped on its way, for a reason that is known.
    pub fn lost(&mut self, segment: &Segment, why: &str) {
        if let Some(direction) = self.follow(&segment.flow, segment.at_ns) {
            *direction.lost.entry(why.to_owned()).or_default() += u64::from(segment.packets);
        }
    }

    /// Every flow that was sent here, in the order in which they began.
    pub fn into_directions(self) -> Vec<Direction> {
        self.directions
    }

    fn follow(&mut self, flow: &Flow, at_ns: u64) -> Option<&mut Direction> {
        let next = self.directions.len();
        let place = match self.places.get(flow) {
            Some(&place) => place,
            None if next == FLOWS_MAX => return None,
            None => {
                self.places.insert(*flow, next);
                self.directions.push(Direction::new(*flow, at_ns));
                next
            }
        };
        Some(&mut self.directions[place])
    }
}
