//! One other machine: what goes to it, what has come from it, and its clock. Pure: time is an argument, and datagrams
//! are bytes.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use ahash::AHashMap;
use crosswind_engine::{Class, ElementId, Instant, LabelSet, Onward};
use crosswind_fabric::Crosses;
use serde::Serialize;

use crate::arrivals::Arrivals;
use crate::bytes::Reader;
use crate::clock::{ClockReport, PeerClock};
use crate::datagram::{self, Header, Key, RunKey};
use crate::frames_in::FramesIn;
use crate::frames_out::FramesOut;
use crate::message::{Message, Passage};
use crate::outgoing::Outgoing;
use crate::record::{self, Ends, Part, Record, PART_BYTES};
use crate::sequence::Sequence;

/// Between questions about the clock: often at first, because a trial waits for the estimate.
const ASK_EARLY_NS: u64 = 10_000_000;
const ASK_LATER_NS: u64 = 50_000_000;
const EARLY_EXCHANGES: u64 = 100;
/// Announcements of one generation that are taken from a peer. Each is a way or a set of labels; the engine numbers them
/// with fewer bits.
const ANNOUNCEMENTS_MAX: u32 = 1 << 20;
/// Elements of a way, and labels of a set.
const LIST_MAX: usize = 1 << 16;
/// Bytes of a record beside frames and lists.
const RECORD_BYTES: usize = 64;
/// A datagram with less room than this for the bytes of a frame is not used for them.
const PART_MIN: usize = 64;
/// Frames that are looked at with each question, whether they are still in use here.
const LOOKS: usize = 256;

/// The datagram that was on its way for the least time, among some. Which time that is depends on the clocks, but not
/// which one is the least. Traffic has many more than questions and answers, and one that was not held up among them.
#[derive(Clone, Copy, Debug, Default)]
struct Quickest(Option<(u64, u64)>);

impl Quickest {
    /// One was sent at an instant of the other clock, and came at one of the own.
    fn note(&mut self, sent_ns: u64, came_ns: u64) {
        let way = |sent: u64, came: u64| i128::from(came) - i128::from(sent);
        if self.0.is_none_or(|(sent, came)| way(sent_ns, came_ns) < way(sent, came)) {
            self.0 = Some((sent_ns, came_ns));
        }
    }

    /// When it was sent and came; the next one is looked for among those that follow.
    fn take_if(&mut self, wanted: bool) -> Option<(u64, u64)> {
        self.0.take_if(|_| wanted)
    }
}

/// Who is who in a run.
#[derive(Clone, Debug)]
pub struct Membership {
    /// Own domain.
    pub domain: u16,
    /// Number of the run.
    pub run: u64,
    /// Key of the run.
    pub key: RunKey,
}

/// Another machine.
#[derive(Debug)]
pub struct Peer {
    domain: u16,
    sends: Key,
    receives: Key,
    /// Datagrams sent.
    sent: u64,
    out: Outgoing,
    /// Questions and answers, which go before everything else: what is before them would count as time on the way.
    exchange: Outgoing,
    /// Announcements of this generation, written out; the first `acknowledged` have arrived.
    announcements: Vec<Vec<u8>>,
    acknowledged: usize,
    /// Announcements that have been written into the datagram being filled.
    written: usize,
    frames_out: FramesOut,
    asked_at_ns: u64,
    /// A question has come.
    asked: bool,
    /// The quickest datagram since the latest answer that was sent, and since the latest that came.
    to_answer: Quickest,
    to_note: Quickest,
    arrivals: Arrivals,
    sequence: Sequence,
    /// Announcements of this generation that have come.
    announced: u32,
    /// Announced with pieces that are still to come.
    piece: Option<Crosses>,
    /// The first element of each way: the cut link.
    ways: AHashMap<Onward, ElementId>,
    labels: HashSet<LabelSet>,
    frames_in: FramesIn,
    refused: u64,
    /// Bytes of the longest datagram that has come.
    longest: usize,
    /// When the latest datagram was sent, on its sender's clock.
    latest_sent_ns: u64,
    clock: PeerClock,
    before: Before,
}

/// Counts when the window started.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    sent: u64,
    refused: u64,
    steps: u64,
}

/// Counts of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct PeerReport {
    pub domain: u16,
    pub sent_datagrams: u64,
    pub received_datagrams: u64,
    pub lost_datagrams: u64,
    pub reordered_datagrams: u64,
    pub duplicate_datagrams: u64,
    /// The longest that has come in this run, bytes.
    pub longest_datagram: usize,
    /// Records that were no records, or named what had not been announced.
    pub refused_records: u64,
    /// Whatever the peer sent before this instant of the own clock has come or is counted as lost; null before there is
    /// an estimate of its clock. A window can be judged when this has passed its end.
    pub complete_until_ns: Option<u64>,
    /// The clock was set in this window.
    pub clock_steps: u64,
    pub clock: ClockReport,
}

/// What a received datagram is about.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// When it came, on the own clock.
    pub at_ns: u64,
    /// The fabric that is up.
    pub generation: u32,
    /// Nodes of the fabric.
    pub nodes: usize,
}

impl Peer {
    /// Nothing has been exchanged yet.
    pub fn new(own: &Membership, domain: u16) -> Self {
        Self {
            domain,
            sends: Key::of(&own.key, own.domain, domain),
            receives: Key::of(&own.key, domain, own.domain),
            sent: 0,
            out: Outgoing::default(),
            exchange: Outgoing::default(),
            announcements: Vec::new(),
            acknowledged: 0,
            written: 0,
            frames_out: FramesOut::default(),
            asked_at_ns: 0,
            asked: false,
            to_answer: Quickest::default(),
            to_note: Quickest::default(),
            arrivals: Arrivals::default(),
            sequence: Sequence::default(),
            announced: 0,
            piece: None,
            ways: AHashMap::new(),
            labels: HashSet::new(),
            frames_in: FramesIn::default(),
            refused: 0,
            longest: 0,
            latest_sent_ns: 0,
            clock: PeerClock::default(),
            before: Before::default(),
        }
    }

    /// Another fabric is up: nothing that was announced holds any more.
    pub fn start_generation(&mut self) {
        self.out = Outgoing::default();
        self.announcements.clear();
        (self.acknowledged, self.written, self.announced) = (0, 0, 0);
        self.frames_out = FramesOut::default();
        self.piece = None;
        self.ways.clear();
        self.labels.clear();
        self.frames_in = FramesIn::default();
    }

    /// Another window starts.
    pub fn start_window(&mut self) {
        self.before = Before { sent: self.sent, refused: self.refused, steps: self.clock.report(0).steps };
        self.arrivals.start_window();
    }

    /// The window so far.
    pub fn report(&self, now_ns: u64) -> PeerReport {
        let (counts, before) = (self.arrivals.counts(), &self.before);
        let clock = self.clock.report(now_ns);
        PeerReport {
            domain: self.domain,
            sent_datagrams: self.sent - before.sent,
            received_datagrams: counts.received,
            lost_datagrams: counts.lost,
            reordered_datagrams: counts.reordered,
            duplicate_datagrams: counts.duplicate,
            longest_datagram: self.longest,
            refused_records: self.refused - before.refused,
            complete_until_ns: self.clock.own_ns(self.latest_sent_ns),
            clock_steps: clock.steps - before.steps,
            clock,
        }
    }

    /// The number of its domain.
    pub fn domain(&self) -> u16 {
        self.domain
    }

    /// An item crosses to this peer, in datagrams of at most `limit` bytes.
    pub fn send(&mut self, crosses: &Crosses, passage: Option<&Arc<Passage>>, limit: usize) {
        let Crosses::Packet(crossing) = crosses else {
            let before = self.announcements.len() as u32;
            self.announcements.extend(record::announcements(before, crosses));
            return;
        };
        self.announce(limit);
        if let Some(passage) = passage {
            if self.frames_out.note(passage) {
                self.send_frame(passage, limit);
            }
        }
        self.make_room(RECORD_BYTES, limit);
        record::packet(self.out.records(), crossing, passage.map(|passage| passage.name));
    }

    /// Writes the announcements that have not been acknowledged into what is sent next, in front of everything else.
    fn announce(&mut self, limit: usize) {
        while self.written < self.announcements.len() {
            let length = self.announcements[self.written].len();
            self.make_room(length, limit);
            self.out.records().extend_from_slice(&self.announcements[self.written]);
            self.written += 1;
        }
    }

    /// Sends a datagram of `limit` bytes that says nothing, to see whether the network carries it.
    pub fn send_longest(&mut self, limit: usize) {
        self.out.begin(limit);
        let room = self.out.room(limit);
        let records = self.out.records();
        records.resize(records.len() + room, 0);
    }

    fn make_room(&mut self, bytes: usize, limit: usize) {
        if self.out.room(limit) < bytes {
            self.out.begin(limit);
        }
    }

    fn send_frame(&mut self, passage: &Passage, limit: usize) {
        let mut at = 0;
        while at < passage.bytes.len() {
            let left = passage.bytes.len() - at;
            self.make_room(PART_BYTES + left.min(PART_MIN), limit);
            let end = at + left.min(self.out.room(limit) - PART_BYTES);
            let part = Part {
                name: passage.name,
                from: passage.from,
                to: passage.to,
                vnet: passage.train.vnet(),
                length: passage.bytes.len(),
                at,
                bytes: &passage.bytes[at..end],
            };
            record::part(self.out.records(), &part);
            at = end;
        }
    }

    /// When [`tick`](Self::tick) or [`take_in_early`](Self::take_in_early) has something to do.
    pub fn next_ns(&self) -> u64 {
        self.asks_at_ns().min(self.sequence.patience_ends_ns())
    }

    fn asks_at_ns(&self) -> u64 {
        let early = self.clock.report(0).exchanges < EARLY_EXCHANGES;
        self.asked_at_ns + if early { ASK_EARLY_NS } else { ASK_LATER_NS }
    }

    /// Asks for the other clock when it is time, and answers what was asked.
    pub fn tick(&mut self, now_ns: u64, limit: usize) {
        if let Some((sent_ns, came_ns)) = self.to_answer.take_if(self.asked) {
            self.asked = false;
            self.exchange.begin(limit);
            record::answer(self.exchange.records(), sent_ns, came_ns);
        }
        if self.asks_at_ns() > now_ns {
            return;
        }
        self.asked_at_ns = now_ns;
        self.exchange.begin(limit);
        record::ask(self.exchange.records());
        // What was announced and has not been acknowledged goes again.
        self.written = self.acknowledged;
        self.announce(limit);
        for name in self.frames_out.done(LOOKS) {
            self.make_room(RECORD_BYTES, limit);
            record::done(self.out.records(), name);
        }
    }

    /// Hands over what waits, in runs of datagrams: bytes, and the length of each but the last.
    pub fn flush(
        &mut self,
        own: &Membership,
        generation: u32,
        sent_ns: u64,
        mut send: impl FnMut(&[u8], usize),
    ) {
        let (sent, announced) = (&mut self.sent, self.announced);
        let mut header = || {
            *sent += 1;
            Header { domain: own.domain, run: own.run, generation, number: *sent, sent_ns, announced }
        };
        self.exchange.send(&self.sends, &mut header, &mut send);
        self.out.send(&self.sends, header, send);
    }

    /// Takes a datagram in; false if this peer has not made it, in this run.
    pub fn take_in(
        &mut self,
        own: &Membership,
        bytes: &[u8],
        now: &Now,
        messages: &mut VecDeque<Message>,
    ) -> bool {
        let Some((header, records)) = datagram::open(&self.receives, bytes) else { return false };
        if header.run != own.run || header.domain != self.domain {
            return false;
        }
        if !self.arrivals.note(header.number) {
            return true;
        }
        self.longest = self.longest.max(bytes.len());
        if self.sequence.take_in(header.number, now.at_ns, bytes) {
            self.read(&header, records, now, messages);
        }
        self.take_in_early(now, messages);
        true
    }

    /// Whether datagrams came before their turn.
    pub fn has_early(&self) -> bool {
        self.sequence.patience_ends_ns() != u64::MAX
    }

    /// Reads datagrams that came before their turn, when it has come or nobody waits for what is missing any longer.
    pub fn take_in_early(&mut self, now: &Now, messages: &mut VecDeque<Message>) {
        while let Some(early) = self.sequence.next(now.at_ns) {
            let now = Now { at_ns: early.at_ns, ..*now };
            let (header, records) = datagram::opened(&early.bytes).expect("it has been opened before");
            self.read(&header, records, &now, messages);
        }
    }

    fn read(
        &mut self,
        header: &Header,
        mut records: Reader<'_>,
        now: &Now,
        messages: &mut VecDeque<Message>,
    ) {
        self.latest_sent_ns = self.latest_sent_ns.max(header.sent_ns);
        self.to_answer.note(header.sent_ns, now.at_ns);
        self.to_note.note(header.sent_ns, now.at_ns);
        let current = header.generation == now.generation;
        if current {
            self.acknowledged =
                self.acknowledged.max((header.announced as usize).min(self.announcements.len()));
        }
        while !records.is_empty() {
            let Some(record) = record::read(&mut records) else {
                self.refused += 1;
                break;
            };
            match record {
                Record::Ask => self.asked = true,
                Record::Answer { asked_ns, came_ns } => {
                    if let Some((sent_ns, at_ns)) = self.to_note.take_if(true) {
                        self.clock.note(asked_ns, came_ns, sent_ns, at_ns);
                    }
                }
                Record::Padding => {}
                // Another fabric's, on its way when that was taken down or this was not up yet.
                _ if !current => {}
                record => {
                    if let Err(()) = self.take_in_record(record, now, messages) {
                        self.refused += 1;
                    }
                }
            }
        }
    }

    fn take_in_record(
        &mut self,
        record: Record<'_>,
        now: &Now,
        messages: &mut VecDeque<Message>,
    ) -> Result<(), ()> {
        let from = usize::from(self.domain);
        match record {
            // Repeated until it is acknowledged.
            Record::Announcement(before, ..) if before < self.announced => Ok(()),
            Record::Announcement(before, crosses, ends) => {
                (before == self.announced && before < ANNOUNCEMENTS_MAX).then_some(()).ok_or(())?;
                let crosses = match self.piece.take() {
                    Some(begun) => joined(begun, crosses)?,
                    None => crosses,
                };
                if ends == Ends::Later {
                    self.piece = Some(crosses);
                    self.announced += 1;
                    return Ok(());
                }
                match &crosses {
                    Crosses::Way(onward, elements) => {
                        self.ways.insert(*onward, *elements.first().ok_or(())?);
                    }
                    Crosses::Labels(set, _) => {
                        self.labels.insert(*set);
                    }
                    Crosses::Packet(_) => return Err(()),
                }
                self.announced += 1;
                messages.push_back(Message { from, crosses, passage: None });
                Ok(())
            }
            Record::Part(part) => {
                (part.from < now.nodes && part.to < now.nodes).then_some(()).ok_or(())?;
                self.frames_in.take_in(&part)
            }
            Record::Packet(mut crossing, frame) => {
                let labels = crossing.packet.labels;
                let known = self.ways.get(&crossing.onward) == Some(&crossing.link)
                    && (labels == LabelSet::NONE || self.labels.contains(&labels));
                known.then_some(()).ok_or(())?;
                let passage = match frame {
                    None if crossing.packet.class == Class::Ghost => None,
                    None => return Err(()),
                    Some(name) => Some(Arc::clone(self.frames_in.get(name).ok_or(())?)),
                };
                // Without an estimate it is due now; the trial has not begun.
                let own =
                    |at: Instant| Instant::from_nanos(self.clock.own_ns(at.as_nanos()).unwrap_or(now.at_ns));
                crossing.due = own(crossing.due);
                crossing.packet.entered = own(crossing.packet.entered);
                messages.push_back(Message { from, crosses: Crosses::Packet(crossing), passage });
                Ok(())
            }
            Record::Done(name) => {
                self.frames_in.remove(name);
                Ok(())
            }
            Record::Ask | Record::Answer { .. } | Record::Padding => Ok(()),
        }
    }

    /// The estimate of its clock.
    pub fn clock(&self, now_ns: u64) -> ClockReport {
        self.clock.report(now_ns)
    }
}

/// A list and the next piece of it.
fn joined(begun: Crosses, more: Crosses) -> Result<Crosses, ()> {
    match (begun, more) {
        (Crosses::Way(onward, begun), Crosses::Way(same, more)) if onward == same => {
            Ok(Crosses::Way(onward, longer(begun, &more)?))
        }
        (Crosses::Labels(set, begun), Crosses::Labels(same, more)) if set == same => {
            Ok(Crosses::Labels(set, longer(begun, &more)?))
        }
        _ => Err(()),
    }
}

fn longer<T: Clone>(begun: Box<[T]>, more: &[T]) -> Result<Box<[T]>, ()> {
    (begun.len() + more.len() <= LIST_MAX).then(|| [&begun, more].concat().into()).ok_or(())
}

#[cfg(test)]
mod tests;
