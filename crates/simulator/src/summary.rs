//! The result of a run in virtual time: by pair of nodes, and by element.
//!
//! A packet's delay is its due instant less the instant at which it entered: exact, without the emulator's own lateness. Every delay is
//! stored until the end (8 bytes a packet), so quantiles are those of the packets themselves (nearest rank), not of a histogram.

use std::collections::BTreeMap;
use std::ops::Add;

use crosswind_engine::{ClassCounters, Count, Counters, Outcome, Packet};
use crosswind_fabric::Network;
use serde::Serialize;

/// A run in virtual time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the condition that is active at the end.
    pub condition: String,
    /// Virtual time that passed.
    pub duration_ns: u64,
    /// By sending and receiving node, those that sent something.
    pub pairs: Vec<Pair>,
    /// By element, in the order they were made.
    pub elements: Vec<ElementReport>,
}

/// The traffic from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// What entered, at its node or from another machine.
    pub offered: Count,
    /// What left at its node.
    pub delivered: Count,
    /// What elements added: the second of two.
    pub duplicated: Count,
    /// What left for another machine, where several carried the network.
    pub crossed: Count,
    /// What was dropped, by element and reason.
    pub dropped: BTreeMap<String, Count>,
    /// Of those that left; null where none did.
    pub delay_ns: Option<Delay>,
}

/// Quantiles of a delay in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Delay {
    pub min: u64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
    pub mean: u64,
}

impl Delay {
    pub(crate) fn of(mut delays: Vec<u64>) -> Option<Self> {
        delays.sort_unstable();
        let (&min, &max) = (delays.first()?, delays.last()?);
        let count = delays.len() as u64;
        // Nearest rank: the smallest delay that at least this share of packets does not exceed.
        let rank = |thousandths: u64| delays[((count * thousandths).div_ceil(1000).max(1) - 1) as usize];
        let sum: u128 = delays.iter().map(|&delay| u128::from(delay)).sum();
        let mean = (sum / u128::from(count)) as u64;
        Some(Self { min, p50: rank(500), p90: rank(900), p99: rank(990), p999: rank(999), max, mean })
    }
}

/// What one element saw since the last window started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ElementReport {
    /// Such as `h0/switch.ingress/0:police`.
    pub element: String,
    /// The application's packets.
    pub real: Seen,
    /// Packets of interference.
    pub ghost: Seen,
}

/// Packets of one class at one element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Seen {
    pub arrived: Count,
    pub departed: Count,
    pub dropped: BTreeMap<&'static str, Count>,
}

impl Seen {
    fn of(counters: &ClassCounters) -> Self {
        Self {
            arrived: counters.arrived,
            departed: counters.departed,
            dropped: counters.dropped_by_reason().collect(),
        }
    }
}

/// Gathers a summary while a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    pairs: BTreeMap<(usize, usize), Traffic>,
}

#[derive(Debug, Default)]
struct Traffic {
    offered: Count,
    delivered: Count,
    duplicated: Count,
    crossed: Count,
    dropped: BTreeMap<(usize, &'static str), Count>,
    delays_ns: Vec<u64>,
}

impl Gathering {
    /// A frame with this number of wire packets and IP bytes entered.
    pub(crate) fn offered(&mut self, from: usize, to: usize, packets: u32, bytes: u32) {
        let offered = &mut self.pairs.entry((from, to)).or_default().offered;
        offered.packets += u64::from(packets);
        offered.bytes += u64::from(bytes);
    }

    /// The engine decided about a packet of this pair.
    pub(crate) fn decided(&mut self, from: usize, to: usize, outcome: &Outcome) {
        let traffic = self.pairs.entry((from, to)).or_default();
        match outcome {
            Outcome::Departure { due, packet, .. } => {
                traffic.delivered.count(packet);
                let delay_ns = (*due - packet.entered).as_nanos();
                traffic.delays_ns.extend(std::iter::repeat_n(delay_ns, usize::from(packet.count)));
            }
            Outcome::Duplicated { packet, .. } => traffic.duplicated.count(packet),
            Outcome::Dropped { element, reason, packet, .. } => {
                traffic.dropped.entry((element.index(), reason.name())).or_default().count(packet);
            }
        }
    }

    /// A packet of this pair left for another machine.
    pub(crate) fn crossed(&mut self, from: usize, to: usize, packet: &Packet) {
        self.pairs.entry((from, to)).or_default().crossed.count(packet);
    }

    /// What another domain has gathered of the same run.
    pub(crate) fn join(&mut self, other: Gathering) {
        for (pair, traffic) in other.pairs {
            let joined = self.pairs.entry(pair).or_default();
            joined.offered = joined.offered + traffic.offered;
            joined.delivered = joined.delivered + traffic.delivered;
            joined.duplicated = joined.duplicated + traffic.duplicated;
            joined.crossed = joined.crossed + traffic.crossed;
            for (by, count) in traffic.dropped {
                let dropped = joined.dropped.entry(by).or_default();
                *dropped = *dropped + count;
            }
            joined.delays_ns.extend(traffic.delays_ns);
        }
    }

    /// The summary of a run that took `duration_ns`, in the domains of one network.
    pub(crate) fn finish(self, domains: &[&Network], duration_ns: u64) -> Summary {
        let network = domains[0];
        let name = |node: usize| network.fabric().nodes[node].name.clone();
        let elements = network.elements();
        let pairs = self.pairs.into_iter().map(|((from, to), traffic)| Pair {
            from: name(from),
            to: name(to),
            offered: traffic.offered,
            delivered: traffic.delivered,
            duplicated: traffic.duplicated,
            crossed: traffic.crossed,
            dropped: traffic
                .dropped
                .into_iter()
                .map(|((element, reason), count)| (format!("{} {reason}", elements[element].name), count))
                .collect(),
            delay_ns: Delay::of(traffic.delays_ns),
        });
        Summary {
            condition: network.condition().to_string(),
            duration_ns,
            pairs: pairs.collect(),
            elements: elements
                .iter()
                .map(|at| {
                    let counters = domains.iter().map(|domain| *domain.engine_ref().counters(at.id));
                    let counters = counters.fold(Counters::default(), Add::add);
                    ElementReport {
                        element: at.name.clone(),
                        real: Seen::of(&counters.real),
                        ghost: Seen::of(&counters.ghost),
                    }
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_delays_of_packets() {
        // Nearest rank of 1..=10: half of them do not exceed 5, nine of ten do not exceed 9.
        let delay = Delay::of((1..=10).rev().collect()).unwrap();
        assert_eq!((delay.min, delay.p50, delay.p90, delay.p99, delay.max), (1, 5, 9, 10, 10));
        assert_eq!(delay.mean, 5, "5.5, rounded down");
        assert_eq!(Delay::of(Vec::new()), None);
    }
}
