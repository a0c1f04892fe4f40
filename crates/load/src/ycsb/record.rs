//! What a record contains: ten fields of 100 random printable characters.
//!
//! Source: YCSB 0.17.0, `fieldcount`, `fieldlength`, and the alphabet of `RandomByteIterator` (64 characters from the blank).

use crate::random::{Purpose, Random};

/// Fields of a record, named `field0` and so on.
pub const FIELDS: usize = 10;
/// Length of each field.
pub const FIELD_BYTES: usize = 100;

/// The contents of one field.
pub type Field = [u8; FIELD_BYTES];

/// The contents of one record.
pub type Record = [Field; FIELDS];

/// Random contents for one field.
pub fn field(random: &mut Random) -> Field {
    const CHARACTERS_PER_DRAW: usize = 10; // six bits each, of 64
    let mut field = [0; FIELD_BYTES];
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
pub fn record(random: &mut Random) -> Record {
    std::array::from_fn(|_| field(random))
}

/// The contents with which a record is loaded; they depend on the seed and its key alone.
pub fn loaded(seed: u64, key_number: u64) -> Record {
    record(&mut Random::stream(seed, Purpose::Record, key_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_printable_and_use_the_whole_alphabet() {
        let mut seen = [false; 128];
        for number in 0..10 {
            for byte in loaded(1, number).concat() {
                assert!((b' '..=b'_').contains(&byte));
                seen[usize::from(byte)] = true;
            }
        }
        assert_eq!(seen.iter().filter(|&&one| one).count(), 64);
    }

    #[test]
    fn a_loaded_record_depends_on_the_seed_and_its_key_alone() {
        assert_eq!(loaded(7, 12), loaded(7, 12));
        assert_ne!(loaded(7, 12), loaded(7, 13));
        assert_ne!(loaded(7, 12), loaded(8, 12));
    }
}
