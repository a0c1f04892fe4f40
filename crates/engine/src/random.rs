//! Random streams, one per name, so that adding an element or a source does not change any other's numbers.
//!
//! A stream is a PCG-64 whose state and increment are derived from (seed, name). Normal deviates come from the
//! Box-Muller transform with software functions: every machine draws the same numbers, and every draw consumes two.
//!
//! Source: O'Neill 2014, "PCG" (generator); Box and Muller 1958 (normal distribution).

use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

use crate::units::Share;

/// The random numbers of one name.
#[derive(Clone)]
pub(crate) struct Stream(Pcg64);

impl Stream {
    pub(crate) fn new(seed: u64, name: &str) -> Stream {
        let mut key = Key::new(seed, name);
        let state = u128::from(key.next()) << 64 | u128::from(key.next());
        let increment = u128::from(key.next()) << 64 | u128::from(key.next());
        Stream(Pcg64::new(state, increment))
    }

    /// A number in (0, 1], on a grid of 2^-53.
    pub(crate) fn uniform(&mut self) -> f64 {
        const GRID: f64 = (1u64 << 53) as f64;
        ((self.0.next_u64() >> 11) + 1) as f64 / GRID
    }

    /// A number in (0, 1), neither end included, on a grid of 2^-52.
    pub(crate) fn inside_unit(&mut self) -> f64 {
        const GRID: f64 = (1u64 << 52) as f64;
        ((self.0.next_u64() >> 12) as f64 + 0.5) / GRID
    }

    /// A whole number in [0, bound), all equally likely to within 2^-32 of their probability.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u32
    }

    /// Whether an event of probability `share` happens: one draw, even if it is certain.
    pub(crate) fn happens(&mut self, share: Share) -> bool {
        self.below(Share::WHOLE.ppb()) < share.ppb()
    }

    /// A draw from the exponential distribution with mean 1; at most 36.8 (the grid's smallest number).
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// A draw from the standard normal distribution.
    pub(crate) fn standard_normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }
}

/// Spreads (seed, name) over as many bits as needed: FNV-1a over the name, then SplitMix64.
struct Key(u64);

impl Key {
    fn new(seed: u64, name: &str) -> Key {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        let hash = name.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        let mut key = Key(seed);
        key.0 = key.next() ^ hash;
        key
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_its_published_sequence() {
        // The first outputs of the reference implementation for the state 1234567.
        let mut key = Key(1_234_567);
        assert_eq!(key.next(), 6_457_827_717_110_365_317);
        assert_eq!(key.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_same_seed_and_name_give_the_same_stream_and_others_differ() {
        let draws = |seed, name| {
            let mut stream = Stream::new(seed, name);
            [stream.standard_normal(), stream.standard_normal()]
        };
        assert_eq!(draws(7, "h0->h1"), draws(7, "h0->h1"));
        assert_ne!(draws(7, "h0->h1"), draws(7, "h1->h0"));
        assert_ne!(draws(7, "h0->h1"), draws(8, "h0->h1"));
    }

    #[test]
    fn the_normal_distribution_has_mean_0_and_variance_1() {
        // 100 000 draws: the mean's standard error is 0.0032, the variance's 0.0045; five standard errors are allowed.
        let mut stream = Stream::new(1, "law");
        let n = 100_000;
        let (sum, squares) = (0..n).fold((0.0, 0.0), |(sum, squares), _| {
            let x = stream.standard_normal();
            (sum + x, squares + x * x)
        });
        let mean = sum / f64::from(n);
        assert!(mean.abs() < 0.016, "{mean}");
        assert!((squares / f64::from(n) - mean * mean - 1.0).abs() < 0.023);
    }
}
