//! The resolved fabric and condition, as they cross from Python to the agent. Unknown keys are errors.
//!
//! Field names carry their unit. `None` is "unlimited" for a rate or a buffer; zero never is.

use serde::{Deserialize, Serialize};

/// A host's name; it has one uplink to the switch.
pub type Host = String;

/// Hosts, nodes, links and the condition they are under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Seeds every random stream of the engine.
    pub seed: u64,
    /// Names, at least one, unique.
    pub hosts: Vec<Host>,
    /// Real nodes; the position gives the address.
    pub nodes: Vec<Node>,
    /// The same for every host.
    pub uplink: Uplink,
    /// IP bytes, 576..=9000.
    pub mtu_bytes: u32,
    /// What every node's routes declare.
    pub tcp: Tcp,
    /// Segments of one super-packet due within this window leave together, at the last of them.
    pub merge_window_ns: u64,
    /// In force from the start.
    pub condition: Condition,
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

/// A full-duplex link between a host and the switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uplink {
    /// Wire bits per second, each way.
    pub rate_bps: Option<u64>,
    /// Propagation, each way.
    pub delay_ns: u64,
    /// Wire bytes in front of each direction.
    pub buffer_bytes: Option<u64>,
}

/// Declared TCP behaviour; recorded with results because kernels differ in their defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// A name the kernel knows, such as `cubic`.
    pub congestion_control: String,
    /// The smallest retransmission timeout; Linux defaults to 200 000.
    pub rto_min_us: u32,
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
    /// Per host and direction, in front of the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Vec<ElementEntry>>,
    /// Per switch port, what comes up from the host.
    #[serde(rename = "switch.ingress", default, skip_serializing_if = "Option::is_none")]
    pub switch_ingress: Option<Vec<ElementEntry>>,
    /// Per switch port, what goes down to the host.
    #[serde(rename = "switch.egress", default, skip_serializing_if = "Option::is_none")]
    pub switch_egress: Option<Vec<ElementEntry>>,
}

/// One element as written in a condition. `on` restricts it to the named nodes or hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ElementEntry {
    /// Drops what the token bucket has no tokens for.
    Police {
        /// IP bits per second.
        rate_bps: Option<u64>,
        /// IP bytes.
        burst_bytes: u64,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Delays until the token bucket has tokens.
    Shape {
        /// IP bits per second.
        rate_bps: Option<u64>,
        /// IP bytes.
        burst_bytes: u64,
        /// Wire bytes that may wait.
        buffer_bytes: Option<u64>,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Rewrites the DSCP.
    Mark {
        /// 0..=63.
        dscp: u8,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Constant extra delay.
    Delay {
        /// At least 1.
        time_ns: u64,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Replaces the FIFO in front of a link.
    Schedule {
        /// How the next queue is chosen.
        by: By,
        /// Highest first under `strict`.
        queues: Vec<QueueEntry>,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
}

impl ElementEntry {
    /// The nodes or hosts it is restricted to.
    pub fn on(&self) -> Option<&[String]> {
        match self {
            Self::Police { on, .. }
            | Self::Shape { on, .. }
            | Self::Mark { on, .. }
            | Self::Delay { on, .. }
            | Self::Schedule { on, .. } => on.as_deref(),
        }
    }

    /// The word that conditions use for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Police { .. } => "police",
            Self::Shape { .. } => "shape",
            Self::Mark { .. } => "mark",
            Self::Delay { .. } => "delay",
            Self::Schedule { .. } => "schedule",
        }
    }
}

/// Scheduling disciplines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The first queue that has a packet.
    Strict,
    /// Weighted round robin: packets a round.
    Wrr,
    /// Deficit round robin: share of bytes.
    Drr,
}

/// One queue of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueEntry {
    /// Which DSCPs it takes; `None` takes every other (exactly one queue does).
    pub dscp: Option<Vec<u8>>,
    /// At least 1; absent under `strict`.
    #[serde(default)]
    pub weight: Option<u32>,
    /// Wire bytes; the uplink's buffer when absent.
    #[serde(default)]
    pub buffer_bytes: Option<u64>,
}

/// Competing traffic in both directions between two hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    /// Two different hosts.
    pub between: [Host; 2],
    /// Always `ghost` here: real interference is carried out by the runner.
    pub by: String,
    /// Offered IP bits per second.
    pub rate: Law,
    /// How long one draw holds.
    pub hold_ns: u64,
    /// Bursts start this far apart.
    pub pacing_ns: u64,
    /// Size of every competing packet.
    pub packet_ip_bytes: u32,
    /// What a draw of zero means.
    pub zero: Zero,
}

/// How the rate of interference is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Always this many IP bits per second.
    ConstantBps(u64),
    /// Normal, clipped.
    Normal(NormalLaw),
}

/// A normal law, clipped to `low_bps..=high_bps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NormalLaw {
    /// Before clipping.
    pub mean_bps: u64,
    /// Before clipping.
    pub sd_bps: u64,
    /// Smallest draw.
    pub low_bps: u64,
    /// Largest draw.
    pub high_bps: u64,
}

/// What a draw of zero means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Zero {
    /// Nothing is sent.
    Silence,
    /// Full speed, as iperf3 reads `-b 0`.
    Unlimited,
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
