//! Sites: positions of a condition's elements in a graph, and the names by which a condition restricts them.
//!
//! A place is a word of a condition; a site is one position that the word covers: the packets that one node sends, one
//! direction of one link, one port of a switch. An element without `on` is at every usual site of its place. `on`
//! names sites by node, host, switch or link. Links between switches and their ports are usual sites only of `wan`:
//! `link` and `switch` mean those of hosts unless a condition names others.

use std::collections::{HashMap, HashSet};

use crate::graph::Graph;
use crate::spec::Fabric;

/// The place of an element, for people and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Packets that a node or host sends.
    HostEgress,
    /// Packets that a node receives.
    HostIngress,
    /// Before the wire.
    Link,
    /// Packets that enter a switch port.
    SwitchIngress,
    /// Packets that leave by a switch port.
    SwitchEgress,
    /// Before the wire between two switches.
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

    /// What `on` can name at this place.
    pub(crate) fn kinds_of_names(self) -> &'static str {
        match self {
            Self::HostEgress | Self::HostIngress => "node, host or switch",
            Self::Link | Self::SwitchIngress | Self::SwitchEgress => "host, switch or link",
            Self::Wan => "link between switches, and no switch with one",
        }
    }

    /// Whether a wire follows, so that a queue follows every element of this place.
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
    /// The direction, where two sites of a place have the same name.
    pub(crate) way: Option<&'static str>,
    /// Whether an element without `on` is here.
    pub(crate) usual: bool,
    /// Names in `on` that select it.
    pub(crate) names: Vec<String>,
    /// The link through which packets here leave or have arrived, by its place in the fabric's list.
    pub(crate) link: usize,
}

impl Site {
    /// Prefix of the names of its elements.
    pub(crate) fn prefix(&self) -> String {
        let way = self.way.map(|way| format!(".{way}")).unwrap_or_default();
        format!("{}/{}{way}", self.of, self.place.word())
    }

    /// Whether an element that is restricted to these names is here.
    pub(crate) fn applies(&self, on: Option<&[String]>) -> bool {
        on.map_or(self.usual, |on| on.iter().any(|name| self.names.contains(name)))
    }
}

/// The sites of one node, or of a neighbour that sends interference: the packets that it sends, and those that it
/// receives.
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
        // A node on a host that does not exist has been reported already.
        let nodes =
            fabric.nodes.iter().filter_map(move |node| Some((&node.name, *host_of.get(node.host.as_str())?)));
        let sites = nodes.flat_map(move |(name, host)| of_node(fabric, graph, name, host));
        return Box::new(sites.filter(here));
    }
    let hosts = (0..fabric.hosts.len()).flat_map(|host| of_host(fabric, graph, host));
    let trunks = graph.trunks.iter().flat_map(|trunk| of_trunk(fabric, trunk.link));
    Box::new(hosts.chain(trunks).filter(here))
}

/// The names that `on` may use at a place; empty unless `needed`.
pub(crate) fn names(fabric: &Fabric, graph: &Graph, place: Place, needed: bool) -> HashSet<String> {
    if !needed {
        return HashSet::new();
    }
    let hosts = if matches!(place, Place::HostEgress | Place::HostIngress) { &fabric.hosts[..] } else { &[] };
    // A host without nodes may be named where nodes are meant, because interference puts neighbours on it.
    let sites = all_at(fabric, graph, place).flat_map(|site| site.names);
    sites.chain(hosts.iter().cloned()).collect()
}

/// The places between a host and its switch, their directions, and whether the direction is towards the switch.
const HOST_SITES: [(Place, Option<&str>, bool); 4] = [
    (Place::Link, Some("up"), true),
    (Place::Link, Some("down"), false),
    (Place::SwitchIngress, None, true),
    (Place::SwitchEgress, None, false),
];

/// The places of a link between switches.
const TRUNK_SITES: [Place; 4] = [Place::SwitchEgress, Place::Link, Place::Wan, Place::SwitchIngress];
