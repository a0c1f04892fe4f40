//! The resolved fabric and condition, as they cross from Python to the agent. Unknown keys are errors.
//!
//! Field names contain their unit. `None` means "unlimited" for a rate or a buffer; zero never does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cuts::NodeCut;
use crate::domains::Division;
use crate::entry::ElementEntry;
use crate::interference::Interference;
use crate::topology::{Link, Routing};

/// A host's name.
pub type Host = String;

/// Hosts, nodes, links and their condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Seeds every random stream of the engine.
    pub seed: u64,
    /// Names, at least one, unique.
    pub hosts: Vec<Host>,
    /// Names; unique, also among hosts.
    pub switches: Vec<String>,
    /// Every host has a link to a switch and a link from it.
    pub links: Vec<Link>,
    /// How routes are chosen.
    #[serde(default)]
    pub routes: Routing,
    /// Real nodes; the position determines the address.
    pub nodes: Vec<Node>,
    /// IP bytes, 576..=9000.
    pub mtu_bytes: u32,
    /// TCP settings of every node's routes.
    pub tcp: Tcp,
    /// Segments of one super-packet that are due within this window leave together, when the last of them is due.
    pub merge_window_ns: u64,
    /// How the emulator waits for the next due instant; it chooses where this is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// The number of domains, with a thread each, into which the emulator divides the graph, or the domains
    /// themselves.
    #[serde(default, skip_serializing_if = "Division::is_one")]
    pub domains: Division,
    /// Whether nodes can be cut off from each other: each has a gate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub faults: bool,
    /// Applied from the start.
    pub condition: Condition,
}

/// How the emulator waits for the next due instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// Spinning on its own CPU, if one is available.
    Spin,
    /// Sleeping until shortly before; every CPU is available to the application.
    Sleep,
}

/// A network location that runs processes of the application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Host name of the node, unique.
    pub name: String,
    /// One of the fabric's hosts.
    pub host: Host,
}

/// TCP settings, explicit and recorded with results because kernels differ in their defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// A name known to the kernel, such as `cubic`.
    pub congestion_control: String,
    /// The smallest retransmission timeout; Linux defaults to 200 000.
    pub rto_min_us: u32,
    /// Connections request explicit congestion notification.
    #[serde(default)]
    pub ecn: bool,
    /// The largest buffer of a connection's socket in each direction (`tcp_rmem`, `tcp_wmem`); the machine's values
    /// where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_buffer_bytes: Option<u32>,
}

/// A named set of treatments by place, plus interference, plus a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Used only in records.
    pub name: String,
    /// Elements by place.
    #[serde(default)]
    pub places: Places,
    /// Competing traffic.
    #[serde(default)]
    pub interference: Vec<Interference>,
    /// Later changes, timed from the start of the measurement.
    #[serde(default)]
    pub timeline: Vec<Step>,
    /// Initial content of credit buckets by the element's name, which replaces their `initial_bits`: what an earlier
    /// trial left in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held_bits: BTreeMap<String, u64>,
}

/// Elements by place, in the order in which they apply. In a timeline step an absent place does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// Per node, the packets that it sends.
    #[serde(rename = "host.egress", default, skip_serializing_if = "Option::is_none")]
    pub host_egress: Option<Vec<ElementEntry>>,
    /// Per node, the packets that it receives.
    #[serde(rename = "host.ingress", default, skip_serializing_if = "Option::is_none")]
    pub host_ingress: Option<Vec<ElementEntry>>,
    /// Per host and direction, before the wire; links between switches by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Vec<ElementEntry>>,
    /// Per switch port, packets from the host.
    #[serde(rename = "switch.ingress", default, skip_serializing_if = "Option::is_none")]
    pub switch_ingress: Option<Vec<ElementEntry>>,
    /// Per switch port, packets to the host.
    #[serde(rename = "switch.egress", default, skip_serializing_if = "Option::is_none")]
    pub switch_egress: Option<Vec<ElementEntry>>,
    /// Per link between switches and direction, before the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wan: Option<Vec<ElementEntry>>,
}

/// A change at an instant of the measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Time from the start of the measurement.
    pub at_ns: u64,
    /// Replaces the named places and leaves the others.
    #[serde(default)]
    pub places: Places,
    /// The cuts from this step on; absent, they do not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<Vec<NodeCut>>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}
