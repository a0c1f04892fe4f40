//! The state of a window, as the packet thread returns it: numbers, shared rows and shared names.
//!
//! A snapshot costs the packet thread one copy of counters and histograms, and one open chunk of each kind of rows
//! ([`Log`]). The requesting thread looks up names and renders rows ([`Measurement::new`]).
//!
//! [`Measurement::new`]: crate::measurement::Measurement::new

use std::sync::Arc;

use crosswind_engine::{Counters, CreditLevel};
use crosswind_fabric::Levels;
use crosswind_tunnel::TunnelReport;

use crate::crossings::Under;
use crate::forwarder::Forwarder;
use crate::ledger::Ledger;
use crate::log::Log;
use crate::measurement::{ByClass, CaptureState, Change, Conservation, Host, Recording, Window};
use crate::monitor_report::{self, Look};
use crate::names::Names;
use crate::offered::{self, Draws};
use crate::port::Port;
use crate::records::Incidents;
use crate::series::{CreditRow, Row};

/// A window so far.
#[derive(Debug)]
pub struct Snapshot {
    /// Its start and end.
    pub window: Window,
    /// `spin` or `sleep`.
    pub wait_mode: &'static str,
    /// Number of domains.
    pub domains: usize,
    /// The machine's effect.
    pub host: Host,
    /// Applied changes.
    pub changes: Vec<Arc<Change>>,
    /// Rows of the series.
    pub series: Log<Row>,
    /// What credit buckets held.
    pub credit: Log<CreditRow>,
    /// Names of everything in the snapshot.
    pub names: Names,
    /// Counts of packets.
    pub forwarded: Forwarded,
}

/// Counts of the forwarder and its network.
#[derive(Debug)]
pub struct Forwarded {
    /// Lateness.
    pub ledger: Ledger,
    /// Whether every packet is accounted for.
    pub conservation: Conservation,
    /// Packets between this domain and others: when the window started, and now.
    pub under_way: [Under; 2],
    /// State of the recording, if there is one.
    pub recording: Option<Recording>,
    /// State of the capture, if there is one.
    pub capture: Option<CaptureState>,
    /// In the order of the network's elements.
    pub elements: Vec<Counted>,
    /// Every monitor.
    pub monitors: Vec<Look>,
    /// What sources of interference offered in the window.
    pub offered: Vec<Draws>,
    /// Levels set by processes since the start of the window, which is when they began.
    pub driven: Vec<Levels>,
    /// Dropped packets, retransmissions, delayed acknowledgements.
    pub incidents: Incidents,
    /// What the tunnel to other machines has carried; `None` where there are none.
    pub tunnel: Option<TunnelReport>,
}

/// The counters of an element.
#[derive(Debug)]
pub struct Counted {
    /// Packets and bytes.
    pub counters: Counters,
    /// For a credit bucket.
    pub credit: Option<CreditLevel>,
}

impl Forwarded {
    /// The current state of a window that started at `started_ns`.
    pub fn of<P: Port>(forwarder: &mut Forwarder<P>, started_ns: u64, now_ns: u64) -> Self {
        let tunnel = forwarder.crossings.as_ref().and_then(|crossings| crossings.tunnel());
        let tunnel = tunnel.map(|tunnel| tunnel.report(now_ns));
        let (under_way, conservation) = (forwarder.under_way(), conservation(forwarder));
        let Forwarder { network, sightings, ledger, records, recorder, capture, .. } = forwarder;
        let monitors = monitor_report::look(network, sightings);
        let engine = network.engine_ref();
        let counted = |id| Counted { counters: *engine.counters(id), credit: engine.credit(id) };
        Self {
            ledger: ledger.clone(),
            recording: recorder.as_ref().map(|recorder| Recording { lost_records: recorder.lost() }),
            capture: capture.as_ref().map(|capture| CaptureState { left_out_packets: capture.left_out() }),
            elements: network.elements().iter().map(|element| counted(element.id)).collect(),
            monitors,
            offered: offered::draws(network, started_ns),
            driven: network.levels(),
            incidents: records.incidents.clone(),
            under_way,
            conservation,
            tunnel,
        }
    }
}

fn conservation<P: Port>(forwarder: &Forwarder<P>) -> Conservation {
    let (totals, passed) = (forwarder.network.engine_ref().totals(), forwarder.passed);
    let entered = ByClass { real: passed.entered, ghost: totals.ghost.entered };
    let duplicated = ByClass { real: totals.real.duplicated, ghost: totals.ghost.duplicated };
    let out = ByClass { real: passed.out, ghost: totals.ghost.left };
    let dropped = ByClass { real: passed.lost + totals.real.dropped, ghost: totals.ghost.dropped };
    let inside = ByClass { real: totals.real.inside + passed.held_back, ghost: totals.ghost.inside };
    let holds = entered.real + totals.real.came + duplicated.real
        == out.real + totals.real.went + dropped.real + inside.real
        && entered.ghost + totals.ghost.came + duplicated.ghost
            == out.ghost + totals.ghost.went + dropped.ghost + inside.ghost;
    Conservation { entered, duplicated, out, dropped, inside, holds }
}
