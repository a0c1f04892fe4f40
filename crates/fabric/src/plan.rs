//! Plans: what a network is to be, worked out before it is applied, so that applying it is a comparison and little more.
//!
//! A plan is complete: it says what every place has, not what changes. So it can be applied whatever was applied before. Elements and
//! ways of a plan go by *keys*, numbers that stand for names: the engine's own numbers follow from the order in which plans are applied.

use std::sync::atomic::AtomicU32;
use std::sync::Arc;

use ahash::AHashMap;
use crosswind_engine::{ElementSpec, Prepared, ProcessSpec, ReplaySpec, Sound};

use crate::interference::Interference;
use crate::labels::Labels;
use crate::monitor_spec::{HeaderReader, Watching};
use crate::paths::Paths;
use crate::site::Place;
use crate::spec::Places;

/// Stands for the name of an element.
pub(crate) type Key = u32;

/// What an element is called and where it stands.
#[derive(Debug)]
pub struct About {
    /// Such as `h0/switch.ingress/0:police`.
    pub name: String,
    /// Its place.
    pub place: Place,
    /// The node, host or link that it belongs to.
    pub of: String,
    /// The link that packets leave by that pass it, or have come by; by its place in the fabric's list.
    pub link: usize,
    pub(crate) key: Key,
    /// How many networks have made it.
    pub(crate) made: AtomicU32,
}

/// An element with the parameters that it is to have.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) about: Arc<About>,
    /// The same allocation where nothing has changed.
    pub(crate) spec: Arc<Sound<ElementSpec>>,
}

/// Elements by stand, in the order of [`crate::stands::Stands`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    keys: Vec<Key>,
    /// Where the elements of each stand end.
    ends: Vec<u32>,
}

impl Chains {
    /// Adds an element to the last stand.
    pub(crate) fn push(&mut self, key: Key) {
        self.keys.push(key);
    }

    /// The last stand has all its elements.
    pub(crate) fn end(&mut self) {
        self.ends.push(u32::try_from(self.keys.len()).expect("fewer than 2^32 elements"));
    }

    /// The elements of a stand.
    pub(crate) fn of(&self, stand: usize) -> &[Key] {
        let begin = stand.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[begin as usize..self.ends[stand] as usize]
    }
}

/// A link that a process is to drive.
#[derive(Clone, Debug)]
pub(crate) struct Driven {
    /// As people call its wire.
    pub(crate) link: Arc<str>,
    /// Of the process.
    pub(crate) name: Arc<str>,
    /// By its place in the fabric's list.
    pub(crate) number: usize,
    pub(crate) wire: Key,
    /// The same allocation where nothing has changed.
    pub(crate) process: Arc<Sound<ProcessSpec>>,
}

/// One direction of an interference.
#[derive(Clone, Debug)]
pub(crate) struct Ghost {
    /// Of its source.
    pub(crate) name: Arc<str>,
    pub(crate) interference: Arc<Interference>,
    /// What it sends, where that was recorded.
    pub(crate) replay: Option<Sound<ReplaySpec>>,
    /// Positions among the neighbours.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// A neighbour's packets are one flow.
    pub(crate) hash: u32,
}

/// What a network is to be.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub(crate) condition: Arc<str>,
    /// In the order in which new ones are made.
    pub(crate) elements: Vec<Wanted>,
    /// Bytes, by the number of the memory.
    pub(crate) memories: Vec<u64>,
    pub(crate) chains: Chains,
    pub(crate) drives: Vec<Driven>,
    pub(crate) watching: Vec<Watching>,
    pub(crate) readers: AHashMap<Key, HeaderReader>,
    pub(crate) labels: Labels,
    /// The host of each neighbour.
    pub(crate) neighbours: Arc<[usize]>,
    pub(crate) ghosts: Arc<[Ghost]>,
}

/// Elements that may be new to a network. Those that turn out not to be stay here: to let go of them takes longer.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// By their place in the target's list, in ascending order.
    prepared: Vec<(usize, Option<Prepared>)>,
    /// How many have been dealt with.
    done: usize,
}

impl Fresh {
    pub(crate) fn new(prepared: impl Iterator<Item = (usize, Prepared)>) -> Self {
        Self { prepared: prepared.map(|(place, prepared)| (place, Some(prepared))).collect(), done: 0 }
    }

    /// The next ones, `most` of them at most.
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
    /// No path, for as many nodes as there are.
    pub(crate) paths: Paths,
    /// What was asked for: a condition, or a step of its timeline.
    pub stated: Arc<Places>,
    /// What a recording needs to make the plan again.
    pub json: String,
}

impl Plan {
    /// The condition that it is of.
    pub fn condition(&self) -> Arc<str> {
        Arc::clone(&self.target.condition)
    }
}
