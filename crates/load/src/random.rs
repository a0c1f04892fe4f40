//! Seeded random numbers: xoshiro256++, its state filled by SplitMix64. Not for secrets.
//!
//! Written here and not taken from a crate because "same seed, same requests" must outlive the crate's next version.
//!
//! A stream is named by the seed, what it is for, and a number. Streams do not depend on one another, so a run with more
//! connections leaves the choices of the first ones as they were.
//!
//! Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021), and their reference code.

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
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The stream with this name, from its beginning.
    pub fn stream(seed: u64, purpose: Purpose, number: u64) -> Random {
        // Each part passes through the mixer before the next is added, so that neighbours share nothing.
        let mut mixer = seed;
        mixer = split_mix(&mut mixer) ^ purpose as u64;
        mixer = split_mix(&mut mixer) ^ number;
        Random { state: std::array::from_fn(|_| split_mix(&mut mixer)) }
    }

    /// A number with 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
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

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs of the authors' xoshiro256plusplus.c from the state 1, 2, 3, 4.
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.bits()).collect();
        assert_eq!(first, [41943041, 58720359, 3588806011781223, 3591011842654386]);
    }

    #[test]
    fn the_mixer_is_the_published_one() {
        // First outputs of the authors' splitmix64.c from the state 1234567.
        let mut state = 1234567;
        assert_eq!(split_mix(&mut state), 6457827717110365317);
        assert_eq!(split_mix(&mut state), 3203168211198807973);
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
