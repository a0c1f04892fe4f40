//! Compiles a condition, given by place, to the elements of every stand.
//!
//! `queue` and `schedule` are not separate elements: they are the queueing of the wire that they precede. `capacity`
//! is the process that drives the wire.

use std::sync::Arc;

use ahash::AHashMap;
use crosswind_engine::{
    BernoulliLaw, CapacityParameters, DelayLaw, DelaySpec, Depth, Direction, Duration, ElementSpec, GateSpec,
    Limit, LinkSpec, LoseSpec, LossLaw, MemoryId, Order, Queueing, RandomDelay, Rate, Share, SpecError,
    Spread, Treatment,
};

use crate::entry::ElementEntry;
use crate::graph::{Graph, Owner};
use crate::monitor_spec::{self, HeaderReader, Surroundings, Watching};
use crate::plan::{Chains, Driven, Key, Target, Wanted};
use crate::register::Register;
use crate::requested::Requested;
use crate::site::{Place, Site};
use crate::spec::Fabric;
use crate::stands::{End, Stands};
use crate::topology::Link;

/// The elements of a link; no condition removes any of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    loss: Option<Key>,
    /// Queues and serialises.
    pub(crate) link: Key,
    jitter: Option<Key>,
}

impl Wire {
    /// In the order in which packets pass them.
    pub(crate) fn stages(self) -> impl Iterator<Item = Key> {
        self.up_to_queue().chain(self.jitter)
    }

    fn up_to_queue(self) -> impl Iterator<Item = Key> {
        self.loss.into_iter().chain([self.link])
    }
}

/// The compiler of a fabric.
pub(crate) struct Compiler<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) graph: &'a Graph,
    /// Sites of every stand except those of neighbours.
    pub(crate) sites: &'a [Site],
    pub(crate) requested: &'a Requested,
    pub(crate) register: &'a mut Register,
}

impl<'a> Compiler<'a> {
    /// The target state of the network, and the wires of its links by their places in the fabric's list.
    ///
    /// # Errors
    /// The first parameters that the engine cannot carry out.
    pub(crate) fn compile(&mut self) -> Result<(Target, Arc<[Wire]>), SpecError> {
        let mut elements = Vec::new();
        let wires = self.wires(&mut elements)?;
        let chains = self.chains(&mut elements)?;
        let drives = self.drives(&wires)?;
        let Requested { condition, cuts, labels, hosts, ghosts, .. } = self.requested;
        let (watching, readers) =
            Looking { compiler: self, stands: self.stands(), wires: &wires, chains: &chains }.all();
        let target = Target {
            condition: condition.name.as_str().into(),
            elements,
            memories: self.register.memory_bytes().to_vec(),
            chains,
            drives,
            cuts: Arc::clone(cuts),
            watching,
            readers,
            labels: labels.clone(),
            neighbours: Arc::clone(hosts),
            ghosts: Arc::clone(ghosts),
        };
        Ok((target, wires.into()))
    }

    fn stands(&self) -> Stands {
        Stands::of(self.fabric, self.graph)
    }

    fn site(&self, stand: usize) -> &'a Site {
        let neighbour = |place: usize| &self.requested.neighbours[place / 2][place % 2];
        self.sites.get(stand).unwrap_or_else(|| neighbour(stand - self.sites.len()))
    }

    fn want(
        &mut self,
        elements: &mut Vec<Wanted>,
        name: String,
        stands: (Place, &str, usize),
        spec: ElementSpec,
    ) -> Result<Key, SpecError> {
        let wanted = self.register.element(name, stands, spec)?;
        let key = wanted.about.key;
        elements.push(wanted);
        Ok(key)
    }

    fn wires(&mut self, elements: &mut Vec<Wanted>) -> Result<Vec<Wire>, SpecError> {
        let mut wires = Vec::with_capacity(self.fabric.links.len());
        for (number, link) in self.fabric.links.iter().enumerate() {
            let name = link.name();
            let (place, site, spec) = self.wire(number, link);
            let of_wire = (place, site.of.as_str(), number);
            let wire = self.want(elements, wire_name(self.fabric, self.graph, number), of_wire, spec)?;
            let mut own = |what: &str, spec: Option<ElementSpec>| {
                let of_link = (Place::Link, name.as_str(), number);
                spec.map(|spec| self.want(elements, format!("{name}/{what}"), of_link, spec)).transpose()
            };
            let loss = own("loss", link.loss_ppb.map(losing))?;
            let jitter = own("jitter", link.jitter_ns.map(|jitter_ns| around(link.delay_ns, jitter_ns)))?;
            wires.push(Wire { loss, link: wire, jitter });
        }
        Ok(wires)
    }

    /// The wire of a link, and the site that it belongs to.
    fn wire(&mut self, number: usize, link: &Link) -> (Place, &'a Site, ElementSpec) {
        let stands = self.stands();
        // Packets from a host queue at host.egress, packets from a switch at switch.egress.
        let (place, stand) = match self.graph.owners[number] {
            Owner::Up(host) => (Place::HostEgress, stands.host(host).up),
            Owner::Down(host) => (Place::SwitchEgress, stands.host(host).egress),
            Owner::Trunk(trunk) => (Place::SwitchEgress, stands.trunk(trunk).egress),
        };
        let site = self.site(stand);
        let usual = link.buffer().expect("checked");
        let replaced =
            self.requested.places.applying_to(place, site).find(|(_, entry)| entry.replaces_fifo());
        let queueing = replaced.and_then(|(index, entry)| {
            // A switch has one memory for all its ports; a host has one of its own.
            let memory = memory_bytes(entry).map(|bytes| {
                let name = format!("{}/{}/{index}", link.from, place.word());
                MemoryId::nth(self.register.memory(name, bytes))
            });
            link_queueing(entry, usual, memory)
        });
        let spec = ElementSpec::Link(LinkSpec {
            rate: rate(link.rate_bps),
            // With jitter, the wire has no delay of its own, because the drawn delay includes it.
            delay: Duration::from_nanos(if link.jitter_ns.is_some() { 0 } else { link.delay_ns }),
            queueing: queueing.unwrap_or_else(|| Queueing::fifo(usual)),
        });
        (place, site, spec)
    }

    /// The elements of every stand.
    fn chains(&mut self, elements: &mut Vec<Wanted>) -> Result<Chains, SpecError> {
        let mut chains = Chains::default();
        let neighbours = self.requested.neighbours.iter().flatten();
        for (stand, site) in self.sites.iter().chain(neighbours).enumerate() {
            for (number, entry) in self.requested.places.at_site(site) {
                let Some(mut spec) = self.spec(entry, site) else { continue };
                let name = format!("{}/{number}:{}", site.prefix(), entry.word());
                let held = self.requested.condition.held_bits.get(&name);
                if let (ElementSpec::Credit(credit), Some(&held)) = (&mut spec, held) {
                    credit.initial_bits = held.min(credit.budget_bits);
                }
                chains.push(self.want(elements, name, (site.place, &site.of, site.link), spec)?);
            }
            if self.fabric.faults && self.stands().receiving(stand) {
                // Plans leave the gate as it is: cuts by hand are not theirs.
                let (name, spec) = (format!("{}/cut", site.of), ElementSpec::Gate(GateSpec::default()));
                chains.push(self.want(elements, name, (site.place, &site.of, site.link), spec)?);
            }
            chains.end();
        }
        Ok(chains)
    }

    /// The engine's element for an entry; `None` for a queue, a schedule or a capacity, which belong to a wire.
    fn spec(&self, entry: &ElementEntry, site: &Site) -> Option<ElementSpec> {
        let Treatment::Monitor(parameters) = &entry.treatment else { return entry.treatment.element() };
        let around = Surroundings {
            fabric: self.fabric,
            labels: &self.requested.labels,
            line_rate: rate(self.fabric.links[site.link].rate_bps),
        };
        Some(ElementSpec::Monitor(monitor_spec::spec(parameters, &around)))
    }

    /// The links that a process drives.
    fn drives(&mut self, wires: &[Wire]) -> Result<Vec<Driven>, SpecError> {
        let (fabric, graph, stands) = (self.fabric, self.graph, self.stands());
        let hosts = (0..graph.hosts.len()).map(|host| stands.host(host));
        let hosts =
            hosts.flat_map(|host| [(host.up, Some(Direction::Up)), (host.down, Some(Direction::Down))]);
        let trunks = (0..graph.trunks.len()).map(|trunk| stands.trunk(trunk));
        let trunks = trunks.flat_map(|trunk| [(trunk.link, None), (trunk.wan, None)]);
        let mut drives: Vec<Driven> = Vec::new();
        for (stand, way) in hosts.chain(trunks) {
            let site = self.site(stand);
            for (_, entry) in self.requested.places.at_site(site) {
                let Treatment::Capacity(CapacityParameters { process, direction }) = &entry.treatment else {
                    continue;
                };
                let wire = wires[site.link].link;
                let applies = direction.is_none_or(|direction| way.is_none_or(|way| direction == way));
                if applies && drives.iter().all(|driven| driven.wire != wire) {
                    let link = wire_name(fabric, graph, site.link);
                    let name = format!("{link}:capacity");
                    let process = self.register.process(site.link, &name, process)?;
                    let (link, name, number) = (link.into(), name.into(), site.link);
                    drives.push(Driven { link, name, number, wire, process });
                }
            }
        }
        drives.sort_by_key(|driven| driven.wire);
        Ok(drives)
    }
}

/// What monitors watch in addition to the packets that pass them.
struct Looking<'c, 'a> {
    compiler: &'c Compiler<'a>,
    stands: Stands,
    wires: &'c [Wire],
    chains: &'c Chains,
}

impl Looking<'_, '_> {
    fn all(&self) -> Looks {
        let mut found = Looks::default();
        let Compiler { graph, requested, .. } = self.compiler;
        let nodes = (0..self.compiler.fabric.nodes.len()).map(|node| self.stands.node(node));
        let neighbours = (0..requested.neighbours.len()).map(|neighbour| self.stands.neighbour(neighbour));
        for End { egress, ingress } in nodes.chain(neighbours) {
            let Owner::Up(host) = graph.owners[self.compiler.site(egress).link] else { continue };
            self.look(egress, Some(&[self.stands.host(host).up]), &mut found);
            self.look(ingress, None, &mut found);
        }
        for host in (0..graph.hosts.len()).map(|host| self.stands.host(host)) {
            self.look(host.up, Some(&[]), &mut found);
            self.look(host.down, Some(&[]), &mut found);
            self.look(host.ingress, None, &mut found);
            self.look(host.egress, Some(&[host.down]), &mut found);
        }
        for trunk in (0..graph.trunks.len()).map(|trunk| self.stands.trunk(trunk)) {
            self.look(trunk.egress, Some(&[trunk.link, trunk.wan]), &mut found);
            self.look(trunk.link, Some(&[trunk.wan]), &mut found);
            self.look(trunk.wan, Some(&[]), &mut found);
            self.look(trunk.ingress, None, &mut found);
        }
        found.0.sort_by_key(|watching| watching.monitor);
        found
    }

    /// Finds what the monitors of one stand watch. `leads_to`: the stands between here and the wire, if a wire
    /// follows.
    fn look(&self, stand: usize, leads_to: Option<&[usize]>, found: &mut Looks) {
        let Compiler { fabric, graph, requested, register, .. } = self.compiler;
        let site = self.compiler.site(stand);
        let entries = || requested.places.at_site(site).filter(|(_, entry)| entry.is_element());
        let chain = self.chains.of(stand);
        let (place, towards_host) = two_way(fabric, graph, site);
        found.1.extend(monitor_spec::readers(entries(), chain, &place, towards_host));
        let mut watches = monitor_spec::watches(entries().map(|(_, entry)| entry)).into_iter().peekable();
        if watches.peek().is_none() {
            return;
        }
        let mut behind = chain.to_vec();
        if let Some(stands) = leads_to {
            behind.extend(stands.iter().flat_map(|&stand| self.chains.of(stand)));
            behind.extend(self.wires[site.link].up_to_queue());
        }
        for watch in watches {
            let (monitor, behind) = (behind[watch.position], &behind[watch.position + 1..]);
            let queue = behind.iter().copied().find(|&key| watch.queue && register.spec(key).queues());
            let drops = if watch.drops { behind.to_vec() } else { Vec::new() };
            found.0.push(Watching { monitor, queue, drops });
        }
    }
}

type Looks = (Vec<Watching>, AHashMap<Key, HeaderReader>);

/// An element that loses this share of the packets; the share has been checked.
fn losing(ppb: u32) -> ElementSpec {
    let share = Share::parts_per_billion(ppb).expect("at most the whole: checked");
    ElementSpec::Lose(LoseSpec { law: LossLaw::Bernoulli(BernoulliLaw { share }) })
}

/// A delay with normal distribution around `delay_ns` that preserves the order of packets.
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

/// Display name of a wire.
fn wire_name(fabric: &Fabric, graph: &Graph, link: usize) -> String {
    match graph.owners[link] {
        Owner::Up(host) => format!("{}/uplink", fabric.hosts[host]),
        Owner::Down(host) => format!("{}/downlink", fabric.hosts[host]),
        Owner::Trunk(_) => format!("{}/wire", fabric.links[link].name()),
    }
}

/// One name for both directions of the link at a site, and whether this site is the second direction: down to a host,
/// or against the order of the switches.
fn two_way(fabric: &Fabric, graph: &Graph, site: &Site) -> (String, bool) {
    let word = site.place.word();
    let Owner::Trunk(trunk) = graph.owners[site.link] else {
        return (format!("{}/{word}", site.of), site.way == Some("down"));
    };
    let (from, to) = (graph.trunks[trunk].from, graph.trunks[trunk].to);
    let [first, second] = [from.min(to), from.max(to)].map(|switch| &fabric.switches[switch]);
    (format!("{first}<->{second}/{word}"), from > to)
}

/// `None` is unlimited.
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

/// The queueing of a link that an entry describes; `None` for entries that are not part of a link.
fn link_queueing(entry: &ElementEntry, usual: Limit, memory: Option<MemoryId>) -> Option<Queueing> {
    // Where a memory bounds the queues, an additional bound applies only if the entry sets a buffer.
    let usual = if memory.is_some() { Limit::Unlimited } else { usual };
    match &entry.treatment {
        Treatment::Queue(queue) => Some(queue.queueing(usual, memory)),
        Treatment::Schedule(schedule) => Some(schedule.queueing(usual, memory)),
        _ => None,
    }
}
