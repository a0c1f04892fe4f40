//! Measured delays as a law: samples, each as likely as the others, or a histogram.
//!
//! Samples: nanoseconds, in any order; below 0 where they were centred on their mean. The law is theirs and nothing between
//! them. Histogram: bins from `low_ns` to `high_ns` with a count each, ascending and not overlapping; a bin is drawn by its
//! count, and all values in it are equally likely (quantiles are interpolated, to the nanosecond).
//!
//! Source: Hyndman and Fan 1996 (definition 1: the inverse of the empirical distribution function).

use alloc::sync::Arc;
use alloc::vec::Vec;

/// Measured values of a random part. Cloning them copies nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelaySamples(Arc<[i64]>);

impl DelaySamples {
    /// The law of `samples_ns`; `None` without any.
    pub fn new(mut samples_ns: Vec<i64>) -> Option<DelaySamples> {
        samples_ns.sort_unstable();
        (!samples_ns.is_empty()).then(|| DelaySamples(samples_ns.into()))
    }

    /// `p` in (0, 1).
    pub(super) fn quantile_ns(&self, p: f64) -> i64 {
        super::place(&self.0, p)
    }
}

/// One bin of a histogram.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct DelayBin {
    /// Where it begins.
    pub low_ns: i64,
    /// Where it ends, above `low_ns`.
    pub high_ns: i64,
    /// How many values lie in it.
    pub count: u32,
}

/// A histogram of a random part. Cloning it copies nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelayHistogram {
    /// Bins that are not empty, ascending.
    bins: Arc<[DelayBin]>,
    /// Values in all bins up to and including the one of that place.
    up_to: Arc<[u64]>,
}

impl DelayHistogram {
    /// The law of `bins`; `None` where they hold nothing, descend or overlap, or where one ends before it begins.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(low_ns: i64, high_ns: i64, count: u32) -> DelayBin {
        DelayBin { low_ns, high_ns, count }
    }

    #[test]
    fn each_sample_has_its_share_of_the_probability() {
        let samples = DelaySamples::new(alloc::vec![30, 10, 20, 20]).unwrap();
        let at = |p| samples.quantile_ns(p);
        assert_eq!([at(0.1), at(0.24), at(0.25), at(0.74), at(0.75), at(0.99)], [10, 10, 20, 20, 30, 30]);
        assert_eq!(DelaySamples::new(alloc::vec![]), None);
    }

    #[test]
    fn a_bin_has_its_share_and_is_even_inside() {
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
    fn histograms_that_are_none_are_refused() {
        for bins in [&[][..], &[bin(0, 1, 0)], &[bin(5, 5, 1)], &[bin(0, 10, 1), bin(9, 20, 1)]] {
            assert_eq!(DelayHistogram::new(bins), None);
        }
    }
}
