//! Which records exist, as far as this run knows: those that were loaded, and those that it has inserted itself.
//!
//! Records are counted by *position*: the loaded ones first, then the inserted ones in the order in which the store
//! confirmed them. An insert that failed therefore leaves no hole that later reads would fall into.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::RwLock;

/// The records of a run; shared by all connections.
#[derive(Debug)]
pub struct KeySpace {
    loaded: u64,
    next: AtomicU64,
    inserted: RwLock<Vec<u64>>,
}

impl KeySpace {
    /// `loaded` records with the keys 0, 1, ... exist; new ones get the keys `insert_start`, `insert_start + 1`, ...
    pub fn new(loaded: u64, insert_start: u64) -> KeySpace {
        KeySpace { loaded, next: AtomicU64::new(insert_start), inserted: RwLock::new(Vec::new()) }
    }

    /// How many records exist.
    pub fn len(&self) -> u64 {
        self.loaded + self.inserted().len() as u64
    }

    /// The key of the record at a position; `None` where no record is yet.
    pub fn key_at(&self, position: u64) -> Option<u64> {
        match position.checked_sub(self.loaded) {
            None => Some(position),
            Some(later) => self.inserted().get(later as usize).copied(),
        }
    }

    /// A key that has not been used, for an insert.
    pub fn claim(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that the record with this key exists now.
    pub fn confirm(&self, key: u64) {
        self.inserted.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(key);
    }

    fn inserted(&self) -> std::sync::RwLockReadGuard<'_, Vec<u64>> {
        // A list of numbers is whole after any panic.
        self.inserted.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_can_be_chosen_only_after_the_store_confirmed_it() {
        let keys = KeySpace::new(10, 500);
        let (first, second, third) = (keys.claim(), keys.claim(), keys.claim());
        assert_eq!([first, second, third], [500, 501, 502]);
        assert_eq!(keys.len(), 10);
        keys.confirm(third);
        keys.confirm(first);
        assert_eq!(
            (keys.len(), keys.key_at(9), keys.key_at(10), keys.key_at(11)),
            (12, Some(9), Some(502), Some(500))
        );
        assert_eq!(keys.key_at(12), None); // the second insert failed, and nothing points to it
    }
}
