//! Replays a recording and compares every decision with the one that the live engine made.
//!
//! With another condition (`what_if`), that condition is active from the beginning, recorded changes are left out, its timeline
//! counts from each recorded window, packets inside at the recording's end are followed until they have left, and there is nothing
//! to compare with.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};

use crosswind_engine::Instant;
use crosswind_fabric::{Condition, Fabric, Frame, Network, Places, Planner, Timeline};
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
    let condition = what_if.unwrap_or(&header.fabric.condition).clone();
    let fabric = Fabric { condition, ..header.fabric };
    let mut planner = Planner::new(&fabric).map_err(refused)?;
    let network = planner.network(Instant::from_nanos(header.built_ns)).map_err(refused)?;
    let mut run = Run {
        planner,
        network,
        what_if: what_if.is_some(),
        reasons: header.reasons,
        timeline: Timeline::default(),
        ends: HashMap::new(),
        gathering: Gathering::default(),
        packets,
        live: VecDeque::new(),
        here: VecDeque::new(),
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

/// A replay under way.
struct Run<W: Write> {
    planner: Planner,
    network: Network,
    what_if: bool,
    reasons: Vec<String>,
    /// Of the other condition; recorded steps are records of their own.
    timeline: Timeline,
    /// Sender and receiver by key.
    ends: HashMap<u32, (usize, usize)>,
    gathering: Gathering,
    packets: Option<PacketFile<W>>,
    /// Recorded decisions that were not made here yet.
    live: VecDeque<Decision>,
    /// Decisions made here that were not read yet.
    here: VecDeque<Decision>,
    comparison: Comparison,
}

impl<W: Write> Run<W> {
    fn take(&mut self, record: Record) -> Result<(), ReplayError> {
        let at = Instant::from_nanos(record.at_ns());
        match record {
            Record::Entered { at_ns, from, to, flow, frame } => self.enter(at_ns, (from, to, flow), frame)?,
            Record::Decided(decision) => {
                self.live.push_back(decision);
                self.comparison.decisions += 1;
            }
            Record::Condition { json, .. } if !self.what_if => {
                let condition: Condition = read("condition", &json)?;
                let plan = self.planner.condition(&condition).map_err(refused)?;
                self.network.apply(at, plan);
            }
            Record::Step { json, .. } if !self.what_if => {
                let places: Places = read("timeline step", &json)?;
                let plan = self.planner.step(&places).map_err(refused)?;
                self.network.apply(at, plan);
            }
            Record::Condition { .. } | Record::Step { .. } => {}
            Record::Window { at_ns } => {
                self.advance(at_ns);
                self.network.restart_processes(at);
                self.network.engine().reset_counters();
                if self.what_if {
                    self.start_timeline(at_ns)?;
                }
            }
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
        self.timeline.advance(&mut self.network, to_ns);
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
            self.here.push_back(decision);
        }
        if self.what_if {
            self.live.clear();
            self.here.clear();
        }
        while !self.live.is_empty() && !self.here.is_empty() {
            if let (Some(live), Some(here)) = (self.live.pop_front(), self.here.pop_front()) {
                self.compare(Some(live), Some(here));
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
        while let Some(live) = self.live.pop_front() {
            self.compare(Some(live), None);
        }
        while let Some(here) = self.here.pop_front() {
            self.compare(None, Some(here));
        }
        self.comparison.identical = self.comparison.different == 0;
    }
}

fn read<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> Result<T, ReplayError> {
    serde_json::from_str(json).map_err(|error| ReplayError::Impossible(format!("recorded {what}: {error}")))
}

fn refused(error: impl std::fmt::Display) -> ReplayError {
    ReplayError::Impossible(error.to_string())
}
