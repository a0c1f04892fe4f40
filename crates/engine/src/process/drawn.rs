//! Drawn levels. At every `hold` a level is drawn from a piecewise uniform distribution, which represents the known
//! quantiles of a capacity.
//!
//! `cells`: each with a `weight`, and `low` <= `high` in wire bits per second. A draw chooses a cell by weight and a
//! level uniformly in it. `grid`: the level is rounded down to a multiple of it (1: whole bits per second). A draw of
//! 0 is an outage. Draws are independent: there is no memory beyond `hold`.
//!
//! Source: Ballani et al. 2011 (SIGCOMM), "Towards predictable datacenter networks", Figure 1: quantiles of the
//! bandwidth between virtual machines in eight clouds. Uta et al. 2020 (NSDI), section 2.1: a draw from them every 5 s
//! or 50 s. Their published emulator chooses one of the four cells between the quantiles 1, 25, 50, 75 and 99 % with
//! equal probability, and a whole number of Mbit/s in it; the outer 2 % are missing.

use alloc::sync::Arc;
use core::num::NonZeroU64;

use crate::describe::Problem;
use crate::random::Stream;
use crate::units::{Capacity, Duration, Instant};

/// A distribution by cells, uniform in each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PiecewiseUniform {
    /// At least one.
    pub cells: Arc<[Cell]>,
    /// In bits per second; draws are multiples of it.
    pub grid: NonZeroU64,
}

/// One cell of a distribution.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Lowest level, wire bits per second.
    pub low: u64,
    /// Highest level, wire bits per second; at least `low`.
    pub high: u64,
    /// Its weight in relation to the sum; at least 1.
    pub weight: u32,
}

impl PiecewiseUniform {
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.cells.is_empty() {
            return Err(Problem::new("has no entries and so no capacity; give at least one"));
        }
        for (cell, &Cell { low, high, weight }) in self.cells.iter().enumerate() {
            if low > high {
                return Err(Problem::new(alloc::format!(
                    "rate range {low}..{high} bit/s is empty; give low <= high"
                )));
            }
            if weight == 0 {
                return Err(Problem::new(alloc::format!(
                    "cell {cell} has weight 0 and is never drawn; give at least 1, or leave it out"
                )));
            }
        }
        Ok(())
    }

    fn draw(&self, stream: &mut Stream) -> Capacity {
        let weights = || self.cells.iter().map(|cell| u64::from(cell.weight));
        let mut drawn = below(weights().sum(), stream);
        // Every draw consumes two random numbers, whatever the result.
        let position = 1.0 - stream.uniform();
        let mut level = 0;
        for (cell, weight) in self.cells.iter().zip(weights()) {
            if drawn < weight {
                level = cell.low + ((cell.high - cell.low) as f64 * position) as u64;
                break;
            }
            drawn -= weight;
        }
        Capacity::bits_per_second(level - level % self.grid)
    }
}

/// A whole number in [0, bound), uniform within the 53 bits of a draw.
pub(super) fn below(bound: u64, stream: &mut Stream) -> u64 {
    let position = 1.0 - stream.uniform();
    ((position * bound as f64) as u64).min(bound - 1)
}

pub(super) struct Drawn {
    law: PiecewiseUniform,
    hold: Duration,
    stream: Stream,
    next: Instant,
}

impl Drawn {
    pub(super) fn new(law: PiecewiseUniform, hold: Duration, stream: Stream, start: Instant) -> Drawn {
        Drawn { law, hold, stream, next: start }
    }

    pub(super) fn wake(&mut self) -> Capacity {
        self.next = self.next.saturating_add(self.hold);
        self.law.draw(&mut self.stream)
    }

    pub(super) fn next_wake(&self) -> Instant {
        self.next
    }
}
