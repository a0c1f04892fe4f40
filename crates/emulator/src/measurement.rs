//! The measurement of a window as the emulator reports it (docs/reference/contracts.md, section 3).

use std::collections::BTreeMap;
use std::sync::Arc;

use crosswind_engine::Count;
use crosswind_fabric::{Cuts, Places};
use crosswind_tunnel::TunnelReport;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{json, Value};

use crate::crossings::Under;
use crate::ledger::LedgerReport;
use crate::monitor_report::Monitored;
use crate::stalls::Stall;

/// All values of a window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Measurement {
    pub window: Window,
    pub wait_mode: &'static str,
    /// Domains that carry the network, with a packet thread each.
    pub domains: usize,
    pub ledger: LedgerReport,
    pub conservation: Conservation,
    pub host: Host,
    /// The last change before the window, and all changes in it.
    pub changes: Vec<Arc<Change>>,
    /// Present if requested.
    pub recording: Option<Recording>,
    /// Present if requested.
    pub capture: Option<CaptureState>,
    pub elements: Vec<ElementReport>,
    pub series: SeriesReport,
    pub monitors: Vec<Monitored>,
    pub interference: Vec<Offered>,
    pub capacity: Vec<Driven>,
    pub drops: Rows<Drop>,
    pub retransmissions: Rows<Again>,
    pub held_acknowledgements: Rows<HeldAcknowledgement>,
    /// Of a machine that carries a part of the fabric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachinePart>,
}

/// What a machine reports beside its part of the measurement.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct MachinePart {
    pub tunnel: TunnelReport,
    pub under_way: UnderWay,
}

/// Packets that have left for other machines minus those that have come from them, since the fabric is up.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct UnderWay {
    pub before: Under,
    pub now: Under,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Window {
    pub started_ns: u64,
    pub ended_ns: u64,
    pub realtime_minus_monotonic_ns: i64,
}

/// Wire packets since the emulator started. Each packet that entered or was duplicated has come out, was dropped, or
/// is inside.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Conservation {
    #[serde(rename = "in")]
    pub entered: ByClass,
    pub duplicated: ByClass,
    pub out: ByClass,
    pub dropped: ByClass,
    pub inside: ByClass,
    pub holds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ByClass {
    pub real: u64,
    pub ghost: u64,
}

/// The machine's effect on the emulator in the window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Host {
    pub canary_gap_ns_max: u64,
    pub stalls: Vec<Stall>,
    pub steal_ns: u64,
    /// Time that the emulator's thread waited for a CPU; null where the kernel does not report it.
    pub run_queue_delay_ns: Option<u64>,
    pub emulator_cpu_ns: u64,
    pub ring_overruns: u64,
    pub send_retries: u64,
    /// Time that the packet thread spent on reports to a reader; null where none watches.
    pub watch_ns: Option<u64>,
}

/// A condition, or a step of its timeline, that was applied.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// When it took effect.
    pub at_ns: u64,
    /// When it was requested; earlier than `at_ns` if the engine had already processed everything up to `at_ns`.
    pub asked_ns: u64,
    /// `up`, `set`, `timeline` or `cut`.
    pub by: &'static str,
    /// The condition's name.
    pub condition: Arc<str>,
    /// For a timeline step only the places that it replaced. A list of more than [`LIST_MAX`] entries is written as
    /// its length.
    #[serde(serialize_with = "abridged")]
    pub places: Arc<Places>,
    /// All cuts from then on, of the timeline or those by hand; absent where they did not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuts: Option<Arc<Cuts>>,
}

impl Change {
    /// Whether nodes were cut off by hand; any other change is one of the condition.
    pub fn is_by_hand(&self) -> bool {
        self.by == BY_HAND
    }

    /// Whether nodes are cut off from it on.
    pub fn cuts_off(&self) -> bool {
        self.cuts.as_ref().is_some_and(|cuts| !cuts.list().is_empty())
    }
}

/// What changes by hand are called.
pub const BY_HAND: &str = "cut";

/// A trace has up to a million points, which every measurement would repeat.
const LIST_MAX: usize = 1_000;

fn abridged<S: Serializer>(places: &Arc<Places>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(places).map_err(S::Error::custom)?;
    shorten(&mut value);
    value.serialize(serializer)
}

fn shorten(value: &mut Value) {
    match value {
        Value::Array(entries) if entries.len() > LIST_MAX => *value = json!({"entries": entries.len()}),
        Value::Array(entries) => entries.iter_mut().for_each(shorten),
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

/// State of the capture.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CaptureState {
    /// Packets missing from the file: beyond its limit, or the disk was too slow.
    pub left_out_packets: u64,
}

/// State of the recording.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Recording {
    /// The recording is invalid unless this is 0.
    pub lost_records: u64,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ElementReport {
    pub element: String,
    pub place: &'static str,
    pub of: String,
    pub real: Counts,
    pub ghost: Counts,
    /// For a credit bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Credit>,
}

/// Content of a credit bucket when its condition was applied, and now.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Credit {
    pub budget_bits: u64,
    pub refill_bps: u64,
    pub first_bits: u64,
    pub left_bits: u64,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub arrived_packets: u64,
    pub arrived_bytes: u64,
    pub departed_packets: u64,
    pub departed_bytes: u64,
    pub duplicated: Count,
    pub corrupted: Count,
    pub marked_packets: u64,
    pub dropped: BTreeMap<&'static str, Count>,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct SeriesReport {
    pub step_ns: u64,
    pub rows: Vec<SeriesRow>,
    pub credit: Vec<LeftRow>,
}

/// What a credit bucket held at the end of a step, where it differs from the step before.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct LeftRow {
    pub at_ns: u64,
    pub element: String,
    pub left_bits: u64,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct SeriesRow {
    pub at_ns: u64,
    pub element: String,
    pub class: &'static str,
    pub arrived_bytes: u64,
    pub departed_bytes: u64,
    pub dropped_packets: u64,
    pub dropped_bytes: u64,
    pub queued_bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Offered {
    pub source: String,
    pub draws: Vec<Draw>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Draw {
    pub at_ns: u64,
    /// `None` is unlimited.
    pub rate_bps: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Driven {
    pub link: String,
    pub lost_records: u64,
    pub changes: Vec<Level>,
}

/// A level of a link's capacity from an instant on; 0 is an outage, `None` is unlimited.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Level {
    pub at_ns: u64,
    pub rate_bps: Option<u64>,
}

/// A bounded number of rows, and the number of rows that did not fit.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Rows<T> {
    pub lost_records: u64,
    pub rows: Vec<T>,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Drop {
    pub at_ns: u64,
    pub element: String,
    pub reason: String,
    pub src: Option<String>,
    pub dst: Option<String>,
    pub protocol: Option<String>,
    pub ip_bytes: u32,
    pub payload_bytes: u32,
    pub tcp_seq: Option<u32>,
    pub tcp_flags: Option<u8>,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Again {
    pub at_ns: u64,
    pub node: String,
    pub src: String,
    pub dst: String,
    pub tcp_seq: u32,
    pub payload_bytes: u32,
    pub since_first_ns: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct HeldAcknowledgement {
    pub at_ns: u64,
    pub node: String,
    pub src: String,
    pub dst: String,
    pub held_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_a_condition_is_written_as_its_length() {
        let process = |count: usize| {
            let at: Vec<usize> = (0..count).collect();
            json!({"levels": {"at_ns": at, "rate_bps": vec![5; count], "repeat_ns": null}})
        };
        let written = |count| {
            let entry = json!({"capacity": {"process": process(count), "direction": null, "on": null}});
            let places: Places = serde_json::from_value(json!({"link": [entry]})).unwrap();
            let change = Change {
                asked_ns: 1,
                at_ns: 2,
                by: "up",
                condition: "c".into(),
                places: places.into(),
                cuts: None,
            };
            serde_json::to_value(change).unwrap()["places"]["link"][0]["capacity"]["process"].clone()
        };
        assert_eq!(written(3), process(3));
        let levels = &written(1_001)["levels"];
        assert_eq!(
            (&levels["at_ns"], &levels["rate_bps"]),
            (&json!({"entries": 1001}), &json!({"entries": 1001}))
        );
    }
}
