//! Cuts: which nodes the packets of which others do not reach, as a network that is partitioned.
//!
//! A fabric with `faults` has a gate (`crosswind_engine::GateSpec`) last on the way to each node. Every packet carries
//! a label of its sender, and a gate drops the packets of the senders that are cut off from its node. So packets that
//! are under way when a cut begins do not arrive, and the other direction is untouched.
//!
//! The cuts of a timeline belong to its condition. Those by hand stay until other ones replace them, and add to them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crosswind_engine::{Duration, ElementId, ElementSpec, Engine, GateSpec, Instant, LabelMask};
use serde::{Deserialize, Serialize, Serializer};

use crate::spec::Fabric;

/// What a sender learns of its lost packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Nothing.
    #[default]
    Silence,
    /// TCP segments are answered with a reset.
    Reset,
}

impl Answer {
    fn is_silence(&self) -> bool {
        *self == Self::Silence
    }
}

/// No packet of any node in `from` reaches any other node in `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeCut {
    /// Names of nodes, at least one, none twice.
    pub from: Vec<String>,
    /// Names of nodes, at least one, none twice.
    pub to: Vec<String>,
    /// What the senders learn.
    #[serde(default, skip_serializing_if = "Answer::is_silence")]
    pub answer: Answer,
}

/// All cuts that are active for one reason, as gates carry them out. Written, they are the list of cuts.
#[derive(Debug, Default)]
pub struct Cuts {
    list: Vec<NodeCut>,
    /// By receiving node: the labels of the senders that are cut off; empty where no node is.
    shut_to: Vec<LabelMask>,
    /// By sending node: the receivers in whose place the network answers with a reset; empty where none does.
    resets: Vec<LabelMask>,
}

impl Serialize for Cuts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl Cuts {
    /// The cuts of a list that has been checked.
    pub(crate) fn of(list: &[NodeCut], fabric: &Fabric) -> Self {
        let nodes = fabric.nodes.iter().map(|node| node.name.as_str()).zip(0..);
        let position: HashMap<&str, u16> = nodes.collect();
        let pairs = |cut: &NodeCut| -> Vec<(u16, u16)> {
            let [from, to] =
                [&cut.from, &cut.to].map(|names| names.iter().map(|name| position[name.as_str()]));
            from.flat_map(|from| to.clone().map(move |to| (from, to)))
                .filter(|(from, to)| from != to)
                .collect()
        };
        let shut_to = list.iter().flat_map(|cut| pairs(cut).into_iter().map(|(from, to)| (to, from)));
        let resets = list.iter().filter(|cut| cut.answer == Answer::Reset).flat_map(pairs);
        let (shut_to, resets) = (by_first(shut_to, fabric), by_first(resets, fabric));
        Self { list: list.to_vec(), shut_to, resets }
    }

    /// The cuts as they were requested.
    pub fn list(&self) -> &[NodeCut] {
        &self.list
    }

    fn shut_to(&self, node: usize) -> LabelMask {
        self.shut_to.get(node).cloned().unwrap_or_default()
    }
}

/// By node: the second nodes of all pairs of which it is the first; empty without a pair.
fn by_first(pairs: impl Iterator<Item = (u16, u16)>, fabric: &Fabric) -> Vec<LabelMask> {
    let mut seconds = Vec::new();
    for (first, second) in pairs {
        seconds.resize(fabric.nodes.len(), Vec::new());
        seconds[usize::from(first)].push(second);
    }
    seconds.into_iter().map(LabelMask::from_iter).collect()
}

impl Fabric {
    /// Checks cuts that are about to be active; `what` names them.
    pub(crate) fn check_cuts(&self, what: &str, cuts: &[NodeCut], wrong: &mut Vec<String>) {
        if !self.faults {
            wrong.push(format!(
                "{what}: this fabric has no gates to cut nodes off; bring it up with `faults: true`"
            ));
        }
        for cut in cuts {
            let before = wrong.len();
            for (key, names) in [("from", &cut.from), ("to", &cut.to)] {
                self.check_names(&format!("{what}: {key}"), names, wrong);
            }
            if wrong.len() == before && cut.from.iter().all(|from| cut.to.iter().all(|to| from == to)) {
                wrong.push(format!(
                    "{what}: {} to itself: nothing of that crosses the network; name two nodes",
                    cut.from[0]
                ));
            }
        }
    }

    fn check_names(&self, what: &str, names: &[String], wrong: &mut Vec<String>) {
        if names.is_empty() {
            wrong.push(format!("{what}: names no node; give at least one"));
        }
        let nodes: HashSet<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name) {
                wrong.push(format!("{what}: {name} is there twice; name each node once"));
            } else if !nodes.contains(name.as_str()) {
                wrong.push(format!("{what}: there is no node {name}; name one of the fabric's nodes"));
            }
        }
    }
}

/// Why nodes are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Timeline = 0,
    Hand = 1,
}

/// The state of all gates of a network.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// By [`Reason`].
    active: [Arc<Cuts>; 2],
    /// Whether a cut answers with a reset.
    answers: bool,
}

impl Gates {
    /// The active cuts for a reason.
    pub(crate) fn active(&self, why: Reason) -> &Arc<Cuts> {
        &self.active[why as usize]
    }

    /// Makes these cuts the active ones for a reason from `at` on: packets that reach a gate at `at` are treated
    /// by the new cuts already. Where the engine has processed `at` by now, that is the next instant. Returns the
    /// instant used; the engine has processed everything up to it, inclusive.
    ///
    /// `gate`: the gate of a node.
    pub(crate) fn put(
        &mut self,
        engine: &mut Engine,
        at: Instant,
        (why, cuts): (Reason, Arc<Cuts>),
        gate: impl Fn(usize) -> ElementId,
    ) -> Instant {
        const NEXT: Duration = Duration::from_nanos(1);
        let at = at.max(engine.now().saturating_add(NEXT));
        // Instants are whole nanoseconds, so nothing happens between this one and `at`.
        engine.advance(Instant::from_nanos(at.as_nanos() - 1));
        let before = std::mem::replace(&mut self.active[why as usize], cuts);
        let cuts = &self.active[why as usize];
        for node in 0..before.shut_to.len().max(cuts.shut_to.len()) {
            if before.shut_to(node) != cuts.shut_to(node) {
                let shut_to = [&self.active[0], &self.active[1]].map(|cuts| cuts.shut_to(node));
                let spec = ElementSpec::Gate(GateSpec { shut_to });
                engine.reconfigure(engine.now(), gate(node), spec).expect("a gate stays a gate");
            }
        }
        self.answers = self.active.iter().any(|cuts| !cuts.resets.is_empty());
        engine.advance(at);
        at
    }

    /// Whether the network answers TCP of one node in the place of the other.
    #[inline]
    pub(crate) fn answers(&self, from: usize, to: usize) -> bool {
        let names = |cuts: &Arc<Cuts>| cuts.resets.get(from).is_some_and(|others| others.has(to as u16));
        self.answers && self.active.iter().any(names)
    }
}
