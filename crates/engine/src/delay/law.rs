//! Laws of a delay's random part. Location and spread are given apart from the shape.
//!
//! `jitter`: the spread, above 0. The random part of
//!
//! * `uniform` lies within -jitter and +jitter;
//! * `normal` has the mean 0 and the standard deviation jitter;
//! * `pareto` is jitter x 4/3 x (X - 3/2), where X has the Pareto law of shape 3 and minimum 1: mean 0, at least -2/3 jitter,
//!   standard deviation 1.155 jitter (the factor 4/3 is netem's, and 1 / variance where 1 / deviation was meant);
//! * `pareto_normal` adds a quarter of the normal and three quarters of the Pareto quantile at the same probability (so
//!   it is no mixture of the two laws, although it is often called one): mean 0;
//! * `lognormal` is a lognormal law of shape `sigma` shifted and scaled to the mean 0 and the standard deviation jitter: with
//!   time as the static part, time and jitter are the delay's mean and deviation. `sigma`: in (0, 4];
//! * samples and histograms are as measured (`delay/empirical.rs`).
//!
//! Tails end only where 52 random bits do: the largest Pareto delay is 220 000 jitters, once in 10^16 packets.
//!
//! Source: iproute2, netem/normal.c, pareto.c, paretonormal.c (shapes); tc-netem(8). Exception: netem cuts its tables at
//! 4 jitters and 4096 entries; to have that, load its .dist files.

use super::empirical::{DelayHistogram, DelaySamples};
use crate::error::Problem;
use crate::normal;
use crate::units::Duration;

/// The law of a delay's random part.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Jitter, the spread of each law, is explained above.
pub enum DelayLaw {
    /// Anything within the jitter, equally likely.
    Uniform { jitter: Duration },
    /// A normal law.
    Normal { jitter: Duration },
    /// A Pareto law as in netem.
    Pareto { jitter: Duration },
    /// Between the two, as in netem.
    ParetoNormal { jitter: Duration },
    /// A lognormal law.
    Lognormal { jitter: Duration, sigma: Sigma },
    /// Measured values.
    Samples(DelaySamples),
    /// Measured values, counted in bins.
    Histogram(DelayHistogram),
}

/// The shape of a lognormal law: the standard deviation of its logarithm, in millionths.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sigma(u32);

impl Sigma {
    /// So many millionths; `None` outside (0, 4].
    pub const fn millionths(millionths: u32) -> Option<Sigma> {
        if millionths > 0 && millionths <= 4_000_000 {
            Some(Sigma(millionths))
        } else {
            None
        }
    }

    fn value(self) -> f64 {
        f64::from(self.0) / 1e6
    }
}

impl DelayLaw {
    pub(super) fn check(&self) -> Result<(), Problem> {
        match self {
            DelayLaw::Uniform { jitter }
            | DelayLaw::Normal { jitter }
            | DelayLaw::Pareto { jitter }
            | DelayLaw::ParetoNormal { jitter }
            | DelayLaw::Lognormal { jitter, .. }
                if *jitter == Duration::ZERO =>
            {
                Err(Problem::ZeroJitter)
            }
            _ => Ok(()),
        }
    }

    /// The random part, in nanoseconds, up to which the probability is `p`, in (0, 1).
    pub(super) fn quantile_ns(&self, p: f64) -> i64 {
        let (jitter, quantile) = match self {
            DelayLaw::Uniform { jitter } => (jitter, 2.0 * p - 1.0),
            DelayLaw::Normal { jitter } => (jitter, normal::quantile(p)),
            DelayLaw::Pareto { jitter } => (jitter, pareto(p)),
            DelayLaw::ParetoNormal { jitter } => (jitter, 0.25 * normal::quantile(p) + 0.75 * pareto(p)),
            DelayLaw::Lognormal { jitter, sigma } => (jitter, lognormal(p, sigma.value())),
            DelayLaw::Samples(samples) => return samples.quantile_ns(p),
            DelayLaw::Histogram(histogram) => return histogram.quantile_ns(p),
        };
        // The cast saturates, and so does the sum with the static part.
        libm::round(jitter.as_nanos() as f64 * quantile) as i64
    }
}

/// Shape 3, minimum 1, centred on its mean 3/2, times 4/3.
fn pareto(p: f64) -> f64 {
    (1.0 / libm::cbrt(1.0 - p) - 1.5) * (4.0 / 3.0)
}

/// Mean 0 and deviation 1: (exp(sigma z - sigma^2 / 2) - 1) / sqrt(exp(sigma^2) - 1).
fn lognormal(p: f64, sigma: f64) -> f64 {
    let variance = sigma * sigma;
    libm::expm1(sigma * normal::quantile(p) - variance / 2.0) / libm::sqrt(libm::expm1(variance))
}
