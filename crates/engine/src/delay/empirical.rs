//! Measured delays as a distribution: samples of equal probability, or a histogram.
//!
//! Samples: nanoseconds, in any order; below 0 where they were centred on their mean. Only the samples themselves are
//! drawn, no values between them. Histogram: bins from `low_ns` to `high_ns` with a count each, ascending and not
//! overlapping. A bin is drawn in proportion to its count, and all values in it are equally likely (quantiles are
//! interpolated, to the nanosecond).
//!
//! Source: Hyndman and Fan 1996 (definition 1: the inverse of the empirical distribution function).

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use crate::describe::{parameters, Json, Object, Parameter, Parameters, Problem, Rule, Value};

/// Measured values of a random part. Clones share the values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelaySamples(Arc<[i64]>);

impl DelaySamples {
    /// The distribution of `samples_ns`; `None` if it is empty.
    pub fn new(mut samples_ns: Vec<i64>) -> Option<DelaySamples> {
        samples_ns.sort_unstable();
        (!samples_ns.is_empty()).then(|| DelaySamples(samples_ns.into()))
    }

    /// `p` in (0, 1).
    pub(super) fn quantile_ns(&self, p: f64) -> i64 {
        super::place(&self.0, p)
    }
}

parameters! {
    /// One bin of a histogram.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct DelayBin {
        /// Its lower end.
        low_ns: i64 = [Parameter::named("low", "low_ns", "signed", |_| vec![("", json!(-100))])],
        /// Its upper end, above the lower one.
        high_ns: i64 = [Parameter::named("high", "high_ns", "signed", |_| vec![("", json!(900))])],
        /// Number of values in it.
        count: u32 = [Parameter::count("count", "count").within(0, u32::MAX.into())],
    }
}

/// A histogram of a random part. Clones share the bins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelayHistogram {
    /// Bins that are not empty, ascending.
    bins: Arc<[DelayBin]>,
    /// For each bin, the number of values in it and in all bins before it.
    up_to: Arc<[u64]>,
}

impl DelayHistogram {
    /// The distribution of `bins`; `None` if they are all empty, descend or overlap, or if one ends before it begins.
    pub fn new(bins: &[DelayBin]) -> Option<DelayHistogram> {
        let sound = bins.iter().all(|bin| bin.low_ns < bin.high_ns)
            && bins.windows(2).all(|pair| pair[0].high_ns <= pair[1].low_ns);
        let bins: Arc<[DelayBin]> = bins.iter().copied().filter(|bin| bin.count > 0).collect();
        let add = |sum: &mut u64, bin: &DelayBin| {
            *sum += u64::from(bin.count);
            Some(*sum)
        };
        let up_to: Arc<[u64]> = bins.iter().scan(0, add).collect();
        (sound && !bins.is_empty()).then_some(DelayHistogram { bins, up_to })
    }

    /// `p` in (0, 1).
    pub(super) fn quantile_ns(&self, p: f64) -> i64 {
        let last = self.bins.len() - 1;
        let value = p * self.up_to[last] as f64;
        let place = self.up_to.partition_point(|&up_to| up_to as f64 <= value).min(last);
        let DelayBin { low_ns, high_ns, count } = self.bins[place];
        let into = value - (self.up_to[place] - u64::from(count)) as f64;
        low_ns.saturating_add(libm::round((high_ns as f64 - low_ns as f64) * into / f64::from(count)) as i64)
    }
}

/// Both are a single list in an object of their own.
macro_rules! measured {
    ($type:ident, $about:literal, $name:literal, $item:ty, $sample:expr, $refusal:literal, $new:expr, $list:expr) => {
        impl Parameters for $type {
            const ABOUT: &'static str = $about;

            fn parameters() -> Vec<Parameter> {
                vec![Parameter::named(None, $name, $name, $sample).about($about)]
            }

            fn rules() -> Vec<Rule> {
                Vec::new()
            }

            fn take_from(object: &mut Object) -> Result<Self, Problem> {
                let items = Vec::<$item>::from_json(&object.remove($name).unwrap_or(Json::Null));
                let items = items.map_err(|problem| problem.inside($name))?;
                $new(items).ok_or_else(|| Problem::new($refusal))
            }

            fn put_into<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error> {
                object.serialize_entry($name, &$list(self))
            }

            /// It has its own form.
            fn value(&self, _: &str) -> Option<Json> {
                None
            }

            /// An existing value is valid.
            fn problems_inside(&self, _: &mut Vec<Problem>) {}
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut object = serializer.serialize_map(Some(1))?;
                self.put_into(&mut object)?;
                object.end()
            }
        }
    };
}

measured!(
    DelaySamples,
    "Measured values, all equally likely.",
    "samples_ns",
    i64,
    |sampler| {
        let one = |_| sampler.below(2_500) as i64 - 500;
        vec![("samples_ns", json!((0..9).map(one).collect::<Vec<_>>()))]
    },
    "there is no sample; give at least one",
    DelaySamples::new,
    |samples: &DelaySamples| samples.0.to_vec()
);
measured!(
    DelayHistogram,
    "Measured values, counted in bins.",
    "bins",
    DelayBin,
    |sampler| {
        let bin = |at: i64, count: u64| json!({"low_ns": at, "high_ns": at + 300, "count": count});
        vec![("bins", json!([bin(-200, 1 + sampler.below(9)), bin(100, sampler.below(9)), bin(700, 2)]))]
    },
    "bins overlap, descend or are all empty; give ascending bins with at least one value",
    |bins: Vec<DelayBin>| DelayHistogram::new(&bins),
    |histogram: &DelayHistogram| histogram.bins.to_vec()
);

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(low_ns: i64, high_ns: i64, count: u32) -> DelayBin {
        DelayBin { low_ns, high_ns, count }
    }

    #[test]
    fn each_sample_has_an_equal_probability() {
        let samples = DelaySamples::new(alloc::vec![30, 10, 20, 20]).unwrap();
        let at = |p| samples.quantile_ns(p);
        assert_eq!([at(0.1), at(0.24), at(0.25), at(0.74), at(0.75), at(0.99)], [10, 10, 20, 20, 30, 30]);
        assert_eq!(DelaySamples::new(alloc::vec![]), None);
    }

    #[test]
    fn a_bin_has_its_share_and_is_uniform_inside() {
        // A quarter from 0 to 100, three quarters from 1000 to 1300; the empty bin between them is never drawn.
        let histogram =
            DelayHistogram::new(&[bin(0, 100, 1), bin(100, 1000, 0), bin(1000, 1300, 3)]).unwrap();
        let at = |p| histogram.quantile_ns(p);
        assert_eq!(
            [at(0.0625), at(0.125), at(0.25), at(0.5), at(0.75), at(0.999)],
            [25, 50, 1000, 1100, 1200, 1300]
        );
    }

    #[test]
    fn invalid_histograms_are_refused() {
        for bins in [&[][..], &[bin(0, 1, 0)], &[bin(5, 5, 1)], &[bin(0, 10, 1), bin(9, 20, 1)]] {
            assert_eq!(DelayHistogram::new(bins), None);
        }
    }
}
