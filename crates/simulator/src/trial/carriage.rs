//! Segments on their way: a train enters the network packet by packet, and what is left of it is handed over as the
//! emulator does.
//!
//! Packets of one train that are due within the fabric's merge window leave together, when the window is over or the
//! last packet of the train has come; a missing packet or a mark ends a run. So a receiver sees the same super-packets
//! here and in a live run (`crosswind_emulator`, `forwarder`).

use crosswind_engine::{Ecn, Instant, Outcome};
use crosswind_fabric::{Facts, Frame, Network};
use crosswind_tcp::Segment;

use super::agenda::{Agenda, Event};

const TCP: u8 = 6;

/// Where a segment comes from and goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Positions of the nodes.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) ports: (u16, u16),
    /// The end that gets it.
    pub(super) end: usize,
}

/// Consecutive packets that wait to be handed over.
#[derive(Clone, Copy, Debug)]
struct Run {
    number: u64,
    first: u32,
    last: u32,
    marked: bool,
    first_due: Instant,
}

#[derive(Debug)]
struct Train {
    segment: Segment,
    end: usize,
    /// Packets in the network; 1 for a train that the network carries as one.
    inside: u32,
    run: Option<Run>,
}

/// A segment that has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: Instant,
    pub(super) end: usize,
    pub(super) segment: Segment,
}

/// Counts of packets with data, by what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) packets: u64,
    pub(super) dropped: u64,
}

/// Trains in the network.
#[derive(Debug, Default)]
pub(super) struct Carriage {
    trains: Vec<Option<Train>>,
    free: Vec<u32>,
    runs: u64,
    merge_window_ns: u64,
    pub(super) counts: Counts,
}

impl Carriage {
    pub(super) fn new(merge_window_ns: u64) -> Self {
        Self { merge_window_ns, ..Self::default() }
    }

    /// A segment leaves its sender now.
    pub(super) fn send(&mut self, network: &mut Network, at: Instant, way: &Way, segment: Segment) {
        let count = segment.packets();
        let facts = Facts { from: way.from, to: way.to, protocol: TCP, ports: Some(way.ports) };
        let flow = network.flow(&facts);
        let whole = network.carries_whole(way.from, way.to, flow, count);
        let train = Train { segment, end: way.end, inside: if whole { 1 } else { count }, run: None };
        let key = match self.free.pop() {
            Some(key) => {
                self.trains[key as usize] = Some(train);
                key
            }
            None => {
                self.trains.push(Some(train));
                (self.trains.len() - 1) as u32
            }
        };
        let ecn = if segment.markable { Ecn::Ect0 } else { Ecn::NotEct };
        let frame = Frame {
            key,
            count,
            ip_bytes: segment.ip_bytes(0),
            last_ip_bytes: segment.ip_bytes(count - 1),
            dscp: 0,
            ecn,
        };
        let labels = network.labels(&facts);
        network.push_labelled(at, (way.from, way.to, flow), &frame, labels);
        self.counts.packets += u64::from(count);
    }

    /// The network has decided about a packet.
    pub(super) fn decided(&mut self, outcome: &Outcome, agenda: &mut Agenda, arrivals: &mut Vec<Arrival>) {
        let packet = outcome.packet();
        let key = Frame::key_of(packet.tag);
        match outcome {
            Outcome::Departure { due, .. } => {
                let count = self.train(key).segment.packets();
                let (first, last) =
                    Frame::index_of(packet.tag).map_or((0, count - 1), |index| (index, index));
                if packet.damage.is_some() {
                    // The receiver's checksum fails.
                    self.train(key).inside -= 1;
                    self.end_if_empty(key, *due, arrivals);
                } else {
                    self.departed(key, (first, last), packet.ecn == Ecn::Ce, *due, agenda, arrivals);
                }
            }
            Outcome::Duplicated { .. } => self.train(key).inside += 1,
            Outcome::Dropped { at, .. } => {
                self.counts.dropped += u64::from(packet.count);
                self.train(key).inside -= 1;
                self.end_if_empty(key, *at, arrivals);
            }
        }
    }

    fn departed(
        &mut self,
        key: u32,
        (first, last): (u32, u32),
        marked: bool,
        due: Instant,
        agenda: &mut Agenda,
        arrivals: &mut Vec<Arrival>,
    ) {
        let window_ns = self.merge_window_ns;
        let joins = |run: &Run| {
            run.last + 1 == first
                && run.marked == marked
                && due.as_nanos() <= run.first_due.as_nanos() + window_ns
        };
        if self.train(key).run.as_ref().is_some_and(|run| !joins(run)) {
            self.hand_over(key, due, arrivals);
        }
        self.runs += 1;
        let number = self.runs;
        let train = self.train(key);
        train.inside -= 1;
        match &mut train.run {
            Some(run) => run.last = last,
            None => {
                train.run = Some(Run { number, first, last, marked, first_due: due });
                if train.inside > 0 {
                    let closes = Instant::from_nanos(due.as_nanos() + window_ns);
                    agenda.add(closes, Event::Handover { train: key, run: number });
                }
            }
        }
        self.end_if_empty(key, due, arrivals);
    }

    /// The merge window of a run is over.
    pub(super) fn close(&mut self, key: u32, number: u64, at: Instant, arrivals: &mut Vec<Arrival>) {
        let is_open = self.trains[key as usize]
            .as_ref()
            .and_then(|train| train.run.as_ref())
            .is_some_and(|run| run.number == number);
        if is_open {
            self.hand_over(key, at, arrivals);
        }
    }

    fn end_if_empty(&mut self, key: u32, at: Instant, arrivals: &mut Vec<Arrival>) {
        if self.train(key).inside > 0 {
            return;
        }
        if self.train(key).run.is_some() {
            self.hand_over(key, at, arrivals);
        }
        self.trains[key as usize] = None;
        self.free.push(key);
    }

    fn hand_over(&mut self, key: u32, at: Instant, arrivals: &mut Vec<Arrival>) {
        let train = self.train(key);
        let run = train.run.take().expect("there is a run");
        let part = train.segment.part(run.first, run.last);
        arrivals.push(Arrival { at, end: train.end, segment: Segment { marked: run.marked, ..part } });
    }

    fn train(&mut self, key: u32) -> &mut Train {
        self.trains[key as usize].as_mut().expect("a train is stored while its packets are inside")
    }
}
