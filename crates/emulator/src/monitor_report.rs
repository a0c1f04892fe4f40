//! The results of a condition's monitors as the emulator reports them (docs/reference/contracts.md, section 3).

use std::collections::BTreeMap;

use crosswind_engine::{ElementId, Histogram, Readings, Trend};
use crosswind_fabric::Network;
use crosswind_monitor::Finding;
use serde::Serialize;

use crate::names::Names;
use crate::sightings::Sightings;

/// One monitor.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Monitored {
    pub element: String,
    pub place: &'static str,
    pub of: String,
    pub window_ns: u64,
    /// Absent while it waits for its start instant or its first packet.
    pub started_ns: Option<u64>,
    pub histograms: Vec<HistogramReport>,
    /// Counts by quantity and kind.
    pub counts: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    pub trends: Vec<TrendReport>,
}

/// One distribution. `bins` are (low, high, count) of non-empty bins; the open bin has no high.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct HistogramReport {
    pub what: &'static str,
    pub unit: &'static str,
    pub counts: &'static str,
    pub count: u64,
    /// Absent if it does not fit into 64 bits.
    pub sum: Option<u64>,
    pub min: Option<u64>,
    pub max: Option<u64>,
    pub bins: Vec<(u64, Option<u64>, u64)>,
}

/// One time series. `rows` are (instant, mean of the windows, largest of them), `step_ns` apart.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct TrendReport {
    pub what: &'static str,
    pub unit: &'static str,
    pub step_ns: u64,
    pub rows: Vec<(u64, f64, u64)>,
}

/// The current state of one monitor: numbers only, copied on the packet thread.
#[derive(Clone, Debug)]
pub struct Look {
    element: ElementId,
    readings: Readings,
    /// Values from headers, if it reads them.
    found: Option<Finding>,
}

impl Look {
    /// The monitor.
    pub fn element(&self) -> ElementId {
        self.element
    }
}

/// The current state of every monitor of the network.
pub fn look(network: &Network, sightings: &mut Sightings) -> Vec<Look> {
    let engine = network.engine_ref();
    let looks = network.elements().iter().filter_map(|at| {
        let readings = engine.readings(at.id)?;
        let found = readings.started.and_then(|_| sightings.finding(network, at.id));
        Some(Look { element: at.id, readings, found })
    });
    looks.collect()
}

impl Monitored {
    /// Adds names to a state.
    pub fn new(look: Look, names: &Names) -> Self {
        let Look { element, readings, found } = look;
        let at = names.element(element);
        let mut monitored = Self {
            element: at.name.clone(),
            place: at.place.word(),
            of: at.of.clone(),
            window_ns: readings.window.as_nanos(),
            started_ns: readings.started.map(|at| at.as_nanos()),
            histograms: readings
                .histograms
                .iter()
                .map(|named| HistogramReport::new(named.what, named.unit, named.counts, &named.histogram))
                .collect(),
            counts: counts(&readings),
            trends: readings
                .trends
                .iter()
                .map(|named| TrendReport::new(named.what, named.unit, &named.trend, &readings))
                .collect(),
        };
        if let Some(found) = found {
            let reports = found.histograms.iter();
            let reports =
                reports.map(|(what, unit, counts, values)| HistogramReport::new(what, unit, counts, values));
            monitored.histograms.extend(reports);
            monitored.counts.extend(found.counts);
        }
        monitored
    }
}

fn counts(readings: &Readings) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let mut counts: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for named in &readings.counts {
        counts.entry(named.what).or_default().insert(named.name, named.count);
    }
    counts
}

impl HistogramReport {
    fn new(what: &'static str, unit: &'static str, counts: &'static str, histogram: &Histogram) -> Self {
        let range = histogram.range();
        Self {
            what,
            unit,
            counts,
            count: histogram.count(),
            sum: u64::try_from(histogram.sum()).ok(),
            min: range.map(|(least, _)| least),
            max: range.map(|(_, greatest)| greatest),
            bins: histogram.bins().map(|bin| (bin.low, bin.high, bin.count)).collect(),
        }
    }
}

impl TrendReport {
    fn new(what: &'static str, unit: &'static str, trend: &Trend, readings: &Readings) -> Self {
        let window_ns = readings.window.as_nanos();
        let started_ns = readings.started.map_or(0, |at| at.as_nanos());
        let rows = trend.steps().map(|step| {
            let mean = step.sum as f64 / step.windows as f64;
            (started_ns + step.first_window * window_ns, mean, step.greatest)
        });
        Self { what, unit, step_ns: trend.windows_per_step() * window_ns, rows: rows.collect() }
    }
}
