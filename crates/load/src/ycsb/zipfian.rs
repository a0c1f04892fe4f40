//! Zipf-distributed ranks: rank `k` (from 0) has a probability proportional to `1 / (k + 1)^0.99`.
//!
//! The method draws in constant time. Ranks 0 and 1 have exactly the probability of Zipf's law; for the others it is an
//! approximation by a continuous function, and the tests state by how much its distribution is off. It is used, though
//! exact methods exist, because YCSB's published results were made with it.
//!
//! Source: Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994, section 3;
//! YCSB 0.17.0, `ZipfianGenerator`.

use crate::random::Random;

/// The exponent that YCSB uses.
pub const THETA: f64 = 0.99;

/// A source of ranks over a number of items that may grow.
#[derive(Clone, Debug)]
pub struct Zipfian {
    items: u64, // at least 1
    zeta: f64,  // sum of 1 / k^THETA for k in 1..=items
    eta: f64,
}

impl Zipfian {
    /// Ranks in `[0, items)`. Takes time proportional to `items`.
    pub fn new(items: u64) -> Zipfian {
        Self::with_zeta(items, zeta_between(0, items))
    }

    /// The same, where the sum over all items is known.
    pub fn with_zeta(items: u64, zeta: f64) -> Zipfian {
        let zeta_of_two = zeta_between(0, 2);
        let eta = (1.0 - (2.0 / items as f64).powf(1.0 - THETA)) / (1.0 - zeta_of_two / zeta);
        Zipfian { items, zeta, eta }
    }

    /// Takes in new items; time is proportional to how many are new.
    pub fn grow_to(&mut self, items: u64) {
        if items > self.items {
            *self = Self::with_zeta(items, self.zeta + zeta_between(self.items, items));
        }
    }

    /// Draws a rank; 0 is the most popular.
    pub fn rank(&self, random: &mut Random) -> u64 {
        self.rank_at(random.unit())
    }

    fn rank_at(&self, unit: f64) -> u64 {
        let scaled = unit * self.zeta;
        if scaled < 1.0 || self.items == 1 {
            return 0;
        }
        if scaled < 1.0 + 0.5f64.powf(THETA) || self.items == 2 {
            return 1;
        }
        let rank = self.items as f64 * (self.eta * unit - self.eta + 1.0).powf(1.0 / (1.0 - THETA));
        (rank as u64).min(self.items - 1)
    }
}

fn zeta_between(from: u64, to: u64) -> f64 {
    (from..to).map(|k| 1.0 / ((k + 1) as f64).powf(THETA)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    const ITEMS: u64 = 1000;

    /// The exact distribution: the probability of a rank below `bound`.
    fn law_below(bound: u64) -> f64 {
        zeta_between(0, bound) / zeta_between(0, ITEMS)
    }

    /// The method's probability of a rank below each bound, from a million evenly spaced draws, so without chance.
    fn drawn_below() -> Vec<f64> {
        const DRAWS: u32 = 1_000_000;
        let zipfian = Zipfian::new(ITEMS);
        let mut counts = vec![0u32; ITEMS as usize];
        for draw in 0..DRAWS {
            counts[zipfian.rank_at((f64::from(draw) + 0.5) / f64::from(DRAWS)) as usize] += 1;
        }
        let mut below = 0;
        let running = counts.iter().map(|count| {
            below += count;
            f64::from(below) / f64::from(DRAWS)
        });
        std::iter::once(0.0).chain(running).collect()
    }

    #[test]
    fn the_two_most_popular_ranks_have_the_probability_of_the_law() {
        let drawn = drawn_below();
        for bound in [1, 2] {
            assert!((drawn[bound] - law_below(bound as u64)).abs() < 1e-5);
        }
    }

    #[test]
    fn the_distribution_follows_the_law_within_the_error_of_its_method() {
        let drawn = drawn_below();
        let off = |bound: u64| (drawn[bound as usize] - law_below(bound)).abs();
        let (worst, furthest) =
            (0..=ITEMS).map(|bound| (bound, off(bound))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        // Evaluating Gray's formula itself for 1000 items gives 0.01610 below rank 14.
        assert_eq!(worst, 14);
        assert!((furthest - 0.0161).abs() < 1e-4, "{furthest}");
    }

    #[test]
    fn random_draws_have_the_distribution_of_the_even_ones() {
        const DRAWS: usize = 100_000;
        let zipfian = Zipfian::new(ITEMS);
        let mut random = Random::stream(3, Purpose::Connection, 0);
        let mut ranks: Vec<u64> = (0..DRAWS).map(|_| zipfian.rank(&mut random)).collect();
        ranks.sort_unstable();
        for (bound, expected) in drawn_below().into_iter().enumerate() {
            let share = ranks.partition_point(|&rank| rank < bound as u64) as f64 / DRAWS as f64;
            // Standard deviation of a share: at most sqrt(0.25 / 100000) = 0.0016; five of them.
            assert!((share - expected).abs() < 0.008);
        }
    }

    #[test]
    fn ranks_stay_below_the_number_of_items() {
        let nearly_one = 1.0 - f64::EPSILON / 2.0;
        for items in 1..200 {
            assert!(Zipfian::new(items).rank_at(nearly_one) < items);
            assert_eq!(Zipfian::new(items).rank_at(0.0), 0);
        }
    }

    #[test]
    fn growing_is_the_same_as_having_been_larger_from_the_start() {
        let mut grown = Zipfian::new(100);
        grown.grow_to(170);
        grown.grow_to(250);
        grown.grow_to(20); // never shrinks
        let (mut one, mut other) =
            (Random::stream(1, Purpose::Connection, 0), Random::stream(1, Purpose::Connection, 0));
        let fresh = Zipfian::new(250);
        for _ in 0..10_000 {
            assert_eq!(grown.rank(&mut one), fresh.rank(&mut other));
        }
    }
}
