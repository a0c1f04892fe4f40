//! Sites: where the elements of a condition stand on a graph, and by which names a condition restricts them.
//!
//! A place is a word of a condition; a site is one spot that the word stands for: what one node sends, one direction of one link,
//! one port of a switch. What stands without `on` stands at every usual site of its place; `on` names sites by node, host, switch or
//! link. Links between switches and their ports are usual at `wan` alone: `link` and `switch` mean those of hosts unless a condition
//! names others.

use std::collections::{HashMap, HashSet};

use crate::graph::Graph;
use crate::spec::Fabric;

/// Where an element stands, for people and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// What a node or host sends.
    HostEgress,
    /// What a node receives.
    HostIngress,
    /// In front of the wire.
    Link,
    /// What comes into a switch port.
    SwitchIngress,
    /// What leaves by a switch port.
    SwitchEgress,
    /// In front of the wire between two switches.
    Wan,
}

impl Place {
    /// Every place.
    pub const ALL: [Place; 6] =
        [Self::HostEgress, Self::HostIngress, Self::Link, Self::SwitchIngress, Self::SwitchEgress, Self::Wan];

    /// The word that conditions use.
    pub fn word(self) -> &'static str {
        match self {
            Self::HostEgress => "host.egress",
            Self::HostIngress => "host.ingress",
            Self::Link => "link",
            Self::SwitchIngress => "switch.ingress",
            Self::SwitchEgress => "switch.egress",
            Self::Wan => "wan",
        }
    }

    /// What `on` can name there.
    pub(crate) fn kinds_of_names(self) -> &'static str {
        match self {
            Self::HostEgress | Self::HostIngress => "node, host or switch",
            Self::Link | Self::SwitchIngress | Self::SwitchEgress => "host, switch or link",
            Self::Wan => "link between switches, and no switch with one",
        }
    }

    /// Whether a wire follows, so that a queue stands behind whatever stands there.
    pub(crate) fn leads_to_wire(self) -> bool {
        matches!(self, Self::HostEgress | Self::Link | Self::SwitchEgress | Self::Wan)
    }
}

/// One spot of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) place: Place,
    /// The node, host or link that elements there are named after.
    pub(crate) of: String,
    /// Which direction, where two sites of a place have the same name.
    pub(crate) way: Option<&'static str>,
    /// Whether what has no `on` stands here.
    pub(crate) usual: bool,
    /// By which `on` finds it.
    pub(crate) names: Vec<String>,
    /// The link that packets here leave by, or have come by; by its place in the fabric's list.
    pub(crate) link: usize,
}

impl Site {
    /// What the names of its elements begin with.
    pub(crate) fn prefix(&self) -> String {
        let way = self.way.map(|way| format!(".{way}")).unwrap_or_default();
        format!("{}/{}{way}", self.of, self.place.word())
    }

    /// Whether an element that is restricted to these names stands here.
    pub(crate) fn is_meant(&self, on: Option<&[String]>) -> bool {
        on.map_or(self.usual, |on| on.iter().any(|name| self.names.contains(name)))
    }
}

/// The sites of one node, or of a neighbour that interference comes from: what it sends, and what it receives.
pub(crate) fn of_node(fabric: &Fabric, graph: &Graph, name: &str, host: usize) -> [Site; 2] {
    let attached = graph.hosts[host];
    let names = vec![name.to_owned(), fabric.hosts[host].clone(), fabric.switches[attached.switch].clone()];
    [(Place::HostEgress, attached.up), (Place::HostIngress, attached.down)].map(|(place, link)| Site {
        place,
        of: name.to_owned(),
        way: None,
        usual: true,
        names: names.clone(),
        link,
    })
}

/// The sites between a host and its switch, in the order of [`HOST_SITES`].
pub(crate) fn of_host(fabric: &Fabric, graph: &Graph, host: usize) -> [Site; 4] {
    let attached = graph.hosts[host];
    let name = &fabric.hosts[host];
    HOST_SITES.map(|(place, way, upwards)| {
        let link = if upwards { attached.up } else { attached.down };
        Site {
            place,
            of: name.clone(),
            way,
            usual: true,
            names: vec![name.clone(), fabric.switches[attached.switch].clone(), fabric.links[link].name()],
            link,
        }
    })
}

/// The sites of a link between switches, in the order of [`TRUNK_SITES`].
pub(crate) fn of_trunk(fabric: &Fabric, link: usize) -> [Site; 4] {
    let (name, from) = (fabric.links[link].name(), fabric.links[link].from.clone());
    TRUNK_SITES.map(|place| {
        let usual = place == Place::Wan;
        let names = if usual { vec![name.clone(), from.clone()] } else { vec![name.clone()] };
        Site { place, of: name.clone(), way: None, usual, names, link }
    })
}

/// Every site of a place.
pub(crate) fn all_at<'a>(
    fabric: &'a Fabric,
    graph: &'a Graph,
    place: Place,
) -> Box<dyn Iterator<Item = Site> + 'a> {
    let here = move |site: &Site| site.place == place;
    if matches!(place, Place::HostEgress | Place::HostIngress) {
        let host_of: HashMap<&str, usize> = fabric.hosts.iter().map(String::as_str).zip(0..).collect();
        // A node on a host that does not exist has been told.
        let nodes =
            fabric.nodes.iter().filter_map(move |node| Some((&node.name, *host_of.get(node.host.as_str())?)));
        let sites = nodes.flat_map(move |(name, host)| of_node(fabric, graph, name, host));
        return Box::new(sites.filter(here));
    }
    let hosts = (0..fabric.hosts.len()).flat_map(|host| of_host(fabric, graph, host));
    let trunks = graph.trunks.iter().flat_map(|trunk| of_trunk(fabric, trunk.link));
    Box::new(hosts.chain(trunks).filter(here))
}

/// What `on` may name at a place; none where nobody asks.
pub(crate) fn names(fabric: &Fabric, graph: &Graph, place: Place, asked: bool) -> HashSet<String> {
    if !asked {
        return HashSet::new();
    }
    let hosts = if matches!(place, Place::HostEgress | Place::HostIngress) { &fabric.hosts[..] } else { &[] };
    // A host without nodes may be named where nodes are meant: interference puts neighbours on it.
    let sites = all_at(fabric, graph, place).flat_map(|site| site.names);
    sites.chain(hosts.iter().cloned()).collect()
}

/// The places between a host and its switch, their directions, and whether that is towards the switch.
const HOST_SITES: [(Place, Option<&str>, bool); 4] = [
    (Place::Link, Some("up"), true),
    (Place::Link, Some("down"), false),
    (Place::SwitchIngress, None, true),
    (Place::SwitchEgress, None, false),
];

/// The places of a link between switches.
const TRUNK_SITES: [Place; 4] = [Place::SwitchEgress, Place::Link, Place::Wan, Place::SwitchIngress];
