//! One element of a condition as it crosses from Python to the agent: the engine's parameters, and its sites.
//!
//! `{"police": {"rate_bps": 1000, "burst_bytes": 1500, "on": ["h0"]}}`. The engine's description reads and writes
//! everything except `on`.

use crosswind_engine::{Json, Manual, Object, Sampler, Treatment, Where};
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::site::Place;

/// One element of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementEntry {
    /// The element's behaviour.
    pub treatment: Treatment,
    /// The nodes, hosts, switches and links that it is restricted to; everywhere when absent.
    pub on: Option<Vec<String>>,
}

impl ElementEntry {
    /// The description of its kind.
    pub(crate) fn manual(&self) -> Manual {
        self.treatment.manual()
    }

    /// Whether it is a separate element; queues, schedules and capacities belong to a link.
    pub(crate) fn is_element(&self) -> bool {
        self.manual().place == Where::Anywhere
    }

    /// Whether packets wait in it, so that a monitor before it can measure its queue.
    pub(crate) fn has_queue(&self) -> bool {
        self.is_element() && self.manual().queues
    }

    /// Whether it is the queueing of a link.
    pub(crate) fn replaces_fifo(&self) -> bool {
        self.manual().place == Where::Port
    }

    /// A parameter that is zero, if it and all others mean that the element has no effect.
    pub(crate) fn idle(&self) -> Option<&'static str> {
        let idle = self.manual().idle?;
        let said = self.treatment.to_json();
        let says = |value: &Json| !value.is_null() && *value != 0;
        let does_nothing = !said[self.manual().kind].as_object().is_some_and(|said| said.values().any(says));
        does_nothing.then_some(idle)
    }

    /// The engine's name for its kind.
    pub fn word(&self) -> &'static str {
        self.treatment.kind()
    }
}

/// Random entries of every kind that the engine describes, each at a place where its kind is allowed.
pub fn samples(of_each: u64, seed: u64) -> Vec<(Place, ElementEntry)> {
    let mut sampler = Sampler::of_networks(seed);
    let anywhere = [Place::Link, Place::HostEgress, Place::SwitchIngress, Place::HostIngress];
    let mut entries = Vec::new();
    for kind in Treatment::KINDS {
        for number in 0..of_each {
            let mut draw = || {
                let treatment = Treatment::sample(kind, &mut sampler).expect("a kind of its own");
                ElementEntry { treatment, on: None }
            };
            let entry = std::iter::repeat_with(&mut draw)
                .find(|entry| entry.idle().is_none())
                .expect("most do something");
            let place = match entry.manual().place {
                Where::Port => [Place::SwitchEgress, Place::HostEgress][number as usize % 2],
                Where::Link => Place::Link,
                // Only a link defines every quantity of a monitor.
                Where::Anywhere if matches!(entry.treatment, Treatment::Monitor(_)) => Place::Link,
                Where::Anywhere => anywhere[number as usize % anywhere.len()],
            };
            entries.push((place, entry));
        }
    }
    entries
}

impl<'de> Deserialize<'de> for ElementEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Object::deserialize(deserializer)?;
        let mut entries = object.into_iter();
        let (Some((kind, parameters)), None) = (entries.next(), entries.next()) else {
            return Err(D::Error::custom("an element is an object with one key, its name"));
        };
        let Json::Object(mut parameters) = parameters else {
            return Err(D::Error::custom(format!("{kind}: its parameters are not an object")));
        };
        let on = match parameters.remove("on") {
            None => None,
            Some(on) => Deserialize::deserialize(on)
                .map_err(|error| D::Error::custom(format!("{kind}: on: {error}")))?,
        };
        let treatment = Treatment::read(&kind, parameters).map_err(|wrong| {
            let wrong: Vec<String> = wrong.iter().map(|problem| format!("{kind}: {problem}")).collect();
            D::Error::custom(wrong.join("; "))
        })?;
        Ok(Self { treatment, on })
    }
}

impl Serialize for ElementEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(1))?;
        object.serialize_entry(self.manual().kind, &Parameters(self))?;
        object.end()
    }
}

/// The value of the element's name.
struct Parameters<'a>(&'a ElementEntry);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        self.0.treatment.put_into(&mut object)?;
        object.serialize_entry("on", &self.0.on)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::ElementEntry;

    fn refusal(text: &str) -> String {
        serde_json::from_str::<ElementEntry>(text).expect_err("is refused").to_string()
    }

    #[test]
    fn an_entry_is_written_as_it_was_read() {
        for text in [
            r#"{"credit":{"budget_bits":12000,"initial_bits":0,"high_bps":3,"low_bps":2,"refill_bps":1,"buffer_packets":9,"drop":"head","ecn":false,"loop":{"interval_ns":1,"reopen_bits":5},"on":null}}"#,
            r#"{"pace":{"rate_bps":null,"horizon_ns":2000000000,"on":["h0"]}}"#,
            r#"{"delay":{"time_ns":0,"random":{"law":{"pareto_normal":{"jitter_ns":1000}},"depth":null,"order":"keep","half_life_ns":null},"on":null}}"#,
            r#"{"delay":{"time_ns":0,"random":{"law":{"histogram":{"bins":[{"low_ns":-5,"high_ns":3,"count":7}]}},"depth":64,"order":"free","half_life_ns":9},"on":null}}"#,
            r#"{"capacity":{"process":{"levels":{"at_ns":[0,5],"rate_bps":[0,null],"repeat_ns":null}},"direction":"up","on":null}}"#,
        ] {
            let read: ElementEntry = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }

    #[test]
    fn all_errors_of_an_element_are_reported_together() {
        let credit = |more: &str| {
            refusal(&format!(
                r#"{{"credit": {{"budget_bits": 11999, "initial_bits": 12000, "high_bps": 3, "low_bps": 1, "refill_bps": 2{more}}}}}"#
            ))
        };
        let wrong = credit("");
        assert!(
            wrong.contains("credit: initial 12000 bit is above budget 11999 bit; give at most that"),
            "{wrong}"
        );
        assert!(wrong.contains("credit: refill 2 bit/s is above low 1 bit/s"), "{wrong}");
        let wrong = credit(r#", "loop": {"interval_ns": 0, "reopen_bits": 11999}"#);
        assert!(wrong.contains("loop: interval 0 does nothing"), "{wrong}");
        assert!(wrong.contains("loop.reopen 11999 bit can never be exceeded by budget 11999 bit"), "{wrong}");
        let wrong = refusal(r#"{"pace": {"rate_bps": 0, "horizon_ns": 0, "speed": 1}}"#);
        for part in ["unknown key speed", "rate 0 passes nothing", "horizon 0 does nothing"] {
            assert!(wrong.contains(part), "{part} in {wrong}");
        }
    }

    #[test]
    fn values_without_a_meaning_are_refused() {
        let delay = |random: &str| refusal(&format!(r#"{{"delay": {{"time_ns": 1, "random": {random}}}}}"#));
        let all = r#"{"law": {"normal": {"jitter_ns": 0}}, "depth": 0, "order": "free", "half_life_ns": 0}"#;
        for part in ["jitter 0", "depth 0", "half_life 0"] {
            assert!(delay(all).contains(part), "{part} in {}", delay(all));
        }
        let none =
            r#"{"law": {"samples": {"samples_ns": []}}, "depth": null, "order": "free", "half_life_ns": 5}"#;
        assert!(delay(none).contains("there is no sample"), "{}", delay(none));
        for (element, part) in [
            (
                r#"{"srtcm": {"cir_bps": 8, "cbs_bytes": 0, "ebs_bytes": 0, "yellow": "remark", "red": "drop"}}"#,
                "is zero and so is cbs",
            ),
            (
                r#"{"srtcm": {"cir_bps": 8, "cbs_bytes": 1500, "ebs_bytes": 0, "yellow": {"dscp": 64}, "red": "drop"}}"#,
                "dscp 64 is outside",
            ),
            (r#"{"queue": {"buffer_bytes": 3000, "buffer_ns": 5}}"#, "two buffers"),
            (
                r#"{"queue": {"drop": "head", "ecn": true}}"#,
                "ecn marks nothing: head drops only when the buffer is full",
            ),
            (
                r#"{"queue": {"drop": {"red": {"min_bytes": 1, "max_bytes": 2, "probability_ppb": 1, "weight_ppb": 1000000001}}}}"#,
                "weight 1000000001 ppb is above the whole",
            ),
            (r#"{"queue": {"alpha_ppb": 5}}"#, "alpha is a part of no memory"),
            (r#"{"queue": {"drop": "head", "memory_bytes": 5000}}"#, "cannot share a memory"),
            (r#"{"lose": {"law": {"trace": {"pattern": "11"}}}}"#, "at least one 0"),
            (r#"{"lose": {"law": {"bernoulli": {"share_ppb": 0}}}}"#, "share 0 does nothing"),
            (
                r#"{"monitor": {"what": ["drops", "drops"], "window_ns": 1, "match": {"dscp": [64]}, "start": {"after_ns": 0}}}"#,
                "names drops twice",
            ),
            (r#"{"monitor": {"what": ["drops"], "window_ns": 1}}"#, "window 1 ns is below 100000 ns"),
            (
                r#"{"monitor": {"what": ["drops"], "start": {"packet": {"dscp": [65]}}}}"#,
                "dscp 65 is outside 0 to 63",
            ),
            (
                r#"{"capacity": {"process": {"levels": {"at_ns": [0, 5], "rate_bps": [1]}}}}"#,
                "differ in length",
            ),
            (r#"{"capacity": {"process": {"levels": {"at_ns": [5], "rate_bps": [1]}}}}"#, "from 0 ns on"),
            (
                r#"{"capacity": {"process": {"levels": {"at_ns": [0, 5, 4], "rate_bps": [1, 2, 3]}}}}"#,
                "entry 2 is earlier",
            ),
            (
                r#"{"capacity": {"process": {"resampled": {"at_ns": [0, 5], "rate_bps": [1, 2], "period_ns": 5, "block_ns": 3}}}}"#,
                "5 ns",
            ),
            (
                r#"{"schedule": {"by": "strict", "queues": [{"dscp": [1], "weight": 1}, {"dscp": [1]}]}}"#,
                "0 queues take all other packets",
            ),
            (r#"{"schedule": {"by": "drr", "queues": [{"dscp": null}]}}"#, "needs a weight under drr"),
            (r#"{"polices": {}}"#, "polices is no element"),
        ] {
            let wrong = refusal(element);
            assert!(wrong.contains(part), "{part} in {wrong}");
        }
    }
}
