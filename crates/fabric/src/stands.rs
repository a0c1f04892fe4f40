//! The sites of a graph with the elements that stand there: of nodes, of hosts, of links between switches.

use crosswind_engine::ElementId;

use crate::graph::Graph;
use crate::site::{self, Site};
use crate::spec::Fabric;

/// A site and its elements, in order.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    pub(crate) site: Site,
    pub(crate) chain: Vec<ElementId>,
}

impl From<Site> for Stand {
    fn from(site: Site) -> Self {
        Self { site, chain: Vec::new() }
    }
}

/// The end of a path: a real node, or the neighbour that interference comes from.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) host: usize,
    pub(crate) egress: Stand,
    pub(crate) ingress: Stand,
}

impl End {
    pub(crate) fn new(fabric: &Fabric, graph: &Graph, name: &str, host: usize) -> Self {
        let [egress, ingress] = site::of_node(fabric, graph, name, host).map(Stand::from);
        Self { host, egress, ingress }
    }

    pub(crate) fn each(&mut self) -> [&mut Stand; 2] {
        [&mut self.egress, &mut self.ingress]
    }
}

/// What stands between a host and its switch.
#[derive(Clone, Debug)]
pub(crate) struct HostStands {
    pub(crate) up: Stand,
    pub(crate) down: Stand,
    pub(crate) ingress: Stand,
    pub(crate) egress: Stand,
}

impl HostStands {
    pub(crate) fn new(fabric: &Fabric, graph: &Graph, host: usize) -> Self {
        let [up, down, ingress, egress] = site::of_host(fabric, graph, host).map(Stand::from);
        Self { up, down, ingress, egress }
    }

    pub(crate) fn each(&mut self) -> [&mut Stand; 4] {
        [&mut self.up, &mut self.down, &mut self.ingress, &mut self.egress]
    }
}

/// What stands along a link between two switches.
#[derive(Clone, Debug)]
pub(crate) struct TrunkStands {
    pub(crate) egress: Stand,
    pub(crate) link: Stand,
    pub(crate) wan: Stand,
    pub(crate) ingress: Stand,
}

impl TrunkStands {
    /// `link` is its place in the fabric's list.
    pub(crate) fn new(fabric: &Fabric, link: usize) -> Self {
        let [egress, link, wan, ingress] = site::of_trunk(fabric, link).map(Stand::from);
        Self { egress, link, wan, ingress }
    }

    pub(crate) fn each(&mut self) -> [&mut Stand; 4] {
        [&mut self.egress, &mut self.link, &mut self.wan, &mut self.ingress]
    }
}
