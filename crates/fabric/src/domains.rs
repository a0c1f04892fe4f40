//! Domains: which part of the graph each thread advances, and the links at which the graph is cut between them.
//!
//! A domain is a set of hosts and switches. What a link carries belongs to the end that it leaves, up to its transmitter, and to the
//! end that it leads to from there on. A cut needs a propagation delay that no packet undercuts: it is how far one domain may be
//! ahead of another. So two ends stay together where a link between them has too short a delay, or one with jitter; and conditions
//! bind some together (`domains/bonds.rs`).
//!
//! Asked for a number, [`Domains::of`] chooses (`domains/partition.rs` says how); what is written out it takes, or refuses where it
//! cannot be cut. Decisions do not depend on the domains: a packet leaves or is dropped at the same instant with any number.
//!
//! It starts no threads, and it does not know how many cores there are.

mod bonds;
mod partition;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::check::FabricError;
use crate::elements::ElementAt;
use crate::graph::{Graph, Owner};
use crate::site::Place;
use crate::spec::{Condition, Fabric};
use bonds::Bond;
use partition::Edge;

/// What somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Division {
    /// So many domains, at least 1; fewer where the graph has fewer parts that can be divided.
    Count(usize),
    /// Those that are written out, as names of hosts and switches. A host that is not named goes with its switch.
    Written(Vec<Vec<String>>),
}

impl Division {
    /// Whether everything is one domain.
    pub fn is_one(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Division {
    fn default() -> Self {
        Self::Count(1)
    }
}

/// A link that leads from one domain to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its place in the fabric's list.
    pub link: usize,
    /// The domain that it leaves.
    pub from: usize,
    /// The domain that it leads to.
    pub to: usize,
    /// Its propagation delay, above 0.
    pub delay_ns: u64,
}

/// The domain of every host and switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domains {
    count: usize,
    /// By the places of hosts and switches in the fabric's lists.
    hosts: Vec<usize>,
    /// By the places of nodes.
    nodes: Vec<usize>,
    /// The domains that each link leaves and leads to.
    links: Vec<[usize; 2]>,
    cuts: Vec<Cut>,
}

impl Domains {
    /// The domains of a fabric. `later` are conditions that will be applied besides its own. Only links with a delay of `least_ns` or
    /// more are cut; at least 1.
    ///
    /// # Errors
    /// Where the fabric is unsound, or what is asked for cannot be: above all a written link between two domains that cannot be cut.
    pub fn of(
        fabric: &Fabric,
        division: &Division,
        later: &[Condition],
        least_ns: u64,
    ) -> Result<Self, FabricError> {
        let graph = fabric.checked()?.0;
        match division {
            Division::Count(0) => {
                Err(FabricError::of("domains 0: something must carry the packets; give at least 1"))
            }
            Division::Count(wanted) => Self::divided(fabric, &graph, *wanted, later, least_ns),
            Division::Written(names) => Self::written(fabric, &graph, names, later, least_ns),
        }
    }

    fn divided(
        fabric: &Fabric,
        graph: &Graph,
        wanted: usize,
        later: &[Condition],
        least_ns: u64,
    ) -> Result<Self, FabricError> {
        let weights = weights(fabric, graph);
        let edges = edges(fabric, graph, least_ns);
        let bonds = bonds::of_all(fabric, graph, later);
        let together: Vec<_> = bonds.iter().map(|bond| bond.ends(fabric, graph)).collect();
        let of = partition::divide(&weights, &edges, &together, wanted);
        Self::checked(fabric, graph, &of, &bonds, least_ns)
    }

    fn written(
        fabric: &Fabric,
        graph: &Graph,
        names: &[Vec<String>],
        later: &[Condition],
        least_ns: u64,
    ) -> Result<Self, FabricError> {
        let mut wrong = Vec::new();
        let known: HashMap<&str, usize> =
            fabric.hosts.iter().chain(&fabric.switches).map(String::as_str).zip(0..).collect();
        let mut of = vec![None; known.len()];
        for (domain, names) in names.iter().enumerate() {
            if names.is_empty() {
                wrong.push(format!("domain {domain}: is empty; name a host or a switch, or leave it out"));
            }
            for name in names {
                match known.get(name.as_str()) {
                    None => wrong.push(format!("domain {domain}: there is no host and no switch {name}")),
                    Some(&vertex) if of[vertex].is_some() => {
                        wrong.push(format!("domain {domain}: {name} is named twice; name it once"));
                    }
                    Some(&vertex) => of[vertex] = Some(domain),
                }
            }
        }
        for (host, attached) in graph.hosts.iter().enumerate() {
            of[host] = of[host].or(of[fabric.hosts.len() + attached.switch]);
        }
        for (name, _) in fabric.switches.iter().zip(&of[fabric.hosts.len()..]).filter(|(_, of)| of.is_none())
        {
            wrong.push(format!("switch {name}: is in no domain; name it in one"));
        }
        FabricError::unless_empty(wrong)?;
        let of: Vec<usize> = of.into_iter().flatten().collect();
        Self::checked(fabric, graph, &of, &bonds::of_all(fabric, graph, later), least_ns)
    }

    /// `of`: by host, then by switch.
    fn checked(
        fabric: &Fabric,
        graph: &Graph,
        of: &[usize],
        bonds: &[Bond<'_>],
        least_ns: u64,
    ) -> Result<Self, FabricError> {
        let mut wrong = Vec::new();
        let mut cuts = Vec::new();
        let mut links = Vec::new();
        for (number, link) in fabric.links.iter().enumerate() {
            let [from, to] = ends(fabric, graph, number).map(|vertex| of[vertex]);
            links.push([from, to]);
            if from == to {
                continue;
            }
            let problem = match (link.delay_ns, link.jitter_ns) {
                (0, _) => "has no delay".to_owned(),
                (_, Some(_)) => "has a delay that varies, so that none is the least".to_owned(),
                (delay_ns, None) if delay_ns < least_ns => {
                    format!("has a delay of {delay_ns} ns, and a cut needs {least_ns} ns or more")
                }
                (delay_ns, None) => {
                    cuts.push(Cut { link: number, from, to, delay_ns });
                    continue;
                }
            };
            wrong.push(format!(
                "link {}: is cut between domains {from} and {to}, and {problem}; put {} and {} into one domain, or give the link a constant delay",
                link.name(),
                link.from,
                link.to
            ));
        }
        let parted = |bond: &&Bond<'_>| {
            let [a, b] = bond.ends(fabric, graph);
            of[a] != of[b]
        };
        wrong.extend(bonds.iter().filter(parted).map(|bond| bond.broken(fabric)));
        FabricError::unless_empty(wrong)?;
        let hosts = of[..fabric.hosts.len()].to_vec();
        let domain_of: HashMap<&str, usize> =
            fabric.hosts.iter().map(String::as_str).zip(hosts.iter().copied()).collect();
        let nodes = fabric.nodes.iter().map(|node| domain_of[node.host.as_str()]).collect();
        let count = of.iter().max().map_or(1, |last| last + 1);
        Ok(Self { count, hosts, nodes, links, cuts })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The domain that a node's packets enter and leave by; nodes by their place in the fabric's list.
    pub fn of_node(&self, node: usize) -> usize {
        self.nodes[node]
    }

    /// The domain of a host, by its place in the fabric's list.
    pub fn of_host(&self, host: usize) -> usize {
        self.hosts[host]
    }

    /// The domain that a link leaves, by its place in the fabric's list.
    pub fn of_link(&self, link: usize) -> usize {
        self.links[link][0]
    }

    /// The domain in which packets pass an element; it stands idle in the others. Only a link that is cut counts its packets in two: as
    /// they come here, and as they leave at its other end.
    pub fn of_element(&self, element: &ElementAt) -> usize {
        let [from, to] = self.links[element.link];
        match element.place {
            Place::SwitchIngress | Place::HostIngress => to,
            _ => from,
        }
    }

    /// Refuses a condition that binds parts of two domains together.
    pub(crate) fn check(
        &self,
        fabric: &Fabric,
        graph: &Graph,
        condition: &Condition,
    ) -> Result<(), FabricError> {
        let bonds = bonds::of(fabric, graph, condition);
        let parted = bonds.iter().filter(|bond| bond.is_between(&self.hosts, &self.links));
        FabricError::unless_empty(parted.map(|bond| bond.broken(fabric)).collect())
    }

    /// Every link between two domains, in the order of the fabric's list.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// The cut with the least delay, the first of equal ones: no domain may be further ahead of the others than that. `None` where
    /// nothing is cut.
    pub fn shortest_cut(&self) -> Option<&Cut> {
        self.cuts.iter().min_by_key(|cut| cut.delay_ns)
    }
}

/// The ends of a link: hosts by number, switches behind them.
fn ends(fabric: &Fabric, graph: &Graph, link: usize) -> [usize; 2] {
    let switches = fabric.hosts.len();
    match graph.owners[link] {
        Owner::Up(host) => [host, switches + graph.hosts[host].switch],
        Owner::Down(host) => [switches + graph.hosts[host].switch, host],
        Owner::Trunk(trunk) => {
            let trunk = graph.trunks[trunk];
            [switches + trunk.from, switches + trunk.to]
        }
    }
}

/// How much work a host or a switch is thought to be: one for each link that leaves it, and one for each node on it.
fn weights(fabric: &Fabric, graph: &Graph) -> Vec<u64> {
    let mut weights = vec![0; fabric.hosts.len() + fabric.switches.len()];
    for link in 0..fabric.links.len() {
        weights[ends(fabric, graph, link)[0]] += 1;
    }
    let host_of: HashMap<&str, usize> = fabric.hosts.iter().map(String::as_str).zip(0..).collect();
    for node in &fabric.nodes {
        weights[host_of[node.host.as_str()]] += 1;
    }
    weights
}

fn edges(fabric: &Fabric, graph: &Graph, least_ns: u64) -> Vec<Edge> {
    let links = fabric.links.iter().enumerate();
    links
        .map(|(number, link)| Edge {
            ends: ends(fabric, graph, number),
            delay_ns: if link.jitter_ns.is_some() || link.delay_ns < least_ns { 0 } else { link.delay_ns },
        })
        .collect()
}

#[cfg(test)]
mod tests;
