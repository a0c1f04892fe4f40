//! Bonds: the parts of a condition that hold two parts of the graph in one domain.
//!
//! * Interference over TCP: its sender learns at once which packets reached its receiver.
//! * A monitor that matches packets of both directions of a link (`rtt`): it needs to see both.

use crosswind_engine::{MonitorParameters, Treatment, What};

use crate::entry::ElementEntry;
use crate::graph::Graph;
use crate::site::{self, Place, Site};
use crate::spec::{Condition, Fabric};

/// Two ends that stay together because of a condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bond<'a> {
    between: Between,
    condition: &'a str,
}

#[derive(Clone, Copy, Debug)]
enum Between {
    /// Interference over TCP, by the places of its hosts in the fabric's list.
    Hosts([usize; 2]),
    /// A monitor of both directions, by the place of a link.
    Ends(usize),
}

impl Bond<'_> {
    /// Hosts have the first numbers, switches the numbers after them.
    pub(super) fn ends(&self, fabric: &Fabric, graph: &Graph) -> [usize; 2] {
        match self.between {
            Between::Hosts(hosts) => hosts,
            Between::Ends(link) => super::ends(fabric, graph, link),
        }
    }

    /// Whether the bond crosses two domains. `hosts` and `links`: the domains of hosts, and of the two ends of links.
    pub(super) fn is_between(&self, hosts: &[usize], links: &[[usize; 2]]) -> bool {
        let [a, b] = match self.between {
            Between::Hosts(ends) => ends.map(|host| hosts[host]),
            Between::Ends(link) => links[link],
        };
        a != b
    }

    /// Why the bond must not cross two domains.
    pub(super) fn broken(&self, fabric: &Fabric) -> String {
        let condition = self.condition;
        match self.between {
            Between::Hosts([a, b]) => format!(
                "condition {condition}: interference between {} and {} uses TCP, so both must be in one domain; put them into one",
                fabric.hosts[a], fabric.hosts[b]
            ),
            Between::Ends(link) => {
                let link = &fabric.links[link];
                format!(
                    "condition {condition}: a monitor measures rtt at link {}, so {} and {} must be in one domain; put them into one, or measure at a host",
                    link.name(),
                    link.from,
                    link.to
                )
            }
        }
    }
}

/// The bonds of the fabric's condition and of later ones.
pub(super) fn of_all<'a>(fabric: &'a Fabric, graph: &Graph, later: &'a [Condition]) -> Vec<Bond<'a>> {
    std::iter::once(&fabric.condition)
        .chain(later)
        .flat_map(|condition| of(fabric, graph, condition))
        .collect()
}

/// The bonds of a condition.
pub(super) fn of<'a>(fabric: &Fabric, graph: &Graph, condition: &'a Condition) -> Vec<Bond<'a>> {
    let place = |name: &String| fabric.hosts.iter().position(|host| host == name);
    let answering = condition.interference.iter().filter(|interference| interference.tcp.is_some());
    // A condition that names an unknown host is refused when it is applied.
    let pairs = answering.filter_map(|interference| {
        let [a, b] = &interference.between;
        Some(Between::Hosts([place(a)?, place(b)?]))
    });
    let watched = watched_both_ways(fabric, graph, condition).into_iter().map(Between::Ends);
    pairs.chain(watched).map(|between| Bond { between, condition: &condition.name }).collect()
}

/// Links that have a monitor of both directions.
fn watched_both_ways(fabric: &Fabric, graph: &Graph, condition: &Condition) -> Vec<usize> {
    let steps = condition.timeline.iter().map(|step| &step.places);
    let places = || std::iter::once(&condition.places).chain(steps.clone());
    let mut links = Vec::new();
    // At every other place the two directions are separate places.
    for place in [Place::Link, Place::Wan] {
        let monitors: Vec<&ElementEntry> =
            places().flat_map(|places| places.at(place)).filter(|entry| measures_rtt(entry)).collect();
        if monitors.is_empty() {
            continue;
        }
        let sites = site::all_at(fabric, graph, place);
        let is_watched = |site: &Site| monitors.iter().any(|monitor| site.applies(monitor.on.as_deref()));
        links.extend(sites.filter(is_watched).map(|site| site.link));
    }
    links
}

fn measures_rtt(entry: &ElementEntry) -> bool {
    matches!(&entry.treatment, Treatment::Monitor(MonitorParameters { what, .. }) if what.contains(&What::Rtt))
}
