//! Converts a snapshot to the emulator's measurement. The thread that requested it does this, never the packet thread.

use crosswind_engine::{Capacity, Class, ClassCounters, Rate};
use crosswind_fabric::{ElementAt, Levels};

use crate::measurement::{
    Again, Counts, Credit, Driven, Drop, ElementReport, HeldAcknowledgement, LeftRow, Level, MachinePart,
    Measurement, Rows, SeriesReport, SeriesRow, UnderWay,
};
use crate::monitor_report::Monitored;
use crate::names::Names;
use crate::offered;
use crate::records::{Bounded, DropRow, HeldRow, LossCause, Retransmission};
use crate::series::{CreditRow, Row, STEP_NS};
use crate::snapshot::{Counted, Snapshot};

impl Measurement {
    /// Converts a snapshot, with names.
    pub fn new(snapshot: Snapshot) -> Self {
        let Snapshot { window, wait_mode, domains, host, changes, series, credit: left, names, forwarded } =
            snapshot;
        let elements = names.elements().iter().zip(&forwarded.elements);
        let monitors = forwarded.monitors.into_iter();
        let interference = offered::joined(forwarded.offered, window.started_ns);
        let incidents = forwarded.incidents;
        let [before, now] = forwarded.under_way;
        let under_way = UnderWay { before, now };
        let machine = forwarded.tunnel.map(|tunnel| MachinePart { tunnel, under_way });
        Self {
            window,
            wait_mode,
            domains,
            ledger: forwarded.ledger.report(),
            conservation: forwarded.conservation,
            host,
            changes,
            recording: forwarded.recording,
            capture: forwarded.capture,
            elements: elements
                .map(|(at, counted)| ElementReport {
                    element: at.name.clone(),
                    place: at.place.word(),
                    of: at.of.clone(),
                    real: counts(&counted.counters.real),
                    ghost: counts(&counted.counters.ghost),
                    credit: credit(counted),
                })
                .collect(),
            series: SeriesReport {
                step_ns: STEP_NS,
                rows: series.iter().map(|row| series_row(row, names.element(row.element))).collect(),
                credit: left.iter().map(|row| left_row(row, &names)).collect(),
            },
            monitors: monitors.map(|look| Monitored::new(look, &names)).collect(),
            interference,
            capacity: forwarded.driven.into_iter().map(driven).collect(),
            drops: rendered(&incidents.drops, |row| drop(row, &names)),
            retransmissions: rendered(&incidents.retransmissions, |row| again(row, &names)),
            held_acknowledgements: rendered(&incidents.held, |row| held_acknowledgement(row, &names)),
            machine,
        }
    }
}

fn rendered<R, T>(bounded: &Bounded<R>, render: impl Fn(&R) -> T) -> Rows<T> {
    Rows { lost_records: bounded.lost, rows: bounded.rows.iter().map(render).collect() }
}

fn counts(counters: &ClassCounters) -> Counts {
    Counts {
        arrived_packets: counters.arrived.packets,
        arrived_bytes: counters.arrived.bytes,
        departed_packets: counters.departed.packets,
        departed_bytes: counters.departed.bytes,
        duplicated: counters.duplicated,
        corrupted: counters.corrupted,
        marked_packets: counters.marked.packets,
        dropped: counters.dropped_by_reason().collect(),
    }
}

fn credit(counted: &Counted) -> Option<Credit> {
    counted.credit.map(|level| Credit {
        budget_bits: level.budget_bits,
        refill_bps: level.refill.get(),
        first_bits: level.first_bits,
        left_bits: level.now_bits,
    })
}

/// A row with its name.
pub fn series_row(row: &Row, element: &ElementAt) -> SeriesRow {
    SeriesRow {
        at_ns: row.at_ns,
        element: element.name.clone(),
        class: match row.class {
            Class::Real => "real",
            Class::Ghost => "ghost",
        },
        arrived_bytes: row.arrived_bytes,
        departed_bytes: row.departed_bytes,
        dropped_packets: row.dropped_packets,
        dropped_bytes: row.dropped_bytes,
        queued_bytes: row.queued_bytes,
    }
}

fn left_row(row: &CreditRow, names: &Names) -> LeftRow {
    let element = names.element(row.element).name.clone();
    LeftRow { at_ns: row.at_ns, element, left_bits: row.left_bits }
}

fn driven(levels: Levels) -> Driven {
    let level = |(at, level): (crosswind_engine::Instant, Capacity)| Level {
        at_ns: at.as_nanos(),
        rate_bps: rate_bps(level),
    };
    Driven {
        link: levels.link.to_string(),
        lost_records: levels.not_stored,
        changes: levels.changes.into_iter().map(level).collect(),
    }
}

/// A level in a measurement: 0 is an outage, `None` is unlimited.
fn rate_bps(level: Capacity) -> Option<u64> {
    match level {
        Capacity::Outage => Some(0),
        Capacity::Rate(Rate::BitsPerSecond(rate)) => Some(rate.get()),
        Capacity::Rate(Rate::Unlimited) => None,
    }
}

fn drop(row: &DropRow, names: &Names) -> Drop {
    let (element, reason) = match row.cause {
        LossCause::Element(id, reason) => (names.element(id).name.clone(), reason.name().to_owned()),
        LossCause::Emulator(reason) => ("emulator".to_owned(), reason.to_owned()),
    };
    Drop {
        at_ns: row.at_ns,
        element,
        reason,
        src: row.flow.map(|flow| flow.source.to_string()),
        dst: row.flow.map(|flow| flow.destination.to_string()),
        protocol: row.flow.map(|flow| flow.protocol_word()),
        ip_bytes: row.ip_bytes,
        payload_bytes: row.payload_bytes,
        tcp_seq: row.tcp.map(|(sequence, _)| sequence),
        tcp_flags: row.tcp.map(|(_, flags)| flags),
    }
}

fn again(row: &Retransmission, names: &Names) -> Again {
    Again {
        at_ns: row.at_ns,
        node: names.nodes[row.node].clone(),
        src: row.flow.source.to_string(),
        dst: row.flow.destination.to_string(),
        tcp_seq: row.tcp_seq,
        payload_bytes: row.payload_bytes,
        since_first_ns: row.since_first_ns,
    }
}

fn held_acknowledgement(row: &HeldRow, names: &Names) -> HeldAcknowledgement {
    HeldAcknowledgement {
        at_ns: row.held.at_ns,
        node: names.nodes[row.node].clone(),
        src: row.flow.source.to_string(),
        dst: row.flow.destination.to_string(),
        held_ns: row.held.held_ns,
    }
}
