//! How a source's rate is drawn. Rates are IP bits per second, whole.
//!
//! Source: Hasenoot et al. 2023 (ICPE), section 3.2: interference drawn from a normal distribution and held for some
//! seconds.

use crate::describe::Problem;
use crate::random::Stream;

/// The distribution of a source's rate.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum RateLaw {
    /// A constant rate.
    Constant {
        /// IP bits per second, at least 0.
        bits_per_second: u64,
    },
    /// A normal distribution; draws outside `low..=high` become the nearer bound. All in IP bits per second.
    Normal {
        /// Mean before clipping.
        mean: u64,
        /// Standard deviation before clipping.
        sd: u64,
        /// Lowest rate, at most `high`.
        low: u64,
        /// Highest rate.
        high: u64,
    },
}

impl RateLaw {
    pub(super) fn check(&self) -> Result<(), Problem> {
        match *self {
            RateLaw::Normal { low, high, .. } if low > high => {
                Err(Problem::new(alloc::format!("rate range {low}..{high} bit/s is empty; give low <= high")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn can_be_zero(&self) -> bool {
        matches!(self, RateLaw::Constant { bits_per_second: 0 } | RateLaw::Normal { low: 0, .. })
    }

    /// Draws a rate in IP bits per second.
    pub(super) fn draw(&self, stream: &mut Stream) -> u64 {
        match *self {
            RateLaw::Constant { bits_per_second } => bits_per_second,
            RateLaw::Normal { mean, sd, low, high } => {
                let rate = mean as f64 + sd as f64 * stream.standard_normal();
                // The cast saturates: values below 0 become 0, and then at least `low`.
                (libm::round(rate) as u64).clamp(low, high)
            }
        }
    }
}
