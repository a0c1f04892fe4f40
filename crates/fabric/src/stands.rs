//! Stands: every site of a graph by number. First come two of each node, then four of each host, four of each link
//! between switches, and two of each neighbour.

use crate::graph::Graph;
use crate::site::{self, Site};
use crate::spec::Fabric;

/// Numbers of nodes, hosts and links between switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stands {
    nodes: usize,
    hosts: usize,
    trunks: usize,
}

/// The stands at the end of a path: those of a node, or of a neighbour that sends interference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) egress: usize,
    pub(crate) ingress: usize,
}

/// The stands between a host and its switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtHost {
    pub(crate) up: usize,
    pub(crate) down: usize,
    pub(crate) ingress: usize,
    pub(crate) egress: usize,
}

/// The stands along a link between two switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtTrunk {
    pub(crate) egress: usize,
    pub(crate) link: usize,
    pub(crate) wan: usize,
    pub(crate) ingress: usize,
}

impl Stands {
    pub(crate) fn of(fabric: &Fabric, graph: &Graph) -> Self {
        Self { nodes: fabric.nodes.len(), hosts: fabric.hosts.len(), trunks: graph.trunks.len() }
    }

    pub(crate) fn node(self, node: usize) -> End {
        End { egress: 2 * node, ingress: 2 * node + 1 }
    }

    /// Whether packets to a node pass this stand last.
    pub(crate) fn receiving(self, stand: usize) -> bool {
        stand < 2 * self.nodes && stand % 2 == 1
    }

    pub(crate) fn host(self, host: usize) -> AtHost {
        let first = 2 * self.nodes + 4 * host;
        AtHost { up: first, down: first + 1, ingress: first + 2, egress: first + 3 }
    }

    pub(crate) fn trunk(self, trunk: usize) -> AtTrunk {
        let first = 2 * self.nodes + 4 * (self.hosts + trunk);
        AtTrunk { egress: first, link: first + 1, wan: first + 2, ingress: first + 3 }
    }

    pub(crate) fn neighbour(self, neighbour: usize) -> End {
        let first = 2 * (self.nodes + neighbour) + 4 * (self.hosts + self.trunks);
        End { egress: first, ingress: first + 1 }
    }
}

/// The sites of every stand except those of neighbours.
pub(crate) fn sites(fabric: &Fabric, graph: &Graph, hosts: &[usize]) -> Vec<Site> {
    let nodes = fabric.nodes.iter().zip(hosts);
    let nodes = nodes.flat_map(|(node, &host)| site::of_node(fabric, graph, &node.name, host));
    let hosts = (0..fabric.hosts.len()).flat_map(|host| site::of_host(fabric, graph, host));
    let trunks = graph.trunks.iter().flat_map(|trunk| site::of_trunk(fabric, trunk.link));
    nodes.chain(hosts).chain(trunks).collect()
}
