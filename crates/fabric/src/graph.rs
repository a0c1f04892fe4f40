//! Hosts, switches and links by number, checked: the basis of routes and places.

use std::collections::{HashMap, HashSet};

use crate::spec::Fabric;
use crate::topology::Link;

/// A larger number would take unreasonably long to set up.
const LINKS_MAX: usize = 1_000_000;

/// The links of a host; links by their place in the fabric's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attached {
    pub(crate) switch: usize,
    pub(crate) up: usize,
    pub(crate) down: usize,
}

/// A link between two switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trunk {
    /// Its place in the fabric's list.
    pub(crate) link: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) cost: u64,
}

/// What a link belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// To a host, towards its switch.
    Up(usize),
    /// To a host, from its switch.
    Down(usize),
    /// To a pair of switches.
    Trunk(usize),
}

/// A fabric's graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Of every link, by its place in the fabric's list.
    pub(crate) owners: Vec<Owner>,
    pub(crate) hosts: Vec<Attached>,
    pub(crate) trunks: Vec<Trunk>,
    /// Trunks by the switch that they leave, in the order of the fabric's list.
    pub(crate) leaving: Vec<Vec<usize>>,
    /// Trunks by the switch that they lead to, in the same order.
    pub(crate) coming: Vec<Vec<usize>>,
}

/// An end of a link.
#[derive(Clone, Copy)]
enum Vertex {
    Host(usize),
    Switch(usize),
}

impl Graph {
    /// The graph of a fabric, or all errors of its hosts, switches and links.
    pub(crate) fn of(fabric: &Fabric) -> Result<Graph, Vec<String>> {
        if fabric.links.len() > LINKS_MAX {
            return Err(vec![format!(
                "links: {} is more than {LINKS_MAX}, the largest number that can be set up",
                fabric.links.len()
            )]);
        }
        let mut wrong = Vec::new();
        let vertices = vertices(fabric, &mut wrong);
        let Ends { owners, trunks, ups, downs } = Ends::of(fabric, &vertices, &mut wrong);
        let hosts = attached(fabric, ups, downs, &mut wrong);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut graph = Graph {
            owners,
            hosts,
            leaving: vec![Vec::new(); fabric.switches.len()],
            coming: vec![Vec::new(); fabric.switches.len()],
            trunks,
        };
        for (number, trunk) in graph.trunks.iter().enumerate() {
            graph.leaving[trunk.from].push(number);
            graph.coming[trunk.to].push(number);
        }
        match graph.cut_off(fabric) {
            None => Ok(graph),
            Some(problem) => Err(vec![problem]),
        }
    }

    /// A sentence about two hosts of which one cannot reach the other.
    fn cut_off(&self, fabric: &Fabric) -> Option<String> {
        let first = self.hosts.first()?.switch;
        let towards = |next: &[Vec<usize>], end: fn(&Trunk) -> usize| {
            let mut reached = vec![false; next.len()];
            reached[first] = true;
            let mut open = vec![first];
            while let Some(switch) = open.pop() {
                for &trunk in &next[switch] {
                    let other = end(&self.trunks[trunk]);
                    if !std::mem::replace(&mut reached[other], true) {
                        open.push(other);
                    }
                }
            }
            reached
        };
        let (reached, reaching) =
            (towards(&self.leaving, |trunk| trunk.to), towards(&self.coming, |trunk| trunk.from));
        let lost = |found: &[bool]| self.hosts.iter().position(|host| !found[host.switch]);
        let (from, to) = match (lost(&reached), lost(&reaching)) {
            (Some(host), _) => (0, host),
            (None, Some(host)) => (host, 0),
            (None, None) => return None,
        };
        let name = |host: usize| &fabric.hosts[host];
        Some(format!(
            "host {}: has no way to host {}; add links between their switches",
            name(from),
            name(to)
        ))
    }
}

/// The links of a fabric by what they join. A host's link is given by its place in the fabric's list, with the switch.
#[derive(Default)]
struct Ends {
    owners: Vec<Owner>,
    trunks: Vec<Trunk>,
    ups: Vec<Option<(usize, usize)>>,
    downs: Vec<Option<(usize, usize)>>,
}

impl Ends {
    fn of(fabric: &Fabric, vertices: &HashMap<&str, Vertex>, wrong: &mut Vec<String>) -> Ends {
        let none = vec![None; fabric.hosts.len()];
        let mut ends = Ends { ups: none.clone(), downs: none, ..Ends::default() };
        let mut seen = HashSet::new();
        for (number, link) in fabric.links.iter().enumerate() {
            let name = link.name();
            check_numbers(link, &name, wrong);
            let joined = [&link.from, &link.to].map(|end| {
                let vertex = vertices.get(end.as_str()).copied();
                if vertex.is_none() {
                    wrong.push(format!(
                        "link {name}: {end} is neither a host nor a switch; declare it, or name another"
                    ));
                }
                vertex
            });
            if !seen.insert((&link.from, &link.to)) {
                wrong.push(format!(
                    "link {name}: given twice; two ends have one link each way, leave one out"
                ));
                continue;
            }
            if let [Some(from), Some(to)] = joined {
                ends.add(number, link, (from, to), wrong);
            }
        }
        ends
    }

    fn add(&mut self, number: usize, link: &Link, ends: (Vertex, Vertex), wrong: &mut Vec<String>) {
        let name = link.name();
        match ends {
            (Vertex::Host(host), Vertex::Switch(switch)) => {
                attach(&mut self.ups[host], (number, switch), &name, "to", wrong);
                self.owners.push(Owner::Up(host));
            }
            (Vertex::Switch(switch), Vertex::Host(host)) => {
                attach(&mut self.downs[host], (number, switch), &name, "from", wrong);
                self.owners.push(Owner::Down(host));
            }
            (Vertex::Switch(from), Vertex::Switch(to)) if from != to => {
                let cost = u64::from(link.cost.unwrap_or(1));
                self.owners.push(Owner::Trunk(self.trunks.len()));
                self.trunks.push(Trunk { link: number, from, to, cost });
            }
            _ => wrong.push(format!(
                "link {name}: joins {}; a link leads from a host to a switch, back, or between two switches",
                if link.from == link.to { "a switch with itself" } else { "two hosts" }
            )),
        }
    }
}

/// Where the hosts are attached; those that are not attached by one link each way to one switch are wrong.
fn attached(
    fabric: &Fabric,
    ups: Vec<Option<(usize, usize)>>,
    downs: Vec<Option<(usize, usize)>>,
    wrong: &mut Vec<String>,
) -> Vec<Attached> {
    let mut hosts = Vec::new();
    for ((name, up), down) in fabric.hosts.iter().zip(ups).zip(downs) {
        match (up, down) {
            (Some((up, switch)), Some((down, other))) if switch == other => {
                hosts.push(Attached { switch, up, down });
            }
            (Some(_), Some(_)) => wrong.push(format!(
                "host {name}: its link to the network and the one back are on different switches; use one switch"
            )),
            (up, _) => wrong.push(format!(
                "host {name}: has no way {} the network; give it a link {} a switch",
                if up.is_none() { "into" } else { "out of" },
                if up.is_none() { "to" } else { "from" }
            )),
        }
    }
    hosts
}

fn vertices<'a>(fabric: &'a Fabric, wrong: &mut Vec<String>) -> HashMap<&'a str, Vertex> {
    let mut vertices = HashMap::new();
    let hosts = fabric.hosts.iter().enumerate().map(|(number, name)| ("host", name, Vertex::Host(number)));
    let switches =
        fabric.switches.iter().enumerate().map(|(number, name)| ("switch", name, Vertex::Switch(number)));
    for (what, name, vertex) in hosts.chain(switches) {
        if name.is_empty() || name.contains("->") {
            wrong.push(format!("{what} {name:?}: a name must not be empty or contain ->; choose another"));
        }
        if vertices.insert(name.as_str(), vertex).is_some() {
            wrong.push(format!("{what} {name}: named twice; give every host and switch a unique name"));
        }
    }
    vertices
}

fn attach(
    slot: &mut Option<(usize, usize)>,
    link: (usize, usize),
    name: &str,
    way: &str,
    wrong: &mut Vec<String>,
) {
    if slot.replace(link).is_some() {
        wrong.push(format!("link {name}: a second link {way} the network; a host has one, leave one out"));
    }
}

fn check_numbers(link: &Link, name: &str, wrong: &mut Vec<String>) {
    if link.rate_bps == Some(0) {
        wrong.push(format!("link {name}: rate 0 never sends; leave the rate out for unlimited"));
    }
    if link.jitter_ns == Some(0) {
        wrong.push(format!("link {name}: jitter 0 does nothing; leave it out"));
    }
    if link.loss_ppb.is_some_and(|loss| loss == 0 || loss > 1_000_000_000) {
        wrong.push(format!("link {name}: loss outside 1 to 1000000000 ppb; leave it out for none"));
    }
    if link.cost == Some(0) {
        wrong.push(format!("link {name}: cost 0 allows endless routes; give at least 1"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::{fabric, leaves_and_spines};

    fn wrong(change: impl FnOnce(&mut Fabric)) -> String {
        let mut fabric = leaves_and_spines();
        change(&mut fabric);
        Graph::of(&fabric).unwrap_err().join("; ")
    }

    #[test]
    fn a_star_and_a_fabric_of_leaves_and_spines_are_sound() {
        let star = Graph::of(&fabric(2)).unwrap();
        assert_eq!(star.hosts[1], Attached { switch: 0, up: 2, down: 3 });
        assert!(star.trunks.is_empty());
        let graph = Graph::of(&leaves_and_spines()).unwrap();
        assert_eq!((graph.hosts.len(), graph.trunks.len()), (4, 8));
        assert_eq!(graph.leaving.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 2]);
    }

    #[test]
    fn a_graph_that_packets_cannot_cross_is_refused_with_the_name() {
        let between = |from: &str, to: &str| Link::new(from, to, None, 0, None);
        for (said, expected) in [
            (
                wrong(|fabric| fabric.links.retain(|link| link.from != "h0")),
                "host h0: has no way into the network",
            ),
            (
                wrong(|fabric| fabric.links.retain(|link| link.to != "h0")),
                "host h0: has no way out of the network",
            ),
            (wrong(|fabric| fabric.links.push(between("leaf0", "spine0"))), "leaf0->spine0: given twice"),
            (wrong(|fabric| fabric.links.push(between("h0", "leaf1"))), "h0->leaf1: a second link to"),
            (wrong(|fabric| fabric.links.push(between("h0", "h1"))), "h0->h1: joins two hosts"),
            (wrong(|fabric| fabric.links.push(between("leaf0", "leaf0"))), "a switch with itself"),
            (
                wrong(|fabric| fabric.links.push(between("leaf0", "leaf7"))),
                "leaf7 is neither a host nor a switch",
            ),
            (wrong(|fabric| fabric.switches.push("h0".into())), "switch h0: named twice"),
            (
                wrong(|fabric| fabric.links.retain(|link| link.from != "leaf1" || link.to.starts_with('h'))),
                "host h2: has no way to host h0",
            ),
            (wrong(|fabric| fabric.links[0].cost = Some(0)), "cost 0"),
            (wrong(|fabric| fabric.links[0].loss_ppb = Some(0)), "loss outside"),
            (wrong(|fabric| fabric.links[0].jitter_ns = Some(0)), "jitter 0"),
            (wrong(|fabric| fabric.links[0].rate_bps = Some(0)), "rate 0"),
        ] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }
}
