//! What a fabric must satisfy before anything is built. Every violation is reported, not only the first.
//!
//! The Python side checks files with line and column; this is the last gate, for whoever speaks to the agent directly.

use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;

use crosswind_engine::MonitorSpec;

use crate::capacity::process_spec;
use crate::delays;
use crate::impairments;
use crate::labels;
use crate::monitor;
use crate::process::{Direction, Process};
use crate::queue::{self, By};
use crate::spec::{ElementEntry, Fabric, Match, Places, Start, What};

/// Everything that is wrong with a fabric or a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricError(pub Vec<String>);

impl fmt::Display for FabricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl std::error::Error for FabricError {}

/// Most nodes a fabric can address: 10.77.0.1 to 10.77.255.254.
const NODES_MAX: usize = 65_534;

/// Below it a connection cannot grow; above it no window can be announced (RFC 7323, section 2.3).
const SOCKET_BUFFER_BYTES: RangeInclusive<u32> = 65_536..=1 << 30;

impl Fabric {
    /// Checks the whole fabric, its condition included.
    pub fn check(&self) -> Result<(), FabricError> {
        let mut wrong = Vec::new();
        let mut hosts = HashSet::new();
        for host in &self.hosts {
            if !hosts.insert(host.as_str()) {
                wrong.push(format!("host {host}: named twice; give every host a name of its own"));
            }
        }
        let mut nodes = HashSet::new();
        for node in &self.nodes {
            if !hosts.contains(node.host.as_str()) {
                wrong.push(format!(
                    "node {}: host {} does not exist; hosts are {}",
                    node.name,
                    node.host,
                    self.hosts.join(", ")
                ));
            }
            if !nodes.insert(node.name.as_str()) {
                wrong.push(format!("node {}: named twice; give every node a name of its own", node.name));
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
                "nodes: {} of them; between 1 and {NODES_MAX} can be addressed",
                self.nodes.len()
            ));
        }
        let uplink = &self.uplink;
        let buffer = [uplink.buffer_bytes, uplink.buffer_packets, uplink.buffer_ns];
        if let Some(problem) = queue::problem(buffer, queue::DropEntry::Tail, false) {
            wrong.push(format!("uplink: {problem}"));
        }
        if self.uplink.rate_bps == Some(0) {
            wrong.push("uplink: rate 0 would never send; leave the rate out for unlimited".to_owned());
        }
        if !(576..=9000).contains(&self.mtu_bytes) {
            wrong.push(format!("mtu {} bytes: outside 576 to 9000", self.mtu_bytes));
        }
        if let Some(bytes) = self.tcp.socket_buffer_bytes.filter(|bytes| !SOCKET_BUFFER_BYTES.contains(bytes))
        {
            wrong.push(format!("tcp: socket_buffer_bytes {bytes}: outside 65536 to 1073741824"));
        }
        self.check_places(&self.condition.places, &mut wrong);
        for step in &self.condition.timeline {
            self.check_places(&step.places, &mut wrong);
        }
        let matches = labels::count(&self.condition);
        if matches > labels::LABELS_MAX {
            wrong.push(format!(
                "monitors match by {matches} different sets of nodes, protocols and ports; a condition has room for {}",
                labels::LABELS_MAX
            ));
        }
        for interference in &self.condition.interference {
            interference.check(self, &mut wrong);
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(FabricError(wrong))
        }
    }

    fn check_places(&self, places: &Places, wrong: &mut Vec<String>) {
        for (place, entries) in places.by_name() {
            let at_host = place.starts_with("host.");
            for (index, entry) in entries.iter().enumerate() {
                let what = format!("{place}: {}", entry.word());
                for name in entry.on().unwrap_or_default() {
                    let known = self.hosts.contains(name)
                        || (at_host && self.nodes.iter().any(|node| &node.name == name));
                    if !known {
                        wrong.push(format!(
                            "{what} on {name}: no such {}",
                            if at_host { "node or host" } else { "host" }
                        ));
                    }
                }
                self.check_element(place, &what, entry, wrong);
                if let ElementEntry::Monitor { what: quantities, .. } = entry {
                    let queue = quantities.iter().any(|quantity| quantity.needs_queue());
                    if queue && !monitor::has_queue_behind(place, entries, index) {
                        wrong.push(format!("{what}: no queue stands behind it; put a shape or credit behind it, or move it to host.egress, link or switch.egress"));
                    }
                }
            }
            let schedules = entries.iter().filter(|entry| replaces_fifo(entry));
            if schedules.filter(|entry| entry.on().is_none()).count() > 1 {
                wrong.push(format!(
                    "{place}: two queues or schedules everywhere; a link has one, restrict them with `on`"
                ));
            }
            self.check_driven_once(place, entries, wrong);
        }
    }

    fn check_driven_once(&self, place: &str, entries: &[ElementEntry], wrong: &mut Vec<String>) {
        let mut driven = HashSet::new();
        for entry in entries {
            let ElementEntry::Capacity { direction, on, .. } = entry else { continue };
            for host in self.hosts.iter().filter(|host| on.as_ref().is_none_or(|on| on.contains(host))) {
                for way in [Direction::Up, Direction::Down] {
                    if direction.is_none_or(|direction| direction == way) && !driven.insert((host, way)) {
                        let way = if way == Direction::Up { "up" } else { "down" };
                        wrong.push(format!(
                            "{place}: capacity: a second one for {host} {way}; a link has one, restrict them with `on` and `direction`"
                        ));
                    }
                }
            }
        }
    }

    fn check_element(&self, place: &str, what: &str, entry: &ElementEntry, wrong: &mut Vec<String>) {
        if replaces_fifo(entry) && place != "host.egress" && place != "switch.egress" {
            wrong.push(format!("{what}: there is no link to queue for; use host.egress or switch.egress"));
        }
        if let ElementEntry::Queue { buffer_bytes, buffer_packets, buffer_ns, drop, ecn, .. }
        | ElementEntry::Shape { buffer_bytes, buffer_packets, buffer_ns, drop, ecn, .. } = entry
        {
            let problem = queue::problem([*buffer_bytes, *buffer_packets, *buffer_ns], *drop, *ecn);
            wrong.extend(problem.map(|problem| format!("{what}: {problem}")));
        }
        match entry {
            ElementEntry::Queue { memory_bytes, alpha_ppb, drop, .. } => {
                let problem = queue::memory_problem(*memory_bytes, *alpha_ppb, *drop);
                wrong.extend(problem.map(|problem| format!("{what}: {problem}")));
            }
            ElementEntry::Police { rate_bps, burst_bytes, .. }
            | ElementEntry::Shape { rate_bps, burst_bytes, .. } => {
                if *rate_bps == Some(0) {
                    wrong.push(format!("{what}: rate 0 passes nothing; leave the rate out for unlimited"));
                }
                if *burst_bytes < u64::from(self.mtu_bytes) {
                    wrong.push(format!(
                        "{what}: burst {burst_bytes} bytes is smaller than one packet; use at least the MTU, {} bytes",
                        self.mtu_bytes
                    ));
                }
            }
            ElementEntry::Credit(credit) => credit.check(what, self.mtu_bytes, wrong),
            ElementEntry::Pace(pace) => pace.check(what, wrong),
            ElementEntry::Srtcm(meter) => meter.check(what, self.mtu_bytes, wrong),
            ElementEntry::Trtcm(meter) => meter.check(what, self.mtu_bytes, wrong),
            ElementEntry::Mark { dscp, .. } => {
                if *dscp > 63 {
                    wrong.push(format!("{what}: dscp {dscp} is outside 0 to 63"));
                }
            }
            ElementEntry::Delay { time_ns, random, .. } => {
                delays::check_delay(*time_ns, random.as_ref(), what, wrong);
            }
            ElementEntry::Lose { law, .. } => impairments::check_loss(law, what, wrong),
            ElementEntry::Duplicate { share_ppb, .. } | ElementEntry::Corrupt { share_ppb, .. } => {
                impairments::check_share(*share_ppb, what, wrong);
            }
            ElementEntry::Reorder { share_ppb, time_ns, .. } => {
                impairments::check_share(*share_ppb, what, wrong);
                if *time_ns == 0 {
                    wrong.push(format!("{what}: time 0 holds nothing back; leave the element out"));
                }
            }
            ElementEntry::Monitor { what: quantities, window_ns, select, start, .. } => {
                self.check_monitor(what, (quantities, *window_ns), select, wrong);
                if quantities.contains(&What::Rtt) && place != "link" {
                    wrong.push(format!("{what}: rtt needs both directions; move the monitor to link"));
                }
                if let Start::Packet(first) = start {
                    self.check_match(&format!("{what}: start"), first, wrong);
                }
            }
            ElementEntry::Capacity { process, .. } => {
                if place != "link" {
                    wrong.push(format!("{what}: only a link has a capacity; move it to link"));
                }
                let unpaired = match process {
                    Process::Levels { at_ns, rate_bps, .. } | Process::Resampled { at_ns, rate_bps, .. } => {
                        at_ns.len() != rate_bps.len()
                    }
                    Process::Opportunities { at_ns, ip_bytes, .. } => at_ns.len() != ip_bytes.len(),
                    Process::Drawn { .. } | Process::Markov { .. } => false,
                };
                if unpaired {
                    wrong.push(format!("{what}: its lists differ in length; give one entry for each time"));
                } else if let Err(problem) = process_spec(process).check() {
                    wrong.push(format!("{what}: {problem}"));
                }
            }
            ElementEntry::Schedule { by, queues, memory_bytes, .. } => {
                let others = queues.iter().filter(|queue| queue.dscp.is_none()).count();
                if others != 1 {
                    wrong.push(format!("{what}: {others} queues take all other packets; exactly one must"));
                }
                let mut seen = HashSet::new();
                for queue in queues {
                    let keys = [queue.buffer_bytes, queue.buffer_packets, queue.buffer_ns];
                    let problem = queue::problem(keys, queue.drop, queue.ecn);
                    wrong.extend(problem.map(|problem| format!("{what}: {problem}")));
                    let problem = queue::memory_problem(*memory_bytes, queue.alpha_ppb, queue.drop);
                    wrong.extend(problem.map(|problem| format!("{what}: {problem}")));
                    for dscp in queue.dscp.iter().flatten() {
                        if *dscp > 63 || !seen.insert(*dscp) {
                            wrong.push(format!("{what}: dscp {dscp} is outside 0 to 63 or in two queues"));
                        }
                    }
                    let weighted = matches!(queue.weight, Some(1..));
                    if (*by != By::Strict) != weighted {
                        wrong.push(format!(
                            "{what}: weights of at least 1 belong to wrr, drr and stfq, none to strict"
                        ));
                    }
                }
            }
        }
    }

    fn check_match(&self, name: &str, select: &Match, wrong: &mut Vec<String>) {
        for dscp in select.dscp.iter().flatten().filter(|&&dscp| dscp > 63) {
            wrong.push(format!("{name}: match: dscp {dscp} is outside 0 to 63"));
        }
        for node in [&select.from, &select.to].into_iter().flatten() {
            if !self.nodes.iter().any(|known| known.name == *node) {
                wrong.push(format!("{name}: match: no such node {node}"));
            }
        }
    }

    fn check_monitor(
        &self,
        name: &str,
        (what, window_ns): (&[What], u64),
        select: &Match,
        wrong: &mut Vec<String>,
    ) {
        if what.is_empty() {
            wrong.push(format!("{name}: measures nothing; name at least one quantity"));
        }
        if (1..what.len()).any(|index| what[..index].contains(&what[index])) {
            wrong.push(format!("{name}: names a quantity twice; name each once"));
        }
        let least_ns = MonitorSpec::WINDOW_MIN.as_nanos();
        if window_ns < least_ns {
            wrong.push(format!("{name}: window {window_ns} ns is too short; use at least {least_ns} ns"));
        }
        if what.contains(&What::Utilisation) && self.uplink.rate_bps.is_none() {
            wrong.push(format!(
                "{name}: utilisation of an unlimited uplink is not defined; give the uplink a rate, or measure packet-rate"
            ));
        }
        self.check_match(name, select, wrong);
    }
}

/// Whether the entry is the queueing of a link.
fn replaces_fifo(entry: &ElementEntry) -> bool {
    matches!(entry, ElementEntry::Queue { .. } | ElementEntry::Schedule { .. })
}

#[cfg(test)]
mod tests {
    use crate::network::tests::{entry, fabric};

    #[test]
    fn a_sound_fabric_passes() {
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
        fabric.uplink.rate_bps = None;
        fabric.condition.places.link = Some(vec![entry(
            r#"{"monitor": {"what": ["utilisation", "utilisation"], "window_ns": 1, "burst_gap_ns": 1, "match": {"dscp": [64]},
                "start": {"packet": {"dscp": [65]}}}}"#,
        )]);
        let wrong = fabric.check().unwrap_err().0;
        assert_eq!(wrong.len(), 5, "{wrong:?}");
    }

    #[test]
    fn a_capacity_that_cannot_be_followed_is_refused() {
        let levels = |at: &str, rates: &str, rest: &str| {
            entry(&format!(
                r#"{{"capacity": {{"process": {{"levels": {{"at_ns": {at}, "rate_bps": {rates}}}}}{rest}}}}}"#
            ))
        };
        let sound = || levels("[0, 5]", "[0, null]", "");
        let resampled = |at: &str, rates: &str, period: u64| {
            entry(&format!(
                r#"{{"capacity": {{"process": {{"resampled": {{"at_ns": {at}, "rate_bps": {rates}, "period_ns": {period}, "block_ns": 3}}}}}}}}"#
            ))
        };
        for (place, entries, expected) in [
            ("link", vec![levels("[0, 5]", "[1]", "")], "differ in length"),
            ("link", vec![levels("[5]", "[1]", "")], "from 0 ns on"),
            ("link", vec![levels("[0, 5, 4]", "[1, 2, 3]", "")], "entry 2 is earlier"),
            (
                "link",
                vec![sound(), levels("[0]", "[1]", r#", "on": ["h1"], "direction": "up""#)],
                "a second one for h1 up",
            ),
            ("host.egress", vec![sound()], "move it to link"),
            ("link", vec![resampled("[0, 5]", "[1]", 9)], "differ in length"),
            ("link", vec![resampled("[0, 5]", "[1, 2]", 5)], "5 ns"),
        ] {
            let mut fabric = fabric(2);
            match place {
                "link" => fabric.condition.places.link = Some(entries),
                _ => fabric.condition.places.host_egress = Some(entries),
            }
            let wrong = fabric.check().unwrap_err().0;
            assert!(wrong.len() == 1 && wrong[0].contains(expected), "{wrong:?}");
        }
        let mut fabric = fabric(2);
        let (up, down) = (r#", "direction": "up""#, r#", "direction": "down""#);
        fabric.condition.places.link = Some(vec![levels("[0]", "[1]", up), levels("[0]", "[2]", down)]);
        assert_eq!(fabric.check(), Ok(()));
    }

    #[test]
    fn queues_stand_where_a_link_begins_and_can_be_carried_out() {
        let mut fabric = fabric(2);
        let queue = |json| Some(vec![entry(json)]);
        fabric.condition.places.link = queue(r#"{"queue": {"buffer_bytes": 3000, "buffer_ns": 5}}"#);
        fabric.condition.places.host_egress = queue(r#"{"queue": {"drop": "head", "ecn": true}}"#);
        fabric.condition.places.switch_egress = queue(
            r#"{"queue": {"drop": {"red": {"min_bytes": 1, "max_bytes": 2, "probability_ppb": 1, "weight_ppb": 1000000001}}}}"#,
        );
        let wrong = fabric.check().unwrap_err().0;
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        for part in ["there is no link", "two buffers", "marks congestion", "1000000001 ppb is above"] {
            assert!(wrong.iter().any(|line| line.contains(part)), "{part} in {wrong:?}");
        }
    }

    #[test]
    fn a_condition_has_room_for_eight_matches_by_headers() {
        let mut fabric = fabric(2);
        let monitor = |port: usize| {
            entry(&format!(
                r#"{{"monitor": {{"what": ["ipg"], "window_ns": 100000, "burst_gap_ns": 1, "match": {{"source_port": {port}}},
                    "start": {{"packet": {{"from": "n0"}}}}}}}}"#
            ))
        };
        fabric.condition.places.link = Some((1..8).map(monitor).collect());
        fabric.check().unwrap();
        fabric.condition.places.link = Some((1..9).map(monitor).collect());
        assert!(fabric.check().unwrap_err().to_string().contains("room for 8"));
    }
}
