//! One row per operation, held in memory until the end so that writing does not disturb the measurement.
//!
//! Memory grows by whole blocks: growing one array would copy it in the middle of the run. It is bounded: all
//! connections together store at most [`SAMPLES_MAX`] rows (2 GiB). Then the run ends and reports it.

/// Rows of all connections together; 2^26 of 32 bytes each. At 100,000 operations a second that is 11 minutes.
pub const SAMPLES_MAX: usize = 1 << 26;

const BLOCK_ROWS: usize = 1 << 14; // 512 KiB

/// What was done. The names are those of the samples file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Call,
    Transfer,
    Get,
    Set,
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
    /// The second part of a [`Operation::ReadModifyWrite`], which has a row of its own besides.
    UpdateAfterRead,
    Write,
    CompareAndSet,
    Add,
    Append,
}

impl Operation {
    /// The name in the samples file, and in `latency.<name>` of the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Call => "call",
            Operation::Transfer => "transfer",
            Operation::Get => "get",
            Operation::Set => "set",
            Operation::Read => "read",
            Operation::Update => "update",
            Operation::Insert => "insert",
            Operation::Scan => "scan",
            Operation::ReadModifyWrite => "read-modify-write",
            Operation::UpdateAfterRead => "read-modify-write.update",
            Operation::Write => "write",
            Operation::CompareAndSet => "cas",
            Operation::Add => "add",
            Operation::Append => "append",
        }
    }

    /// Whether its rows are parts of operations that have rows of their own, so that no total counts them.
    pub fn is_part(self) -> bool {
        self == Operation::UpdateAfterRead
    }
}

/// One operation. Instants are CLOCK_MONOTONIC nanoseconds, `intended_ns <= started_ns <= finished_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub operation: Operation,
    pub intended_ns: u64,
    pub started_ns: u64,
    pub finished_ns: u64,
    /// Its payload; 0 for workloads that do not count it.
    pub payload_bytes: u32,
    pub ok: bool,
    pub measured: bool,
}

/// The samples of one connection.
#[derive(Debug)]
pub struct Samples {
    blocks: Vec<Vec<Sample>>,
    room: usize,
}

impl Samples {
    /// No samples yet, with room for this many.
    pub fn with_room_for(rows: usize) -> Self {
        Samples { blocks: vec![Vec::with_capacity(BLOCK_ROWS)], room: rows }
    }

    /// Adds a row; false when that was the last one that there is room for.
    pub fn add(&mut self, sample: Sample) -> bool {
        if self.blocks.last().is_none_or(|block| block.len() == BLOCK_ROWS) {
            self.blocks.push(Vec::with_capacity(BLOCK_ROWS));
        }
        let last = self.blocks.len() - 1;
        self.blocks[last].push(sample);
        self.room = self.room.saturating_sub(1);
        self.room > 0
    }

    /// The rows in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Sample> {
        self.blocks.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_32_bytes() {
        assert_eq!(std::mem::size_of::<Sample>(), 32); // SAMPLES_MAX and its 2 GiB rest on it
    }

    #[test]
    fn samples_come_back_in_order_and_the_last_place_is_announced() {
        let mut samples = Samples::with_room_for(BLOCK_ROWS + 2);
        let sample = |started_ns| Sample {
            operation: Operation::Call,
            intended_ns: 0,
            started_ns,
            finished_ns: started_ns,
            payload_bytes: 0,
            ok: true,
            measured: true,
        };
        let room: Vec<bool> = (0..BLOCK_ROWS as u64 + 2).map(|row| samples.add(sample(row))).collect();
        assert_eq!(room.iter().filter(|&&left| !left).count(), 1);
        assert_eq!(room.last(), Some(&false));
        assert!(samples.iter().map(|sample| sample.started_ns).eq(0..BLOCK_ROWS as u64 + 2));
    }
}
