//! The sizes of keys and values in Facebook's ETC pool.
//!
//! A key's size follows from its number and is the same in every run. A value's size is drawn anew by every SET, so the
//! sizes of the few most popular keys average out within a run.
//!
//! Source: Atikoglu et al., SIGMETRICS 2012, the statistical model of ETC. The constants agree with those of mutilate
//! (`Generator.cc`, `fb_key` and `fb_value`) and of the message sizes that Homa's simulations took from the paper. Early
//! mutilate passed 214.476 as the location instead of the scale; later versions say, as here, location 15.

use crate::random::{Purpose, Random};

/// Longest key of the protocol.
pub const KEY_BYTES_MAX: usize = 250;
/// Longest value that is ever sent: memcached's default item limit is 1 MiB, header included. One value in 10^9 would
/// be longer.
pub const VALUE_BYTES_MAX: usize = 1_000_000;

/// Generalised extreme value distribution of key sizes, in bytes.
const KEY_LOCATION: f64 = 30.7984;
const KEY_SCALE: f64 = 8.20449;
const KEY_SHAPE: f64 = 0.078_688;

/// Generalised Pareto distribution of value sizes of at least 15 bytes.
const VALUE_LOCATION: f64 = 15.0;
const VALUE_SCALE: f64 = 214.476;
const VALUE_SHAPE: f64 = 0.348_238;

/// Probabilities of the value sizes 0 to 14 bytes.
const SMALL_VALUES: [f64; 15] = [
    0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606, 0.00023, 0.00837, 0.00837,
    0.08989, 0.00092, 0.00326, 0.01980,
];

/// The names of a number of keys.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Digits of the largest number: a shorter name could not be unique.
    digits: usize,
}

impl Keys {
    /// Names for the numbers 0 to `count - 1`; at least one.
    pub fn new(count: u64) -> Keys {
        Keys { digits: (count - 1).max(1).ilog10() as usize + 1 }
    }

    /// The name of a key: its number, with zeros in front up to the key's size.
    pub fn name(self, number: u64) -> String {
        let unit = Random::stream(0, Purpose::Record, number).unit();
        let width = key_bytes(unit).max(self.digits);
        format!("{number:0width$}")
    }
}

/// The key size below which a share of `unit` of the keys lies.
fn key_bytes(unit: f64) -> usize {
    let size = KEY_LOCATION + KEY_SCALE * ((-unit.ln()).powf(-KEY_SHAPE) - 1.0) / KEY_SHAPE;
    // The distribution reaches below zero for one key in millions; a cast would make that 0, which is no key.
    (size.round().max(1.0) as usize).min(KEY_BYTES_MAX)
}

/// Draws a value size.
pub fn value_bytes(random: &mut Random) -> usize {
    value_bytes_at(random.unit())
}

fn value_bytes_at(unit: f64) -> usize {
    let mut below = 0.0;
    for (bytes, probability) in SMALL_VALUES.into_iter().enumerate() {
        below += probability;
        if unit < below {
            return bytes;
        }
    }
    let above = (1.0 - unit) / (1.0 - below); // in (0, 1]
    let size = VALUE_LOCATION + VALUE_SCALE * (above.powf(-VALUE_SHAPE) - 1.0) / VALUE_SHAPE;
    (size.round() as usize).min(VALUE_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly spaced shares: the distribution itself, without chance.
    fn even(draws: u32) -> impl Iterator<Item = f64> {
        (0..draws).map(move |draw| (f64::from(draw) + 0.5) / f64::from(draws))
    }

    #[test]
    fn key_sizes_have_the_quantiles_of_the_law() {
        // x = 30.7984 + 8.20449 / 0.078688 * ((-ln p)^-0.078688 - 1): 20.19, 33.85 and 58.25.
        assert_eq!([0.02, 0.5, 0.95].map(key_bytes), [20, 34, 58]);
        // mean = 30.7984 + 8.20449 * (gamma(1 - 0.078688) - 1) / 0.078688 = 36.22, and rounding adds nothing.
        let mean = even(100_000).map(|unit| key_bytes(unit) as f64).sum::<f64>() / 1e5;
        assert!((mean - 36.22).abs() < 0.05, "{mean}");
    }

    #[test]
    fn small_values_have_the_shares_of_the_table() {
        let mut counts = [0u32; 15];
        for unit in even(100_000) {
            if let Some(count) = counts.get_mut(value_bytes_at(unit)) {
                *count += 1;
            }
        }
        for (count, probability) in counts.into_iter().zip(SMALL_VALUES) {
            assert!((f64::from(count) - 1e5 * probability).abs() <= 1.0);
        }
    }

    #[test]
    fn larger_values_have_the_quantiles_of_the_law() {
        // The table has 0.44155 of all values, so the median of the rest lies at 0.720775:
        // 15 + 214.476 / 0.348238 * (0.5^-0.348238 - 1) = 183.1.
        assert_eq!(value_bytes_at(0.720_775), 183);
        assert_eq!(value_bytes_at(0.441_551), 15);
        // 0.99 of the rest: 15 + 615.889 * (0.01^-0.348238 - 1) = 2460.9.
        assert_eq!(value_bytes_at(1.0 - 0.01 * 0.55845), 2461);
    }

    #[test]
    fn the_ends_of_the_laws_are_sizes_that_the_protocol_has() {
        let nearly_one = 1.0 - f64::EPSILON / 2.0;
        assert_eq!((key_bytes(0.0), key_bytes(nearly_one)), (1, KEY_BYTES_MAX));
        assert_eq!((value_bytes_at(0.0), value_bytes_at(nearly_one)), (0, VALUE_BYTES_MAX));
    }

    #[test]
    fn names_are_unique_and_have_the_sizes_of_the_law() {
        let keys = Keys::new(20_000);
        let names: std::collections::HashSet<String> = (0..20_000).map(|number| keys.name(number)).collect();
        assert_eq!(names.len(), 20_000);
        assert!(names.iter().all(|name| (5..=KEY_BYTES_MAX).contains(&name.len())));
        let mean = names.iter().map(String::len).sum::<usize>() as f64 / 2e4;
        // Standard deviation of the distribution: 11.8; of this mean: 0.08; five of them.
        assert!((mean - 36.22).abs() < 0.4, "{mean}");
    }

    #[test]
    fn one_key_has_a_name() {
        assert!(Keys::new(1).name(0).bytes().all(|letter| letter == b'0'));
    }
}
