//! Poisson source. Packets are sent independently of each other, at the drawn rate on average: gaps are exponential,
//! and the numbers of packets in disjoint windows are independent Poisson variables. It never backs off (see
//! `source/tcp` for that).
//!
//! Rate: packets per second are `rate` / mean packet size. A new draw of the rate starts a new gap, which does not
//! change the distribution (an exponential gap has no memory). A draw of 0 is silence until the next. Gaps are whole
//! nanoseconds, rounded up, and the fraction is carried over to the next gap.
//!
//! Source: Kleinrock 1975, "Queueing Systems I", section 2.4 (the process); its waiting times before a link are those
//! of M/D/1.

use super::demand::Demand;
use super::sizes::Sizer;
use crate::random::Stream;
use crate::units::{Duration, Instant};

pub(super) struct Poisson {
    demand: Demand,
    sizes: Sizer,
    stream: Stream,
    /// When the next packet is sent; `None` while silent.
    next: Option<Instant>,
    /// How far `next` is after its exact instant; in [0, 1) ns.
    ahead_ns: f64,
}

impl Poisson {
    pub(super) fn new(demand: Demand, sizes: Sizer, stream: Stream) -> Poisson {
        Poisson { demand, sizes, stream, next: None, ahead_ns: 0.0 }
    }

    pub(super) fn draws(&self) -> &[(Instant, u64)] {
        self.demand.draws()
    }

    /// Does what is due now; returns the size of the packet that it sends.
    pub(super) fn wake(&mut self, now: Instant) -> Option<u32> {
        let sends = self.next == Some(now);
        let redrawn = self.demand.drawn(now);
        if redrawn {
            self.ahead_ns = 0.0;
        }
        if sends || redrawn {
            self.draw_gap(now);
        }
        sends.then(|| self.sizes.take(&mut self.stream))
    }

    pub(super) fn next_wake(&self) -> Instant {
        self.next.map_or(self.demand.next_draw(), |next| next.min(self.demand.next_draw()))
    }

    fn draw_gap(&mut self, now: Instant) {
        self.next = self.demand.rate().filter(|&rate| rate > 0).map(|rate| {
            let mean_ns = self.sizes.mean_bits() * 1e9 / rate as f64;
            let exact_ns = self.stream.exponential() * mean_ns - self.ahead_ns;
            let gap_ns = libm::ceil(exact_ns).max(0.0);
            self.ahead_ns = gap_ns - exact_ns;
            // The cast saturates: instants beyond 584 years never come.
            now.saturating_add(Duration::from_nanos(gap_ns as u64))
        });
    }
}
