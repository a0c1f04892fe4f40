//! The graph of a fabric, as it crosses from Python to the agent: directed links, and how routes are chosen.

use crosswind_engine::{Duration, Limit};
use serde::{Deserialize, Serialize};

/// A directed link: from a host to its switch, from a switch to a host on it, or between two switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// A host or a switch.
    pub from: String,
    /// A host or a switch; at least one of both ends is a switch.
    pub to: String,
    /// Wire bits per second.
    pub rate_bps: Option<u64>,
    /// Propagation.
    pub delay_ns: u64,
    /// Wire bytes that may wait before it. Unlimited where no buffer is given.
    pub buffer_bytes: Option<u64>,
    /// Packets that may wait before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_packets: Option<u64>,
    /// The buffer as the time in which it sends its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_ns: Option<u64>,
    /// Standard deviation of a normal extra delay before it, which preserves the order of arrival; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<u64>,
    /// Share of packets lost before it, each independently; above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ppb: Option<u32>,
    /// Cost of a route over it, at least 1; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u32>,
}

/// How a route from host to host is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// The smallest sum of costs; of equal ones the route over the links that are listed first.
    #[default]
    Shortest,
    /// Every switch chooses among all links of least cost by a seeded hash of the flow.
    Ecmp,
    /// Each written route leads from its first host to its last; every other pair takes the shortest.
    Written(Vec<Vec<String>>),
}

impl Link {
    /// A link with a rate, a delay and a buffer of this many wire bytes.
    pub fn new(
        from: &str,
        to: &str,
        rate_bps: Option<u64>,
        delay_ns: u64,
        buffer_bytes: Option<u64>,
    ) -> Self {
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            rate_bps,
            delay_ns,
            buffer_bytes,
            buffer_packets: None,
            buffer_ns: None,
            jitter_ns: None,
            loss_ppb: None,
            cost: None,
        }
    }

    /// The limit of what may wait before it.
    pub(crate) fn buffer(&self) -> Result<Limit, &'static str> {
        let given = [
            self.buffer_bytes.map(Limit::Bytes),
            self.buffer_packets.map(Limit::Packets),
            self.buffer_ns.map(|nanos| Limit::Time(Duration::from_nanos(nanos))),
        ];
        if [self.buffer_bytes, self.buffer_packets, self.buffer_ns].contains(&Some(0)) {
            return Err("a buffer of 0 holds no packet; give one of at least a packet");
        }
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (limit, None) => Ok(limit.unwrap_or(Limit::Unlimited)),
            _ => Err("two buffers; give one of buffer_bytes, buffer_packets and buffer_ns"),
        }
    }

    /// Its name in conditions.
    pub fn name(&self) -> String {
        format!("{}->{}", self.from, self.to)
    }
}

/// The links of a star around `switch`: every host has one to it and one back, with this rate, delay and buffer of
/// wire bytes.
pub fn star(
    hosts: &[impl AsRef<str>],
    rate_bps: Option<u64>,
    delay_ns: u64,
    buffer_bytes: Option<u64>,
) -> Vec<Link> {
    let between = |from: &str, to: &str| Link::new(from, to, rate_bps, delay_ns, buffer_bytes);
    hosts
        .iter()
        .map(AsRef::as_ref)
        .flat_map(|host| [between(host, "switch"), between("switch", host)])
        .collect()
}
