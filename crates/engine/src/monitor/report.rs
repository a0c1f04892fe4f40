//! The results of a monitor: named histograms, trends and counts.

use alloc::vec::Vec;

use super::histogram::Histogram;
use super::trend::Trend;
use crate::units::{Duration, Instant};

/// A histogram with its name and units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedHistogram {
    /// What was measured.
    pub what: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// The unit of its counts.
    pub counts: &'static str,
    /// The number of occurrences of each value.
    pub histogram: Histogram,
}

/// A trend with its name and unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedTrend {
    /// What was measured.
    pub what: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// The values of the windows.
    pub trend: Trend,
}

/// The number of events of one kind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct NamedCount {
    /// What was counted.
    pub what: &'static str,
    /// The kind of event.
    pub name: &'static str,
    /// Number of events.
    pub count: u64,
}

/// The results of one monitor since it started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Readings {
    /// When it started; `None` while it waits for its instant or its packet.
    pub started: Option<Instant>,
    /// The length of its windows.
    pub window: Duration,
    /// Distributions.
    pub histograms: Vec<NamedHistogram>,
    /// Counts that are not zero.
    pub counts: Vec<NamedCount>,
    /// Time series, from `started` on.
    pub trends: Vec<NamedTrend>,
}

impl Readings {
    pub(crate) fn histogram(
        &mut self,
        what: &'static str,
        unit: &'static str,
        counts: &'static str,
        histogram: Histogram,
    ) {
        self.histograms.push(NamedHistogram { what, unit, counts, histogram });
    }

    pub(crate) fn count(&mut self, what: &'static str, name: &'static str, count: u64) {
        self.counts.push(NamedCount { what, name, count });
    }

    pub(crate) fn trend(&mut self, what: &'static str, unit: &'static str, trend: Trend) {
        self.trends.push(NamedTrend { what, unit, trend });
    }
}
