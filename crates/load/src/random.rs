//! Seeded random numbers: xoshiro256++, its state filled by SplitMix64. Not for secrets.
//!
//! A stream is named by the seed, what it is for, and a number. Streams do not depend on one another, so a run with more
//! connections leaves the choices of the first ones as they were.
//!
//! Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021), and their reference code.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// What a stream is for.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// The contents of one record, by its key number.
    Record,
    /// The choices of one connection.
    Connection,
    /// The instants at which the operations of one connection fall due.
    Arrivals,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream with this name, from its beginning.
    pub fn stream(seed: u64, purpose: Purpose, number: u64) -> Random {
        // Each part passes through the mixer before the next is added, so that neighbours share nothing.
        let mixed = split_mix(split_mix(seed) ^ purpose as u64) ^ number;
        Random(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A number with 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number in [0, `bound`), each with the same probability up to `bound` / 2^64; `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }
}

fn split_mix(state: u64) -> u64 {
    SplitMix64::seed_from_u64(state).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_those_of_the_authors_code_and_stay_so() {
        // Computed with xoshiro256plusplus.c and splitmix64.c: whatever crate draws, the same seed makes the same requests.
        let first = |seed, purpose, number| {
            let mut random = Random::stream(seed, purpose, number);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(
            first(7, Purpose::Connection, 1),
            [3171292953537159916, 3015613891710116204, 11294361381443300872]
        );
        assert_eq!(
            first(0, Purpose::Record, 12),
            [1681381997200385133, 15035587908466578078, 7845595992631363041]
        );
        assert_eq!(
            first(u64::MAX, Purpose::Arrivals, 3),
            [8234290854309291779, 7018324962099755540, 14790662504069611013]
        );
    }

    #[test]
    fn streams_are_reproducible_and_differ_by_each_part_of_their_name() {
        let first = |seed, purpose, number| Random::stream(seed, purpose, number).bits();
        assert_eq!(first(7, Purpose::Connection, 1), first(7, Purpose::Connection, 1));
        let all = [
            first(7, Purpose::Connection, 0),
            first(7, Purpose::Connection, 1),
            first(8, Purpose::Connection, 0),
            first(7, Purpose::Record, 0),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one));
        }
    }

    #[test]
    fn numbers_below_a_bound_are_uniform() {
        let mut random = Random::stream(1, Purpose::Connection, 0);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[random.below(10) as usize] += 1;
        }
        // Standard deviation of a count: sqrt(100000 * 0.1 * 0.9) = 95; five of them.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 475), "{counts:?}");
    }
}
