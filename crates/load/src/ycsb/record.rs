//! What a record contains: ten fields of random printable characters, 100 each unless another length is asked for.
//!
//! Source: YCSB 0.17.0, `fieldcount`, `fieldlength`, and the alphabet of `RandomByteIterator` (64 characters from the blank).

use std::ops::Range;

use crate::random::{Purpose, Random};

/// Fields of a record, named `field0` and so on.
pub const FIELDS: usize = 10;
/// Of what goes to a store at once while it is filled: as much as a connection carries well, and no server refuses.
const GROUP_BYTES: usize = 100_000;

/// The contents of one field.
pub type Field = Vec<u8>;

/// The contents of one record.
pub type Record = [Field; FIELDS];

/// The records that a store is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// How many; their numbers begin with 0.
    pub records: u64,
    /// Length of each field.
    pub field_bytes: usize,
    /// Contents follow from it.
    pub seed: u64,
}

impl Table {
    /// The contents with which a record is loaded; they depend on the seed and its number alone.
    pub fn record(&self, number: u64) -> Record {
        record(&mut Random::stream(self.seed, Purpose::Record, number), self.field_bytes)
    }

    /// All numbers, in groups of at most `records_max` and of moderate size.
    pub fn groups(self, records_max: usize) -> impl Iterator<Item = Range<u64>> {
        let records = (GROUP_BYTES / (FIELDS * self.field_bytes)).clamp(1, records_max);
        (0..self.records).step_by(records).map(move |first| first..self.records.min(first + records as u64))
    }
}

/// Random contents for one field.
pub fn field(random: &mut Random, bytes: usize) -> Field {
    const CHARACTERS_PER_DRAW: usize = 10; // six bits each, of 64
    let mut field = vec![0; bytes];
    for part in field.chunks_mut(CHARACTERS_PER_DRAW) {
        let mut bits = random.bits();
        for character in part {
            *character = b' ' + (bits & 63) as u8;
            bits >>= 6;
        }
    }
    field
}

/// Random contents for one record.
pub fn record(random: &mut Random, field_bytes: usize) -> Record {
    std::array::from_fn(|_| field(random, field_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table { records: 250, field_bytes: 100, seed: 7 };

    #[test]
    fn contents_are_printable_and_use_the_whole_alphabet() {
        let mut seen = [false; 128];
        for number in 0..10 {
            for byte in TABLE.record(number).concat() {
                assert!((b' '..=b'_').contains(&byte));
                seen[usize::from(byte)] = true;
            }
        }
        assert_eq!(seen.iter().filter(|&&one| one).count(), 64);
    }

    #[test]
    fn a_loaded_record_depends_on_the_seed_and_its_key_alone() {
        assert_eq!(TABLE.record(12), TABLE.record(12));
        assert_ne!(TABLE.record(12), TABLE.record(13));
        assert_ne!(TABLE.record(12), Table { seed: 8, ..TABLE }.record(12));
    }

    #[test]
    fn fields_are_as_long_as_asked_for() {
        let record = Table { field_bytes: 12_345, ..TABLE }.record(3);
        assert!(record.iter().all(|field| field.len() == 12_345));
    }

    #[test]
    fn groups_have_every_record_once_and_shrink_as_records_grow() {
        let groups: Vec<_> = TABLE.groups(64).collect();
        assert_eq!(groups, [0..64, 64..128, 128..192, 192..250]);
        assert_eq!(Table { field_bytes: 100_000, ..TABLE }.groups(64).count(), 250);
        assert_eq!(Table { field_bytes: 1_000, ..TABLE }.groups(64).next(), Some(0..10));
    }
}
