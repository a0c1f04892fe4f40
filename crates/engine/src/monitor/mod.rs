//! Monitors: measure packets without changing them.

mod burst;
mod counters;
mod drops;
mod element;
mod gap;
mod histogram;
mod packet_rate;
mod packet_size;
mod parameters;
mod queue_delay;
mod queue_depth;
mod report;
mod select;
mod totals;
mod trend;
mod utilisation;
mod windows;
mod wire_time;

pub use counters::{ClassCounters, Count, Counters};
pub(crate) use element::Monitor;
pub use element::{MonitorSpec, Quantity};
pub use histogram::{Bin, Histogram};
pub use parameters::{Begin, ClassWord, Match, MonitorParameters, What};
pub use report::{NamedCount, NamedHistogram, NamedTrend, Readings};
pub use select::{Selection, Start};
pub use totals::{ClassTotals, Totals};
pub use trend::{Trend, TrendStep};

use element::PAGE;
