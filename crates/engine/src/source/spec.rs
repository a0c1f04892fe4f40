//! The specification of a source. Each kind of arrivals has its own file, which is its manual page.

use super::{RateLaw, Sizes};
use crate::describe::Problem;
use crate::ecn::Ecn;
use crate::path::PathId;
use crate::units::{Duration, Rate};

/// What a source offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceSpec {
    /// How the rate is drawn: IP bits per second, the mean over each `hold`.
    pub rate: RateLaw,
    /// How long a drawn rate applies; at least 1 ns.
    pub hold: Duration,
    /// When packets are sent at a given rate.
    pub arrivals: Arrivals,
    /// Their sizes.
    pub sizes: Sizes,
    /// DSCP of every packet, in [0, 63].
    pub dscp: u8,
}

/// When a source's packets are sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// In bursts, at equal intervals (`source/paced.rs`).
    Paced {
        /// Time between bursts; at least 1 ns.
        pacing: Duration,
        /// Wire bits per second within a burst; unlimited: all packets at the same instant.
        peak: Rate,
        /// The meaning of a draw of 0.
        zero: ZeroMeans,
    },
    /// At independent, exponentially distributed intervals (`source/poisson.rs`).
    Poisson,
    /// At even intervals during random periods, and not at all between them (`source/on_off.rs`).
    OnOff {
        /// Mean length of the periods with packets; at least 1 ns.
        on: Duration,
        /// Mean length of the periods without; at least 1 ns.
        off: Duration,
        /// Pareto index of both lengths in thousandths, in [1 001, 100 000]; absent: both are exponential.
        shape_thousandths: Option<u32>,
    },
    /// When TCP connections permit (`source/tcp/mod.rs`).
    Responsive {
        /// Interval at which the application writes its data; at least 1 ns.
        pacing: Duration,
        /// Connections, in [1, 1 000].
        flows: u16,
        /// Their congestion control.
        control: CongestionControl,
        /// ECN bits of their packets with data; with any value except Not-ECT, a mark has the effect of a loss.
        ecn: Ecn,
        /// The smallest retransmission timeout.
        rto_min: Duration,
        /// The path of acknowledgements.
        acks: PathId,
    },
}

/// The meaning of a rate of 0 for a paced source; for every other source it means silence.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum ZeroMeans {
    /// It sends nothing while the rate applies.
    Silence,
    /// It sends at `peak` while the rate applies, as iperf3 does with `-b 0`.
    Unlimited,
}

/// How a connection's window grows and shrinks (`source/tcp/window.rs`).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum CongestionControl {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
}

impl SourceSpec {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.hold == Duration::ZERO {
            return Err(Problem::new("hold 0 ns would redraw the rate without end; give at least 1 ns"));
        }
        if self.dscp > 63 {
            return Err(Problem::new(alloc::format!(
                "DSCP {dscp} is not in 0..=63; give a 6-bit code point",
                dscp = self.dscp
            )));
        }
        self.sizes.check()?;
        self.rate.check()?;
        match self.arrivals {
            Arrivals::Paced { pacing: Duration::ZERO, .. }
            | Arrivals::Responsive { pacing: Duration::ZERO, .. } => Err(Problem::new("pacing 0 ns would never let time pass; give at least 1 ns")),
            Arrivals::Paced { peak: Rate::Unlimited, zero: ZeroMeans::Unlimited, .. }
                if self.rate.can_be_zero() =>
            {
                Err(Problem::new("a draw of 0 means unlimited and so does the peak: endless packets at one instant; bound the peak"))
            }
            Arrivals::OnOff { on, off, .. } if on == Duration::ZERO || off == Duration::ZERO => {
                Err(Problem::new("on or off for 0 ns on average; give at least 1 ns each"))
            }
            Arrivals::OnOff { shape_thousandths: Some(shape), .. } if !(1_001..=100_000).contains(&shape) => {
                Err(Problem::new(alloc::format!("Pareto index {} is not in 1.001..=100; at 1 and below it has no mean: give such an index", f64::from(shape) / 1000.0)))
            }
            Arrivals::Responsive { flows, .. } if !(1..=1_000).contains(&flows) => {
                Err(Problem::new(alloc::format!("{flows} flows; give 1..=1000")))
            }
            Arrivals::Responsive { .. } if !matches!(self.sizes, Sizes::Fixed { .. }) => {
                Err(Problem::new("TCP with packets of mixed sizes; a window counts packets, so give one size"))
            }
            _ => Ok(()),
        }
    }
}
