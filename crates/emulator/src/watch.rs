//! What happens while it happens: for each step of the series a report to the program that shows the network live.
//!
//! The packet thread has counted a step anyway; while a reader watches, it also hands over the rows of that step. It
//! never waits for the reader: a report that does not fit into the channel is left out and counted.

use std::sync::mpsc::{sync_channel, Receiver, SyncSender, TrySendError};
use std::sync::Arc;

use crosswind_engine::{ElementId, Engine};
use crosswind_fabric::ElementAt;
use serde::Serialize;

use crate::ledger::Lateness;
use crate::measurement::{Change, SeriesRow};
use crate::rendering::series_row;
use crate::series::Row;
use crate::stalls::Stall;

/// Reports that wait for their reader: six seconds.
const WAITING_MAX: usize = 60;
/// Changes that wait for the next report.
const CHANGES_MAX: usize = 1_000;

/// A step of the series as the packet thread reports it.
#[derive(Debug)]
pub struct Report {
    at_ns: u64,
    window_started_ns: u64,
    /// Elements that no earlier report has named; elements are only added.
    new_elements: Vec<ElementAt>,
    rows: Vec<Row>,
    credit: Vec<(ElementId, u64)>,
    changes: Vec<Arc<Change>>,
    stalls: Vec<Stall>,
    lateness: Lateness,
    left_out: u64,
    made_ns: u64,
}

/// What a report says besides the counters of elements.
#[derive(Debug)]
pub struct Now {
    /// Start of the step.
    pub at_ns: u64,
    /// Start of the window.
    pub window_started_ns: u64,
    /// Rows of the step.
    pub rows: Vec<Row>,
    /// Lateness of the packets of the window so far.
    pub lateness: Lateness,
}

/// The packet thread's end: what the reader knows already.
#[derive(Debug)]
pub struct Watched {
    sender: SyncSender<Report>,
    named: usize,
    credits: Vec<ElementId>,
    changes: Vec<Arc<Change>>,
    stalls: usize,
    left_out: u64,
    made_ns: u64,
    /// `made_ns` at the start of the window.
    made_before_ns: u64,
}

/// The reader's end for one domain.
#[derive(Debug)]
pub struct Watch {
    domain: usize,
    receiver: Receiver<Report>,
    elements: Vec<ElementAt>,
}

/// Both ends, for the domain of this number.
pub fn watch(domain: usize) -> (Watched, Watch) {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    let watched = Watched {
        sender,
        named: 0,
        credits: Vec::new(),
        changes: Vec::new(),
        stalls: 0,
        left_out: 0,
        made_ns: 0,
        made_before_ns: 0,
    };
    (watched, Watch { domain, receiver, elements: Vec::new() })
}

impl Watched {
    /// Keeps a change for the next report.
    pub fn note(&mut self, change: &Arc<Change>) {
        if self.changes.len() < CHANGES_MAX {
            self.changes.push(Arc::clone(change));
        }
    }

    /// Stalls and time are counted from zero.
    pub fn start_window(&mut self) {
        self.stalls = 0;
        self.made_before_ns = self.made_ns;
    }

    /// Time that the packet thread spent on reports so far.
    pub fn spent(&mut self, ns: u64) {
        self.made_ns += ns;
    }

    /// Time that the packet thread spent on reports in the window.
    pub fn window_ns(&self) -> u64 {
        self.made_ns - self.made_before_ns
    }

    /// Reports a step; false if the reader has gone.
    pub fn report(&mut self, now: Now, engine: &Engine, elements: &[ElementAt], stalls: &[Stall]) -> bool {
        let new_elements = elements[self.named..].to_vec();
        let ids = new_elements.iter().map(|it| it.id);
        let new_credits: Vec<_> = ids.filter(|&id| engine.credit(id).is_some()).collect();
        let level = |&id: &ElementId| Some((id, engine.credit(id)?.now_bits));
        let report = Report {
            at_ns: now.at_ns,
            window_started_ns: now.window_started_ns,
            new_elements,
            rows: now.rows,
            credit: self.credits.iter().chain(&new_credits).filter_map(level).collect(),
            changes: std::mem::take(&mut self.changes),
            stalls: stalls[self.stalls.min(stalls.len())..].to_vec(),
            lateness: now.lateness,
            left_out: self.left_out,
            made_ns: self.made_ns,
        };
        match self.sender.try_send(report) {
            Ok(()) => {
                (self.named, self.stalls) = (elements.len(), stalls.len());
                self.credits.extend(new_credits);
            }
            Err(TrySendError::Full(report)) => {
                self.left_out += 1;
                self.changes = report.changes;
            }
            Err(TrySendError::Disconnected(_)) => return false,
        }
        true
    }
}

/// A report with names, as the agent passes it on (docs/reference/contracts.md, section 2).
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct StepReport {
    /// Number of the domain, from 0.
    pub domain: usize,
    pub at_ns: u64,
    pub window_started_ns: u64,
    pub rows: Vec<SeriesRow>,
    pub credit: Vec<CreditLeft>,
    pub changes: Vec<Arc<Change>>,
    pub stalls: Vec<Stall>,
    pub lateness: Lateness,
    /// Reports so far that did not reach the reader.
    pub left_out: u64,
    /// Time that the packet thread has spent on all reports so far.
    pub made_ns: u64,
}

#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct CreditLeft {
    pub element: String,
    pub left_bits: u64,
}

impl Watch {
    /// The reports since the last call. It does not wait.
    ///
    /// `owns`: whether packets pass an element in the domain of this number; the others have it too, idle.
    pub fn reports(&mut self, owns: impl Fn(usize, &ElementAt) -> bool) -> Vec<StepReport> {
        let mut reports = Vec::new();
        while let Ok(report) = self.receiver.try_recv() {
            reports.push(self.named(report, &owns));
        }
        reports
    }

    fn named(&mut self, report: Report, owns: impl Fn(usize, &ElementAt) -> bool) -> StepReport {
        self.elements.extend(report.new_elements);
        let element = |id: ElementId| &self.elements[id.index()];
        let credit = report.credit.into_iter().filter(|(id, _)| owns(self.domain, element(*id)));
        StepReport {
            domain: self.domain,
            at_ns: report.at_ns,
            window_started_ns: report.window_started_ns,
            rows: report.rows.iter().map(|row| series_row(row, element(row.element))).collect(),
            credit: credit
                .map(|(id, left_bits)| CreditLeft { element: element(id).name.clone(), left_bits })
                .collect(),
            changes: report.changes,
            stalls: report.stalls,
            lateness: report.lateness,
            left_out: report.left_out,
            made_ns: report.made_ns,
        }
    }
}
