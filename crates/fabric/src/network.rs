//! Compiles a fabric into elements and paths of an engine, and recompiles it when the condition changes.
//!
//! A path from node `a` to node `b` on another host runs through
//! a's `host.egress`, `link` up, the uplink, `switch.ingress` of a's port, `switch.egress` of b's port, `link` down, the
//! downlink, b's `host.ingress`. On the same host it is a's `host.egress` and b's `host.ingress`. `queue` and `schedule` are
//! not elements of their own: they are the queueing of the uplink or downlink that they stand in front of. `capacity`
//! is the process that drives them.
//!
//! Interference between two hosts is sent by a neighbour node on each: it has its own elements at the places that are
//! per node and shares the others, as another tenant's container would.

use std::collections::{BTreeMap, HashMap};

use ahash::AHashMap;
use crosswind_engine::{
    Duration, ElementId, ElementSpec, Engine, Instant, Limit, MemoryId, PathId, ProcessId, Queueing, Rate,
    SourceId,
};

use crate::capacity::{Drives, Wanted};
use crate::check::FabricError;
use crate::delays::delay;
use crate::impairments::{loss_law, share};
use crate::interference::{Interference, OneWay};
use crate::labels::Labels;
use crate::monitor::{self, HeaderReader, Surroundings};
use crate::process::Direction;
use crate::queue;
use crate::spec::{Condition, ElementEntry, Fabric, Places};

/// Where an element stands, for people and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// What a node or host sends.
    HostEgress,
    /// What a node receives.
    HostIngress,
    /// In front of the wire.
    Link,
    /// What comes up into a switch port.
    SwitchIngress,
    /// What goes down from a switch port.
    SwitchEgress,
}

impl Place {
    /// The word that conditions use.
    pub fn word(self) -> &'static str {
        match self {
            Self::HostEgress => "host.egress",
            Self::HostIngress => "host.ingress",
            Self::Link => "link",
            Self::SwitchIngress => "switch.ingress",
            Self::SwitchEgress => "switch.egress",
        }
    }
}

/// An element of the engine and where it stands.
#[derive(Clone, Debug)]
pub struct ElementAt {
    /// In the engine.
    pub id: ElementId,
    /// Such as `h0/switch.ingress/0:police`.
    pub name: String,
    /// Its place.
    pub place: Place,
    /// The node or host it belongs to.
    pub of: String,
}

/// The end of a path: a real node or the neighbour that interference comes from.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) name: String,
    pub(crate) host: usize,
}

#[derive(Clone, Debug)]
struct Source {
    id: SourceId,
    name: String,
    from: End,
    to: End,
    /// Whether acknowledgements come back.
    responds: bool,
}

/// An engine with the fabric's elements, paths and sources.
#[derive(Debug)]
pub struct Network {
    engine: Engine,
    fabric: Fabric,
    places: Places,
    /// Of the condition in force.
    held_bits: BTreeMap<String, u64>,
    elements: Vec<ElementAt>,
    by_name: HashMap<String, ElementId>,
    memories: HashMap<String, MemoryId>,
    pub(crate) uplinks: Vec<ElementId>,
    pub(crate) downlinks: Vec<ElementId>,
    pub(crate) ends: Vec<End>,
    /// Path between two nodes, and whether it treats the packets of a train alike.
    paths: Vec<Option<(PathId, bool)>>,
    sources: Vec<Source>,
    sources_started: u32,
    /// Monitors that look at what stands behind them.
    pub(crate) watching: Vec<ElementId>,
    drives: Drives,
    /// Monitors that read headers.
    pub(crate) readers: AHashMap<ElementId, HeaderReader>,
    pub(crate) readers_version: u64,
    pub(crate) labels: Labels,
}

impl Network {
    /// Builds the network with the fabric's condition in force; its interference starts at `start`.
    pub fn new(fabric: &Fabric, start: Instant) -> Result<Self, FabricError> {
        fabric.check()?;
        let host_of =
            |name: &String| fabric.hosts.iter().position(|host| host == name).expect("checked above");
        let ends: Vec<End> = fabric
            .nodes
            .iter()
            .map(|node| End { name: node.name.clone(), host: host_of(&node.host) })
            .collect();
        let mut network = Self {
            engine: Engine::new(fabric.seed),
            fabric: fabric.clone(),
            places: Places::default(),
            held_bits: BTreeMap::new(),
            elements: Vec::new(),
            by_name: HashMap::new(),
            memories: HashMap::new(),
            uplinks: Vec::new(),
            downlinks: Vec::new(),
            paths: vec![None; ends.len() * ends.len()],
            ends,
            sources: Vec::new(),
            sources_started: 0,
            watching: Vec::new(),
            drives: Drives::default(),
            readers: AHashMap::new(),
            readers_version: 0,
            labels: Labels::default(),
        };
        network.engine.advance(start);
        for host in 0..network.fabric.hosts.len() {
            let (up, down) =
                (network.ensure_link(start, host, true)?, network.ensure_link(start, host, false)?);
            network.uplinks.push(up);
            network.downlinks.push(down);
        }
        let condition = network.fabric.condition.clone();
        network.fabric.condition = Condition::default();
        network.apply(start, &condition)?;
        Ok(network)
    }

    /// The engine, to push packets and take outcomes.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// The engine, to read counters.
    pub fn engine_ref(&self) -> &Engine {
        &self.engine
    }

    /// Both, to read what must catch up first.
    pub fn engine_and_elements(&mut self) -> (&mut Engine, &[ElementAt]) {
        (&mut self.engine, &self.elements)
    }

    /// Every element with its place, in the order they were made.
    pub fn elements(&self) -> &[ElementAt] {
        &self.elements
    }

    /// Names and ids of the running sources of interference.
    pub fn sources(&self) -> impl Iterator<Item = (&str, SourceId)> {
        self.sources.iter().map(|source| (source.name.as_str(), source.id))
    }

    /// Links that a process drives, by name, with the process.
    pub fn driven_links(&self) -> impl Iterator<Item = (&str, ProcessId)> {
        self.drives.iter()
    }

    /// Counts the time of processes from `at`, where a measurement starts, and draws their levels again from the first.
    pub fn restart_processes(&mut self, at: Instant) {
        self.drives.restart(&mut self.engine, at);
    }

    /// The fabric with the condition in force.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The path between two nodes, made when first asked for, and whether it treats the packets of a train alike.
    pub fn path(&mut self, from: usize, to: usize) -> (PathId, bool) {
        let slot = from * self.ends.len() + to;
        if let Some(path) = self.paths[slot] {
            return path;
        }
        let (a, b) = (self.ends[from].clone(), self.ends[to].clone());
        let path = self.build_path(&a, &b);
        let found = (path, self.engine.treats_alike(path));
        self.paths[slot] = Some(found);
        found
    }

    /// Puts another condition in force from `at`; packets already inside finish on the path they entered. Returns the instant
    /// it took effect: `at`, or now where `at` is earlier.
    pub fn apply(&mut self, at: Instant, condition: &Condition) -> Result<Instant, FabricError> {
        let checked = Fabric { condition: condition.clone(), ..self.fabric.clone() };
        checked.check()?;
        self.labels = self.labels.next(condition, &self.fabric);
        self.held_bits = condition.held_bits.clone();
        let at = self.put(at, &condition.places)?;
        if condition.interference != self.fabric.condition.interference {
            for source in std::mem::take(&mut self.sources) {
                self.engine.stop_source(at, source.id);
            }
            for interference in &condition.interference {
                self.start(at, interference)?;
            }
        }
        self.fabric.condition = condition.clone();
        Ok(at)
    }

    /// Replaces the places that a timeline step names and keeps the others. Returns the instant it took effect.
    pub fn step(&mut self, at: Instant, places: &Places) -> Result<Instant, FabricError> {
        let merged = self.places.replaced_by(places);
        self.put(at, &merged)
    }

    fn put(&mut self, at: Instant, places: &Places) -> Result<Instant, FabricError> {
        // New elements are born at this instant, whatever the engine did last.
        self.engine.advance(at);
        let at = self.engine.now();
        self.places = places.clone();
        for host in 0..self.fabric.hosts.len() {
            self.ensure_link(at, host, true)?;
            self.ensure_link(at, host, false)?;
        }
        // Elements are made (or given their new parameters) now, not when the first packet asks for a path.
        for end in self.ends.clone() {
            self.chain(at, Place::HostEgress, &end.name, end.host, None)?;
            self.chain(at, Place::HostIngress, &end.name, end.host, None)?;
        }
        for host in 0..self.fabric.hosts.len() {
            let name = self.fabric.hosts[host].clone();
            self.chain(at, Place::Link, &name, host, Some("up"))?;
            self.chain(at, Place::Link, &name, host, Some("down"))?;
            self.chain(at, Place::SwitchIngress, &name, host, None)?;
            self.chain(at, Place::SwitchEgress, &name, host, None)?;
        }
        self.watch_all(at);
        self.drive(at)?;
        self.paths.fill(None);
        for index in 0..self.sources.len() {
            let Source { id, from, to, responds, .. } = self.sources[index].clone();
            for end in [&from, &to] {
                self.chain(at, Place::HostEgress, &end.name, end.host, None)?;
                self.chain(at, Place::HostIngress, &end.name, end.host, None)?;
            }
            let (path, back) = (self.build_path(&from, &to), self.build_path(&to, &from));
            self.engine.redirect_source(at, id, path);
            if responds {
                self.engine.redirect_acks(at, id, back).map_err(refused)?;
            }
        }
        for index in 0..self.sources.len() {
            let neighbour = self.sources[index].from.clone();
            self.watch_node(at, &neighbour);
        }
        Ok(at)
    }

    /// Lets links follow the processes that the `link` place names.
    fn drive(&mut self, at: Instant) -> Result<(), FabricError> {
        let mut wanted = Vec::new();
        for entry in self.places.at(Place::Link) {
            let ElementEntry::Capacity { process, direction, on } = entry else { continue };
            for (host, name) in self.fabric.hosts.iter().enumerate() {
                if on.as_ref().is_some_and(|on| !on.contains(name)) {
                    continue;
                }
                for (way, link, element) in [
                    (Direction::Up, "uplink", self.uplinks[host]),
                    (Direction::Down, "downlink", self.downlinks[host]),
                ] {
                    if direction.is_none_or(|direction| direction == way) {
                        wanted.push(Wanted { link: format!("{name}/{link}"), element, process });
                    }
                }
            }
        }
        self.drives.put(&mut self.engine, at, &wanted).map_err(refused)
    }

    fn start(&mut self, at: Instant, interference: &Interference) -> Result<(), FabricError> {
        let number = self.sources_started;
        self.sources_started += 1;
        let ends: Vec<End> = interference
            .between
            .iter()
            .map(|name| End {
                name: format!("neighbour{number}@{name}"),
                host: self.fabric.hosts.iter().position(|host| host == name).expect("checked"),
            })
            .collect();
        for end in &ends {
            self.chain(at, Place::HostEgress, &end.name, end.host, None)?;
            self.chain(at, Place::HostIngress, &end.name, end.host, None)?;
        }
        for (from, to) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
            let (path, back) = (self.build_path(from, to), self.build_path(to, from));
            let name = format!("{}->{}", self.fabric.hosts[from.host], self.fabric.hosts[to.host]);
            let way = OneWay {
                name: &format!("neighbour{number}:{name}"),
                path,
                back,
                at,
                peak: rate(self.fabric.uplink.rate_bps),
                rto_min: Duration::from_micros(self.fabric.tcp.rto_min_us.into()),
            };
            let id = interference.start(&mut self.engine, way).map_err(refused)?;
            let responds = interference.tcp.is_some();
            self.sources.push(Source { id, name, from: from.clone(), to: to.clone(), responds });
        }
        for end in &ends {
            self.watch_node(at, end);
        }
        Ok(())
    }

    fn build_path(&mut self, a: &End, b: &End) -> PathId {
        let mut stages = self.chain_ids(Place::HostEgress, &a.name, a.host, None);
        if a.host != b.host {
            let (up, down) = (self.fabric.hosts[a.host].clone(), self.fabric.hosts[b.host].clone());
            stages.extend(self.chain_ids(Place::Link, &up, a.host, Some("up")));
            stages.push(self.uplinks[a.host]);
            stages.extend(self.chain_ids(Place::SwitchIngress, &up, a.host, None));
            stages.extend(self.chain_ids(Place::SwitchEgress, &down, b.host, None));
            stages.extend(self.chain_ids(Place::Link, &down, b.host, Some("down")));
            stages.push(self.downlinks[b.host]);
        }
        stages.extend(self.chain_ids(Place::HostIngress, &b.name, b.host, None));
        self.engine.path(&stages)
    }

    /// Elements of a place for one node or host, in order: names and specifications.
    fn wanted(&self, place: Place, of: &str, host: usize, way: Option<&str>) -> Vec<(String, ElementSpec)> {
        self.entries(place, of, host)
            .filter_map(|(index, entry)| {
                let way = way.map(|way| format!(".{way}")).unwrap_or_default();
                let mut spec =
                    element_spec(entry, &Surroundings { fabric: &self.fabric, labels: &self.labels })?;
                let name = format!("{of}/{}{way}/{index}:{}", place.word(), entry.word());
                if let (ElementSpec::Credit(credit), Some(&held)) = (&mut spec, self.held_bits.get(&name)) {
                    credit.initial_bits = held.min(credit.budget_bits);
                }
                Some((name, spec))
            })
            .collect()
    }

    /// What the condition has written at a place for one node or host, with its number there.
    pub(crate) fn entries<'a>(
        &'a self,
        place: Place,
        of: &'a str,
        host: usize,
    ) -> impl Iterator<Item = (usize, &'a ElementEntry)> {
        let host_name = &self.fabric.hosts[host];
        let stands = move |entry: &ElementEntry| {
            entry.on().is_none_or(|on| on.iter().any(|name| name == of || name == host_name))
        };
        self.places.at(place).iter().enumerate().filter(move |(_, entry)| stands(entry))
    }

    fn chain(
        &mut self,
        at: Instant,
        place: Place,
        of: &str,
        host: usize,
        way: Option<&str>,
    ) -> Result<(), FabricError> {
        for (name, spec) in self.wanted(place, of, host, way) {
            self.ensure(at, name, place, of, spec)?;
        }
        Ok(())
    }

    pub(crate) fn chain_ids(&self, place: Place, of: &str, host: usize, way: Option<&str>) -> Vec<ElementId> {
        self.wanted(place, of, host, way).iter().map(|(name, _)| self.by_name[name]).collect()
    }

    /// One element per name: a new one, or the old one with new parameters.
    fn ensure(
        &mut self,
        at: Instant,
        name: String,
        place: Place,
        of: &str,
        spec: ElementSpec,
    ) -> Result<ElementId, FabricError> {
        if let Some(&id) = self.by_name.get(&name) {
            self.engine.reconfigure(at, id, spec).map_err(refused)?;
            return Ok(id);
        }
        let id = self.engine.add(&name, spec).map_err(refused)?;
        self.elements.push(ElementAt { id, name: name.clone(), place, of: of.to_owned() });
        self.by_name.insert(name, id);
        Ok(id)
    }

    /// One memory per name: a new one, or the old one with a new size.
    fn ensure_memory(&mut self, at: Instant, name: String, bytes: u64) -> MemoryId {
        if let Some(&id) = self.memories.get(&name) {
            self.engine.resize_memory(at, id, bytes);
            return id;
        }
        let id = self.engine.add_memory(bytes);
        self.memories.insert(name, id);
        id
    }

    fn ensure_link(&mut self, at: Instant, host: usize, up: bool) -> Result<ElementId, FabricError> {
        let place = if up { Place::HostEgress } else { Place::SwitchEgress };
        let name = self.fabric.hosts[host].clone();
        let uplink = &self.fabric.uplink;
        let usual = queue::limit(uplink.buffer_bytes, uplink.buffer_packets, uplink.buffer_ns)
            .unwrap_or(Limit::Unlimited);
        let entries = self.places.at(place).iter().enumerate();
        let replaced = entries
            .filter(|(_, entry)| entry.on().is_none_or(|on| on.contains(&name)))
            .find(|(_, entry)| !entry.is_element())
            .map(|(index, entry)| (index, entry.clone()));
        let queueing = replaced.and_then(|(index, entry)| {
            // A switch has one memory for all its ports, a host one for its own.
            let device = if up { name.as_str() } else { "switch" };
            let memory = entry
                .memory_bytes()
                .map(|bytes| self.ensure_memory(at, format!("{device}/{}/{index}", place.word()), bytes));
            link_queueing(&entry, usual, memory)
        });
        let spec = ElementSpec::Link {
            rate: rate(self.fabric.uplink.rate_bps),
            delay: Duration::from_nanos(self.fabric.uplink.delay_ns),
            queueing: queueing.unwrap_or_else(|| Queueing::fifo(usual)),
        };
        let link = format!("{name}/{}", if up { "uplink" } else { "downlink" });
        self.ensure(at, link, place, &name, spec)
    }
}

fn refused(error: impl std::fmt::Display) -> FabricError {
    FabricError(vec![error.to_string()])
}

pub(crate) fn rate(bps: Option<u64>) -> Rate {
    bps.and_then(Rate::bits_per_second).unwrap_or(Rate::Unlimited)
}

/// The queueing of a link that an entry stands for; `None` for those that are no part of a link.
fn link_queueing(entry: &ElementEntry, usual: Limit, memory: Option<MemoryId>) -> Option<Queueing> {
    // Where a memory bounds the queues, only a buffer of their own bounds them besides.
    let usual = if memory.is_some() { Limit::Unlimited } else { usual };
    match entry {
        ElementEntry::Schedule { by, queues, .. } => Some(queue::queueing(*by, queues, usual, memory)),
        ElementEntry::Queue { buffer_bytes, buffer_packets, buffer_ns, drop, ecn, alpha_ppb, .. } => {
            let own = queue::limit(*buffer_bytes, *buffer_packets, *buffer_ns);
            let mut queueing = Queueing::fifo(queue::buffer(own.unwrap_or(usual), *drop, *ecn));
            queueing.queues[0].share = queue::memory_share(memory, *alpha_ppb);
            Some(queueing)
        }
        _ => None,
    }
}

/// What an entry is in the engine, in these surroundings; `None` for a queue, a schedule or a capacity, which belong to a link.
fn element_spec(entry: &ElementEntry, around: &Surroundings<'_>) -> Option<ElementSpec> {
    Some(match entry {
        ElementEntry::Police { rate_bps, burst_bytes, .. } => {
            ElementSpec::Police { rate: rate(*rate_bps), burst_bytes: *burst_bytes }
        }
        ElementEntry::Shape {
            rate_bps,
            burst_bytes,
            buffer_bytes,
            buffer_packets,
            buffer_ns,
            drop,
            ecn,
            ..
        } => {
            let limit = queue::limit(*buffer_bytes, *buffer_packets, *buffer_ns);
            ElementSpec::Shape {
                rate: rate(*rate_bps),
                burst_bytes: *burst_bytes,
                buffer: queue::buffer(limit.unwrap_or(Limit::Unlimited), *drop, *ecn),
            }
        }
        ElementEntry::Credit(credit) => credit.spec(),
        ElementEntry::Pace(pace) => pace.spec(),
        ElementEntry::Srtcm(meter) => meter.spec(),
        ElementEntry::Trtcm(meter) => meter.spec(),
        ElementEntry::Mark { dscp, .. } => ElementSpec::Mark { dscp: *dscp },
        ElementEntry::Delay { time_ns, random, .. } => delay(*time_ns, random.as_ref()),
        ElementEntry::Lose { law, .. } => ElementSpec::Lose(loss_law(law)),
        ElementEntry::Duplicate { share_ppb, .. } => ElementSpec::Duplicate { share: share(*share_ppb) },
        ElementEntry::Corrupt { share_ppb, .. } => ElementSpec::Corrupt { share: share(*share_ppb) },
        ElementEntry::Reorder { share_ppb, time_ns, .. } => {
            ElementSpec::Reorder { share: share(*share_ppb), time: Duration::from_nanos(*time_ns) }
        }
        ElementEntry::Monitor { what, window_ns, burst_gap_ns, select, start, .. } => {
            ElementSpec::Monitor(monitor::spec(what, *window_ns, *burst_gap_ns, select, start, around))
        }
        ElementEntry::Queue { .. } | ElementEntry::Schedule { .. } | ElementEntry::Capacity { .. } => {
            return None
        }
    })
}

impl Places {
    /// Entries of one place; none when the place is absent.
    pub fn at(&self, place: Place) -> &[ElementEntry] {
        match place {
            Place::HostEgress => self.host_egress.as_deref(),
            Place::HostIngress => self.host_ingress.as_deref(),
            Place::Link => self.link.as_deref(),
            Place::SwitchIngress => self.switch_ingress.as_deref(),
            Place::SwitchEgress => self.switch_egress.as_deref(),
        }
        .unwrap_or_default()
    }

    /// Every place by its word.
    pub(crate) fn by_name(&self) -> [(&'static str, &[ElementEntry]); 5] {
        [Place::HostEgress, Place::HostIngress, Place::Link, Place::SwitchIngress, Place::SwitchEgress]
            .map(|place| (place.word(), self.at(place)))
    }

    fn replaced_by(&self, newer: &Places) -> Places {
        let pick = |new: &Option<Vec<ElementEntry>>, old: &Option<Vec<ElementEntry>>| {
            new.clone().or_else(|| old.clone())
        };
        Places {
            host_egress: pick(&newer.host_egress, &self.host_egress),
            host_ingress: pick(&newer.host_ingress, &self.host_ingress),
            link: pick(&newer.link, &self.link),
            switch_ingress: pick(&newer.switch_ingress, &self.switch_ingress),
            switch_egress: pick(&newer.switch_egress, &self.switch_egress),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
