//! Replays a recording and compares every decision with the one that the live engine made.
//!
//! With another condition (`what_if`), that condition is active from the beginning, recorded changes are left out, its timeline
//! counts from each recorded window, packets inside at the recording's end are followed until they have left, and there is nothing
//! to compare with.
//!
//! The recording of a machine that carried one domain of several is replayed alone: what other machines sent it is input, and
//! what it sent them are decisions. It cannot be tried under another condition, under which the others would have sent
//! something else.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};

use crosswind_engine::{Crossing, ElementId, Instant, LabelSet, Onward};
use crosswind_fabric::{
    Condition, Crosses, Domains, Fabric, Frame, Network, NodeCut, Places, Planner, Timeline,
};
use crosswind_recording::{Decision, Fate, Reader, Record, RecordingError};
use serde::Serialize;

use crate::packets::PacketFile;
use crate::summary::{Gathering, Summary};

/// What a replay came to.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    /// The version of Crosswind that recorded.
    pub recorded_by: String,
    /// Against the live run; null under another condition.
    pub comparison: Option<Comparison>,
    /// What became of the packets here.
    pub summary: Summary,
}

/// The replay's decisions against those of the live run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Whether every decision was the same, in the same order.
    pub identical: bool,
    /// Decisions that the recording holds.
    pub decisions: u64,
    /// Those that differ, and those that only one side made.
    pub different: u64,
    /// The first of them, in words.
    pub first_difference: Option<String>,
}

/// Why a recording cannot be replayed.
#[derive(Debug)]
pub enum ReplayError {
    /// It cannot be read.
    Recording(RecordingError),
    /// This number of records was lost while it was made.
    Incomplete(u64),
    /// It asks for what cannot be done.
    Impossible(String),
    /// The packets cannot be written.
    Packets(io::Error),
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Recording(error) => write!(f, "{error}"),
            Self::Incomplete(lost) => write!(
                f,
                "{lost} records were lost because they could not be written fast enough or the disk was full: it is not \
                 what happened; record it again on a faster disk, or with less traffic"
            ),
            Self::Impossible(what) => write!(f, "{what}"),
            Self::Packets(error) => write!(f, "write the packets: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

impl From<RecordingError> for ReplayError {
    fn from(error: RecordingError) -> Self {
        Self::Recording(error)
    }
}

/// Replays a whole recording. `packets` gets a row for every packet.
///
/// # Errors
/// Where the recording is damaged, cut off or incomplete, or the other condition does not fit its fabric. What was written
/// to `packets` until then is no result.
pub fn replay<R: Read, W: Write>(
    mut reader: Reader<R>,
    what_if: Option<&Condition>,
    packets: Option<PacketFile<W>>,
) -> Result<Replayed, ReplayError> {
    let header = reader.header().clone();
    if let (Some(domain), Some(_)) = (header.domain, what_if) {
        return Err(ReplayError::Impossible(format!(
            "it is the recording of one of several machines (domain {domain}), and under another condition the others would \
             have sent it other packets; record the network on one machine (testbed: local), or leave the condition out"
        )));
    }
    let condition = what_if.unwrap_or(&header.fabric.condition).clone();
    // Another condition may cut nodes off where the recorded one could not.
    let faults = header.fabric.faults || condition.timeline.iter().any(|step| step.cuts.is_some());
    let fabric = Fabric { condition, faults, ..header.fabric };
    let mut planner = Planner::new(&fabric).map_err(refused)?;
    let built = Instant::from_nanos(header.built_ns);
    let network = match header.domain {
        None => planner.network(built),
        Some(domain) => {
            let domains = Domains::of(&fabric, &fabric.domains, &[], SHORTEST_CUT_NS).map_err(refused)?;
            if domain >= domains.count() {
                return Err(ReplayError::Impossible(format!(
                    "its header names domain {domain} of {}; it is damaged, record it again",
                    domains.count()
                )));
            }
            planner = planner.divided(domains);
            planner.domain(built, domain)
        }
    };
    let network = network.map_err(refused)?;
    let mut run = Run {
        planner,
        network,
        what_if: what_if.is_some(),
        is_part: header.domain.is_some(),
        reasons: header.reasons,
        timeline: Timeline::default(),
        cuts: Vec::new(),
        ways: HashMap::new(),
        ends: HashMap::new(),
        gathering: Gathering::default(),
        packets,
        live: [VecDeque::new(), VecDeque::new()],
        here: [VecDeque::new(), VecDeque::new()],
        comparison: Comparison::default(),
    };
    let mut ended_ns = header.built_ns;
    while let Some(record) = reader.read()? {
        ended_ns = record.at_ns();
        run.take(record)?;
    }
    run.finish_comparison();
    if let Some(packets) = run.packets {
        packets.finish().map_err(ReplayError::Packets)?;
    }
    Ok(Replayed {
        recorded_by: header.version,
        comparison: what_if.is_none().then_some(run.comparison),
        summary: run.gathering.finish(&[&run.network], ended_ns.saturating_sub(header.built_ns)),
    })
}

/// The live run has checked how long the delays of cut links are.
const SHORTEST_CUT_NS: u64 = 1;

/// A replay under way.
struct Run<W: Write> {
    planner: Planner,
    network: Network,
    what_if: bool,
    /// Whether other machines carried the rest of the network.
    is_part: bool,
    reasons: Vec<String>,
    /// Of the other condition. Recorded steps are records of their own; of a part it makes the elements that a condition
    /// finds, as the live one did.
    timeline: Timeline,
    /// The cuts of the recorded timeline that are active.
    cuts: Vec<NodeCut>,
    /// By domain and number there: the number here, and the link, of ways of packets from other machines.
    ways: HashMap<(usize, Onward), (Onward, ElementId)>,
    /// Sender and receiver by key.
    ends: HashMap<u32, (usize, usize)>,
    gathering: Gathering,
    packets: Option<PacketFile<W>>,
    /// Recorded decisions that were not made here yet: about packets that stayed in this engine, and about packets that
    /// left for another machine. The emulator asks for the latter later, so the two have no order.
    live: [VecDeque<Decision>; 2],
    /// Decisions made here that were not read yet, likewise.
    here: [VecDeque<Decision>; 2],
    comparison: Comparison,
}

impl<W: Write> Run<W> {
    fn take(&mut self, record: Record) -> Result<(), ReplayError> {
        let at = Instant::from_nanos(record.at_ns());
        match record {
            Record::Entered { at_ns, from, to, flow, frame } => self.enter(at_ns, (from, to, flow), frame)?,
            Record::Decided(decision) => {
                self.live[line_of(&decision)].push_back(decision);
                self.comparison.decisions += 1;
            }
            Record::Condition { json, .. } if !self.what_if => {
                let condition: Condition = read("condition", &json)?;
                std::mem::take(&mut self.timeline).make_elements(&mut self.network);
                let plan = self.planner.condition(&condition).map_err(refused)?;
                self.network.apply(at, plan);
                self.cuts.clear();
            }
            Record::Step { json, .. } if !self.what_if => {
                let places: Places = read("timeline step", &json)?;
                let cuts = self.network.fabric().faults.then_some(&*self.cuts);
                let plan = self.planner.step(&places, cuts).map_err(refused)?;
                self.network.apply(at, plan);
                self.timeline.pass_over();
            }
            // Those of the timeline take effect with its step, which follows.
            Record::Cuts { json, by_hand, .. } if !self.what_if => {
                let list: Vec<NodeCut> = read("cuts", &json)?;
                let cuts = self.planner.cuts(&list).map_err(refused)?;
                if by_hand {
                    self.network.cut(at, cuts);
                } else {
                    self.cuts = list;
                }
            }
            Record::Condition { .. } | Record::Step { .. } | Record::Cuts { .. } => {}
            Record::Window { at_ns } => {
                self.advance(at_ns);
                self.network.restart_processes(at);
                self.network.engine().reset_counters();
                if self.what_if {
                    self.start_timeline(at_ns)?;
                } else if self.is_part {
                    self.timeline = self.planner.timeline().map_err(refused)?;
                }
            }
            Record::Way { from, onward, elements, .. } => self.learn(from, onward, elements)?,
            Record::Came { at_ns, from, crossing, nodes } => self.come(at_ns, from, crossing, nodes)?,
            Record::End { lost: 0, at_ns } => {
                self.advance(at_ns);
                if self.what_if {
                    self.follow_to_the_end();
                }
            }
            Record::End { lost, .. } => return Err(ReplayError::Incomplete(lost)),
        }
        self.settle()
    }

    fn advance(&mut self, to_ns: u64) {
        if self.what_if {
            self.timeline.advance(&mut self.network, to_ns);
        }
        self.network.engine().advance(Instant::from_nanos(to_ns));
    }

    fn start_timeline(&mut self, at_ns: u64) -> Result<(), ReplayError> {
        let timeline = self.planner.timeline().map_err(refused)?.starting_at(at_ns);
        let before = std::mem::replace(&mut self.timeline, timeline);
        self.timeline.follow(&before, &mut self.network, at_ns);
        Ok(())
    }

    /// Lets the other condition finish with what it holds; the live engine was stopped with packets inside.
    fn follow_to_the_end(&mut self) {
        while self.network.engine_ref().real_inside() > 0 {
            let Some(at) = self.network.engine_ref().next_event() else { break };
            self.advance(at.as_nanos());
        }
    }

    fn enter(
        &mut self,
        at_ns: u64,
        (from, to, flow): (usize, usize, u32),
        frame: Frame,
    ) -> Result<(), ReplayError> {
        self.advance(at_ns);
        // Keys are used again as soon as their frame has left, so what has left is dealt with first.
        self.settle()?;
        // Under another condition it may not have left; there the pair of nodes serves as the key.
        let pair = (from * self.network.fabric().nodes.len() + to) as u32;
        let frame = if self.what_if { Frame { key: pair, ..frame } } else { frame };
        self.ends.insert(frame.key, (from, to));
        self.gathering.offered(from, to, frame.count, frame.ip_bytes_total());
        self.network.push(Instant::from_nanos(at_ns), from, to, flow, &frame);
        Ok(())
    }

    /// Packets of another machine have a new way.
    fn learn(&mut self, from: usize, onward: Onward, elements: Box<[ElementId]>) -> Result<(), ReplayError> {
        // Its own number may be any; those here are small.
        let here = Onward::from_index(self.ways.len() as u32);
        let crosses = Crosses::Way(here, elements);
        let first = match &crosses {
            Crosses::Way(_, elements) if self.network.knows(&crosses) => elements.first(),
            _ => None,
        };
        let link = first.copied().filter(|&link| self.network.is_entered_at(from, link));
        self.ways.insert((from, onward), (here, link.ok_or_else(foreign)?));
        self.network.take_in(from, crosses);
        Ok(())
    }

    /// A packet came from another machine.
    fn come(
        &mut self,
        at_ns: u64,
        from: usize,
        crossing: Crossing,
        nodes: Option<(usize, usize)>,
    ) -> Result<(), ReplayError> {
        self.advance(at_ns);
        self.settle()?;
        let way = self.ways.get(&(from, crossing.onward)).filter(|way| way.1 == crossing.link);
        let (onward, _) = *way.ok_or_else(foreign)?;
        let mut crossing = crossing;
        if let Some((sender, receiver)) = nodes {
            crossing.packet.labels = self.label(from, sender);
            let packet = &crossing.packet;
            self.ends.insert(Frame::key_of(packet.tag), (sender, receiver));
            self.gathering.offered(sender, receiver, packet.count.into(), packet.ip_bytes);
        }
        self.network.take_in(from, Crosses::Packet(Crossing { onward, ..crossing }));
        Ok(())
    }

    /// The labels of a packet of another machine, which the recording does not have: its sender.
    fn label(&mut self, from: usize, sender: usize) -> LabelSet {
        if !self.network.fabric().faults {
            return LabelSet::NONE;
        }
        let sender = sender as u16;
        let there = LabelSet::from_number(sender + 1);
        self.network.take_in(from, Crosses::Labels(there, Box::new([sender])));
        there
    }

    fn settle(&mut self) -> Result<(), ReplayError> {
        // Packets have no headers here.
        while self.network.engine().pop_sighting().is_some() {}
        while let Some(outcome) = self.network.engine().pop() {
            let decision = Decision::of(&outcome);
            let (from, to) = self.ends[&Frame::key_of(decision.tag)];
            self.gathering.decided(from, to, &outcome);
            if let Some(packets) = &mut self.packets {
                packets.write(&self.network, from, to, &outcome).map_err(ReplayError::Packets)?;
            }
            self.here[line_of(&decision)].push_back(decision);
        }
        while let Some((_, crosses)) = self.network.next_out() {
            let Crosses::Packet(crossing) = crosses else { continue };
            let Some(decision) = Decision::crossed(&crossing) else { continue };
            let (from, to) = self.ends[&Frame::key_of(decision.tag)];
            self.gathering.crossed(from, to, &crossing.packet);
            if let Some(packets) = &mut self.packets {
                packets.write_crossing(&self.network, from, to, &crossing).map_err(ReplayError::Packets)?;
            }
            self.here[line_of(&decision)].push_back(decision);
        }
        if self.what_if {
            self.live.iter_mut().chain(&mut self.here).for_each(VecDeque::clear);
        }
        for line in 0..self.live.len() {
            while !self.live[line].is_empty() && !self.here[line].is_empty() {
                let (live, here) = (self.live[line].pop_front(), self.here[line].pop_front());
                self.compare(live, here);
            }
        }
        Ok(())
    }

    fn compare(&mut self, live: Option<Decision>, here: Option<Decision>) {
        let same = match (&live, &here) {
            (Some(live), Some(here)) => self.same(live, here),
            _ => false,
        };
        if !same {
            self.comparison.different += 1;
            let number = self.comparison.decisions;
            self.comparison.first_difference.get_or_insert_with(|| {
                let word = |side: Option<Decision>| side.map_or("nothing".to_owned(), |it| format!("{it:?}"));
                format!("by decision {number}: live {}, replayed {}", word(live), word(here))
            });
        }
    }

    /// Whether two decisions are the same; reasons go by name, their numbers are the recording's own.
    fn same(&self, live: &Decision, here: &Decision) -> bool {
        match (live.fate, here.fate) {
            (Fate::Dropped { element, reason }, Fate::Dropped { element: other, reason: number }) => {
                let name = crosswind_engine::DropReason::ALL[number].name();
                element == other
                    && self.reasons[reason] == name
                    && Decision { fate: here.fate, ..*live } == *here
            }
            _ => live == here,
        }
    }

    fn finish_comparison(&mut self) {
        for line in 0..self.live.len() {
            while let Some(live) = self.live[line].pop_front() {
                self.compare(Some(live), None);
            }
            while let Some(here) = self.here[line].pop_front() {
                self.compare(None, Some(here));
            }
        }
        self.comparison.identical = self.comparison.different == 0;
    }
}

fn read<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> Result<T, ReplayError> {
    serde_json::from_str(json).map_err(|error| ReplayError::Impossible(format!("recorded {what}: {error}")))
}

/// The line of decisions that one belongs to.
fn line_of(decision: &Decision) -> usize {
    usize::from(matches!(decision.fate, Fate::Crossed { .. }))
}

fn foreign() -> ReplayError {
    let what = "a packet of another machine does not belong to its network; it is damaged, record it again";
    ReplayError::Impossible(what.to_owned())
}

fn refused(error: impl std::fmt::Display) -> ReplayError {
    ReplayError::Impossible(error.to_string())
}
