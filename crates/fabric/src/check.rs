//! Checks a fabric before anything is built. Every violation is reported, not only the first.
//!
//! The Python side checks files with line and column; this check protects against callers that speak to the agent
//! directly.

use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;

use crosswind_engine::{
    Begin, CapacityParameters, Direction, Json, Match, MonitorParameters, Parameter, QuantityOf, Rule,
    Treatment, Type, Where,
};

use crate::entry::ElementEntry;
use crate::graph::{Graph, Owner};
use crate::monitor_spec;
use crate::routes::Routes;
use crate::site::{self, Place};
use crate::spec::{Condition, Fabric, Places};

/// Everything that is wrong with a fabric or a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricError(pub Vec<String>);

impl fmt::Display for FabricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl std::error::Error for FabricError {}

impl FabricError {
    /// An error with a single violation.
    pub(crate) fn of(error: impl fmt::Display) -> Self {
        Self(vec![error.to_string()])
    }

    pub(crate) fn unless_empty(wrong: Vec<String>) -> Result<(), Self> {
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(Self(wrong))
        }
    }
}

/// Largest number of addressable nodes: 10.77.0.1 to 10.77.255.254.
const NODES_MAX: usize = 65_534;

/// Below the range a connection cannot grow; above it no window can be announced (RFC 7323, section 2.3).
const SOCKET_BUFFER_BYTES: RangeInclusive<u32> = 65_536..=1 << 30;

impl Fabric {
    /// Checks the whole fabric, its condition included.
    pub fn check(&self) -> Result<(), FabricError> {
        self.checked().map(|_| ())
    }

    /// The graph and the routes of a valid fabric, its condition included.
    pub(crate) fn checked(&self) -> Result<(Graph, Routes), FabricError> {
        let mut wrong = Vec::new();
        self.check_nodes(&mut wrong);
        self.check_links(&mut wrong);
        if !(576..=9000).contains(&self.mtu_bytes) {
            wrong.push(format!("mtu {} bytes: outside 576 to 9000", self.mtu_bytes));
        }
        if let Some(bytes) = self.tcp.socket_buffer_bytes.filter(|bytes| !SOCKET_BUFFER_BYTES.contains(bytes))
        {
            wrong.push(format!("tcp: socket_buffer_bytes {bytes}: outside 65536 to 1073741824"));
        }
        // Without a graph there are no places against which to check a condition.
        let graph = match Graph::of(self) {
            Ok(graph) => graph,
            Err(problems) => return Err(FabricError([wrong, problems].concat())),
        };
        let routes = Routes::of(self, &graph).unwrap_or_else(|problems| {
            wrong.extend(problems);
            Routes::default()
        });
        if let Err(FabricError(problems)) = self.check_condition(&graph, &self.condition) {
            wrong.extend(problems);
        }
        FabricError::unless_empty(wrong)?;
        Ok((graph, routes))
    }

    fn check_nodes(&self, wrong: &mut Vec<String>) {
        let hosts: HashSet<&str> = self.hosts.iter().map(String::as_str).collect();
        let mut nodes = HashSet::new();
        for node in &self.nodes {
            if !hosts.contains(node.host.as_str()) {
                wrong.push(format!(
                    "node {}: host {} does not exist; hosts are {}",
                    node.name,
                    node.host,
                    some_of(&self.hosts)
                ));
            }
            if !nodes.insert(node.name.as_str()) {
                wrong.push(format!("node {}: named twice; give every node a unique name", node.name));
            }
            if node.name.is_empty()
                || node.name.len() > 63
                || !node.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            {
                wrong.push(format!(
                    "node {:?}: not a host name; use up to 63 letters, digits and hyphens",
                    node.name
                ));
            }
        }
        if self.nodes.is_empty() || self.nodes.len() > NODES_MAX {
            wrong.push(format!(
                "nodes: {} is outside 1 to {NODES_MAX}, the number that can be addressed",
                self.nodes.len()
            ));
        }
    }

    fn check_links(&self, wrong: &mut Vec<String>) {
        for link in &self.links {
            if let Err(problem) = link.buffer() {
                wrong.push(format!("link {}: {problem}", link.name()));
            }
        }
    }

    /// Checks a condition that will be applied to this fabric.
    pub(crate) fn check_condition(&self, graph: &Graph, condition: &Condition) -> Result<(), FabricError> {
        let mut wrong = Vec::new();
        for places in
            std::iter::once(&condition.places).chain(condition.timeline.iter().map(|step| &step.places))
        {
            self.check_places(graph, places, &mut wrong);
        }
        for step in &condition.timeline {
            if let Some(cuts) = &step.cuts {
                self.check_cuts(&format!("timeline at {} ns: cuts", step.at_ns), cuts, &mut wrong);
            }
        }
        for interference in &condition.interference {
            interference.check(self, &mut wrong);
        }
        FabricError::unless_empty(wrong)
    }

    fn check_places(&self, graph: &Graph, places: &Places, wrong: &mut Vec<String>) {
        for (place, entries) in places.each() {
            let known = site::names(self, graph, place, entries.iter().any(|entry| entry.on.is_some()));
            for (index, entry) in entries.iter().enumerate() {
                let what = format!("{}: {}", place.word(), entry.word());
                for name in entry.on.iter().flatten().filter(|&name| !known.contains(name)) {
                    wrong.push(format!("{what} on {name}: no such {}", place.kinds_of_names()));
                }
                let unlimited = || {
                    let mut sites = site::all_at(self, graph, place);
                    sites.any(|site| {
                        site.applies(entry.on.as_deref()) && self.links[site.link].rate_bps.is_none()
                    })
                };
                self.check_element(place, &what, entry, &unlimited, wrong);
                if let Treatment::Monitor(MonitorParameters { what: quantities, .. }) = &entry.treatment {
                    let queue = quantities.iter().any(|quantity| quantity.needs_queue());
                    if queue && !monitor_spec::has_queue_behind(place, entries, index) {
                        wrong.push(format!("{what}: no queue follows it; put a shape, credit or pace after it, or move it to host.egress, link, wan or switch.egress"));
                    }
                }
            }
            let schedules = entries.iter().filter(|entry| entry.replaces_fifo());
            if schedules.filter(|entry| entry.on.is_none()).count() > 1 {
                wrong.push(format!(
                    "{}: two queues or schedules everywhere; a link has one, restrict them with `on`",
                    place.word()
                ));
            }
        }
        self.check_driven_once(graph, places, wrong);
    }

    fn check_driven_once(&self, graph: &Graph, places: &Places, wrong: &mut Vec<String>) {
        let mut driven = HashSet::new();
        for (place, entries) in places.each() {
            for entry in entries {
                let Treatment::Capacity(CapacityParameters { direction, .. }) = &entry.treatment else {
                    continue;
                };
                for site in site::all_at(self, graph, place).filter(|site| site.applies(entry.on.as_deref()))
                {
                    let (way, words) = match graph.owners[site.link] {
                        Owner::Up(_) => (Some(Direction::Up), format!("{} up", site.of)),
                        Owner::Down(_) => (Some(Direction::Down), format!("{} down", site.of)),
                        Owner::Trunk(_) => (None, site.of.clone()),
                    };
                    let applies = direction.is_none_or(|direction| way.is_none_or(|way| way == direction));
                    if applies && !driven.insert(site.link) {
                        wrong.push(format!(
                            "{}: capacity: a second one for {words}; a link has one, restrict them with `on` and `direction`",
                            place.word()
                        ));
                    }
                }
            }
        }
    }

    /// Checks an element at its place in this fabric by its description. An element that was read is valid by itself;
    /// one made by a caller may not be.
    fn check_element(
        &self,
        place: Place,
        what: &str,
        entry: &ElementEntry,
        unlimited: &dyn Fn() -> bool,
        wrong: &mut Vec<String>,
    ) {
        wrong.extend(entry.treatment.problems().iter().map(|problem| format!("{what}: {problem}")));
        match entry.manual().place {
            Where::Port if !matches!(place, Place::HostEgress | Place::SwitchEgress) => {
                wrong
                    .push(format!("{what}: there is no link to queue for; use host.egress or switch.egress"));
            }
            Where::Link if !matches!(place, Place::Link | Place::Wan) => {
                wrong.push(format!("{what}: only a link has a capacity; move it to link"));
            }
            _ => {}
        }
        for parameter in &entry.treatment.parameters() {
            self.check_packet(what, entry, parameter, wrong);
        }
        if let Some(idle) = entry.idle() {
            wrong.push(format!("{what}: {idle} 0 does nothing; leave the element out"));
        }
        for rule in entry.treatment.rules() {
            check_rule(place, what, entry, &rule, unlimited, wrong);
        }
        if let Treatment::Monitor(MonitorParameters { select, start, .. }) = &entry.treatment {
            self.check_match(what, select, wrong);
            if let Begin::Packet(first) = start {
                self.check_match(&format!("{what}: start"), first, wrong);
            }
        }
    }

    /// Parameters that must have room for a packet are large enough for one.
    fn check_packet(&self, what: &str, entry: &ElementEntry, parameter: &Parameter, wrong: &mut Vec<String>) {
        let Type::Number { packet: true, quantity, .. } = parameter.values else { return };
        let value = entry.treatment.value(parameter.name).and_then(|value| value.as_u64());
        let least = match quantity {
            QuantityOf::Bits => 8 * u64::from(self.mtu_bytes),
            _ => u64::from(self.mtu_bytes),
        };
        // Zero is skipped here: where it is allowed it has a meaning, elsewhere it has been refused already.
        if let Some(value) = value.filter(|value| (1..least).contains(value)) {
            let (key, unit) = (parameter.key.unwrap_or(parameter.name), quantity.unit());
            wrong.push(format!(
                "{what}: {key} {value}{unit} is smaller than one packet; use at least {least}{unit}"
            ));
        }
    }

    fn check_match(&self, name: &str, select: &Match, wrong: &mut Vec<String>) {
        for node in [&select.from, &select.to].into_iter().flatten() {
            if !self.nodes.iter().any(|known| known.name == *node) {
                wrong.push(format!("{name}: match: no such node {node}"));
            }
        }
    }
}

/// Checks a rule about an element's position; other rules have been checked.
///
/// `unlimited`: whether the link at its position has no rate.
fn check_rule(
    place: Place,
    what: &str,
    entry: &ElementEntry,
    rule: &Rule,
    unlimited: &dyn Fn() -> bool,
    wrong: &mut Vec<String>,
) {
    let (Rule::WordAt { key, word, message, .. } | Rule::WordLimited { key, word, message }) = rule else {
        return;
    };
    let parameters = entry.treatment.parameters();
    let named = parameters.iter().find(|parameter| parameter.key == Some(key));
    let is_said = named.and_then(|named| entry.treatment.value(named.name)).is_some_and(|said| match said {
        Json::Array(words) => words.iter().any(|said| said == word),
        said => said == *word,
    });
    let holds = match rule {
        Rule::WordAt { places, .. } => places.contains(&place.word()),
        _ => !is_said || !unlimited(),
    };
    if is_said && !holds {
        wrong.push(format!("{what}: {}", message.replace("{word}", word)));
    }
}

/// The first names of a list, for an error text.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}

#[cfg(test)]
mod tests {
    use crate::network::tests::{entry, fabric};

    #[test]
    fn a_valid_fabric_passes() {
        assert_eq!(fabric(4).check(), Ok(()));
    }

    #[test]
    fn every_violation_is_reported() {
        let mut fabric = fabric(2);
        fabric.nodes[1].name = "n0".into();
        fabric.nodes[0].host = "nowhere".into();
        fabric.condition.places.switch_ingress =
            Some(vec![entry(r#"{"police": {"rate_bps": 1000, "burst_bytes": 100, "on": ["h9"]}}"#)]);
        let wrong = fabric.check().unwrap_err().0;
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        assert!(wrong[3].contains("smaller than one packet"));
    }

    #[test]
    fn a_monitor_that_cannot_measure_is_refused() {
        let mut fabric = fabric(2);
        fabric.links.iter_mut().for_each(|link| link.rate_bps = None);
        fabric.condition.places.host_ingress = Some(vec![entry(
            r#"{"monitor": {"what": ["utilisation", "rtt", "queue-depth"], "match": {"from": "nobody"}}}"#,
        )]);
        let wrong = fabric.check().unwrap_err().0;
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        for part in [
            "utilisation of an unlimited",
            "rtt needs both directions",
            "no such node nobody",
            "no queue follows it",
        ] {
            assert!(wrong.iter().any(|line| line.contains(part)), "{part} in {wrong:?}");
        }
    }

    #[test]
    fn a_link_follows_one_capacity_each_way() {
        let levels = |rest: &str| {
            entry(&format!(
                r#"{{"capacity": {{"process": {{"levels": {{"at_ns": [0, 5], "rate_bps": [0, null]}}}}{rest}}}}}"#
            ))
        };
        let mut fabric = fabric(2);
        fabric.condition.places.link = Some(vec![levels(""), levels(r#", "on": ["h1"], "direction": "up""#)]);
        let wrong = fabric.check().unwrap_err().0;
        assert!(wrong.len() == 1 && wrong[0].contains("a second one for h1 up"), "{wrong:?}");
        fabric.condition.places.link =
            Some(vec![levels(r#", "direction": "up""#), levels(r#", "direction": "down""#)]);
        assert_eq!(fabric.check(), Ok(()));
        fabric.condition.places.link = None;
        fabric.condition.places.host_egress = Some(vec![levels("")]);
        assert!(fabric.check().unwrap_err().0[0].contains("move it to link"));
    }

    #[test]
    fn sizes_below_the_mtu_and_elements_without_effect_are_refused() {
        for (element, expected) in [
            (
                r#"{"police": {"rate_bps": 1000, "burst_bytes": 1499}}"#,
                "burst 1499 bytes is smaller than one packet; use at least 1500 bytes",
            ),
            (
                r#"{"srtcm": {"cir_bps": 8, "cbs_bytes": 1499, "ebs_bytes": 0, "yellow": "pass", "red": "drop"}}"#,
                "cbs 1499 bytes is smaller",
            ),
            (
                r#"{"credit": {"budget_bits": 11999, "initial_bits": 0, "high_bps": 3, "low_bps": 2, "refill_bps": 1}}"#,
                "budget 11999 bit is smaller than one packet; use at least 12000 bit",
            ),
            (r#"{"delay": {"time_ns": 0}}"#, "time 0 does nothing"),
            (r#"{"queue": {"drop": "head"}}"#, "there is no link to queue for"),
        ] {
            let mut fabric = fabric(2);
            fabric.condition.places.link = Some(vec![entry(element)]);
            let wrong = fabric.check().unwrap_err().0;
            assert!(wrong.len() == 1 && wrong[0].contains(expected), "{wrong:?}");
        }
    }
}
