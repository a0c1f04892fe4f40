//! On/off source. It is alternately on and off, each for a random time; while on, its packets are evenly spaced. It
//! never backs off.
//!
//! `on`, `off`: mean lengths, at least 1 ns. Lengths are exponential or, with `shape` (Pareto index), Pareto: the sum
//! of many such sources is self-similar traffic. `rate` is the mean over on and off periods: while on, packets are
//! sent at rate x (on + off) / on. It starts on. A packet is sent at the instant at which its bits have accrued;
//! accrued bits remain when it goes off.
//!
//! Pareto lengths: minimum = mean x (shape - 1) / shape. With shape <= 2 their variance is infinite, and the mean of a
//! run of any length may be far from `rate`. Truncation: draws come from a grid of 2^-53, so no length exceeds minimum
//! x 2^(53 / shape); there is no other limit. Lengths are whole nanoseconds, rounded up, at least 1.
//!
//! Source: Willinger et al. 1997, "Self-similarity through high-variability" (IEEE/ACM ToN 5:1), section II.

use super::demand::Demand;
use super::sizes::Sizer;
use crate::random::Stream;
use crate::units::{Duration, Instant, NANO};

/// How long it is on and off.
#[derive(Copy, Clone)]
pub(super) struct Sojourns {
    pub(super) on: Duration,
    pub(super) off: Duration,
    /// Pareto index; exponential when absent.
    pub(super) shape_thousandths: Option<u32>,
}

impl Sojourns {
    fn draw(&self, on: bool, stream: &mut Stream) -> Duration {
        let mean_ns = if on { self.on } else { self.off }.as_nanos() as f64;
        let exact_ns = match self.shape_thousandths {
            None => mean_ns * stream.exponential(),
            Some(thousandths) => {
                let shape = f64::from(thousandths) / 1000.0;
                mean_ns * (shape - 1.0) / shape * libm::pow(stream.uniform(), -1.0 / shape)
            }
        };
        Duration::from_nanos(libm::ceil(exact_ns).max(1.0) as u64)
    }
}

pub(super) struct OnOff {
    demand: Demand,
    sizes: Sizer,
    stream: Stream,
    sojourns: Sojourns,
    on: bool,
    next_turn: Instant,
    /// Accrued and not yet sent, up to `accrued_at`.
    accrued_nano_bits: u128,
    accrued_at: Instant,
    /// When the next packet's bits have accrued; `None` while off or silent.
    next_send: Option<Instant>,
}

impl OnOff {
    pub(super) fn new(
        demand: Demand,
        sizes: Sizer,
        mut stream: Stream,
        sojourns: Sojourns,
        start: Instant,
    ) -> OnOff {
        let next_turn = start.saturating_add(sojourns.draw(true, &mut stream));
        let (accrued_nano_bits, accrued_at) = (0, start);
        OnOff {
            demand,
            sizes,
            stream,
            sojourns,
            on: true,
            next_turn,
            accrued_nano_bits,
            accrued_at,
            next_send: None,
        }
    }

    pub(super) fn draws(&self) -> &[(Instant, u64)] {
        self.demand.draws()
    }

    /// Does what is due now; returns the size of the packet that it sends.
    pub(super) fn wake(&mut self, now: Instant) -> Option<u32> {
        self.accrue(now);
        if self.next_turn == now {
            self.on = !self.on;
            self.next_turn = now.saturating_add(self.sojourns.draw(self.on, &mut self.stream));
        }
        self.demand.drawn(now);
        let next_nano_bits = self.next_nano_bits();
        let sent = (self.accrued_nano_bits >= next_nano_bits).then(|| {
            self.accrued_nano_bits -= next_nano_bits;
            self.sizes.take(&mut self.stream)
        });
        self.foresee(now);
        sent
    }

    pub(super) fn next_wake(&self) -> Instant {
        let next = self.demand.next_draw().min(self.next_turn);
        self.next_send.map_or(next, |send| send.min(next))
    }

    fn accrue(&mut self, now: Instant) {
        let rate = u128::from(self.rate_now());
        self.accrued_nano_bits += rate * u128::from((now - self.accrued_at).as_nanos());
        self.accrued_at = now;
    }

    fn foresee(&mut self, now: Instant) {
        let rate = u128::from(self.rate_now());
        let missing = self.next_nano_bits().saturating_sub(self.accrued_nano_bits);
        self.next_send = (rate > 0).then(|| {
            let nanos = u64::try_from(missing.div_ceil(rate)).unwrap_or(u64::MAX);
            now.saturating_add(Duration::from_nanos(nanos))
        });
    }

    /// The rate at this instant in IP bits per second.
    fn rate_now(&self) -> u64 {
        let (on, off) = (u128::from(self.sojourns.on.as_nanos()), u128::from(self.sojourns.off.as_nanos()));
        let mean = if self.on { self.demand.rate().unwrap_or(0) } else { 0 };
        u64::try_from(u128::from(mean) * (on + off) / on).unwrap_or(u64::MAX)
    }

    fn next_nano_bits(&mut self) -> u128 {
        u128::from(self.sizes.peek(&mut self.stream)) * 8 * u128::from(NANO)
    }
}
