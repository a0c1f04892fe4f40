//! Which record an operation is about.
//!
//! * **Scrambled zipfian**: popularity by Zipf's law, the popular records strewn over the key space. As in YCSB the rank
//!   is drawn from ten thousand million items and hashed onto the records, so the hottest gets 3.8 % of all requests
//!   whatever their number, and no record's popularity changes when others are inserted.
//! * **Latest**: the most recently inserted record is the most popular, by Zipf's law.
//!
//! Source: YCSB 0.17.0, `ScrambledZipfianGenerator`, `SkewedLatestGenerator`, `CoreWorkload.nextKeynum`.

use super::key;
use super::keyspace::KeySpace;
use super::zipfian::Zipfian;
use crate::random::Random;

/// A distribution of requests over the records.
#[derive(Clone, Debug)]
pub enum Chooser {
    ScrambledZipfian {
        ranks: Zipfian,
        /// Positions that ranks are hashed onto: those of the records loaded and of the inserts to be expected.
        positions: u64,
    },
    Latest {
        ages: Zipfian,
    },
}

const SCRAMBLED_ITEMS: u64 = 10_000_000_000;
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02; // YCSB's constant; the sum has ten thousand million terms

impl Chooser {
    /// Zipfian requests over `loaded` records and up to `inserts_expected` that come during the run.
    pub fn scrambled_zipfian(loaded: u64, inserts_expected: u64) -> Chooser {
        Chooser::ScrambledZipfian {
            ranks: Zipfian::with_zeta(SCRAMBLED_ITEMS, SCRAMBLED_ZETA),
            positions: loaded + inserts_expected,
        }
    }

    /// Requests that prefer what was inserted last, over `loaded` records at first.
    pub fn latest(loaded: u64) -> Chooser {
        Chooser::Latest { ages: Zipfian::new(loaded) }
    }

    /// Chooses a record that exists and returns the number of its key.
    pub fn choose(&mut self, keys: &KeySpace, random: &mut Random) -> u64 {
        loop {
            let position = match self {
                Chooser::ScrambledZipfian { ranks, positions } => key::hash(ranks.rank(random)) % *positions,
                Chooser::Latest { ages } => {
                    let existing = keys.len();
                    ages.grow_to(existing);
                    existing - 1 - ages.rank(random)
                }
            };
            // Drawing again where no record is yet keeps the proportions among those that exist.
            if let Some(number) = keys.key_at(position) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use std::collections::HashMap;

    fn chosen(mut chooser: Chooser, keys: &KeySpace, draws: u32) -> HashMap<u64, u32> {
        let mut random = Random::stream(5, Purpose::Connection, 0);
        let mut counts = HashMap::new();
        for _ in 0..draws {
            *counts.entry(chooser.choose(keys, &mut random)).or_default() += 1;
        }
        counts
    }

    #[test]
    fn the_hottest_records_are_the_hashes_of_the_first_ranks_and_have_their_share() {
        let counts =
            chosen(Chooser::scrambled_zipfian(100_000, 0), &KeySpace::new(100_000, 100_000), 200_000);
        let share = |rank| f64::from(counts[&(key::hash(rank) % 100_000)]) / 200_000.0;
        // 1 / 26.469 and 0.5^0.99 / 26.469; five standard deviations of 0.0004, and less than 0.0001 from other ranks
        // that hash onto the same record.
        assert!((share(0) - 0.037_78).abs() < 0.0022, "{}", share(0));
        assert!((share(1) - 0.019_02).abs() < 0.0017, "{}", share(1));
    }

    #[test]
    fn expected_inserts_are_not_chosen_before_they_exist_and_move_no_other_record() {
        let keys = KeySpace::new(1000, 1000);
        let before = chosen(Chooser::scrambled_zipfian(1000, 1000), &keys, 50_000);
        assert!(before.keys().all(|&key| key < 1000));
        for _ in 0..1000 {
            let key = keys.claim();
            keys.confirm(key);
        }
        let after = chosen(Chooser::scrambled_zipfian(1000, 1000), &keys, 100_000);
        assert!(after.keys().any(|&key| key >= 1000));
        let hottest = |counts: &HashMap<u64, u32>| {
            counts.iter().filter(|(&key, _)| key < 1000).max_by_key(|(_, &count)| count).map(|(&key, _)| key)
        };
        assert_eq!(hottest(&before), hottest(&after));
    }

    #[test]
    fn the_latest_insert_becomes_the_most_popular_record() {
        let keys = KeySpace::new(1000, 5000);
        let hottest =
            |counts: HashMap<u64, u32>| counts.into_iter().max_by_key(|&(_, count)| count).unwrap().0;
        assert_eq!(hottest(chosen(Chooser::latest(1000), &keys, 20_000)), 999);
        let key = keys.claim();
        keys.confirm(key);
        assert_eq!(hottest(chosen(Chooser::latest(1000), &keys, 20_000)), 5000);
    }
}
