//! The trunks that a packet crosses from host to host: the shortest route, one of equal routes by a hash of its flow,
//! or a written one.
//!
//! Routes are computed at first use, for each switch with hosts: the distance of every other switch to it (Dijkstra
//! 1959, over reversed links), and from these the links of least cost.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::graph::Graph;
use crate::spec::Fabric;
use crate::topology::Routing;

/// Number of distinguishable flows of one pair. Flows whose hashes are equal take the same route, as in switches.
const FLOWS: u32 = 1 << 12;

/// Routes between hosts, as trunks by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    seed: u64,
    ecmp: bool,
    /// From host to host.
    written: HashMap<(usize, usize), Vec<usize>>,
    /// By the switch that they lead to: for every switch the trunks of least cost.
    towards: HashMap<usize, Vec<Vec<usize>>>,
}

impl Routes {
    /// The routes of a fabric, or the errors in written routes.
    pub(crate) fn of(fabric: &Fabric, graph: &Graph) -> Result<Routes, Vec<String>> {
        let mut routes =
            Routes { seed: fabric.seed, ecmp: fabric.routes == Routing::Ecmp, ..Routes::default() };
        let Routing::Written(ways) = &fabric.routes else { return Ok(routes) };
        let trunks: HashMap<(&str, &str), usize> = (0..)
            .zip(&graph.trunks)
            .map(|(number, trunk)| {
                let link = &fabric.links[trunk.link];
                ((link.from.as_str(), link.to.as_str()), number)
            })
            .collect();
        let mut wrong = Vec::new();
        for way in ways {
            match written(way, fabric, graph, &trunks) {
                Ok((pair, way)) => {
                    if routes.written.insert(pair, way).is_some() {
                        let [from, to] = [pair.0, pair.1].map(|host| &fabric.hosts[host]);
                        wrong.push(format!("routes: two routes from {from} to {to}; leave one out"));
                    }
                }
                Err(problem) => wrong.push(format!("routes: {}: {problem}", way.join(" -> "))),
            }
        }
        if wrong.is_empty() {
            Ok(routes)
        } else {
            Err(wrong)
        }
    }

    /// The part of a flow's hash that affects its route; 0 where the hash has no effect.
    pub(crate) fn flow(&self, hash: impl FnOnce() -> u32) -> u32 {
        if self.ecmp {
            hash() % FLOWS
        } else {
            0
        }
    }

    /// The trunks from one host to another in a checked graph, in order. `flow` is a value that [`Routes::flow`]
    /// returned.
    pub(crate) fn way(&mut self, graph: &Graph, from: usize, to: usize, flow: u32) -> Vec<usize> {
        if let Some(way) = self.written.get(&(from, to)) {
            return way.clone();
        }
        let (mut at, end) = (graph.hosts[from].switch, graph.hosts[to].switch);
        let next = self.towards.entry(end).or_insert_with(|| least(graph, end));
        let mut way = Vec::new();
        while at != end {
            let choices = &next[at];
            let choice = if self.ecmp { pick(self.seed, at, flow, choices.len()) } else { 0 };
            way.push(choices[choice]);
            at = graph.trunks[choices[choice]].to;
        }
        way
    }
}

/// A written route: its hosts, and its trunks.
fn written(
    way: &[String],
    fabric: &Fabric,
    graph: &Graph,
    trunks: &HashMap<(&str, &str), usize>,
) -> Result<((usize, usize), Vec<usize>), String> {
    let host = |name: &String| {
        let found = fabric.hosts.iter().position(|host| host == name);
        found.ok_or(format!("{name} is no host; a route leads from a host to a host"))
    };
    let [first, switches @ .., last] = way else {
        return Err("a route leads from a host over switches to a host; name them all".to_owned());
    };
    let pair = (host(first)?, host(last)?);
    let mut seen = HashSet::new();
    if let Some(twice) = way.iter().find(|&name| !seen.insert(name)) {
        return Err(format!("passes {twice} twice, a loop; name it once"));
    }
    for (end, at, switch) in [(first, pair.0, switches.first()), (last, pair.1, switches.last())] {
        let own = &fabric.switches[graph.hosts[at].switch];
        if switch != Some(own) {
            return Err(format!("{end} is on {own}; name {own} next to it"));
        }
    }
    let hop = |pair: &[String]| {
        let found = trunks.get(&(pair[0].as_str(), pair[1].as_str())).copied();
        found.ok_or(format!("there is no link {}->{}; declare it, or use another route", pair[0], pair[1]))
    };
    Ok((pair, switches.windows(2).map(hop).collect::<Result<_, _>>()?))
}

/// For every switch the trunks on its cheapest routes to `end`, in the order of the fabric's links.
fn least(graph: &Graph, end: usize) -> Vec<Vec<usize>> {
    let mut cost = vec![u64::MAX; graph.leaving.len()];
    let mut open = BinaryHeap::from([Reverse((0, end))]);
    cost[end] = 0;
    while let Some(Reverse((so_far, at))) = open.pop() {
        if so_far > cost[at] {
            continue;
        }
        for &trunk in &graph.coming[at] {
            let trunk = graph.trunks[trunk];
            let through = so_far + trunk.cost;
            if through < cost[trunk.from] {
                cost[trunk.from] = through;
                open.push(Reverse((through, trunk.from)));
            }
        }
    }
    let nearest = |at: usize| {
        let on_the_way = |&trunk: &usize| {
            let trunk = graph.trunks[trunk];
            cost[trunk.to].checked_add(trunk.cost) == Some(cost[at])
        };
        graph.leaving[at].iter().copied().filter(on_the_way).collect()
    };
    (0..graph.leaving.len()).map(nearest).collect()
}

/// One of `count` choices at a switch; the same for the same seed, switch and flow.
fn pick(seed: u64, switch: usize, flow: u32, count: usize) -> usize {
    let mixed = mix(seed ^ mix(switch as u64 ^ mix(u64::from(flow))));
    // The upper bits, scaled: no choice is favoured by more than 1 in 2^32.
    (((mixed >> 32) * count as u64) >> 32) as usize
}

/// The first output of SplitMix64 from this state: every bit of the input changes half of the output's.
pub(crate) fn mix(number: u64) -> u64 {
    SplitMix64::seed_from_u64(number).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::leaves_and_spines;

    fn ways(fabric: &Fabric, from: usize, to: usize, flows: u32) -> Vec<Vec<String>> {
        let graph = Graph::of(fabric).unwrap();
        let mut routes = Routes::of(fabric, &graph).unwrap();
        let name = |trunk: usize| fabric.links[graph.trunks[trunk].link].name();
        let mut way = |hash| {
            let flow = routes.flow(|| hash);
            routes.way(&graph, from, to, flow).into_iter().map(name).collect()
        };
        (0..flows).map(&mut way).collect()
    }

    #[test]
    fn mixing_is_splitmix() {
        // First output of the authors' splitmix64.c from the state 1234567.
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn the_shortest_way_is_the_first_of_the_cheapest() {
        let mut fabric = leaves_and_spines();
        assert_eq!(ways(&fabric, 0, 3, 2), vec![["leaf0->spine0", "spine0->leaf1"]; 2]);
        assert_eq!(ways(&fabric, 0, 1, 1), [[""; 0]]);
        let dear = fabric.links.iter().position(|link| link.name() == "spine0->leaf1").unwrap();
        fabric.links[dear].cost = Some(2);
        assert_eq!(ways(&fabric, 0, 3, 1), [["leaf0->spine1", "spine1->leaf1"]]);
        assert_eq!(ways(&fabric, 3, 0, 1), [["leaf1->spine0", "spine0->leaf0"]]);
    }

    #[test]
    fn flows_spread_over_equal_routes_and_each_stays_on_one() {
        let mut fabric = leaves_and_spines();
        fabric.routes = Routing::Ecmp;
        let found = ways(&fabric, 0, 3, 1000);
        let over_first = found.iter().filter(|way| way[0] == "leaf0->spine0").count();
        assert!((400..600).contains(&over_first), "{over_first}");
        assert_eq!(found, ways(&fabric, 0, 3, 1000));
        fabric.seed += 1;
        assert_ne!(found, ways(&fabric, 0, 3, 1000));
    }

    #[test]
    fn a_written_route_is_used_and_the_reverse_route_is_the_shortest() {
        let mut fabric = leaves_and_spines();
        let way = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
        fabric.routes = Routing::Written(vec![way("h0 leaf0 spine1 leaf1 h3")]);
        assert_eq!(ways(&fabric, 0, 3, 1), [["leaf0->spine1", "spine1->leaf1"]]);
        assert_eq!(ways(&fabric, 3, 0, 1), [["leaf1->spine0", "spine0->leaf0"]]);
        for (names, expected) in [
            ("h0 leaf0 spine0 leaf0 spine1 leaf1 h3", "passes leaf0 twice"),
            ("h0 spine0 leaf1 h3", "h0 is on leaf0"),
            ("h0 leaf0 leaf1 h3", "no link leaf0->leaf1"),
            ("leaf0 spine0 leaf1 h3", "leaf0 is no host"),
            ("h0", "from a host over switches"),
        ] {
            fabric.routes = Routing::Written(vec![way(names)]);
            let graph = Graph::of(&fabric).unwrap();
            let said = Routes::of(&fabric, &graph).unwrap_err().join("; ");
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }
}
