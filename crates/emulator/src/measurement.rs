//! A window's measurement as it leaves the emulator (docs/reference/contracts.md, section 3).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::ledger::LedgerReport;

/// Everything that was seen in a window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Measurement {
    pub window: Window,
    pub wait_mode: &'static str,
    pub ledger: LedgerReport,
    pub conservation: Conservation,
    pub host: Host,
    pub elements: Vec<Element>,
    pub series: SeriesReport,
    pub interference: Vec<Offered>,
    pub drops: Rows<Drop>,
    pub retransmissions: Rows<Again>,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Window {
    pub started_ns: u64,
    pub ended_ns: u64,
    pub realtime_minus_monotonic_ns: i64,
}

/// Wire packets since the emulator started: what went in came out, was dropped, or is inside.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Conservation {
    #[serde(rename = "in")]
    pub entered: ByClass,
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

/// What the machine did to the emulator in the window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Host {
    pub canary_gap_ns_max: u64,
    pub steal_ns: u64,
    pub emulator_cpu_ns: u64,
    pub ring_overruns: u64,
    pub send_retries: u64,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Element {
    pub element: String,
    pub place: &'static str,
    pub of: String,
    pub real: Counts,
    pub ghost: Counts,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub arrived_packets: u64,
    pub arrived_bytes: u64,
    pub departed_packets: u64,
    pub departed_bytes: u64,
    pub dropped: BTreeMap<&'static str, Count>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Count {
    pub packets: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct SeriesReport {
    pub step_ns: u64,
    pub rows: Vec<SeriesRow>,
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
    pub rate_bps: u64,
}

/// Bounded rows, and how many did not fit.
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
