//! A seeded mutator, for machines without libFuzzer: the same seed damages the same input in the same way.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// The bytes that hurt most.
const INTERESTING: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, 0x45, 0x60, 0x08];
/// Longer than any frame.
const LENGTH_MAX: usize = 70_000;

/// A source of numbers and of damage.
#[derive(Debug)]
pub struct Mutator(SplitMix64);

impl Mutator {
    /// With a seed.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// In 0..bound; `bound` is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// Does one to eight pieces of damage: flips, overwrites, cuts, repeats, inserts.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(8) {
            if bytes.is_empty() {
                bytes.push(self.number() as u8);
            }
            let at = self.below(bytes.len());
            match self.below(7) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = self.number() as u8,
                2 => bytes[at] = INTERESTING[self.below(INTERESTING.len())],
                3 => bytes.truncate(at),
                4 => bytes.insert(at, self.number() as u8),
                5 => {
                    let end = (at + 1 + self.below(64)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => {
                    let end = (at + 8).min(bytes.len());
                    let number = self.number().to_le_bytes();
                    bytes[at..end].copy_from_slice(&number[..end - at]);
                }
            }
            bytes.truncate(LENGTH_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_keeps_its_numbers_and_so_its_damage() {
        // First outputs of the authors' splitmix64.c from the state 1234567.
        let mut mutator = Mutator::new(1234567);
        assert_eq!([mutator.number(), mutator.number()], [6457827717110365317, 3203168211198807973]);
    }
}
