//! Plans: target states of a network. They are computed in advance, so that applying one takes little more than a
//! comparison.
//!
//! A plan is complete: it contains everything that each place has, not the changes. So it can be applied after any
//! other plan. Elements and paths of a plan are identified by *keys*, numbers for names. The engine's own numbers
//! depend on the order in which plans are applied.

use std::sync::atomic::AtomicU32;
use std::sync::Arc;

use ahash::AHashMap;
use crosswind_engine::{ElementSpec, Prepared, ProcessSpec, ReplaySpec, Sound};

use crate::cuts::Cuts;
use crate::interference::Interference;
use crate::labels::Labels;
use crate::monitor_spec::{HeaderReader, Watching};
use crate::paths::Paths;
use crate::site::Place;
use crate::spec::Places;

/// The number of an element's name.
pub(crate) type Key = u32;

/// An element's name and position.
#[derive(Debug)]
pub struct About {
    /// For example `h0/switch.ingress/0:police`.
    pub name: String,
    /// Its place.
    pub place: Place,
    /// The node, host or link that it belongs to.
    pub of: String,
    /// The link through which its packets leave or have arrived, by its place in the fabric's list.
    pub link: usize,
    pub(crate) key: Key,
    /// Number of networks that have made it.
    pub(crate) made: AtomicU32,
}

/// An element with its target parameters.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) about: Arc<About>,
    /// The same allocation as before if nothing has changed.
    pub(crate) spec: Arc<Sound<ElementSpec>>,
}

/// Elements by stand, in the order of [`crate::stands::Stands`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    keys: Vec<Key>,
    /// Index after the last element of each stand.
    ends: Vec<u32>,
}

impl Chains {
    /// Adds an element to the last stand.
    pub(crate) fn push(&mut self, key: Key) {
        self.keys.push(key);
    }

    /// Ends the last stand, which has all its elements.
    pub(crate) fn end(&mut self) {
        self.ends.push(u32::try_from(self.keys.len()).expect("fewer than 2^32 elements"));
    }

    /// The elements of a stand.
    pub(crate) fn of(&self, stand: usize) -> &[Key] {
        let begin = stand.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[begin as usize..self.ends[stand] as usize]
    }
}

/// A link that a process will drive.
#[derive(Clone, Debug)]
pub(crate) struct Driven {
    /// Display name of its wire.
    pub(crate) link: Arc<str>,
    /// Name of the process.
    pub(crate) name: Arc<str>,
    /// By its place in the fabric's list.
    pub(crate) number: usize,
    pub(crate) wire: Key,
    /// The same allocation as before if nothing has changed.
    pub(crate) process: Arc<Sound<ProcessSpec>>,
}

/// One direction of an interference.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    /// Name of its source.
    pub(crate) name: Arc<str>,
    pub(crate) interference: Arc<Interference>,
    /// Its packets, if it is a recording.
    pub(crate) replay: Option<Sound<ReplaySpec>>,
    /// Positions among the neighbours.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Hash of the flow; a neighbour's packets are one flow.
    pub(crate) hash: u32,
}

/// The target state of a network.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub(crate) condition: Arc<str>,
    /// In the order in which new ones are made.
    pub(crate) elements: Vec<Wanted>,
    /// Bytes, by the number of the memory.
    pub(crate) memories: Vec<u64>,
    pub(crate) chains: Chains,
    pub(crate) drives: Vec<Driven>,
    /// Those of the timeline.
    pub(crate) cuts: Arc<Cuts>,
    pub(crate) watching: Vec<Watching>,
    pub(crate) readers: AHashMap<Key, HeaderReader>,
    pub(crate) labels: Labels,
    /// The host of each neighbour.
    pub(crate) neighbours: Arc<[usize]>,
    pub(crate) ghosts: Arc<[Ghost]>,
}

/// Elements that may be new to a network. Those that exist already stay in this list, because dropping them takes
/// longer.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// By their place in the target's list, in ascending order.
    prepared: Vec<(usize, Option<Prepared>)>,
    /// Number of elements that have been processed.
    done: usize,
}

impl Fresh {
    pub(crate) fn new(prepared: impl Iterator<Item = (usize, Prepared)>) -> Self {
        Self { prepared: prepared.map(|(place, prepared)| (place, Some(prepared))).collect(), done: 0 }
    }

    /// The next elements, at most `most`.
    pub(crate) fn next(&mut self, most: usize) -> &mut [(usize, Option<Prepared>)] {
        let begin = self.done;
        self.done = begin.saturating_add(most).min(self.prepared.len());
        &mut self.prepared[begin..self.done]
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done == self.prepared.len()
    }
}

/// A network's next state, ready to be applied ([`crate::Network::apply`]).
#[derive(Debug)]
pub struct Plan {
    pub(crate) target: Arc<Target>,
    pub(crate) fresh: Fresh,
    /// Empty, with room for all nodes.
    pub(crate) paths: Paths,
    /// The request: a condition, or a step of its timeline.
    pub stated: Arc<Places>,
    /// Whether the request has cuts, which may be those that are active.
    pub(crate) states_cuts: bool,
    /// The text from which a recording can make the plan again.
    pub json: String,
}

impl Plan {
    /// The condition that it belongs to.
    pub fn condition(&self) -> Arc<str> {
        Arc::clone(&self.target.condition)
    }
}
