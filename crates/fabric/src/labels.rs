//! Labels of packets: each distinct match of a condition that needs headers is a label of the packets that it matches.
//! In a fabric with faults every packet also has a label of its sender, by which gates drop packets: the sender's
//! position among the nodes.
//!
//! The caller reads the headers when a frame enters, a packet carries the set of its labels, and a monitor checks for
//! its own label.

use std::sync::Arc;

use ahash::AHashMap;
use crosswind_engine::{Begin, Engine, LabelSet, Match, MonitorParameters, Treatment};

use crate::routes::mix;
use crate::spec::{Condition, Fabric};

/// The relevant header fields of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Facts {
    /// Position of the sending node.
    pub from: usize,
    /// Position of the receiving node.
    pub to: usize,
    /// IP protocol number.
    pub protocol: u8,
    /// Source and destination port, if the protocol has ports.
    pub ports: Option<(u16, u16)>,
}

impl Facts {
    /// Equal for packets of one flow, which have the same sender, receiver, protocol and ports.
    pub(crate) fn hash(&self) -> u32 {
        let (source, destination) = self.ports.unwrap_or_default();
        let ends = (self.from as u64) << 32 | self.to as u64;
        let flow = u64::from(self.protocol) << 32 | u64::from(source) << 16 | u64::from(destination);
        mix(ends ^ mix(flow)) as u32
    }
}

/// The part of a match that needs headers; absent fields match anything.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeaderMatch {
    from: Option<usize>,
    to: Option<usize>,
    protocol: Option<u8>,
    source_port: Option<u16>,
    destination_port: Option<u16>,
}

impl HeaderMatch {
    /// `None` for a match that needs no header.
    fn of(select: &Match, fabric: &Fabric) -> Option<Self> {
        let node = |name: &Option<String>| {
            name.as_ref().and_then(|name| fabric.nodes.iter().position(|node| node.name == *name))
        };
        select.needs_headers().then(|| Self {
            from: node(&select.from),
            to: node(&select.to),
            protocol: select.protocol,
            source_port: select.source_port,
            destination_port: select.destination_port,
        })
    }

    fn holds(&self, facts: &Facts) -> bool {
        let port = |wanted: Option<u16>, which: fn((u16, u16)) -> u16| {
            wanted.is_none_or(|wanted| facts.ports.is_some_and(|ports| which(ports) == wanted))
        };
        self.from.is_none_or(|from| from == facts.from)
            && self.to.is_none_or(|to| to == facts.to)
            && self.protocol.is_none_or(|protocol| protocol == facts.protocol)
            && port(self.source_port, |ports| ports.0)
            && port(self.destination_port, |ports| ports.1)
    }
}

/// The header matches of a condition, with their labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    matches: Arc<Vec<(HeaderMatch, u16)>>,
    /// Whether packets have labels of their senders.
    senders: bool,
}

impl Labels {
    /// The label of a match, if it needs headers.
    pub(crate) fn of(&self, select: &Match, fabric: &Fabric) -> Option<u16> {
        let header = HeaderMatch::of(select, fabric)?;
        self.matches.iter().find(|(known, _)| *known == header).map(|(_, label)| *label)
    }

    /// The labels of a frame, in order.
    fn held_by(&self, facts: &Facts) -> Vec<u16> {
        let sender = self.senders.then_some(facts.from as u16);
        let held = self.matches.iter().filter(|(header, _)| header.holds(facts)).map(|(_, label)| *label);
        sender.into_iter().chain(held).collect()
    }
}

/// Labels of all conditions so far. A match has the same label permanently, so packets in flight are still recognised
/// under another condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelBook(Vec<HeaderMatch>);

impl LabelBook {
    /// The labels of a condition; `None` when there have been more different matches than labels.
    pub(crate) fn labels(&mut self, condition: &Condition, fabric: &Fabric) -> Option<Labels> {
        // The first labels are those of the senders.
        let first = if fabric.faults { fabric.nodes.len() } else { 0 };
        let mut labels: Vec<(HeaderMatch, u16)> = Vec::new();
        for header in matches_of(condition).filter_map(|select| HeaderMatch::of(select, fabric)) {
            if labels.iter().any(|(known, _)| *known == header) {
                continue;
            }
            let place = self.0.iter().position(|known| *known == header).unwrap_or_else(|| {
                self.0.push(header.clone());
                self.0.len() - 1
            });
            labels.push((header, u16::try_from(first + place).ok()?));
        }
        labels.sort_by_key(|(_, label)| *label);
        Some(Labels { matches: Arc::new(labels), senders: fabric.faults })
    }
}

/// All remembered flows are forgotten when they exceed this number.
const FLOWS_MAX: usize = 65_536;

/// The label sets of all frames so far.
#[derive(Debug, Default)]
pub(crate) struct LabelSets {
    flows: AHashMap<Facts, LabelSet>,
    /// By sender: the set of its own label alone, once a packet needed it.
    senders: Vec<LabelSet>,
    sets: AHashMap<Box<[u16]>, LabelSet>,
    /// The labels of each set, by its number minus 1.
    labels: Vec<Box<[u16]>>,
    /// How often all sets were forgotten.
    version: u32,
}

impl LabelSets {
    /// Forgets the flows, because another condition selects by other labels.
    pub(crate) fn forget_flows(&mut self) {
        self.flows.clear();
    }

    /// The labels of a frame. Each flow is classified once, whatever the number of matches.
    #[inline]
    pub(crate) fn of(&mut self, facts: &Facts, labels: &Labels, engine: &mut Engine) -> LabelSet {
        if labels.matches.is_empty() {
            return self.of_sender(facts.from, labels, engine);
        }
        match self.flows.get(facts) {
            Some(&set) => set,
            None => self.look(facts, labels, engine),
        }
    }

    /// The labels of a packet without headers.
    #[inline]
    pub(crate) fn of_sender(&mut self, from: usize, labels: &Labels, engine: &mut Engine) -> LabelSet {
        if !labels.senders {
            return LabelSet::NONE;
        }
        match self.senders.get(from) {
            Some(&set) if set != LabelSet::NONE => set,
            _ => self.new_sender(from, engine),
        }
    }

    #[cold]
    fn new_sender(&mut self, from: usize, engine: &mut Engine) -> LabelSet {
        let set = self.named(&[from as u16], engine);
        self.senders.resize(self.senders.len().max(from + 1), LabelSet::NONE);
        self.senders[from] = set;
        set
    }

    fn look(&mut self, facts: &Facts, labels: &Labels, engine: &mut Engine) -> LabelSet {
        let set = self.named(&labels.held_by(facts), engine);
        if self.flows.len() == FLOWS_MAX {
            self.flows.clear();
        }
        self.flows.insert(*facts, set);
        set
    }

    /// The set of these labels.
    pub(crate) fn named(&mut self, labels: &[u16], engine: &mut Engine) -> LabelSet {
        if labels.is_empty() {
            return LabelSet::NONE;
        }
        if let Some(&set) = self.sets.get(labels) {
            return set;
        }
        let set = engine.label_set(labels).unwrap_or_else(|| {
            // More combinations than a packet can number: all sets are forgotten, and new ones are numbered again.
            engine.forget_label_sets();
            self.flows.clear();
            self.senders.clear();
            self.sets.clear();
            self.labels.clear();
            self.version += 1;
            engine.label_set(labels).expect("the first of them")
        });
        self.sets.insert(labels.into(), set);
        self.labels.push(labels.into());
        set
    }

    /// The labels of a set.
    pub(crate) fn labels(&self, set: LabelSet) -> &[u16] {
        // A forgotten set has no labels.
        set.index().and_then(|index| self.labels.get(index)).map_or(&[], |labels| labels)
    }

    /// A number that changes whenever all sets have been forgotten.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }
}

fn matches_of(condition: &Condition) -> impl Iterator<Item = &Match> {
    let steps = condition.timeline.iter().map(|step| &step.places);
    let entries = std::iter::once(&condition.places)
        .chain(steps)
        .flat_map(|places| places.each().into_iter().flat_map(|(_, entries)| entries));
    entries.flat_map(|entry| match &entry.treatment {
        Treatment::Monitor(MonitorParameters { select, start, .. }) => {
            let first = match start {
                Begin::Packet(first) => Some(first),
                Begin::After(_) => None,
            };
            [Some(select), first].into_iter().flatten().collect::<Vec<_>>()
        }
        _ => Vec::new(),
    })
}
