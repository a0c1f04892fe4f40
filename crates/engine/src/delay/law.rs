//! Distributions of a delay's random part. Location and spread are given separately from the shape.
//!
//! `jitter`: the spread, above 0. The random part of
//!
//! * `uniform` lies between -jitter and +jitter;
//! * `normal` has the mean 0 and the standard deviation jitter;
//! * `pareto` is jitter x 4/3 x (X - 3/2), where X has the Pareto distribution of shape 3 and minimum 1: mean 0, at
//!   least -2/3 jitter, standard deviation 1.155 jitter (the factor 4/3 is netem's, and is 1 / variance where 1 /
//!   deviation was meant);
//! * `pareto_normal` adds a quarter of the normal and three quarters of the Pareto quantile at the same probability:
//!   mean 0. It is often called a mixture of the two distributions, but is none;
//! * `lognormal` is a lognormal distribution of shape `sigma`, shifted and scaled to the mean 0 and the standard
//!   deviation jitter. With time as the static part, time and jitter are the delay's mean and deviation. `sigma`: in
//!   (0, 4];
//! * samples and histograms are as measured (`delay/empirical.rs`).
//!
//! Tails are limited only by the 52 random bits: the largest Pareto delay is 220 000 jitters, once in 10^16 packets.
//!
//! Source: iproute2, netem/normal.c, pareto.c, paretonormal.c (shapes); tc-netem(8). Exception: netem cuts its tables
//! at 4 jitters and 4096 entries; to reproduce that, load its .dist files.

use super::empirical::{DelayHistogram, DelaySamples};
use crate::describe::{choice, parameters, Parameter};
use crate::normal;
use crate::units::Duration;

choice! {
    /// The distribution of a delay's random part.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub enum DelayLaw: "law" {
        /// Every value within the jitter, equally likely.
        Uniform(Spread) = "uniform",
        /// A normal distribution.
        Normal(Spread) = "normal",
        /// A Pareto distribution as in netem.
        Pareto(Spread) = "pareto",
        /// Between normal and Pareto, as in netem.
        ParetoNormal(Spread) = "pareto_normal",
        /// A lognormal distribution.
        Lognormal(Lognormal) = "lognormal",
        /// Measured values.
        Samples(DelaySamples) = "samples",
        /// Measured values, counted in bins.
        Histogram(DelayHistogram) = "histogram",
    }
}

parameters! {
    /// How far a distribution spreads delays; its meaning for each distribution is explained above.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct Spread {
        /// The spread.
        jitter: Duration = [Parameter::time("jitter", "jitter_ns")],
    }
}

parameters! {
    /// A lognormal distribution, shifted and scaled.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct Lognormal {
        /// Its standard deviation.
        jitter: Duration = [Parameter::time("jitter", "jitter_ns")],
        /// The standard deviation of its logarithm, in millionths.
        sigma_ppm: u32 = [Parameter::count("sigma", "sigma_ppm").within(1, 4_000_000)],
    }
}

impl DelayLaw {
    /// The quantile of the random part, in nanoseconds, at probability `p`, in (0, 1).
    pub(super) fn quantile_ns(&self, p: f64) -> i64 {
        let (jitter, quantile) = match self {
            DelayLaw::Uniform(Spread { jitter }) => (jitter, 2.0 * p - 1.0),
            DelayLaw::Normal(Spread { jitter }) => (jitter, normal::quantile(p)),
            DelayLaw::Pareto(Spread { jitter }) => (jitter, pareto(p)),
            DelayLaw::ParetoNormal(Spread { jitter }) => {
                (jitter, 0.25 * normal::quantile(p) + 0.75 * pareto(p))
            }
            DelayLaw::Lognormal(Lognormal { jitter, sigma_ppm }) => {
                (jitter, lognormal(p, f64::from(*sigma_ppm) / 1e6))
            }
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
