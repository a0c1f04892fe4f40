//! The resolved fabric and condition, as they cross from Python to the agent. Unknown keys are errors.
//!
//! Field names carry their unit. `None` is "unlimited" for a rate or a buffer; zero never is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domains::Division;
use crate::entry::ElementEntry;
use crate::interference::Interference;
use crate::topology::{Link, Routing};

/// A host's name.
pub type Host = String;

/// Hosts, nodes, links and the condition they are under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Seeds every random stream of the engine.
    pub seed: u64,
    /// Names, at least one, unique.
    pub hosts: Vec<Host>,
    /// Names; unique, also among hosts.
    pub switches: Vec<String>,
    /// Every host has one to a switch and one from it.
    pub links: Vec<Link>,
    /// Which way packets take.
    #[serde(default)]
    pub routes: Routing,
    /// Real nodes; the position gives the address.
    pub nodes: Vec<Node>,
    /// IP bytes, 576..=9000.
    pub mtu_bytes: u32,
    /// What every node's routes declare.
    pub tcp: Tcp,
    /// Segments of one super-packet due within this window leave together, at the last of them.
    pub merge_window_ns: u64,
    /// How the emulator waits for the next due instant.
    #[serde(default)]
    pub wait: Wait,
    /// Into how many domains the emulator divides the graph, a thread each, or into which.
    #[serde(default, skip_serializing_if = "Division::is_one")]
    pub domains: Division,
    /// In force from the start.
    pub condition: Condition,
}

/// How the emulator waits for the next due instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// On a processor of its own, where there is one to spare.
    #[default]
    Spin,
    /// Asleep until shortly before; every processor stays with the application.
    Sleep,
}

/// Where processes of the application run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Host name of the node, unique.
    pub name: String,
    /// One of the fabric's hosts.
    pub host: Host,
}

/// Declared TCP behaviour; recorded with results because kernels differ in their defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// A name the kernel knows, such as `cubic`.
    pub congestion_control: String,
    /// The smallest retransmission timeout; Linux defaults to 200 000.
    pub rto_min_us: u32,
    /// Connections ask for explicit congestion notification.
    #[serde(default)]
    pub ecn: bool,
    /// The most that a connection's socket holds each way (`tcp_rmem`, `tcp_wmem`); the machine's own where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_buffer_bytes: Option<u32>,
}

/// A named set of treatments by place, plus interference, plus a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// For records only.
    pub name: String,
    /// Elements by place.
    #[serde(default)]
    pub places: Places,
    /// Competing traffic.
    #[serde(default)]
    pub interference: Vec<Interference>,
    /// Later changes, counted from the start of the measurement.
    #[serde(default)]
    pub timeline: Vec<Step>,
    /// What credit buckets hold when they are made, by the element's name, in the place of their `initial_bits`: what a trial
    /// before this one left in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held_bits: BTreeMap<String, u64>,
}

/// Elements by place, in the order they apply. In a timeline step an absent place keeps what it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// Per node, what it sends.
    #[serde(rename = "host.egress", default, skip_serializing_if = "Option::is_none")]
    pub host_egress: Option<Vec<ElementEntry>>,
    /// Per node, what it receives.
    #[serde(rename = "host.ingress", default, skip_serializing_if = "Option::is_none")]
    pub host_ingress: Option<Vec<ElementEntry>>,
    /// Per host and direction, in front of the wire; links between switches by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Vec<ElementEntry>>,
    /// Per switch port, what comes up from the host.
    #[serde(rename = "switch.ingress", default, skip_serializing_if = "Option::is_none")]
    pub switch_ingress: Option<Vec<ElementEntry>>,
    /// Per switch port, what goes down to the host.
    #[serde(rename = "switch.egress", default, skip_serializing_if = "Option::is_none")]
    pub switch_egress: Option<Vec<ElementEntry>>,
    /// Per link between switches and direction, in front of the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wan: Option<Vec<ElementEntry>>,
}

/// A change at an instant of the measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// From the start of the measurement.
    pub at_ns: u64,
    /// Replaces the named places, keeps the others.
    pub places: Places,
}
