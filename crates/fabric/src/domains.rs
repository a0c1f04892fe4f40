//! Domains: the part of the graph that each thread advances, and the links at which the graph is cut.
//!
//! A domain is a set of hosts and switches. A packet on a link belongs to the domain of the sending end up to the
//! link's transmitter, and to the domain of the receiving end after it. A cut needs a minimum propagation delay,
//! because that is how far one domain may be ahead of another. So two ends stay in one domain where the delay of a
//! link between them is too short or has jitter. Conditions bind some ends together as well (`domains/bonds.rs`).
//!
//! Given a number, [`Domains::of`] chooses the domains (`domains/partition.rs` describes how). Written domains are
//! used, or refused where they cannot be cut. Results do not depend on the domains: a packet leaves or is dropped at
//! the same instant with any number.
//!
//! This module starts no threads and does not know the number of cores.

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

/// The requested division.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Division {
    /// This number of domains, at least 1; fewer where the graph has fewer divisible parts.
    Count(usize),
    /// Written domains, as names of hosts and switches. A host that is not named belongs to the domain of its switch.
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
    /// Computes the domains of a fabric. `later` are conditions that will be applied in addition to the fabric's own.
    /// Only links with a delay of at least `least_ns` are cut; at least 1.
    ///
    /// # Errors
    /// When the fabric is invalid or the division is impossible, in particular when a written division cuts a link
    /// that cannot be cut.
    pub fn of(
        fabric: &Fabric,
        division: &Division,
        later: &[Condition],
        least_ns: u64,
    ) -> Result<Self, FabricError> {
        let graph = fabric.checked()?.0;
        match division {
            Division::Count(0) => {
                Err(FabricError::of("domains 0: no domain would forward packets; give at least 1"))
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
                    None => wrong.push(format!("domain {domain}: no host or switch is called {name}")),
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
                (_, Some(_)) => "has a delay that varies, without a minimum".to_owned(),
                (delay_ns, None) if delay_ns < least_ns => {
                    format!("has a delay of {delay_ns} ns, but a cut needs {least_ns} ns or more")
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

    /// Number of domains.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The domain in which a node's packets enter and leave; nodes by their place in the fabric's list.
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

    /// The domain in which packets pass an element; it is idle in the others. The only exception is a cut link, which
    /// counts its packets in two domains: where they enter it, and where they leave it.
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

    /// The cut with the smallest delay, the first of equal ones. No domain may be further ahead of the others than
    /// this delay. `None` where nothing is cut.
    pub fn shortest_cut(&self) -> Option<&Cut> {
        self.cuts.iter().min_by_key(|cut| cut.delay_ns)
    }
}

/// The ends of a link; hosts have the first numbers, switches the numbers after them.
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

/// Estimated work of a host or a switch: one for each link that leaves it, and one for each node on it.
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
