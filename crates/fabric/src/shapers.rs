//! Shapers that remember, as they cross from Python to the agent: credit buckets and pacers. What they must satisfy, and
//! what they are in the engine.

use std::num::NonZeroU64;

use crosswind_engine::{CreditLoopSpec, CreditSpec, Duration, ElementSpec, Limit, PaceSpec, Rate};
use serde::{Deserialize, Serialize};

use crate::queue::{self, DropEntry};

/// A high rate while there is budget, a low one without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreditEntry {
    /// The most that the bucket holds, IP bits; at least one packet.
    pub budget_bits: u64,
    /// What is in it at first; at most the budget.
    pub initial_bits: u64,
    /// IP bits per second while there is budget.
    pub high_bps: NonZeroU64,
    /// IP bits per second without; at most the high rate.
    pub low_bps: NonZeroU64,
    /// IP bits per second at which budget comes; at most the low rate.
    pub refill_bps: NonZeroU64,
    /// Unlimited where no buffer is given. IP bytes that may wait.
    #[serde(default)]
    pub buffer_bytes: Option<u64>,
    /// Packets that may wait.
    #[serde(default)]
    pub buffer_packets: Option<u64>,
    /// What the low rate sends in this time may wait.
    #[serde(default)]
    pub buffer_ns: Option<u64>,
    /// Tail when absent.
    #[serde(default)]
    pub drop: DropEntry,
    /// Marks where it would drop early.
    #[serde(default)]
    pub ecn: bool,
    /// As the published emulator does it; exact when absent.
    #[serde(rename = "loop", default, skip_serializing_if = "Option::is_none")]
    pub control_loop: Option<LoopEntry>,
    /// Everywhere when absent.
    #[serde(default)]
    pub on: Option<Vec<String>>,
}

/// The loop that stands in for a credit bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopEntry {
    /// Its period; at least 1.
    pub interval_ns: u64,
    /// The budget above which the high rate is switched on again.
    pub reopen_bits: u64,
}

/// A departure instant for each packet, and a horizon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaceEntry {
    /// IP bits per second.
    pub rate_bps: Option<u64>,
    /// Packets that would wait so long are dropped; at least 1.
    pub horizon_ns: u64,
    /// Everywhere when absent.
    #[serde(default)]
    pub on: Option<Vec<String>>,
}

impl CreditEntry {
    /// The element's word; the two ways of doing it are different elements, and neither becomes the other.
    pub(crate) fn word(&self) -> &'static str {
        match self.control_loop {
            None => "credit",
            Some(_) => "credit-loop",
        }
    }

    pub(crate) fn check(&self, what: &str, mtu_bytes: u32, wrong: &mut Vec<String>) {
        if self.budget_bits < 8 * u64::from(mtu_bytes) {
            wrong.push(format!(
                "{what}: budget {} bit is smaller than one packet; use at least {} bit",
                self.budget_bits,
                8 * mtu_bytes
            ));
        }
        let buffers = [self.buffer_bytes, self.buffer_packets, self.buffer_ns];
        let problem = queue::problem(buffers, self.drop, self.ecn);
        wrong.extend(problem.map(|problem| format!("{what}: {problem}")));
        if self.initial_bits > self.budget_bits {
            wrong.push(format!(
                "{what}: initial {} bit is above the budget of {} bit; give at most that",
                self.initial_bits, self.budget_bits
            ));
        }
        if !(self.refill_bps <= self.low_bps && self.low_bps <= self.high_bps) {
            wrong.push(format!(
                "{what}: high {}, low {}, refill {}; give high >= low >= refill",
                self.high_bps, self.low_bps, self.refill_bps
            ));
        }
        if let Some(LoopEntry { interval_ns, reopen_bits }) = self.control_loop {
            if interval_ns == 0 {
                wrong
                    .push(format!("{what}: a loop's interval of 0 never lets time pass; give at least 1 ns"));
            }
            if reopen_bits >= self.budget_bits {
                wrong.push(format!(
                    "{what}: reopen {reopen_bits} bit is never exceeded by a budget of {} bit; give less",
                    self.budget_bits
                ));
            }
        }
    }

    pub(crate) fn spec(&self) -> ElementSpec {
        let limit = queue::limit(self.buffer_bytes, self.buffer_packets, self.buffer_ns);
        let credit = CreditSpec {
            budget_bits: self.budget_bits,
            initial_bits: self.initial_bits,
            high: self.high_bps,
            low: self.low_bps,
            refill: self.refill_bps,
            buffer: queue::buffer(limit.unwrap_or(Limit::Unlimited), self.drop, self.ecn),
        };
        match self.control_loop {
            None => ElementSpec::Credit(credit),
            Some(LoopEntry { interval_ns, reopen_bits }) => ElementSpec::CreditLoop(CreditLoopSpec {
                credit,
                interval: Duration::from_nanos(interval_ns),
                reopen_bits,
            }),
        }
    }
}

impl PaceEntry {
    pub(crate) fn check(&self, what: &str, wrong: &mut Vec<String>) {
        if self.rate_bps == Some(0) {
            wrong.push(format!("{what}: rate 0 passes nothing; leave the rate out for unlimited"));
        }
        if self.horizon_ns == 0 {
            wrong.push(format!("{what}: horizon 0 drops whatever would have to wait; give more"));
        }
    }

    pub(crate) fn spec(&self) -> ElementSpec {
        ElementSpec::Pace(PaceSpec {
            rate: self.rate_bps.and_then(Rate::bits_per_second).unwrap_or(Rate::Unlimited),
            horizon: Duration::from_nanos(self.horizon_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use crosswind_engine::{Instant, Outcome, Packet};

    use crate::network::tests::{entry, fabric};
    use crate::spec::Condition;
    use crate::{ElementEntry, Network};

    fn wrong_with(element: &str) -> Vec<String> {
        let mut fabric = fabric(2);
        fabric.condition.places.link = Some(vec![entry(element)]);
        fabric.check().map_err(|error| error.0).err().unwrap_or_default()
    }

    #[test]
    fn credit_buckets_that_contradict_themselves_are_refused() {
        let credit = |more: &str| {
            wrong_with(&format!(
                r#"{{"credit": {{"budget_bits": 11999, "initial_bits": 12000, "high_bps": 3, "low_bps": 1, "refill_bps": 2,
                    "buffer_bytes": null{more}}}}}"#
            ))
        };
        let wrong = credit("");
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(wrong[0].contains("budget 11999 bit is smaller than one packet; use at least 12000 bit"));
        assert!(wrong[1].contains("initial 12000 bit is above the budget"));
        assert!(wrong[2].contains("high 3, low 1, refill 2; give high >= low >= refill"));
        let wrong = credit(r#", "loop": {"interval_ns": 0, "reopen_bits": 11999}"#);
        assert!(wrong[3].contains("interval of 0"), "{wrong:?}");
        assert!(wrong[4].contains("reopen 11999 bit is never exceeded"), "{wrong:?}");
        let wrong = wrong_with(r#"{"pace": {"rate_bps": 0, "horizon_ns": 0}}"#);
        assert!(wrong[0].contains("rate 0") && wrong[1].contains("horizon 0"), "{wrong:?}");
    }

    #[test]
    fn an_entry_is_written_as_it_was_read() {
        for text in [
            r#"{"credit":{"budget_bits":12000,"initial_bits":0,"high_bps":3,"low_bps":2,"refill_bps":1,"buffer_bytes":null,"buffer_packets":9,"buffer_ns":null,"drop":"head","ecn":false,"loop":{"interval_ns":1,"reopen_bits":5},"on":null}}"#,
            r#"{"pace":{"rate_bps":null,"horizon_ns":2000000000,"on":["h0"]}}"#,
        ] {
            let read: ElementEntry = entry(text);
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }

    /// Departures of four full packets from node 0 at 0, through `element` on what it sends.
    fn leave(element: &str) -> (Network, Vec<u64>) {
        let mut fabric = fabric(2);
        fabric.uplink.rate_bps = None;
        fabric.condition.places.host_egress = Some(vec![entry(element)]);
        let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
        let (path, alike) = network.path(0, 1);
        assert!(!alike, "packets of a train leave one after the other");
        for tag in 0..4 {
            network.engine().push(Instant::ZERO, path, Packet::real(tag, 1500, 0));
        }
        network.engine().advance(Instant::from_nanos(1_000_000));
        let mut left = Vec::new();
        while let Some(outcome) = network.engine().pop() {
            if let Outcome::Departure { due, .. } = outcome {
                left.push(due.as_nanos() - 4000); // Two cables.
            }
        }
        (network, left)
    }

    #[test]
    fn a_nodes_credit_lasts_for_its_budget_and_survives_a_new_condition_of_the_same_kind() {
        let credit = r#"{"credit": {"budget_bits": 24000, "initial_bits": 24000, "high_bps": 12000000000,
            "low_bps": 1200000000, "refill_bps": 1200000000, "buffer_bytes": null}}"#;
        let (mut network, left) = leave(credit);
        // 24 000 -> 12 000; + 1 200 -> 1 200; then 2 400 are not enough.
        assert_eq!(left, [0, 1000, 2000, 12_000]);
        let again: Condition =
            serde_json::from_str(&format!(r#"{{"name": "again", "places": {{"host.egress": [{credit}]}}}}"#))
                .unwrap();
        network.apply(Instant::from_nanos(1_000_000), &again).unwrap();
        let element = network.elements().iter().find(|element| element.name == "n0/host.egress/0:credit");
        assert!(element.is_some(), "the same element goes on");
        let as_deployed = credit.replace(
            "\"buffer_bytes\"",
            r#""loop": {"interval_ns": 1000, "reopen_bits": 0}, "buffer_bytes""#,
        );
        let condition = format!(r#"{{"name": "deployed", "places": {{"host.egress": [{as_deployed}]}}}}"#);
        network.apply(Instant::from_nanos(1_000_001), &serde_json::from_str(&condition).unwrap()).unwrap();
        assert!(network.elements().iter().any(|element| element.name == "n0/host.egress/0:credit-loop"));
    }

    #[test]
    fn a_condition_says_what_a_bucket_holds_when_it_is_made() {
        let credit = r#"{"credit": {"budget_bits": 24000, "initial_bits": 24000, "high_bps": 2, "low_bps": 1,
            "refill_bps": 1, "buffer_bytes": null}}"#;
        let mut fabric = fabric(2);
        fabric.condition = serde_json::from_str(&format!(
            r#"{{"name": "left", "places": {{"host.egress": [{credit}], "link": [{credit}]}},
                "held_bits": {{"n0/host.egress/0:credit": 5, "h1/link.up/0:credit": 24001}}}}"#
        ))
        .unwrap();
        let network = Network::new(&fabric, Instant::ZERO).unwrap();
        let first = |name: &str| {
            let element = network.elements().iter().find(|element| element.name == name).expect(name);
            network.engine_ref().credit(element.id).unwrap().first_bits
        };
        assert_eq!(first("n0/host.egress/0:credit"), 5);
        assert_eq!(first("n1/host.egress/0:credit"), 24_000, "its own");
        assert_eq!(first("h1/link.up/0:credit"), 24_000, "at most its budget");
    }

    #[test]
    fn a_pacer_spaces_what_a_node_sends() {
        let (_, left) = leave(r#"{"pace": {"rate_bps": 12000000000, "horizon_ns": 3000}}"#);
        assert_eq!(left, [0, 1000, 2000], "the fourth would leave at its horizon");
    }
}
