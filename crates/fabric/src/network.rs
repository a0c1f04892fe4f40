//! Compiles a fabric into elements and paths of an engine, and recompiles it when the condition changes.
//!
//! A path from node `a` to node `b` on another host runs through a's `host.egress`, `link` up, the uplink, `switch.ingress` of a's
//! port, over the links between switches that the routes choose, `switch.egress` of b's port, `link` down, the downlink, and b's
//! `host.ingress`. A link between switches is `switch.egress` and `link` where a condition names it, `wan`, its own jitter and loss,
//! the wire, and `switch.ingress` where a condition names it. On the same host a path is a's `host.egress` and b's `host.ingress`.
//! `queue` and `schedule` are not elements of their own: they are the queueing of the wire that they stand in front of. `capacity`
//! is the process that drives it.
//!
//! Interference between two hosts is sent by a neighbour node on each: it has its own elements at the places that are
//! per node and shares the others, as another tenant's container would.

use std::collections::{BTreeMap, HashMap};

use ahash::AHashMap;
use crosswind_engine::{
    BernoulliLaw, CapacityParameters, DelayLaw, DelaySpec, Depth, Direction, Duration, ElementId,
    ElementSpec, Engine, Instant, Limit, LinkSpec, LoseSpec, LossLaw, MemoryId, Order, PathId, ProcessId,
    Queueing, RandomDelay, Rate, Share, SourceId, Spread, Treatment,
};

use crate::capacity::{Drives, Wanted};
use crate::check::FabricError;
use crate::elements::{ElementAt, Elements};
use crate::entry::ElementEntry;
use crate::graph::{Graph, Owner};
use crate::interference::{Interference, OneWay};
use crate::labels::{Facts, Labels};
use crate::monitor::{self, HeaderReader};
use crate::paths::Paths;
use crate::routes::{mix, Routes};
use crate::site::{Place, Site};
use crate::spec::{Condition, Fabric, Places};
use crate::stands::{End, HostStands, Stand, TrunkStands};

/// What a link is made of; no condition takes any of it away.
#[derive(Clone, Copy, Debug)]
struct Wire {
    loss: Option<ElementId>,
    /// Queues and serialises.
    id: ElementId,
    jitter: Option<ElementId>,
}

impl Wire {
    fn stages(self) -> impl Iterator<Item = ElementId> {
        self.loss.into_iter().chain([self.id]).chain(self.jitter)
    }
}

#[derive(Clone, Debug)]
struct Source {
    id: SourceId,
    name: String,
    /// Positions among the neighbours.
    from: usize,
    to: usize,
    /// Chooses among equal ways.
    flow: u32,
    /// Whether acknowledgements come back.
    responds: bool,
}

/// An engine with the fabric's elements, paths and sources.
#[derive(Debug)]
pub struct Network {
    elements: Elements,
    fabric: Fabric,
    graph: Graph,
    routes: Routes,
    places: Places,
    /// Of the condition in force.
    held_bits: BTreeMap<String, u64>,
    labels: Labels,
    /// By the place of its link in the fabric's list.
    wires: Vec<Wire>,
    nodes: Vec<End>,
    hosts: Vec<HostStands>,
    trunks: Vec<TrunkStands>,
    paths: Paths,
    /// Two for each interference that was ever started; sources know them by their positions.
    neighbours: Vec<End>,
    sources: Vec<Source>,
    interferences_started: u32,
    drives: Drives,
    /// Monitors that look at what stands behind them.
    watching: Vec<ElementId>,
    /// Monitors that read headers.
    readers: AHashMap<ElementId, HeaderReader>,
    readers_version: u64,
}

impl Network {
    /// Builds the network with the fabric's condition in force; its interference starts at `start`.
    pub fn new(fabric: &Fabric, start: Instant) -> Result<Self, FabricError> {
        let (graph, routes) = fabric.checked()?;
        let host_of: HashMap<&str, usize> = fabric.hosts.iter().map(String::as_str).zip(0..).collect();
        let node = |name: &str, host: &str| End::new(fabric, &graph, name, host_of[host]);
        let mut network = Self {
            elements: Elements::new(fabric.seed),
            nodes: fabric.nodes.iter().map(|it| node(&it.name, &it.host)).collect(),
            hosts: (0..fabric.hosts.len()).map(|host| HostStands::new(fabric, &graph, host)).collect(),
            trunks: graph.trunks.iter().map(|trunk| TrunkStands::new(fabric, trunk.link)).collect(),
            fabric: Fabric { condition: Condition::default(), ..fabric.clone() },
            graph,
            routes,
            places: Places::default(),
            held_bits: BTreeMap::new(),
            labels: Labels::default(),
            wires: Vec::new(),
            paths: Paths::between(fabric.nodes.len()),
            neighbours: Vec::new(),
            sources: Vec::new(),
            interferences_started: 0,
            drives: Drives::default(),
            watching: Vec::new(),
            readers: AHashMap::new(),
            readers_version: 0,
        };
        network.elements.engine_mut().advance(start);
        for link in 0..network.fabric.links.len() {
            let id = network.ensure_wire(start, link)?;
            let link = &network.fabric.links[link];
            let of = |what| format!("{}/{what}", link.name());
            let mut own = |name: String, spec: Option<ElementSpec>| {
                let add = |spec| network.elements.ensure(start, name, Place::Link, &link.name(), spec);
                spec.map(add).transpose()
            };
            let loss = link.loss_ppb.map(losing);
            let loss = own(of("loss"), loss)?;
            let jitter = own(of("jitter"), link.jitter_ns.map(|jitter_ns| around(link.delay_ns, jitter_ns)))?;
            network.wires.push(Wire { loss, id, jitter });
        }
        network.apply(start, &fabric.condition)?;
        Ok(network)
    }

    /// The engine, to push packets and take outcomes.
    pub fn engine(&mut self) -> &mut Engine {
        self.elements.engine_mut()
    }

    /// The engine, to read counters.
    pub fn engine_ref(&self) -> &Engine {
        self.elements.engine()
    }

    /// Both, to read what must catch up first.
    pub fn engine_and_elements(&mut self) -> (&mut Engine, &[ElementAt]) {
        self.elements.engine_and_list()
    }

    /// Every element with its place, in the order they were made.
    pub fn elements(&self) -> &[ElementAt] {
        self.elements.list()
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
        self.drives.restart(self.elements.engine_mut(), at);
    }

    /// The fabric with the condition in force.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Wire bits per second by which a node receives; `None` where that is unlimited.
    pub fn receive_bps(&self, node: usize) -> Option<u64> {
        self.fabric.links[self.graph.hosts[self.nodes[node].host].down].rate_bps
    }

    /// The labels of a frame, by which monitors select.
    pub fn labels(&self, facts: &Facts) -> u8 {
        self.labels.of(facts)
    }

    /// What of a frame's flow decides which way it takes; 0 where nothing of it does.
    pub fn flow(&self, facts: &Facts) -> u32 {
        self.routes.flow(facts.hash())
    }

    /// What a monitor of the condition in force reads from headers; `None` where it reads none.
    pub fn header_reader(&self, id: ElementId) -> Option<&HeaderReader> {
        self.readers.get(&id)
    }

    /// Another number whenever other monitors may read headers.
    pub fn readers_version(&self) -> u64 {
        self.readers_version
    }

    /// The path between two nodes for a flow ([`Network::flow`]), made when first asked for, and whether it treats the packets of
    /// a train alike.
    pub fn path(&mut self, from: usize, to: usize, flow: u32) -> (PathId, bool) {
        if let Some(found) = self.paths.get(from, to, flow) {
            return found;
        }
        let way = self.way(self.nodes[from].host, self.nodes[to].host, flow);
        let stages = self.stages(&self.nodes[from], &self.nodes[to], &way);
        let engine = self.elements.engine_mut();
        let path = engine.path(&stages);
        let found = (path, engine.treats_alike(path));
        self.paths.insert(from, to, flow, found);
        found
    }

    /// Puts another condition in force from `at`; packets already inside finish on the path they entered. Returns the instant
    /// it took effect: `at`, or now where `at` is earlier.
    pub fn apply(&mut self, at: Instant, condition: &Condition) -> Result<Instant, FabricError> {
        self.fabric.check_condition(&self.graph, condition)?;
        self.labels = self.labels.next(condition, &self.fabric);
        self.held_bits = condition.held_bits.clone();
        let at = self.put(at, &condition.places)?;
        if condition.interference != self.fabric.condition.interference {
            for source in std::mem::take(&mut self.sources) {
                self.engine().stop_source(at, source.id);
            }
            self.neighbours.clear();
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
        self.engine().advance(at);
        let at = self.engine().now();
        self.places = places.clone();
        for link in 0..self.fabric.links.len() {
            self.ensure_wire(at, link)?;
        }
        // Elements are made (or given their new parameters) now, not when the first packet asks for a path.
        let wishes = Wishes {
            fabric: &self.fabric,
            places: &self.places,
            labels: &self.labels,
            held_bits: &self.held_bits,
        };
        let stands = self.nodes.iter_mut().flat_map(End::each);
        let stands = stands.chain(self.hosts.iter_mut().flat_map(HostStands::each));
        let stands = stands.chain(self.trunks.iter_mut().flat_map(TrunkStands::each));
        for stand in stands {
            wishes.raise(&mut self.elements, at, stand)?;
        }
        for end in &mut self.neighbours {
            for stand in end.each() {
                wishes.raise(&mut self.elements, at, stand)?;
            }
        }
        self.drive(at)?;
        self.paths.clear();
        for index in 0..self.sources.len() {
            let Source { id, from, to, flow, responds, .. } = self.sources[index];
            let (path, back) = (self.neighbours_path(from, to, flow), self.neighbours_path(to, from, flow));
            self.engine().redirect_source(at, id, path);
            if responds {
                self.engine().redirect_acks(at, id, back).map_err(FabricError::of)?;
            }
        }
        self.watch_all(at);
        Ok(at)
    }

    /// Lets wires follow the processes that a condition names.
    fn drive(&mut self, at: Instant) -> Result<(), FabricError> {
        let hosts = self.hosts.iter();
        let stands =
            hosts.flat_map(|host| [(&host.up, Some(Direction::Up)), (&host.down, Some(Direction::Down))]);
        let trunks = self.trunks.iter().flat_map(|trunk| [(&trunk.link, None), (&trunk.wan, None)]);
        let mut wanted = Vec::new();
        for (Stand { site, .. }, way) in stands.chain(trunks) {
            for (_, entry) in self.places.standing(site) {
                let Treatment::Capacity(CapacityParameters { process, direction }) = &entry.treatment else {
                    continue;
                };
                if direction.is_none_or(|direction| way.is_none_or(|way| direction == way)) {
                    wanted.push(Wanted {
                        link: wire_name(&self.fabric, &self.graph, site.link),
                        element: self.wires[site.link].id,
                        process,
                    });
                }
            }
        }
        self.drives.put(self.elements.engine_mut(), at, &wanted).map_err(FabricError::of)
    }

    fn start(&mut self, at: Instant, interference: &Interference) -> Result<(), FabricError> {
        let number = self.interferences_started;
        self.interferences_started += 1;
        let first = self.neighbours.len();
        let wishes = Wishes {
            fabric: &self.fabric,
            places: &self.places,
            labels: &self.labels,
            held_bits: &self.held_bits,
        };
        for name in &interference.between {
            let host = self.fabric.hosts.iter().position(|host| host == name).expect("checked");
            let mut end = End::new(&self.fabric, &self.graph, &format!("neighbour{number}@{name}"), host);
            for stand in end.each() {
                wishes.raise(&mut self.elements, at, stand)?;
            }
            self.neighbours.push(end);
        }
        for (from, to) in [(first, first + 1), (first + 1, first)] {
            let [a, b] = [from, to].map(|end| self.neighbours[end].host);
            let name = format!("{}->{}", self.fabric.hosts[a], self.fabric.hosts[b]);
            // A neighbour's packets are one flow.
            let flow = self.routes.flow(mix(u64::from(number) << 1 | u64::from(from > to)) as u32);
            let (path, back) = (self.neighbours_path(from, to, flow), self.neighbours_path(to, from, flow));
            let way = OneWay {
                name: &format!("neighbour{number}:{name}"),
                path,
                back,
                at,
                peak: rate(self.fabric.links[self.graph.hosts[a].up].rate_bps),
                rto_min: Duration::from_micros(self.fabric.tcp.rto_min_us.into()),
            };
            let id = interference.start(self.elements.engine_mut(), way).map_err(FabricError::of)?;
            let responds = interference.tcp.is_some();
            self.sources.push(Source { id, name, from, to, flow, responds });
        }
        for end in first..first + 2 {
            let end = self.neighbours[end].clone();
            self.watch_node(at, &end);
        }
        Ok(())
    }

    fn neighbours_path(&mut self, from: usize, to: usize, flow: u32) -> PathId {
        let way = self.way(self.neighbours[from].host, self.neighbours[to].host, flow);
        let stages = self.stages(&self.neighbours[from], &self.neighbours[to], &way);
        self.engine().path(&stages)
    }

    /// The links between switches from one host to another.
    fn way(&mut self, from: usize, to: usize, flow: u32) -> Vec<usize> {
        if from == to {
            Vec::new()
        } else {
            self.routes.way(&self.graph, from, to, flow)
        }
    }

    fn stages(&self, from: &End, to: &End, way: &[usize]) -> Vec<ElementId> {
        let mut stages = from.egress.chain.clone();
        if from.host != to.host {
            let (a, b) = (&self.hosts[from.host], &self.hosts[to.host]);
            stages.extend(&a.up.chain);
            stages.extend(self.wires[a.up.site.link].stages());
            stages.extend(&a.ingress.chain);
            for &trunk in way {
                let stands = &self.trunks[trunk];
                for chain in [&stands.egress.chain, &stands.link.chain, &stands.wan.chain] {
                    stages.extend(chain);
                }
                stages.extend(self.wires[stands.wan.site.link].stages());
                stages.extend(&stands.ingress.chain);
            }
            stages.extend(&b.egress.chain);
            stages.extend(&b.down.chain);
            stages.extend(self.wires[b.down.site.link].stages());
        }
        stages.extend(&to.ingress.chain);
        stages
    }

    /// Points every monitor of the condition in force to what stands behind it, and no other.
    fn watch_all(&mut self, at: Instant) {
        self.readers.clear();
        self.readers_version += 1;
        for monitor in std::mem::take(&mut self.watching) {
            self.engine().watch(at, monitor, None, &[]);
        }
        let (nodes, neighbours) = (self.nodes.clone(), self.neighbours.clone());
        for end in nodes.iter().chain(&neighbours) {
            self.watch_node(at, end);
        }
        for HostStands { up, down, ingress, egress } in self.hosts.clone() {
            let [upwards, downwards] = [&up, &down].map(|stand| self.up_to_wire(stand));
            self.watch_stand(at, &up, &upwards);
            self.watch_stand(at, &down, &downwards);
            self.watch_stand(at, &ingress, &[]);
            self.watch_stand(at, &egress, &[&down.chain[..], &downwards].concat());
        }
        for TrunkStands { egress, link, wan, ingress } in self.trunks.clone() {
            let wire = self.up_to_wire(&wan);
            self.watch_stand(at, &egress, &[&link.chain[..], &wan.chain, &wire].concat());
            self.watch_stand(at, &link, &[&wan.chain[..], &wire].concat());
            self.watch_stand(at, &wan, &wire);
            self.watch_stand(at, &ingress, &[]);
        }
    }

    /// What a link has of its own up to its queue.
    fn up_to_wire(&self, stand: &Stand) -> Vec<ElementId> {
        let Wire { loss, id, .. } = self.wires[stand.site.link];
        loss.into_iter().chain([id]).collect()
    }

    /// Points the monitors of one node, or neighbour, to what stands behind them.
    fn watch_node(&mut self, at: Instant, end: &End) {
        let up = &self.hosts[end.host].up;
        let to_switch = [&up.chain[..], &self.up_to_wire(up)].concat();
        self.watch_stand(at, &end.egress, &to_switch);
        self.watch_stand(at, &end.ingress, &[]);
    }

    /// `leads_to`: what comes behind the site, up to the wire.
    fn watch_stand(&mut self, at: Instant, stand: &Stand, leads_to: &[ElementId]) {
        let entries = || self.places.standing(&stand.site).filter(|(_, entry)| entry.is_element());
        let (place, towards_host) = two_way(&self.fabric, &self.graph, &stand.site);
        let readers = monitor::readers(entries(), &stand.chain, &place, towards_host);
        self.readers.extend(readers);
        let behind = [&stand.chain[..], leads_to].concat();
        let engine = self.elements.engine_mut();
        for watch in monitor::watches(entries().map(|(_, entry)| entry)) {
            let (monitor, behind) = (behind[watch.position], &behind[watch.position + 1..]);
            let queue = behind.iter().copied().find(|&id| watch.queue && engine.has_queue(id));
            engine.watch(at, monitor, queue, if watch.drops { behind } else { &[] });
            self.watching.push(monitor);
        }
    }

    fn ensure_wire(&mut self, at: Instant, number: usize) -> Result<ElementId, FabricError> {
        let link = &self.fabric.links[number];
        let usual = link.buffer().expect("checked");
        // What a host sends queues at host.egress, what a switch sends at switch.egress.
        let (place, site) = match self.graph.owners[number] {
            Owner::Up(host) => (Place::HostEgress, &self.hosts[host].up.site),
            Owner::Down(host) => (Place::SwitchEgress, &self.hosts[host].egress.site),
            Owner::Trunk(trunk) => (Place::SwitchEgress, &self.trunks[trunk].egress.site),
        };
        let replaced = self.places.meant(place, site).find(|(_, entry)| entry.replaces_fifo());
        let queueing = replaced.and_then(|(index, entry)| {
            // A switch has one memory for all its ports, a host one for its own.
            let memory = memory_bytes(entry).map(|bytes| {
                let name = format!("{}/{}/{index}", link.from, place.word());
                self.elements.ensure_memory(at, name, bytes)
            });
            link_queueing(entry, usual, memory)
        });
        let spec = ElementSpec::Link(LinkSpec {
            rate: rate(link.rate_bps),
            // Where the delay varies, a wire has none of its own: what is drawn has it in it.
            delay: Duration::from_nanos(if link.jitter_ns.is_some() { 0 } else { link.delay_ns }),
            queueing: queueing.unwrap_or_else(|| Queueing::fifo(usual)),
        });
        let name = wire_name(&self.fabric, &self.graph, number);
        self.elements.ensure(at, name, place, &site.of, spec)
    }
}

/// What a condition asks of the sites of a fabric.
struct Wishes<'a> {
    fabric: &'a Fabric,
    places: &'a Places,
    labels: &'a Labels,
    held_bits: &'a BTreeMap<String, u64>,
}

impl Wishes<'_> {
    /// Makes the elements of one stand, or gives them their new parameters.
    fn raise(&self, elements: &mut Elements, at: Instant, stand: &mut Stand) -> Result<(), FabricError> {
        stand.chain.clear();
        let site = &stand.site;
        for (number, entry) in self.places.standing(site) {
            let Some(mut spec) = self.spec(entry, site) else { continue };
            let name = format!("{}/{number}:{}", site.prefix(), entry.word());
            if let (ElementSpec::Credit(credit), Some(&held)) = (&mut spec, self.held_bits.get(&name)) {
                credit.initial_bits = held.min(credit.budget_bits);
            }
            stand.chain.push(elements.ensure(at, name, site.place, &site.of, spec)?);
        }
        Ok(())
    }

    /// What an entry is in the engine; `None` for a queue, a schedule or a capacity, which belong to a wire.
    fn spec(&self, entry: &ElementEntry, site: &Site) -> Option<ElementSpec> {
        let Treatment::Monitor(asked) = &entry.treatment else { return entry.treatment.element() };
        let around = monitor::Surroundings {
            fabric: self.fabric,
            labels: self.labels,
            line_rate: rate(self.fabric.links[site.link].rate_bps),
        };
        Some(ElementSpec::Monitor(monitor::spec(asked, &around)))
    }
}

/// Loses this share of the packets, which has been checked.
fn losing(ppb: u32) -> ElementSpec {
    let share = Share::parts_per_billion(ppb).expect("at most the whole: checked");
    ElementSpec::Lose(LoseSpec { law: LossLaw::Bernoulli(BernoulliLaw { share }) })
}

/// A delay that is spread normally around `delay_ns`, and keeps packets in order.
fn around(delay_ns: u64, jitter_ns: u64) -> ElementSpec {
    ElementSpec::Delay(DelaySpec {
        time: Duration::from_nanos(delay_ns),
        random: Some(RandomDelay {
            law: DelayLaw::Normal(Spread { jitter: Duration::from_nanos(jitter_ns) }),
            depth: Depth::Exact,
            order: Order::Keep,
            half_life: None,
        }),
    })
}

/// What people call a wire.
fn wire_name(fabric: &Fabric, graph: &Graph, link: usize) -> String {
    match graph.owners[link] {
        Owner::Up(host) => format!("{}/uplink", fabric.hosts[host]),
        Owner::Down(host) => format!("{}/downlink", fabric.hosts[host]),
        Owner::Trunk(_) => format!("{}/wire", fabric.links[link].name()),
    }
}

/// One name for both directions of the link at a site, and whether this is the second: down to a host, or against the order of the
/// switches.
fn two_way(fabric: &Fabric, graph: &Graph, site: &Site) -> (String, bool) {
    let word = site.place.word();
    let Owner::Trunk(trunk) = graph.owners[site.link] else {
        return (format!("{}/{word}", site.of), site.way == Some("down"));
    };
    let (from, to) = (graph.trunks[trunk].from, graph.trunks[trunk].to);
    let [first, second] = [from.min(to), from.max(to)].map(|switch| &fabric.switches[switch]);
    (format!("{first}<->{second}/{word}"), from > to)
}

pub(crate) fn rate(bps: Option<u64>) -> Rate {
    bps.and_then(Rate::bits_per_second).unwrap_or(Rate::Unlimited)
}

/// The memory that the queues of an entry share.
fn memory_bytes(entry: &ElementEntry) -> Option<u64> {
    match &entry.treatment {
        Treatment::Queue(queue) => queue.memory_bytes,
        Treatment::Schedule(schedule) => schedule.memory_bytes,
        _ => None,
    }
}

/// The queueing of a link that an entry stands for; `None` for those that are no part of a link.
fn link_queueing(entry: &ElementEntry, usual: Limit, memory: Option<MemoryId>) -> Option<Queueing> {
    // Where a memory bounds the queues, only a buffer of their own bounds them besides.
    let usual = if memory.is_some() { Limit::Unlimited } else { usual };
    match &entry.treatment {
        Treatment::Queue(queue) => Some(queue.queueing(usual, memory)),
        Treatment::Schedule(schedule) => Some(schedule.queueing(usual, memory)),
        _ => None,
    }
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
            Place::Wan => self.wan.as_deref(),
        }
        .unwrap_or_default()
    }

    /// Every place with its entries.
    pub(crate) fn each(&self) -> [(Place, &[ElementEntry]); 6] {
        Place::ALL.map(|place| (place, self.at(place)))
    }

    /// What is written at a site's place and meant for it, with its number there.
    pub(crate) fn standing<'a>(&'a self, site: &'a Site) -> impl Iterator<Item = (usize, &'a ElementEntry)> {
        self.meant(site.place, site)
    }

    /// What is written at a place and meant for a site.
    fn meant<'a>(&'a self, place: Place, site: &'a Site) -> impl Iterator<Item = (usize, &'a ElementEntry)> {
        self.at(place).iter().enumerate().filter(|(_, entry)| site.is_meant(entry.on.as_deref()))
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
            wan: pick(&newer.wan, &self.wan),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod treated;
