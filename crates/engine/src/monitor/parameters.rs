//! The parameters of a monitor in a condition. The caller resolves selections that the engine does not know: names of
//! nodes and header fields.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::element::MonitorSpec;
use super::PAGE;
use crate::describe::{choice, parameters, Described, Json, Manual, Parameter, Problem, Rule, Value};
use crate::units::Duration;

choice! {
    /// What a monitor measures.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub enum What: "what" {
        /// Share of each window in which the wire was busy.
        Utilisation = "utilisation",
        /// Packets in each window.
        PacketRate = "packet-rate",
        /// IP bytes of each packet.
        PacketSize = "packet-size",
        /// Time from packet to packet.
        Interarrival = "interarrival",
        /// Time from the end of a packet to the start of the next.
        Ipg = "ipg",
        /// Packets and bytes that follow each other closely.
        Burst = "burst",
        /// Bytes that wait in the queue after the monitor.
        QueueDepth = "queue-depth",
        /// Time that packets wait there.
        QueueDelay = "queue-delay",
        /// Packets that the elements after the monitor drop.
        Drops = "drops",
        /// Packets and bytes of each flow.
        FlowSize = "flow-size",
        /// Receive windows that TCP endpoints announce.
        TcpWindow = "tcp-window",
        /// Round-trip time to the far end; needs both directions.
        Rtt = "rtt",
        /// TCP segments that pass again.
        Retransmissions = "retransmissions",
        /// Packets of a flow that pass after one that was sent later.
        Reordering = "reordering",
    }
}

/// Quantities of the queue after the monitor.
const OF_QUEUES: [&str; 2] = ["queue-depth", "queue-delay"];

impl What {
    /// Whether it is read from headers, by the caller of the engine.
    pub fn needs_headers(self) -> bool {
        matches!(
            self,
            What::FlowSize | What::TcpWindow | What::Rtt | What::Retransmissions | What::Reordering
        )
    }

    /// Whether it is a quantity of the queue after the monitor.
    pub fn needs_queue(self) -> bool {
        OF_QUEUES.contains(&self.word())
    }
}

parameters! {
    /// Measures the packets that pass; never delays, drops or changes one.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct MonitorParameters {
        /// The measured quantities.
        what: Vec<What> = [Parameter::list("what", "what", What::values(), 1).unique()],
        /// Rates are counted in windows of this length; 1ms when absent.
        window: Duration = [
            Parameter::time("window", "window_ns")
                .within(MonitorSpec::WINDOW_MIN.as_nanos(), u64::MAX)
                .or("1ms", 1_000_000)
        ],
        /// The longest gap inside a burst; 100ns when absent.
        burst_gap: Duration = [Parameter::time("gap", "burst_gap_ns").or("100ns", 100)],
        /// Which packets count; all when absent.
        select: Match = [
            Parameter::named("match", "match", "match", |sampler| {
                vec![("", sampler.one_of(&[json!({}), json!({"dscp": [0, 1]}), json!({"class": "real"})]).clone())]
            })
            .or_nothing(json!({}))
        ],
        /// A time from the start of the measurement, or the first packet of a kind; with the measurement when absent.
        start: Begin = [
            Parameter::named("start", "start", "start", |sampler| {
                let starts = [json!({"after_ns": 0}), json!({"after_ns": 700}), json!({"packet": {"dscp": [1]}})];
                vec![("", sampler.one_of(&starts).clone())]
            })
            .or("0s", json!({"after_ns": 0}))
        ],
    }
    rules: [
        Rule::WordAt {
            key: "what",
            word: "rtt",
            places: &["link", "wan"],
            message: "{word} needs both directions, which pass only at link and wan; move the monitor there",
        },
        Rule::WordLimited {
            key: "what",
            word: "utilisation",
            message: "{word} of an unlimited link is not defined; give the link a rate, or measure packet-rate",
        },
        Rule::WordQueue { key: "what", words: &OF_QUEUES, message: "{word} needs a queue behind the monitor" },
    ]
}

impl Described for MonitorParameters {
    const MANUAL: Manual = Manual::new("monitor", PAGE).short("what", "[queue-depth]");
}

parameters! {
    /// A selection of packets by their properties; an absent property matches anything.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Match {
        /// Packets of the application, or of interference by ghosts.
        class: Option<ClassWord> = [Parameter::choice("class", "class", ClassWord::values()).optional()],
        /// One of these.
        dscp: Option<Vec<u8>> = [
            Parameter::list("dscp", "dscp", Parameter::dscp("dscp", "dscp").values, 1).optional()
        ],
        /// The sending node.
        from: Option<String> = [Parameter::named("from", "from", "node", |_| vec![]).optional()],
        /// The receiving node.
        to: Option<String> = [Parameter::named("to", "to", "node", |_| vec![]).optional()],
        /// IP protocol number.
        protocol: Option<u8> = [Parameter::count("protocol", "protocol").within(0, 255).optional()],
        /// Port of TCP or UDP.
        source_port: Option<u16> = [
            Parameter::count("source port", "source_port").within(0, 65_535).optional()
        ],
        /// Port of TCP or UDP.
        destination_port: Option<u16> = [
            Parameter::count("destination port", "destination_port").within(0, 65_535).optional()
        ],
    }
}

impl Match {
    /// Whether the match needs headers; then ghosts, which have none, never match.
    pub fn needs_headers(&self) -> bool {
        let Self { class: _, dscp: _, from, to, protocol, source_port, destination_port } = self;
        from.is_some()
            || to.is_some()
            || protocol.is_some()
            || source_port.is_some()
            || destination_port.is_some()
    }
}

choice! {
    /// Real or ghost.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub enum ClassWord: "class" {
        /// Packets of nodes.
        Real = "real",
        /// Packets of interference.
        Ghost = "ghost",
    }
}

/// When a monitor starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Begin {
    /// This long after the start of the measurement.
    After(Duration),
    /// With the first packet that matches.
    Packet(Match),
}

impl Value for Begin {
    fn from_json(json: &Json) -> Result<Begin, Problem> {
        match (json.get("after_ns"), json.get("packet"), json.as_object().map_or(0, |object| object.len())) {
            (Some(after), None, 1) => Duration::from_json(after).map(Begin::After),
            (None, Some(first), 1) => Match::from_json(first).map(Begin::Packet),
            _ => Err(Problem::new(alloc::format!("{json} is none of after_ns and packet"))),
        }
    }

    fn problems(&self) -> Vec<Problem> {
        match self {
            Begin::After(_) => Vec::new(),
            Begin::Packet(first) => Value::problems(first),
        }
    }
}

impl Serialize for Begin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(1))?;
        match self {
            Begin::After(time) => object.serialize_entry("after_ns", time)?,
            Begin::Packet(first) => object.serialize_entry("packet", first)?,
        }
        object.end()
    }
}
