//! A histogram of fixed size: the number of values in each bin. Nothing is allocated after it has been made.
//!
//! `Linear`: bins of one width, and an open bin above them. `Logarithmic`: bins of width 1 below 64, then 32 in every
//! doubling, so that a bin is never wider than 1/32 (3.1 %) of its lower edge; one open bin from 2^42 (73 minutes in
//! nanoseconds) on. Count, sum, smallest and largest value are exact whatever the bins.
//!
//! Source: Zilberman et al. 2021, NRG, section IV ("some accuracy can be sacrificed through binning"); Tene 2012,
//! HdrHistogram (logarithmic bins with linear ones inside).

use alloc::boxed::Box;
use alloc::vec;

const EXACT_BELOW: u64 = 64;
const BINS_PER_DOUBLING: usize = 32;
const FIRST_OCTAVE: u32 = 6;
const OPEN_OCTAVE: u32 = 42;
const LOGARITHMIC_BINS: usize =
    EXACT_BELOW as usize + (OPEN_OCTAVE - FIRST_OCTAVE) as usize * BINS_PER_DOUBLING;

/// The borders of bins.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Scale {
    Linear { width: u64, bins: usize },
    Logarithmic,
}

impl Scale {
    /// Number of bins with an upper edge; the open bin follows.
    const fn closed_bins(self) -> usize {
        match self {
            Scale::Linear { bins, .. } => bins,
            Scale::Logarithmic => LOGARITHMIC_BINS,
        }
    }

    #[inline]
    fn bin_of(self, value: u64) -> usize {
        match self {
            Scale::Linear { width, bins } => usize::try_from(value / width).map_or(bins, |bin| bin.min(bins)),
            Scale::Logarithmic if value < EXACT_BELOW => value as usize,
            Scale::Logarithmic => {
                let octave = value.ilog2();
                if octave >= OPEN_OCTAVE {
                    return LOGARITHMIC_BINS;
                }
                let within = (value >> (octave - 5)) as usize % BINS_PER_DOUBLING;
                EXACT_BELOW as usize + (octave - FIRST_OCTAVE) as usize * BINS_PER_DOUBLING + within
            }
        }
    }

    /// The smallest value of a bin, including the open one.
    fn low_of(self, bin: usize) -> u64 {
        match self {
            Scale::Linear { width, .. } => bin as u64 * width,
            Scale::Logarithmic if bin < EXACT_BELOW as usize => bin as u64,
            Scale::Logarithmic => {
                let above = bin - EXACT_BELOW as usize;
                let octave = FIRST_OCTAVE + (above / BINS_PER_DOUBLING) as u32;
                let within = (above % BINS_PER_DOUBLING) as u64;
                (1 << octave) + (within << (octave - 5))
            }
        }
    }
}

/// A bin that is not empty.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Bin {
    /// The smallest value in it.
    pub low: u64,
    /// The smallest value above it; `None` for the open bin.
    pub high: Option<u64>,
    /// Number of values in it.
    pub count: u64,
}

/// Number of values in each bin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram {
    scale: Scale,
    counts: Box<[u64]>,
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
}

impl Histogram {
    pub(crate) fn new(scale: Scale) -> Histogram {
        let counts = vec![0; scale.closed_bins() + 1].into_boxed_slice();
        Histogram { scale, counts, count: 0, sum: 0, least: u64::MAX, greatest: 0 }
    }

    /// Logarithmic bins.
    pub fn logarithmic() -> Histogram {
        Histogram::new(Scale::Logarithmic)
    }

    /// Adds a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_times(value, 1);
    }

    /// Adds a value `times` times.
    #[inline]
    pub fn record_times(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.counts[self.scale.bin_of(value)] += times;
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// Adds the values of another histogram with the same bins.
    pub fn add(&mut self, other: &Histogram) {
        debug_assert_eq!(self.scale, other.scale);
        for (count, others) in self.counts.iter_mut().zip(&other.counts) {
            *count += others;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// An upper bound of the value with rank ceil(`share` x count), at least 1: the greatest value of its bin, or of all values
    /// if that is less. `None` while there is no value. `share` is in [0, 1].
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = (libm::ceil(self.count as f64 * share) as u64).max(1);
        let mut seen = 0;
        let bin = self.bins().find(|bin| {
            seen += bin.count;
            seen >= rank
        })?;
        Some(bin.high.map_or(self.greatest, |high| self.greatest.min(high - 1)))
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their exact sum.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact smallest and largest value; `None` if there is none.
    pub fn range(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.least, self.greatest))
    }

    /// The bins that are not empty, in ascending order.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        let open = self.scale.closed_bins();
        self.counts.iter().enumerate().filter(|(_, &count)| count > 0).map(move |(bin, &count)| Bin {
            low: self.scale.low_of(bin),
            high: (bin < open).then(|| self.scale.low_of(bin + 1)),
            count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn bins(scale: Scale, values: &[u64]) -> Vec<(u64, Option<u64>, u64)> {
        let mut histogram = Histogram::new(scale);
        values.iter().for_each(|&value| histogram.record(value));
        histogram.bins().map(|bin| (bin.low, bin.high, bin.count)).collect()
    }

    #[test]
    fn small_values_have_separate_bins_and_large_ones_share() {
        // 64..128 has 32 bins of 2; 1000 is in the octave of 512, whose bins are 16 wide: 992 = 512 + 30 x 16.
        let expected = [(0, Some(1), 1), (63, Some(64), 1), (64, Some(66), 2), (992, Some(1008), 1)];
        assert_eq!(bins(Scale::Logarithmic, &[0, 63, 64, 65, 1000]), expected);
        assert_eq!(bins(Scale::Logarithmic, &[1 << 42]), [(1 << 42, None, 1)]);
    }

    #[test]
    fn linear_bins_end_in_an_open_one() {
        let scale = Scale::Linear { width: 5, bins: 400 };
        assert_eq!(
            bins(scale, &[0, 4, 5, 1999, 2000, u64::MAX]),
            [(0, Some(5), 2), (5, Some(10), 1), (1995, Some(2000), 1), (2000, None, 2)]
        );
    }

    #[test]
    fn count_sum_and_range_are_exact() {
        let mut histogram = Histogram::logarithmic();
        assert_eq!(histogram.range(), None);
        histogram.record(1001);
        histogram.record_times(3, 4);
        histogram.record_times(7, 0);
        assert_eq!((histogram.count(), histogram.sum(), histogram.range()), (5, 1013, Some((3, 1001))));
    }

    #[test]
    fn values_of_two_histograms_add_up() {
        let (mut first, mut second, mut both) =
            (Histogram::logarithmic(), Histogram::logarithmic(), Histogram::logarithmic());
        for value in [3, 1001, u64::MAX] {
            first.record(value);
            second.record_times(value / 2, 2);
            both.record(value);
            both.record_times(value / 2, 2);
        }
        first.add(&second);
        assert_eq!(first, both);
        first.add(&Histogram::logarithmic());
        assert_eq!(first, both);
    }

    #[test]
    fn quantiles_without_a_value_or_in_the_open_bin() {
        let mut histogram = Histogram::logarithmic();
        assert_eq!(histogram.quantile(0.5), None);
        histogram.record(1 << 50);
        assert_eq!(histogram.quantile(0.5), Some(1 << 50));
    }

    proptest! {
        #[test]
        fn a_quantile_is_the_value_of_its_rank_or_up_to_a_32nd_above_it(
            mut values in prop::collection::vec(0u64..1 << 42, 1..50),
            share in 0.0f64..=1.0,
        ) {
            let mut histogram = Histogram::logarithmic();
            values.iter().for_each(|&value| histogram.record(value));
            values.sort_unstable();
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
            let (exact, found) = (values[rank - 1], histogram.quantile(share).unwrap());
            prop_assert!(exact <= found && found - exact <= exact / 32, "{exact} found as {found}");
        }

        #[test]
        fn a_value_lies_in_its_bin_and_the_bin_is_narrow(value in prop_oneof![any::<u64>(), 0u64..10_000]) {
            let (low, high, _) = bins(Scale::Logarithmic, &[value])[0];
            prop_assert!(low <= value && high.is_none_or(|high| value < high));
            prop_assert!(high.is_none_or(|high| high - low <= 1.max(low / 32)));
        }
    }
}
