//! What a fabric must satisfy before anything is built. Every violation is reported, not only the first.
//!
//! The Python side checks files with line and column; this is the last gate, for whoever speaks to the agent directly.

use std::collections::HashSet;
use std::fmt;

use crate::spec::{By, ElementEntry, Fabric, Interference, Law, Places};

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
        if self.uplink.rate_bps == Some(0) {
            wrong.push("uplink: rate 0 would never send; leave the rate out for unlimited".to_owned());
        }
        if !(576..=9000).contains(&self.mtu_bytes) {
            wrong.push(format!("mtu {} bytes: outside 576 to 9000", self.mtu_bytes));
        }
        self.check_places(&self.condition.places, &mut wrong);
        for step in &self.condition.timeline {
            self.check_places(&step.places, &mut wrong);
        }
        for interference in &self.condition.interference {
            self.check_interference(interference, &mut wrong);
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
            for entry in entries {
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
            }
            let schedules = entries.iter().filter(|entry| matches!(entry, ElementEntry::Schedule { .. }));
            if schedules.filter(|entry| entry.on().is_none()).count() > 1 {
                wrong.push(format!(
                    "{place}: two schedules everywhere; a link has one, restrict them with `on`"
                ));
            }
        }
    }

    fn check_element(&self, place: &str, what: &str, entry: &ElementEntry, wrong: &mut Vec<String>) {
        match entry {
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
            ElementEntry::Mark { dscp, .. } => {
                if *dscp > 63 {
                    wrong.push(format!("{what}: dscp {dscp} is outside 0 to 63"));
                }
            }
            ElementEntry::Delay { time_ns, .. } => {
                if *time_ns == 0 {
                    wrong.push(format!("{what}: time 0 does nothing; leave the element out"));
                }
            }
            ElementEntry::Schedule { by, queues, .. } => {
                if place != "host.egress" && place != "switch.egress" {
                    wrong.push(format!(
                        "{what}: there is no link to schedule; use host.egress or switch.egress"
                    ));
                }
                let others = queues.iter().filter(|queue| queue.dscp.is_none()).count();
                if others != 1 {
                    wrong.push(format!("{what}: {others} queues take all other packets; exactly one must"));
                }
                let mut seen = HashSet::new();
                for queue in queues {
                    for dscp in queue.dscp.iter().flatten() {
                        if *dscp > 63 || !seen.insert(*dscp) {
                            wrong.push(format!("{what}: dscp {dscp} is outside 0 to 63 or in two queues"));
                        }
                    }
                    let weighted = matches!(queue.weight, Some(1..));
                    if (*by != By::Strict) != weighted {
                        wrong.push(format!(
                            "{what}: weights of at least 1 belong to wrr and drr, none to strict"
                        ));
                    }
                }
            }
        }
    }

    fn check_interference(&self, interference: &Interference, wrong: &mut Vec<String>) {
        let [a, b] = &interference.between;
        let what = format!("interference between {a} and {b}");
        if a == b || !self.hosts.contains(a) || !self.hosts.contains(b) {
            wrong.push(format!("{what}: needs two different hosts of {}", self.hosts.join(", ")));
        }
        if interference.by != "ghost" {
            wrong.push(format!(
                "{what}: by {} is carried out by the runner, the fabric only knows ghost",
                interference.by
            ));
        }
        if interference.pacing_ns == 0 || interference.hold_ns < interference.pacing_ns {
            wrong.push(format!("{what}: pacing must be above 0 and at most hold"));
        }
        if !(28..=self.mtu_bytes).contains(&interference.packet_ip_bytes) {
            wrong.push(format!(
                "{what}: packets of {} bytes; use 28 to the MTU",
                interference.packet_ip_bytes
            ));
        }
        if let Law::Normal(law) = interference.rate {
            if law.low_bps > law.high_bps {
                wrong.push(format!("{what}: low {} is above high {}", law.low_bps, law.high_bps));
            }
        }
    }
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
}
