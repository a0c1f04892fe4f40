//! Compiles a fabric into elements and paths of an engine, and recompiles it when the condition changes.
//!
//! A path from node `a` to node `b` on another host runs through
//! a's `host.egress`, `link` up, the uplink, `switch.ingress` of a's port, `switch.egress` of b's port, `link` down, the
//! downlink, b's `host.ingress`. On the same host it is a's `host.egress` and b's `host.ingress`. `schedule` is not an
//! element of its own: it is the discipline of the uplink or downlink that it stands in front of.
//!
//! Interference between two hosts is sent by a neighbour node on each: it has its own elements at the places that are
//! per node and shares the others, as another tenant's container would.

use std::collections::HashMap;

use crosswind_engine::{
    Duration, ElementId, ElementSpec, Engine, Instant, Limit, PathId, QueueSpec, Queueing, Rate, RateLaw,
    Scheduling, SourceId, SourceSpec, ZeroMeans,
};

use crate::check::FabricError;
use crate::spec::{By, Condition, ElementEntry, Fabric, Interference, Law, Places, Zero};

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
struct End {
    name: String,
    host: usize,
}

#[derive(Debug)]
struct Source {
    id: SourceId,
    name: String,
    from: End,
    to: End,
}

/// An engine with the fabric's elements, paths and sources.
#[derive(Debug)]
pub struct Network {
    engine: Engine,
    fabric: Fabric,
    places: Places,
    elements: Vec<ElementAt>,
    by_name: HashMap<String, ElementId>,
    uplinks: Vec<ElementId>,
    downlinks: Vec<ElementId>,
    ends: Vec<End>,
    /// Path between two nodes, and whether it treats the packets of a train alike.
    paths: Vec<Option<(PathId, bool)>>,
    sources: Vec<Source>,
    sources_started: u32,
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
            elements: Vec::new(),
            by_name: HashMap::new(),
            uplinks: Vec::new(),
            downlinks: Vec::new(),
            paths: vec![None; ends.len() * ends.len()],
            ends,
            sources: Vec::new(),
            sources_started: 0,
        };
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

    /// Every element with its place, in the order they were made.
    pub fn elements(&self) -> &[ElementAt] {
        &self.elements
    }

    /// Names and ids of the running sources of interference.
    pub fn sources(&self) -> impl Iterator<Item = (&str, SourceId)> {
        self.sources.iter().map(|source| (source.name.as_str(), source.id))
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

    /// Puts another condition in force from `at`; packets already inside finish on the path they entered.
    pub fn apply(&mut self, at: Instant, condition: &Condition) -> Result<(), FabricError> {
        let checked = Fabric { condition: condition.clone(), ..self.fabric.clone() };
        checked.check()?;
        self.put(at, &condition.places)?;
        if condition.interference != self.fabric.condition.interference {
            for source in std::mem::take(&mut self.sources) {
                self.engine.stop_source(at, source.id);
            }
            for interference in &condition.interference {
                self.start(at, interference)?;
            }
        }
        self.fabric.condition = condition.clone();
        Ok(())
    }

    /// Replaces the places that a timeline step names and keeps the others.
    pub fn step(&mut self, at: Instant, places: &Places) -> Result<(), FabricError> {
        let merged = self.places.replaced_by(places);
        self.put(at, &merged)
    }

    fn put(&mut self, at: Instant, places: &Places) -> Result<(), FabricError> {
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
        self.paths.fill(None);
        for index in 0..self.sources.len() {
            let (from, to) = (self.sources[index].from.clone(), self.sources[index].to.clone());
            self.chain(at, Place::HostEgress, &from.name, from.host, None)?;
            self.chain(at, Place::HostIngress, &to.name, to.host, None)?;
            let path = self.build_path(&from, &to);
            self.engine.redirect_source(at, self.sources[index].id, path);
        }
        Ok(())
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
        for (from, to) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
            self.chain(at, Place::HostEgress, &from.name, from.host, None)?;
            self.chain(at, Place::HostIngress, &to.name, to.host, None)?;
            let path = self.build_path(from, to);
            let name = format!("{}->{}", self.fabric.hosts[from.host], self.fabric.hosts[to.host]);
            let spec = source_spec(interference, rate(self.fabric.uplink.rate_bps));
            let id = self
                .engine
                .start_source(&format!("neighbour{number}:{name}"), spec, path, at)
                .map_err(refused)?;
            self.sources.push(Source { id, name, from: from.clone(), to: to.clone() });
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
        let host_name = &self.fabric.hosts[host];
        self.places
            .at(place)
            .iter()
            .enumerate()
            .filter(|(_, entry)| {
                entry.on().is_none_or(|on| on.iter().any(|name| name == of || name == host_name))
            })
            .filter_map(|(index, entry)| {
                let way = way.map(|way| format!(".{way}")).unwrap_or_default();
                Some((format!("{of}/{}{way}/{index}:{}", place.word(), entry.word()), element_spec(entry)?))
            })
            .collect()
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

    fn chain_ids(&self, place: Place, of: &str, host: usize, way: Option<&str>) -> Vec<ElementId> {
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

    fn ensure_link(&mut self, at: Instant, host: usize, up: bool) -> Result<ElementId, FabricError> {
        let place = if up { Place::HostEgress } else { Place::SwitchEgress };
        let name = self.fabric.hosts[host].clone();
        let buffer = limit(self.fabric.uplink.buffer_bytes);
        let schedule = self.places.at(place).iter().find_map(|entry| match entry {
            ElementEntry::Schedule { by, queues, on } if on.as_ref().is_none_or(|on| on.contains(&name)) => {
                Some(queueing(*by, queues, buffer))
            }
            _ => None,
        });
        let spec = ElementSpec::Link {
            rate: rate(self.fabric.uplink.rate_bps),
            delay: Duration::from_nanos(self.fabric.uplink.delay_ns),
            queueing: schedule.unwrap_or_else(|| Queueing::fifo(buffer)),
        };
        let link = format!("{name}/{}", if up { "uplink" } else { "downlink" });
        self.ensure(at, link, place, &name, spec)
    }
}

fn refused(error: impl std::fmt::Display) -> FabricError {
    FabricError(vec![error.to_string()])
}

fn rate(bps: Option<u64>) -> Rate {
    bps.and_then(Rate::bits_per_second).unwrap_or(Rate::Unlimited)
}

fn limit(bytes: Option<u64>) -> Limit {
    bytes.map_or(Limit::Unlimited, Limit::Bytes)
}

/// What an entry is in the engine; `None` for a schedule, which is part of a link.
fn element_spec(entry: &ElementEntry) -> Option<ElementSpec> {
    Some(match entry {
        ElementEntry::Police { rate_bps, burst_bytes, .. } => {
            ElementSpec::Police { rate: rate(*rate_bps), burst_bytes: *burst_bytes }
        }
        ElementEntry::Shape { rate_bps, burst_bytes, buffer_bytes, .. } => ElementSpec::Shape {
            rate: rate(*rate_bps),
            burst_bytes: *burst_bytes,
            buffer: limit(*buffer_bytes),
        },
        ElementEntry::Mark { dscp, .. } => ElementSpec::Mark { dscp: *dscp },
        ElementEntry::Delay { time_ns, .. } => ElementSpec::Delay { time: Duration::from_nanos(*time_ns) },
        ElementEntry::Schedule { .. } => return None,
    })
}

fn queueing(by: By, queues: &[crate::spec::QueueEntry], default_buffer: Limit) -> Queueing {
    Queueing {
        by: match by {
            By::Strict => Scheduling::Strict,
            By::Wrr => Scheduling::Wrr,
            By::Drr => Scheduling::Drr,
        },
        queues: queues
            .iter()
            .map(|queue| QueueSpec {
                dscp: queue.dscp.clone(),
                weight: queue.weight.unwrap_or(1),
                buffer: queue.buffer_bytes.map_or(default_buffer, Limit::Bytes),
            })
            .collect(),
    }
}

fn source_spec(interference: &Interference, peak: Rate) -> SourceSpec {
    SourceSpec {
        rate: match interference.rate {
            Law::ConstantBps(bits_per_second) => RateLaw::Constant { bits_per_second },
            Law::Normal(law) => {
                RateLaw::Normal { mean: law.mean_bps, sd: law.sd_bps, low: law.low_bps, high: law.high_bps }
            }
        },
        hold: Duration::from_nanos(interference.hold_ns),
        pacing: Duration::from_nanos(interference.pacing_ns),
        packet_ip_bytes: interference.packet_ip_bytes,
        peak,
        zero: match interference.zero {
            Zero::Silence => ZeroMeans::Silence,
            Zero::Unlimited => ZeroMeans::Unlimited,
        },
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
pub(crate) mod tests {
    use super::*;
    use crate::spec::{Node, Tcp, Uplink};
    use crosswind_engine::{Outcome, Packet};

    /// `n` hosts h0.. with one node n0.. each: 1 Gbit/s, 2 us, 50 kB, no condition.
    pub(crate) fn fabric(n: usize) -> Fabric {
        Fabric {
            seed: 7,
            hosts: (0..n).map(|i| format!("h{i}")).collect(),
            nodes: (0..n).map(|i| Node { name: format!("n{i}"), host: format!("h{i}") }).collect(),
            uplink: Uplink { rate_bps: Some(1_000_000_000), delay_ns: 2_000, buffer_bytes: Some(50_000) },
            mtu_bytes: 1500,
            tcp: Tcp { congestion_control: "cubic".into(), rto_min_us: 200_000 },
            merge_window_ns: 20_000,
            condition: Condition::default(),
        }
    }

    pub(crate) fn entry(json: &str) -> ElementEntry {
        serde_json::from_str(json).unwrap()
    }

    fn departures(network: &mut Network, until_ns: u64) -> Vec<(u64, u64)> {
        network.engine().advance(Instant::from_nanos(until_ns));
        let mut due = Vec::new();
        while let Some(outcome) = network.engine().pop() {
            if let Outcome::Departure { due: at, packet, .. } = outcome {
                due.push((packet.tag, at.as_nanos()));
            }
        }
        due
    }

    // 1500 IP bytes are 1538 wire bytes: 12.304 us at 1 Gbit/s, twice (up and down), and 2 us of propagation twice.
    #[test]
    fn a_packet_pays_serialisation_and_propagation_on_both_links() {
        let mut network = Network::new(&fabric(2), Instant::ZERO).unwrap();
        let (path, _) = network.path(0, 1);
        network.engine().push(Instant::ZERO, path, Packet::real(1, 1500, 0));
        assert_eq!(departures(&mut network, 1_000_000), vec![(1, 2 * 12_304 + 2 * 2_000)]);
    }

    #[test]
    fn nodes_of_one_host_do_not_use_the_uplink() {
        let mut fabric = fabric(1);
        fabric.nodes.push(Node { name: "n1".into(), host: "h0".into() });
        let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
        let (path, _) = network.path(0, 1);
        network.engine().push(Instant::from_nanos(5), path, Packet::real(1, 1500, 0));
        assert_eq!(departures(&mut network, 1_000_000), vec![(1, 5)]);
    }

    #[test]
    fn a_host_bucket_is_per_node_and_a_switch_bucket_is_shared() {
        for (place, passed) in [("host.egress", 2), ("switch.ingress", 1)] {
            let mut fabric = fabric(2);
            fabric.nodes.push(Node { name: "n2".into(), host: "h0".into() });
            fabric.condition.places = serde_json::from_str(&format!(
                r#"{{"{place}": [{{"police": {{"rate_bps": 8000, "burst_bytes": 1500, "on": ["h0"]}}}}]}}"#
            ))
            .unwrap();
            let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
            for from in [0, 2] {
                let (path, _) = network.path(from, 1);
                network.engine().push(Instant::ZERO, path, Packet::real(from as u64, 1500, 0));
            }
            assert_eq!(departures(&mut network, 1_000_000).len(), passed, "{place}");
        }
    }

    #[test]
    fn a_new_condition_takes_effect_at_its_instant() {
        let mut network = Network::new(&fabric(2), Instant::ZERO).unwrap();
        let (path, _) = network.path(0, 1);
        network.engine().push(Instant::ZERO, path, Packet::real(1, 1500, 0));
        let condition: Condition = serde_json::from_str(
            r#"{"name": "slow", "places": {"link": [{"delay": {"time_ns": 1000000}}]}}"#,
        )
        .unwrap();
        network.apply(Instant::from_nanos(10), &condition).unwrap();
        let (path, _) = network.path(0, 1);
        network.engine().push(Instant::from_nanos(100_000), path, Packet::real(2, 1500, 0));
        let due = departures(&mut network, 10_000_000);
        assert_eq!(due, vec![(1, 28_608), (2, 100_000 + 28_608 + 2 * 1_000_000)]);
    }

    #[test]
    fn interference_loads_both_directions_and_only_its_pair() {
        let mut fabric = fabric(4);
        fabric.condition = serde_json::from_str(
            r#"{"name": "i", "interference": [{"between": ["h0", "h1"], "by": "ghost", "rate": {"constant_bps": 100000000},
                "hold_ns": 1000000000, "pacing_ns": 10000000, "packet_ip_bytes": 1500, "zero": "silence"}]}"#,
        )
        .unwrap();
        let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
        network.engine().advance(Instant::from_nanos(1_000_000_000));
        let bytes: HashMap<String, u64> = network
            .elements()
            .iter()
            .map(|element| {
                (element.name.clone(), network.engine_ref().counters(element.id).ghost.departed.bytes)
            })
            .collect();
        for link in ["h0/uplink", "h0/downlink", "h1/uplink", "h1/downlink"] {
            let share = bytes[link] as f64 / 12_500_000.0;
            assert!((0.97..=1.01).contains(&share), "{link} carried {share} of 100 Mbit/s for 1 s");
        }
        assert_eq!(bytes["h2/uplink"], 0);
    }
}
