//! Monitors: what counts packets without touching them.

mod counters;
mod totals;

pub use counters::{ClassCounters, Count, Counters};
pub use totals::{ClassTotals, Totals};
