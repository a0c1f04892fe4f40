//! The resolved fabric and condition, as they cross from Python to the agent. Unknown keys are errors.
//!
//! Field names carry their unit. `None` is "unlimited" for a rate or a buffer; zero never is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::interference::Interference;
use crate::meters::{SrtcmEntry, TrtcmEntry};
use crate::process::{Direction, Process};
use crate::queue::{By, DropEntry, QueueEntry};
use crate::shapers::{CreditEntry, PaceEntry};

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
    /// How the emulator waits for the next due instant.
    #[serde(default)]
    pub wait: Wait,
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

/// A full-duplex link between a host and the switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uplink {
    /// Wire bits per second, each way.
    pub rate_bps: Option<u64>,
    /// Propagation, each way.
    pub delay_ns: u64,
    /// Wire bytes in front of each direction. Unlimited where no buffer is given.
    pub buffer_bytes: Option<u64>,
    /// Packets in front of each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_packets: Option<u64>,
    /// What the link sends in this time, in front of each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_ns: Option<u64>,
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
        /// Unlimited where no buffer is given. IP bytes that may wait.
        buffer_bytes: Option<u64>,
        /// Packets that may wait.
        #[serde(default)]
        buffer_packets: Option<u64>,
        /// What the rate sends in this time may wait.
        #[serde(default)]
        buffer_ns: Option<u64>,
        /// Tail when absent.
        #[serde(default)]
        drop: DropEntry,
        /// Marks where it would drop early.
        #[serde(default)]
        ecn: bool,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// A high rate while there is budget, a low one without.
    Credit(CreditEntry),
    /// A departure instant for each packet, and a horizon.
    Pace(PaceEntry),
    /// Colours by one rate and two bursts (RFC 2697).
    Srtcm(SrtcmEntry),
    /// Colours by two rates with a burst each (RFC 2698).
    Trtcm(TrtcmEntry),
    /// Rewrites the DSCP.
    Mark {
        /// 0..=63.
        dscp: u8,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Extra delay, constant or varying.
    Delay {
        /// The static part; at least 1 where there is no other.
        time_ns: u64,
        /// Constant when absent.
        #[serde(default)]
        random: Option<RandomEntry>,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Loses packets as a lossy line does.
    Lose {
        /// Which packets.
        law: LossEntry,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Replaces the FIFO in front of a link by another queue.
    Queue {
        /// The uplink's where no buffer is given. Wire bytes that may wait.
        #[serde(default)]
        buffer_bytes: Option<u64>,
        /// Packets that may wait.
        #[serde(default)]
        buffer_packets: Option<u64>,
        /// What the link sends in this time may wait.
        #[serde(default)]
        buffer_ns: Option<u64>,
        /// Tail when absent.
        #[serde(default)]
        drop: DropEntry,
        /// Marks where it would drop early.
        #[serde(default)]
        ecn: bool,
        /// Shared by the ports that the entry stands for, wire bytes.
        #[serde(default)]
        memory_bytes: Option<u64>,
        /// Of the memory; 1 when absent.
        #[serde(default)]
        alpha_ppb: Option<u64>,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Sends some packets on twice.
    Duplicate {
        /// Of the packets, above 0.
        share_ppb: u32,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Flips a bit of some packets.
    Corrupt {
        /// Of the packets, above 0.
        share_ppb: u32,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Holds some packets back, so that others overtake them.
    Reorder {
        /// Of the packets, above 0.
        share_ppb: u32,
        /// At least 1.
        time_ns: u64,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Looks at what passes.
    Monitor {
        /// The quantities, at least one.
        what: Vec<What>,
        /// At least 100 us.
        window_ns: u64,
        /// The longest gap inside a burst.
        burst_gap_ns: u64,
        /// Which packets count.
        #[serde(rename = "match")]
        select: Match,
        /// When it begins to count.
        start: Start,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Drives the rate of the uplink or downlink.
    Capacity {
        /// How it changes with time; its time 0 is when it is put in force, and again when a measurement starts.
        process: Process,
        /// Both when absent.
        #[serde(default)]
        direction: Option<Direction>,
        /// Everywhere when absent.
        #[serde(default)]
        on: Option<Vec<String>>,
    },
    /// Replaces the FIFO in front of a link by several queues.
    Schedule {
        /// How the next queue is chosen.
        by: By,
        /// Highest first under `strict`.
        queues: Vec<QueueEntry>,
        /// Shared by the queues of all ports that the entry stands for, wire bytes.
        #[serde(default)]
        memory_bytes: Option<u64>,
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
            | Self::Credit(CreditEntry { on, .. })
            | Self::Pace(PaceEntry { on, .. })
            | Self::Srtcm(SrtcmEntry { on, .. })
            | Self::Trtcm(TrtcmEntry { on, .. })
            | Self::Mark { on, .. }
            | Self::Delay { on, .. }
            | Self::Lose { on, .. }
            | Self::Duplicate { on, .. }
            | Self::Corrupt { on, .. }
            | Self::Reorder { on, .. }
            | Self::Monitor { on, .. }
            | Self::Queue { on, .. }
            | Self::Capacity { on, .. }
            | Self::Schedule { on, .. } => on.as_deref(),
        }
    }

    /// Whether it is an element of its own; queues, schedules and capacities belong to a link.
    pub(crate) fn is_element(&self) -> bool {
        !matches!(self, Self::Queue { .. } | Self::Schedule { .. } | Self::Capacity { .. })
    }

    /// The memory that its queues share.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        match self {
            Self::Queue { memory_bytes, .. } | Self::Schedule { memory_bytes, .. } => *memory_bytes,
            _ => None,
        }
    }

    /// Whether packets wait in it, so that a monitor in front of it can measure its queue.
    pub(crate) fn has_queue(&self) -> bool {
        matches!(self, Self::Shape { .. } | Self::Credit(_))
    }

    /// The word that conditions use for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Police { .. } => "police",
            Self::Shape { .. } => "shape",
            Self::Credit(credit) => credit.word(),
            Self::Pace(_) => "pace",
            Self::Srtcm(_) => "srtcm",
            Self::Trtcm(_) => "trtcm",
            Self::Mark { .. } => "mark",
            Self::Delay { .. } => "delay",
            Self::Lose { .. } => "lose",
            Self::Duplicate { .. } => "duplicate",
            Self::Corrupt { .. } => "corrupt",
            Self::Reorder { .. } => "reorder",
            Self::Monitor { .. } => "monitor",
            Self::Queue { .. } => "queue",
            Self::Capacity { .. } => "capacity",
            Self::Schedule { .. } => "schedule",
        }
    }
}

/// The random part of a delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomEntry {
    /// How it is spread.
    pub law: DelayLawEntry,
    /// Entries of the table that it is drawn from; `None`: the law itself.
    pub depth: Option<u32>,
    /// Whether packets may overtake.
    pub order: OrderEntry,
    /// How far apart packets come whose delays are correlated with one half; `None`: all are independent.
    pub half_life_ns: Option<u64>,
}

/// How a delay's random part is spread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)] // Every jitter is at least 1; what it is of each law, the engine's delay/law.rs says.
pub enum DelayLawEntry {
    Uniform {
        jitter_ns: u64,
    },
    Normal {
        jitter_ns: u64,
    },
    Pareto {
        jitter_ns: u64,
    },
    ParetoNormal {
        jitter_ns: u64,
    },
    Lognormal {
        jitter_ns: u64,
        /// In 1..=4 000 000.
        sigma_ppm: u32,
    },
    /// Measured values, at least one.
    Samples {
        samples_ns: Vec<i64>,
    },
    /// Measured values in ascending bins.
    Histogram {
        bins: Vec<BinEntry>,
    },
}

/// One bin of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinEntry {
    /// Where it begins.
    pub low_ns: i64,
    /// Where it ends, above where it begins.
    pub high_ns: i64,
    /// How many values it holds.
    pub count: u32,
}

/// Whether delayed packets may overtake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderEntry {
    /// They leave as they came.
    Keep,
    /// They leave when they are due.
    Free,
}

/// Which packets a lossy line loses. Probabilities in parts per billion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LossEntry {
    /// Each with the same probability.
    Bernoulli {
        /// Above 0.
        share_ppb: u32,
    },
    /// A chain of a good and a bad state.
    GilbertElliott {
        /// From good to bad.
        p_ppb: u32,
        /// From bad to good.
        r_ppb: u32,
        /// Survive in the bad state.
        h_ppb: u32,
        /// Survive in the good state.
        k_ppb: u32,
    },
    /// A chain of four states; pXY leads from state X to state Y.
    #[allow(missing_docs)]
    FourState { p13_ppb: u32, p31_ppb: u32, p32_ppb: u32, p23_ppb: u32, p14_ppb: u32 },
    /// As recorded.
    Trace {
        /// One mark a packet: `0` received, `1` lost; at least one `0`.
        pattern: String,
    },
}

/// What a monitor measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Share of each window in which the wire was busy.
    Utilisation,
    /// Packets in each window.
    PacketRate,
    /// IP bytes of each packet.
    PacketSize,
    /// From packet to packet.
    Interarrival,
    /// From the end of a packet to the beginning of the next.
    Ipg,
    /// Packets and bytes that follow each other closely.
    Burst,
    /// Bytes that wait in the queue behind the monitor.
    QueueDepth,
    /// Time that packets wait there.
    QueueDelay,
    /// Packets that the elements behind the monitor drop.
    Drops,
    /// Packets and bytes of each flow.
    FlowSize,
    /// What TCP senders are ready to receive.
    TcpWindow,
    /// To the far end and back; needs both directions.
    Rtt,
    /// TCP segments that pass again.
    Retransmissions,
    /// Packets of a flow that pass after one that was sent later.
    Reordering,
}

impl What {
    /// Whether it is read from headers, by the caller of the engine.
    pub(crate) fn needs_headers(self) -> bool {
        matches!(
            self,
            Self::FlowSize | Self::TcpWindow | Self::Rtt | Self::Retransmissions | Self::Reordering
        )
    }

    /// Whether it is about the queue behind the monitor.
    pub(crate) fn needs_queue(self) -> bool {
        matches!(self, Self::QueueDepth | Self::QueueDelay)
    }
}

/// Which packets a monitor counts; what is absent may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// `real` or `ghost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ClassWord>,
    /// One of these, each in 0..=63.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Vec<u8>>,
    /// The node that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// IP protocol number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u8>,
    /// TCP or UDP source port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_port: Option<u16>,
    /// TCP or UDP destination port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_port: Option<u16>,
}

impl Match {
    /// Whether headers decide; then ghosts, which have none, never match.
    pub(crate) fn needs_headers(&self) -> bool {
        let Self { class: _, dscp: _, from, to, protocol, source_port, destination_port } = self;
        from.is_some()
            || to.is_some()
            || protocol.is_some()
            || source_port.is_some()
            || destination_port.is_some()
    }
}

/// Real or ghost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWord {
    /// Packets of nodes.
    Real,
    /// Packets of interference.
    Ghost,
}

/// When a monitor begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// From the start of the measurement.
    AfterNs(u64),
    /// With the first packet that matches.
    Packet(Match),
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
