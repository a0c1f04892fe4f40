//! An engine with the elements, paths and sources of a fabric, in the state of the applied plan.
//!
//! A path from node `a` to node `b` on another host passes, in this order: a's `host.egress`, `link` up, the uplink,
//! `switch.ingress` of a's port, the links between switches that the routes choose, `switch.egress` of b's port,
//! `link` down, the downlink, and b's `host.ingress`. A link between switches consists of `switch.egress` and `link`
//! where a condition names it, `wan`, its own jitter and loss, the wire, and `switch.ingress` where a condition names
//! it. On the same host a path is a's `host.egress` and b's `host.ingress`. In a fabric with faults b's gate is last.
//!
//! Interference between two hosts is sent by a neighbour node on each. A neighbour has its own elements at the places
//! that are per node and shares the others, as another tenant's container would.
//!
//! Plans are made by [`crate::Planner`]; applying a plan compares it with the applied one.

use std::sync::Arc;

use crosswind_engine::{
    ElementId, ElementSpec, Engine, Instant, LabelSet, MemoryId, PathId, Sound, SourceId,
};

use crate::border::{Border, Crosses};
use crate::capacity::{Drive, Drives, Levels};
use crate::check::FabricError;
use crate::compile::{rate, Wire};
use crate::cuts::{Cuts, Gates, Reason};
use crate::elements::{ElementAt, Elements};
use crate::graph::Graph;
use crate::interference::{Around, OneWay, Zero};
use crate::labels::{Facts, LabelSets};
use crate::monitor_spec::{HeaderReader, Watching};
use crate::paths::Paths;
use crate::plan::{Ghost, Key, Plan, Target};
use crate::planner::Planner;
use crate::routes::Routes;
use crate::spec::{Fabric, Places};
use crate::stands::{End, Stands};

/// Memory is reserved for this multiple of the first condition's elements, so elements of later ones cause no move.
const SPARE_ELEMENTS: usize = 4;

#[derive(Clone, Debug)]
struct Source {
    id: SourceId,
    /// Its place among the ghosts of the plan.
    ghost: usize,
    flow: u32,
}

/// A source of interference since the restart of processes.
#[derive(Clone, Debug)]
pub struct Offering {
    /// Its place among those of its condition, of all domains.
    pub place: usize,
    /// Its name, which ends with `FROM->TO`; no other condition has had it.
    pub name: Arc<str>,
    /// Its draws are those of this source.
    pub id: SourceId,
    /// What its draws of zero mean.
    pub zero: Zero,
    /// When another condition stopped it; `None` while it runs.
    pub until: Option<Instant>,
}

/// An engine with the fabric's elements, paths and sources.
#[derive(Debug)]
pub struct Network {
    engine: Engine,
    elements: Elements,
    fabric: Arc<Fabric>,
    graph: Arc<Graph>,
    routes: Routes,
    stands: Stands,
    /// The host of each node.
    hosts: Arc<[usize]>,
    /// By the place of its link in the fabric's list.
    wires: Arc<[Wire]>,
    /// State of the plan that was applied last.
    target: Arc<Target>,
    stated: Arc<Places>,
    memories: usize,
    paths: Paths,
    sources: Vec<Source>,
    /// Sources that were stopped since the restart of processes, in that order.
    stopped: Vec<Offering>,
    drives: Drives,
    gates: Gates,
    label_sets: LabelSets,
    readers_version: u64,
    /// Border to other domains.
    border: Border,
}

/// What a plan changed.
#[derive(Debug)]
pub struct Applied {
    /// When it took effect: as requested, or later where the engine had already processed that instant.
    pub at: Instant,
    /// All cuts of the timeline from then on, where the plan states some or they changed.
    pub cuts: Option<Arc<Cuts>>,
    /// Objects that it replaced.
    pub spent: Spent,
}

/// Objects that a plan has replaced, to be dropped on a thread that has time.
#[derive(Debug)]
pub struct Spent {
    _plan: Plan,
    _target: Arc<Target>,
    _specs: Vec<Arc<Sound<ElementSpec>>>,
    _drives: Vec<Drive>,
    _sources: Vec<Source>,
}

impl Network {
    /// The network of a fabric whose condition does not change; its interference starts at `start`.
    ///
    /// # Errors
    /// All errors of the fabric.
    pub fn new(fabric: &Fabric, start: Instant) -> Result<Self, FabricError> {
        Planner::new(fabric)?.network(start)
    }

    /// A network without elements.
    pub(crate) fn empty(
        fabric: Arc<Fabric>,
        graph: Arc<Graph>,
        routes: Routes,
        hosts: Arc<[usize]>,
        wires: Arc<[Wire]>,
        border: Border,
    ) -> Self {
        Self {
            engine: Engine::new(fabric.seed),
            elements: Elements::default(),
            stands: Stands::of(&fabric, &graph),
            paths: Paths::between(hosts.len()),
            fabric,
            graph,
            routes,
            hosts,
            wires,
            target: Arc::default(),
            stated: Arc::default(),
            memories: 0,
            sources: Vec::new(),
            stopped: Vec::new(),
            drives: Drives::default(),
            gates: Gates::default(),
            label_sets: LabelSets::default(),
            readers_version: 0,
            border,
        }
    }

    /// The engine, to push packets and take outcomes.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// The engine, to read counters.
    pub fn engine_ref(&self) -> &Engine {
        &self.engine
    }

    /// The engine and the elements, to read elements that must be advanced first.
    pub fn engine_and_elements(&mut self) -> (&mut Engine, &[ElementAt]) {
        (&mut self.engine, self.elements.list())
    }

    /// Every element with its place, in the order in which they were made.
    pub fn elements(&self) -> &[ElementAt] {
        self.elements.list()
    }

    /// Whether packets of a node enter and leave here and not in another domain.
    pub fn has_node(&self, node: usize) -> bool {
        self.border.has_host(self.hosts[node])
    }

    /// Names and ids of the running sources of interference.
    pub fn sources(&self) -> impl Iterator<Item = (&Arc<str>, SourceId)> {
        self.sources.iter().map(|source| (&self.target.ghosts[source.ghost].name, source.id))
    }

    /// The running sources, and those before them that were stopped since the restart of processes.
    pub fn offerings(&self) -> impl Iterator<Item = Offering> + '_ {
        let running = self.sources.iter().map(|source| offering(source, &self.target, None));
        self.stopped.iter().cloned().chain(running)
    }

    /// The levels of links that processes drive or have driven, since the processes were restarted.
    pub fn levels(&self) -> Vec<Levels> {
        self.drives.levels(&self.engine, |link| rate(self.fabric.links[link].rate_bps))
    }

    /// Restarts the time of processes at `at`, where a measurement starts, and draws their levels again from the
    /// first. Sources that were stopped before are forgotten.
    pub fn restart_processes(&mut self, at: Instant) {
        self.stopped.clear();
        self.drives.restart(&mut self.engine, at);
    }

    /// The fabric; its condition is the planner's.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The name of the active condition.
    pub fn condition(&self) -> Arc<str> {
        Arc::clone(&self.target.condition)
    }

    /// The places of the latest request: those of a condition, or those that a step of its timeline replaced.
    pub fn stated(&self) -> Arc<Places> {
        Arc::clone(&self.stated)
    }

    /// Wire bits per second at which a node receives; `None` where that is unlimited.
    pub fn receive_bps(&self, node: usize) -> Option<u64> {
        self.fabric.links[self.graph.hosts[self.hosts[node]].down].rate_bps
    }

    /// The cuts by hand that are active.
    pub fn cuts_by_hand(&self) -> &Arc<Cuts> {
        self.gates.active(Reason::Hand)
    }

    /// Makes these cuts by hand the active ones from `at` on; they add to those of the timeline. Returns the instant
    /// at which they took effect: `at`, or the next instant where the engine has processed `at`.
    pub fn cut(&mut self, at: Instant, cuts: Arc<Cuts>) -> Instant {
        self.put_cuts(at, Reason::Hand, cuts)
    }

    /// Whether the network answers TCP from one node to another with a reset, because the two are cut off.
    #[inline]
    pub fn answers_with_reset(&self, from: usize, to: usize) -> bool {
        self.gates.answers(from, to)
    }

    /// The labels of a packet from a node, where it has no headers.
    pub fn labels_of_sender(&mut self, from: usize) -> LabelSet {
        self.label_sets.of_sender(from, &self.target.labels, &mut self.engine)
    }

    /// The labels of a frame, by which monitors and gates select packets.
    #[inline]
    pub fn labels(&mut self, facts: &Facts) -> LabelSet {
        self.label_sets.of(facts, &self.target.labels, &mut self.engine)
    }

    /// The part of a frame's flow that affects its route; 0 where none does.
    #[inline]
    pub fn flow(&self, facts: &Facts) -> u32 {
        self.routes.flow(|| facts.hash())
    }

    /// The quantities that a monitor of the active condition reads from headers; `None` where it reads none.
    pub fn header_reader(&self, id: ElementId) -> Option<&HeaderReader> {
        self.target.readers.get(&self.elements.key(id))
    }

    /// A number that changes whenever the set of monitors that read headers may have changed.
    pub fn readers_version(&self) -> u64 {
        self.readers_version
    }

    /// The path between two nodes for a flow ([`Network::flow`]), and whether it treats the packets of a train alike.
    /// The path is made at the first call.
    #[inline]
    pub fn path(&mut self, from: usize, to: usize, flow: u32) -> (PathId, bool) {
        match self.paths.get(from, to, flow) {
            Some(found) => found,
            None => self.new_path(from, to, flow),
        }
    }

    /// A separate function, because the existing path is looked up for every packet.
    #[cold]
    fn new_path(&mut self, from: usize, to: usize, flow: u32) -> (PathId, bool) {
        let [a, b] = [from, to].map(|node| (self.hosts[node], self.stands.node(node)));
        let path = self.make_path(a, b, flow);
        let stages = self.engine.stages(path);
        let found = (path, self.engine.treats_alike(path) && self.border.treats_alike(stages));
        self.paths.insert(from, to, flow, found);
        found
    }

    /// The next item that leaves for another domain, and that domain. A packet is due there at least the delay of its
    /// link after now.
    pub fn next_out(&mut self) -> Option<(usize, Crosses)> {
        self.border.next_out(&mut self.engine, &self.label_sets)
    }

    /// Whether an item of another domain can be taken in: all elements on its way exist here. They do not when the
    /// other domain has applied a plan that this one has not applied yet.
    pub fn knows(&self, crosses: &Crosses) -> bool {
        let begun = self.elements.begun();
        match crosses {
            Crosses::Way(_, way) => way.iter().all(|id| id.index() < begun),
            Crosses::Labels(..) | Crosses::Packet(_) => true,
        }
    }

    /// Whether an element is a link at which packets of domain `from` enter this one.
    pub fn is_entered_at(&self, from: usize, link: ElementId) -> bool {
        self.border.is_entered_at(from, link, |link| self.elements.id(self.wires[link].link))
    }

    /// Makes up to `most` elements of a plan that do not exist yet; no packet reaches them. Returns whether all exist.
    /// Applying the plan then takes less time.
    pub fn make(&mut self, plan: &mut Plan, most: usize) -> bool {
        self.elements.make(&mut self.engine, &plan.target, &mut plan.fresh, most)
    }

    /// Receives an item of domain `from`, before this network processes what is due at the item's instant. Returns
    /// when a packet is due: at its own instant, or now where that is earlier.
    pub fn take_in(&mut self, from: usize, crosses: Crosses) -> Option<Instant> {
        self.border.take_in(&mut self.engine, &mut self.label_sets, from, crosses)
    }

    /// Applies a plan from `at` on; packets already inside finish on the path they entered. It takes effect at `at`, or
    /// now where `at` is earlier. Where it changes cuts, these are active for what happens at that instant too.
    pub fn apply(&mut self, at: Instant, mut plan: Plan) -> Applied {
        let target = Arc::clone(&plan.target);
        let cuts_change = self.gates.active(Reason::Timeline).list() != target.cuts.list();
        if cuts_change {
            self.put_cuts(at, Reason::Timeline, Arc::clone(&target.cuts));
        }
        // New elements start at this instant, whatever the engine did last.
        self.engine.advance(at);
        let at = self.engine.now();
        self.put_memories(at, &target);
        let is_first = self.elements.list().is_empty();
        if is_first {
            let room = SPARE_ELEMENTS * target.elements.len();
            self.engine.reserve(room);
            self.elements.reserve(room);
        }
        let mut specs = Vec::new();
        self.elements.put(&mut self.engine, at, &target, &mut plan.fresh, &mut specs);
        if is_first {
            let (wires, elements) = (&self.wires, &self.elements);
            self.border.cut(&mut self.engine, |link| elements.id(wires[link].link));
        }
        let driven = self.border.drives(&target.drives, &self.elements);
        let drives = self.drives.put(&mut self.engine, &self.elements, at, &driven);
        std::mem::swap(&mut self.paths, &mut plan.paths);
        let before = std::mem::replace(&mut self.target, target);
        self.label_sets.forget_flows();
        self.stated = Arc::clone(&plan.stated);
        let sources = self.put_sources(at, &before);
        self.put_watches(at, &before);
        let cuts = (cuts_change || plan.states_cuts).then(|| Arc::clone(&self.target.cuts));
        let spent = Spent { _plan: plan, _target: before, _specs: specs, _drives: drives, _sources: sources };
        Applied { at, cuts, spent }
    }

    fn put_cuts(&mut self, at: Instant, why: Reason, cuts: Arc<Cuts>) -> Instant {
        let Self { gates, engine, elements, target, stands, .. } = self;
        let gate = |node| {
            let chain = target.chains.of(stands.node(node).ingress);
            elements.id(*chain.last().expect("a fabric with faults has a gate for each node"))
        };
        gates.put(engine, at, (why, cuts), gate)
    }

    fn put_memories(&mut self, at: Instant, target: &Target) {
        for (number, &bytes) in target.memories.iter().enumerate() {
            if number >= self.memories {
                self.engine.add_memory(bytes);
                self.memories += 1;
            } else if self.target.memories.get(number) != Some(&bytes) {
                self.engine.resize_memory(at, MemoryId::nth(number), bytes);
            }
        }
    }

    /// Starts the interference of the plan, or moves continuing interference to its new path. Returns the earlier
    /// sources.
    fn put_sources(&mut self, at: Instant, before: &Target) -> Vec<Source> {
        let target = Arc::clone(&self.target);
        if Arc::ptr_eq(&target.ghosts, &before.ghosts) {
            for source in 0..self.sources.len() {
                let Source { id, ghost, flow } = self.sources[source];
                let ghost = &target.ghosts[ghost];
                let [path, back] = self.ways_of(ghost, flow);
                self.engine.redirect_source(at, id, path);
                if ghost.interference.tcp.is_some() {
                    self.engine.redirect_acks(at, id, back).expect("a TCP source has acknowledgements");
                }
            }
            return Vec::new();
        }
        let stopped = std::mem::take(&mut self.sources);
        for source in &stopped {
            self.engine.stop_source(at, source.id);
        }
        // A measurement shows every rate that was offered in it.
        self.stopped.extend(stopped.iter().map(|source| offering(source, before, Some(at))));
        for (place, ghost) in target.ghosts.iter().enumerate() {
            if !self.border.has_host(target.neighbours[ghost.from]) {
                continue;
            }
            let flow = self.routes.flow(|| ghost.hash);
            let [path, back] = self.ways_of(ghost, flow);
            let around = Around::of(&self.fabric, &self.graph, target.neighbours[ghost.from]);
            let way = OneWay { name: &ghost.name, path, back, at, around };
            let started = ghost.interference.start(&mut self.engine, ghost.replay.clone(), way);
            let id = started.expect("the name is unique, and the parameters were checked");
            self.sources.push(Source { id, ghost: place, flow });
        }
        stopped
    }

    /// The path of its packets, and the path of acknowledgements.
    fn ways_of(&mut self, ghost: &Ghost, flow: u32) -> [PathId; 2] {
        let end = |neighbour| (self.target.neighbours[neighbour], self.stands.neighbour(neighbour));
        let (from, to) = (end(ghost.from), end(ghost.to));
        [self.make_path(from, to, flow), self.make_path(to, from, flow)]
    }

    /// Attaches exactly the plan's monitors to the elements after them.
    fn put_watches(&mut self, at: Instant, before: &Target) {
        let target = Arc::clone(&self.target);
        if target.readers != before.readers {
            self.readers_version += 1;
        }
        for Watching { monitor, .. } in lacking(&before.watching, &target.watching) {
            self.engine.watch(at, self.elements.id(*monitor), None, &[]);
        }
        let mut drops = Vec::new();
        for watching in lacking(&target.watching, &before.watching) {
            let id = |key: Key| self.elements.id(key);
            drops.clear();
            drops.extend(watching.drops.iter().map(|&key| id(key)));
            self.engine.watch(at, id(watching.monitor), watching.queue.map(id), &drops);
        }
    }

    fn make_path(&mut self, (a, from): (usize, End), (b, to): (usize, End), flow: u32) -> PathId {
        let mut stages = Vec::new();
        self.follow(self.target.chains.of(from.egress), &mut stages);
        if a != b {
            let way = self.routes.way(&self.graph, a, b, flow);
            let (source, sink) = (self.stands.host(a), self.stands.host(b));
            self.follow(self.target.chains.of(source.up), &mut stages);
            self.follow_wire(self.graph.hosts[a].up, &mut stages);
            self.follow(self.target.chains.of(source.ingress), &mut stages);
            for trunk in way {
                let stands = self.stands.trunk(trunk);
                for stand in [stands.egress, stands.link, stands.wan] {
                    self.follow(self.target.chains.of(stand), &mut stages);
                }
                self.follow_wire(self.graph.trunks[trunk].link, &mut stages);
                self.follow(self.target.chains.of(stands.ingress), &mut stages);
            }
            self.follow(self.target.chains.of(sink.egress), &mut stages);
            self.follow(self.target.chains.of(sink.down), &mut stages);
            self.follow_wire(self.graph.hosts[b].down, &mut stages);
        }
        self.follow(self.target.chains.of(to.ingress), &mut stages);
        self.engine.path(&stages)
    }

    fn follow(&self, chain: &[Key], stages: &mut Vec<ElementId>) {
        stages.extend(chain.iter().map(|&key| self.elements.id(key)));
    }

    fn follow_wire(&self, link: usize, stages: &mut Vec<ElementId>) {
        stages.extend(self.wires[link].stages().map(|key| self.elements.id(key)));
    }
}

fn offering(source: &Source, target: &Target, until: Option<Instant>) -> Offering {
    let &Source { id, ghost: place, .. } = source;
    let Ghost { name, interference, .. } = &target.ghosts[place];
    Offering { place, name: Arc::clone(name), id, zero: interference.zero, until }
}

/// The watches in `some` that `others` lacks or has differently; both in the order of their monitors.
fn lacking<'a>(some: &'a [Watching], others: &'a [Watching]) -> impl Iterator<Item = &'a Watching> {
    let mut others = others.iter().peekable();
    some.iter().filter(move |watching| {
        while others.next_if(|other| other.monitor < watching.monitor).is_some() {}
        others.next_if_eq(watching).is_none()
    })
}

#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod graph_tests;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod treated;
