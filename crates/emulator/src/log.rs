//! A log of rows that is cheap to copy while it grows: full chunks are shared, only the open one is copied.
//!
//! The packet thread writes the log and gives a copy to the thread that reads. Full chunks never change, so both
//! threads can read them without a lock.

use std::sync::Arc;

/// Rows of a chunk. A copy of the open chunk has at most this length: 150 KB of the longest rows, about 20 us.
const CHUNK: usize = 1_024;

/// Rows in the order in which they were written.
#[derive(Clone, Debug)]
pub struct Log<T> {
    full: Vec<Arc<Vec<T>>>,
    /// Fewer than [`CHUNK`] rows.
    open: Vec<T>,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { full: Vec::new(), open: Vec::new() }
    }
}

impl<T> FromIterator<T> for Log<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let mut log = Self::default();
        rows.into_iter().for_each(|row| log.push(row));
        log
    }
}

impl<T> Log<T> {
    /// Writes a row.
    pub fn push(&mut self, row: T) {
        self.open.push(row);
        if self.open.len() == CHUNK {
            let next = Vec::with_capacity(CHUNK);
            self.full.push(Arc::new(std::mem::replace(&mut self.open, next)));
        }
    }

    /// Rows written so far.
    pub fn len(&self) -> usize {
        self.full.len() * CHUNK + self.open.len()
    }

    /// The rows from this number on.
    pub fn since(&self, number: usize) -> impl Iterator<Item = &T> {
        self.full[number / CHUNK..]
            .iter()
            .flat_map(|chunk| chunk.iter())
            .chain(&self.open)
            .skip(number % CHUNK)
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.full.iter().flat_map(|chunk| chunk.iter()).chain(&self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_rows_written_so_far_and_shares_the_full_chunks() {
        let mut log = Log::default();
        let rows = 3 * CHUNK + 5;
        for row in 0..rows {
            assert_eq!(log.len(), row);
            log.push(row);
        }
        let copy = log.clone();
        for row in rows..rows + CHUNK {
            log.push(row);
        }
        assert!(copy.iter().copied().eq(0..rows));
        for number in [0, 1, CHUNK, 2 * CHUNK - 1, 3 * CHUNK, rows - 1, rows] {
            assert!(copy.since(number).copied().eq(number..rows));
        }
        assert!(log.iter().copied().eq(0..rows + CHUNK));
        assert_eq!((copy.len(), log.len()), (rows, rows + CHUNK));
        assert!(copy.full.iter().zip(&log.full).all(|(copied, own)| Arc::ptr_eq(copied, own)));
    }
}
