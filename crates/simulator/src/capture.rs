//! Analyses TCP in a capture: each flow's round-trip times, retransmissions and timeouts, and their sum.
//!
//! In Crosswind's own captures a flow is judged where it is sent (`NODE sends` and `NODE receives` together are one place), so it is
//! counted once, and `NODE loses` gives the fate of its packets. In any other capture each interface is a place, where
//! every packet is both sent and an answer; a round trip is then from that place to the far end and back.
//!
//! Packets stand in the order of their stamps before they are judged: up to 4096 are held back for it, and what is
//! later still is counted.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io::Read;

use crosswind_monitor::{Conversations, Direction, Segment};
use crosswind_wire::capture_file::{CaptureError, CaptureFile, Interface, Packet};
use serde::Serialize;

use crate::summary::Delay;

/// More packets than the emulator can decide while one waits for its hand-over.
const HELD_BACK: usize = 4096;

/// The result of a capture.
#[derive(Clone, Debug, Serialize)]
pub struct Captured {
    /// Packets that were read.
    pub packets: u64,
    /// From the first stamp to the last one.
    pub duration_ns: u64,
    /// Why reading ended before the file did; null where it did not.
    pub ended: Option<String>,
    /// Packets that were left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// TCP's flows, those first that began first at each place.
    pub flows: Vec<OneFlow>,
    /// All of them.
    pub sum: Figures,
}

/// One direction of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct OneFlow {
    /// The place: a node, or an interface; empty where the file has no name for it.
    pub at: String,
    /// Address and port.
    pub source: String,
    /// Address and port.
    pub destination: String,
    /// When its first packet passed, since 1970.
    pub first_ns: u64,
    /// What was found.
    #[serde(flatten)]
    pub figures: Figures,
    /// Each of the timeouts.
    pub silences: Vec<Silence>,
}

/// What was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// Packets that were sent.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// From a SYN to its answer; null where there is none.
    pub handshake: Option<Times>,
    /// From data to the echo of its timestamp.
    pub echo: Option<Times>,
    /// From data to the acknowledgement of its last byte.
    pub acknowledgement: Option<Times>,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Those that came after silence.
    pub timeouts: u64,
    /// Drops that the capture itself records, by element and reason.
    pub lost: BTreeMap<String, u64>,
}

/// How often something was timed, and its quantiles in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// How often.
    pub count: u64,
    /// Nearest rank.
    #[serde(flatten)]
    pub delay_ns: Delay,
}

/// A retransmission after silence.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Silence {
    /// When it passed, since 1970.
    pub at_ns: u64,
    /// Its first sequence number.
    pub sequence: u32,
    /// Since its flow had last sent data.
    pub silence_ns: u64,
}

impl Times {
    fn of(values: Vec<u64>) -> Option<Self> {
        let count = values.len() as u64;
        Delay::of(values).map(|delay_ns| Self { count, delay_ns })
    }
}

/// What a packet does to the flows of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Both,
    Sends,
    Receives,
    Loses,
}

/// Place and role of an interface.
fn role_of(interface: &Interface) -> (&str, Role) {
    if interface.application.starts_with("crosswind ") {
        for (ending, role) in
            [(" sends", Role::Sends), (" receives", Role::Receives), (" loses", Role::Loses)]
        {
            if let Some(node) = interface.name.strip_suffix(ending) {
                return (node, role);
            }
        }
    }
    (&interface.name, Role::Both)
}

/// Reads a capture to its end, or as far as it goes. `rto_ns`: the silence from which on a retransmission is a timeout.
///
/// # Errors
/// Where it is no capture.
pub fn capture<R: Read>(input: R, rto_ns: u64) -> Result<Captured, CaptureError> {
    let mut file = CaptureFile::open(input)?;
    let mut seen = Seen { rto_ns, ..Seen::default() };
    let ended = loop {
        match file.read() {
            Ok(Some(packet)) => seen.packet(&packet, file.interfaces()),
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    seen.leave_out("no-stamp", file.without_stamp);
    seen.leave_out("link-not-read", file.link_not_read);
    seen.packets += file.without_stamp + file.link_not_read;
    Ok(seen.finish(ended))
}

/// A packet that waits for its turn: by stamp, then by its order in the file.
struct Held {
    at_ns: u64,
    number: u64,
    place: usize,
    role: Role,
    segment: Segment,
    comment: String,
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at_ns, self.number).cmp(&(other.at_ns, other.number))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Held {}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

#[derive(Default)]
struct Seen {
    rto_ns: u64,
    packets: u64,
    /// Least and greatest stamp.
    span_ns: Option<(u64, u64)>,
    left_out: BTreeMap<&'static str, u64>,
    /// Names of places, and what was found there.
    places: Vec<(String, Conversations)>,
    place_of: HashMap<String, usize>,
    held: BinaryHeap<Reverse<Held>>,
    judged_ns: u64,
}

impl Seen {
    fn leave_out(&mut self, why: &'static str, packets: u64) {
        if packets > 0 {
            *self.left_out.entry(why).or_default() += packets;
        }
    }

    fn packet(&mut self, packet: &Packet, interfaces: &[Interface]) {
        self.packets += 1;
        let (first, last) = self.span_ns.unwrap_or((packet.at_ns, packet.at_ns));
        self.span_ns = Some((first.min(packet.at_ns), last.max(packet.at_ns)));
        let Some(headers) = packet.headers() else { return self.leave_out("headers-cut", 1) };
        let Some(segment) = Segment::captured(&headers, packet.at_ns, self.packets) else {
            return self.leave_out("not-ip", 1);
        };
        if segment.tcp.is_none() {
            let why = if headers.protocol == 6 { "headers-cut" } else { "not-tcp" };
            return self.leave_out(why, 1);
        }
        let (name, role) = role_of(&interfaces[packet.interface]);
        let place = self.place(name);
        let comment = packet.comment.clone();
        self.held.push(Reverse(Held {
            at_ns: packet.at_ns,
            number: self.packets,
            place,
            role,
            segment,
            comment,
        }));
        if self.held.len() > HELD_BACK {
            self.judge_next();
        }
    }

    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.place_of.get(name) {
            return place;
        }
        self.places.push((name.to_owned(), Conversations::new(self.rto_ns)));
        self.place_of.insert(name.to_owned(), self.places.len() - 1);
        self.places.len() - 1
    }

    fn judge_next(&mut self) {
        let Some(Reverse(Held { at_ns, place, role, segment, comment, .. })) = self.held.pop() else {
            return;
        };
        if at_ns < self.judged_ns {
            self.leave_out("out-of-order", 1);
            return;
        }
        self.judged_ns = at_ns;
        let conversations = &mut self.places[place].1;
        if matches!(role, Role::Both | Role::Receives) {
            conversations.answered(&segment);
        }
        if matches!(role, Role::Both | Role::Sends) {
            conversations.sent(&segment);
        }
        if role == Role::Loses {
            conversations.lost(&segment, &comment);
        }
    }

    fn finish(mut self, ended: Option<String>) -> Captured {
        while !self.held.is_empty() {
            self.judge_next();
        }
        let not_followed = self.places.iter().map(|(_, place)| place.not_followed).sum();
        self.leave_out("too-many-flows", not_followed);
        let (mut flows, mut all) = (Vec::new(), Sum::default());
        for (at, conversations) in self.places {
            for direction in conversations.into_directions() {
                flows.push(all.add(&at, direction));
            }
        }
        Captured {
            packets: self.packets,
            duration_ns: self.span_ns.map_or(0, |(first, last)| last - first),
            ended,
            left_out: self.left_out,
            flows,
            sum: all.finish(),
        }
    }
}

/// Over all flows; times are stored until the end, so that quantiles are exact.
#[derive(Default)]
struct Sum {
    figures: Figures,
    handshakes_ns: Vec<u64>,
    echoes_ns: Vec<u64>,
    acknowledgements_ns: Vec<u64>,
}

impl Sum {
    fn add(&mut self, at: &str, direction: Direction) -> OneFlow {
        let sum = &mut self.figures;
        sum.packets += direction.packets;
        sum.bytes += direction.ip_bytes;
        sum.retransmissions += direction.retransmissions;
        sum.timeouts += direction.timeouts.len() as u64;
        for (why, packets) in &direction.lost {
            *sum.lost.entry(why.clone()).or_default() += packets;
        }
        self.handshakes_ns.extend(&direction.handshakes_ns);
        self.echoes_ns.extend(&direction.echoes_ns);
        self.acknowledgements_ns.extend(&direction.acknowledgements_ns);
        OneFlow {
            at: at.to_owned(),
            source: direction.flow.source.to_string(),
            destination: direction.flow.destination.to_string(),
            first_ns: direction.first_ns,
            figures: Figures {
                packets: direction.packets,
                bytes: direction.ip_bytes,
                handshake: Times::of(direction.handshakes_ns),
                echo: Times::of(direction.echoes_ns),
                acknowledgement: Times::of(direction.acknowledgements_ns),
                retransmissions: direction.retransmissions,
                timeouts: direction.timeouts.len() as u64,
                lost: direction.lost,
            },
            silences: direction
                .timeouts
                .iter()
                .map(|timeout| Silence {
                    at_ns: timeout.at_ns,
                    sequence: timeout.sequence,
                    silence_ns: timeout.silence_ns,
                })
                .collect(),
        }
    }

    fn finish(self) -> Figures {
        Figures {
            handshake: Times::of(self.handshakes_ns),
            echo: Times::of(self.echoes_ns),
            acknowledgement: Times::of(self.acknowledgements_ns),
            ..self.figures
        }
    }
}
