//! The capacity of a link as a function of time, as a condition says it (docs/reference/contracts.md, section 1).

use std::num::NonZeroU64;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One way of a host's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the host to the switch.
    Up,
    /// From the switch to the host.
    Down,
}

/// Capacity as a function of time. A rate of 0 is an outage, `None` is unlimited; rates are wire bits per second.
///
/// Lists are shared: a trace of a million points stands in a condition once, whoever holds a copy of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Process {
    /// Given levels; each holds from its time on.
    Levels {
        /// The first is 0; not decreasing.
        at_ns: Arc<[u64]>,
        /// One for each time.
        rate_bps: Arc<[Option<u64>]>,
        /// From the beginning of the list to its next beginning; once when absent.
        #[serde(default)]
        repeat_ns: Option<u64>,
    },
    /// So many IP bytes may leave at these instants.
    Opportunities {
        /// Not decreasing.
        at_ns: Arc<[u64]>,
        /// One for each time, at least 1.
        ip_bytes: Arc<[u64]>,
        /// From the beginning of the list to its next beginning; once when absent.
        #[serde(default)]
        repeat_ns: Option<u64>,
    },
    /// Drawn anew every `hold_ns`.
    Drawn {
        /// The law.
        cells: Arc<[Cell]>,
        /// Draws are rounded down to a multiple of it; at least 1.
        grid_bps: NonZeroU64,
        /// At least 1.
        hold_ns: u64,
    },
    /// A chain of states that takes a step every `hold_ns`; it begins in the first.
    Markov {
        /// At least one.
        states: Vec<State>,
        /// At least 1.
        hold_ns: u64,
    },
    /// Blocks of a trace, each from a place in it drawn at random.
    Resampled {
        /// The first is 0; not decreasing.
        at_ns: Arc<[u64]>,
        /// One for each time.
        rate_bps: Arc<[Option<u64>]>,
        /// When the trace is over; later than the last time.
        period_ns: u64,
        /// At least 1.
        block_ns: u64,
    },
}

/// A cell of a piecewise uniform law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Lowest draw.
    pub low_bps: u64,
    /// Highest draw.
    pub high_bps: u64,
    /// Share of the sum of weights; at least 1.
    pub weight: u32,
}

/// A state of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The level in it.
    pub rate_bps: Option<u64>,
    /// Probability of each state to follow, in parts per billion, in the order of the states; together 10^9.
    pub next_ppb: Vec<u32>,
}
