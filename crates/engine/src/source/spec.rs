//! What a source is asked for. Each kind of arrivals has its own file, which is its manual page.

use super::{RateLaw, Sizes};
use crate::describe::Problem;
use crate::ecn::Ecn;
use crate::path::PathId;
use crate::units::{Duration, Rate};

/// What a source offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceSpec {
    /// Where the rate comes from: IP bits per second, the mean over each `hold`.
    pub rate: RateLaw,
    /// How long a drawn rate holds; at least 1 ns.
    pub hold: Duration,
    /// When packets come, given the rate.
    pub arrivals: Arrivals,
    /// How large they are.
    pub sizes: Sizes,
    /// Of every packet, in [0, 63].
    pub dscp: u8,
}

/// When a source's packets come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// As bursts, at equal distances (`source/paced.rs`).
    Paced {
        /// Time between bursts; at least 1 ns.
        pacing: Duration,
        /// Wire bits per second at which the packets of a burst follow each other; unlimited: all at the same instant.
        peak: Rate,
        /// What a draw of 0 means.
        zero: ZeroMeans,
    },
    /// Independently of each other (`source/poisson.rs`).
    Poisson,
    /// At even distances during random times, not at all during others (`source/on_off.rs`).
    OnOff {
        /// Mean length of the times with packets; at least 1 ns.
        on: Duration,
        /// Mean length of the times without; at least 1 ns.
        off: Duration,
        /// Pareto index of both lengths in thousandths, in [1 001, 100 000]; absent: both are exponential.
        shape_thousandths: Option<u32>,
    },
    /// As TCP connections let them (`source/tcp/mod.rs`).
    Responsive {
        /// The application hands over its data this far apart; at least 1 ns.
        pacing: Duration,
        /// Connections, in [1, 1 000].
        flows: u16,
        /// What they do about losses.
        control: CongestionControl,
        /// What their packets with data carry: anything but Not-ECT, and a mark is answered as a loss is.
        ecn: Ecn,
        /// The smallest retransmission timeout.
        rto_min: Duration,
        /// The path of acknowledgements.
        acks: PathId,
    },
}

/// What a rate of 0 means to a paced source; to every other it means silence.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum ZeroMeans {
    /// It sends nothing while the rate holds.
    Silence,
    /// It sends at `peak` while the rate holds, as iperf3 does when told `-b 0`.
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
            return Err(Problem::new("hold 0 ns would redraw the rate for ever; give at least 1 ns"));
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
