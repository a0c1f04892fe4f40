//! Drift: a standard normal quantity that changes smoothly in time, sampled when packets arrive. Correlates jitter.
//!
//! At every instant its distribution is exactly standard normal, so its probability is uniform. The quantile of a
//! delay's distribution at that probability has exactly that distribution (a Gaussian copula). Values `half_life`
//! apart have a correlation of one half, values d apart one of (1 + a) exp(-a), a = 1.678 d / half_life.
//!
//! It is the critically damped oscillator driven by white noise (the Matern process of smoothness 3/2). Position and
//! speed together have no memory, so a step of any length is exact and costs two draws. The first-order process
//! (Ornstein-Uhlenbeck) has a simpler correlation, but its path is rough: however small the jitter, packets that
//! arrive close together would be due in the wrong order, and preserving their order would distort the distribution.
//! This path is smooth. With normal jitter J the delay falls faster than time passes only where the speed exceeds
//! half_life / (1.678 J) deviations; only then must a packet wait to preserve the order. That is 1 packet in 700 at
//! half_life = 5 J, 1 in 10^9 at 10 J.
//!
//! Source: Rasmussen and Williams 2006, section 4.2.1 (Matern class); Hartikainen and Sarkka 2010 (exact discrete steps).

use crate::normal;
use crate::random::Stream;
use crate::units::{Duration, Instant};

/// Solves (1 + a) exp(-a) = 1/2.
const AT_HALF_LIFE: f64 = 1.678_346_990_016_661;

pub(super) struct Drift {
    half_life: Duration,
    /// Standard normal, and independent of `speed` at any one instant.
    position: f64,
    /// Change of position, in units of its standard deviation; standard normal.
    speed: f64,
    /// The instant of position and speed; `None` before the first packet.
    since: Option<Instant>,
}

impl Drift {
    /// `half_life` is above 0.
    pub(super) fn new(half_life: Duration) -> Drift {
        Drift { half_life, position: 0.0, speed: 0.0, since: None }
    }

    /// The same drift, from now on with another half-life.
    pub(super) fn with(self, half_life: Duration) -> Drift {
        Drift { half_life, ..self }
    }

    /// The drift at `now` (not before the latest call's instant), as a probability in (0, 1).
    pub(super) fn probability(&mut self, now: Instant, stream: &mut Stream) -> f64 {
        match self.since {
            None => {
                self.position = stream.standard_normal();
                self.speed = stream.standard_normal();
            }
            Some(since) if since == now => {}
            Some(since) => self.step((now - since).as_nanos() as f64, stream),
        }
        self.since = Some(now);
        // Beyond 8.2 deviations, once in 10^16 packets, the probability would be rounded to 1.
        normal::probability(self.position.clamp(-8.1, 8.1))
    }

    /// x' = M x + L n with two independent normal draws n, where M is the damped motion and L L^T the covariance that
    /// preserves the distribution: 1 - M M^T.
    fn step(&mut self, elapsed_ns: f64, stream: &mut Stream) {
        let a = AT_HALF_LIFE * elapsed_ns / self.half_life.as_nanos() as f64;
        let damping = libm::exp(-a);
        let position = damping * ((1.0 + a) * self.position + a * self.speed);
        let speed = damping * ((1.0 - a) * self.speed - a * self.position);
        let Noise { on_position, on_both, on_speed } = Noise::of(2.0 * a);
        let (first, second) = (stream.standard_normal(), stream.standard_normal());
        self.position = position + on_position * first;
        self.speed = speed + on_both * first + on_speed * second;
    }
}

/// L, the lower triangle.
struct Noise {
    on_position: f64,
    on_both: f64,
    on_speed: f64,
}

impl Noise {
    /// With s = 2 a: the covariance is [1 - e^-s (1 + s + s^2/2), e^-s s^2/2; ., 1 - e^-s (1 - s + s^2/2)].
    fn of(s: f64) -> Noise {
        let damping = libm::exp(-s);
        let of_position = if s < 0.1 {
            // The difference would cancel; it is e^-s times the rest of the exponential series, from s^3/6 on.
            let rest = 1.0 + s / 4.0 * (1.0 + s / 5.0 * (1.0 + s / 6.0 * (1.0 + s / 7.0 * (1.0 + s / 8.0))));
            damping * s * s * s / 6.0 * rest
        } else {
            1.0 - damping * (1.0 + s + s * s / 2.0)
        };
        let of_both = damping * s * s / 2.0;
        let of_speed = damping * (s - s * s / 2.0) - libm::expm1(-s);
        let on_position = libm::sqrt(of_position);
        let on_both = of_both / on_position;
        Noise { on_position, on_both, on_speed: libm::sqrt((of_speed - on_both * on_both).max(0.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_a_half_life_apart_have_a_correlation_of_one_half() {
        assert!(((1.0 + AT_HALF_LIFE) * libm::exp(-AT_HALF_LIFE) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn the_noise_preserves_the_distribution_for_every_step_length() {
        // M M^T + L L^T = 1. To leading order L L^T is [4/3 a^3, 2 a^2; ., 4 a], which is checked where 1 - M M^T
        // would be only rounding.
        for exponent in -60..20 {
            let a = libm::exp2(f64::from(exponent) / 2.0);
            let Noise { on_position, on_both, on_speed } = Noise::of(2.0 * a);
            let (noise, both) = (on_position * on_position, on_position * on_both);
            let of_speed = on_both * on_both + on_speed * on_speed;
            if a < 1e-4 {
                assert!((noise / (4.0 / 3.0 * a * a * a) - 1.0).abs() < 2.0 * a, "{a}");
                assert!((both / (2.0 * a * a) - 1.0).abs() < 3.0 * a, "{a}");
                assert!((of_speed / (4.0 * a) - 1.0).abs() < 3.0 * a, "{a}");
            } else {
                let damping = libm::exp(-2.0 * a);
                let kept = damping * ((1.0 + a) * (1.0 + a) + a * a);
                assert!((kept + noise - 1.0).abs() < 1e-12, "{a}");
                assert!((damping * ((1.0 - a) * (1.0 - a) + a * a) + of_speed - 1.0).abs() < 1e-12, "{a}");
                assert!((both - 2.0 * a * a * damping).abs() < 1e-12, "{a}");
            }
        }
    }
}
