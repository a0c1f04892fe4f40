//! What a load does while it runs: a line for every 100 ms, for the program that shows it.
//!
//! Each connection counts an operation in cells of its own, after it has taken the instants of that operation: some
//! arithmetic and two stores, to memory that no other thread writes. A thread of the lowest priority adds the cells of
//! all connections up every 100 ms, and writes the difference: where it is late, a line has a longer step. Nothing
//! waits for it, and nothing is locked.
//!
//! A latency counts from the intended instant, in cells that are 1/16 of their power of two: a quantile is wrong by at
//! most 1/32. Operations of the warm-up count too, and parts of operations do not. Every operation as it was is in the samples.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::Serialize;

use crate::clock::monotonic_ns;

const STEP_NS: u64 = 100_000_000;

/// Latencies are counted in units of 64 ns.
const UNIT_BITS: u32 = 6;
/// Each power of two has 16 cells.
const PART_BITS: u32 = 4;
/// 128 s; an operation gets no answer after 30 s. What is longer counts in the last cell.
const LONGEST_BITS: u32 = 37;
const CELLS: usize = ((LONGEST_BITS - UNIT_BITS - PART_BITS + 1) << PART_BITS) as usize;

/// The counts of one connection, which alone writes them; they go round at 2^32.
#[derive(Debug)]
pub struct Counts {
    latencies: [AtomicU32; CELLS],
    failed: AtomicU32,
}

impl Counts {
    fn new() -> Self {
        Counts { latencies: [const { AtomicU32::new(0) }; CELLS], failed: AtomicU32::new(0) }
    }

    /// Counts an operation that has ended.
    pub fn count(&self, took_ns: u64, ok: bool) {
        let counter = if ok { &self.latencies[cell(took_ns)] } else { &self.failed };
        // Not an atomic addition, which is ten times slower: nobody else writes here.
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

/// The counts of all connections, and the file for their sums.
#[derive(Debug)]
pub struct Live {
    connections: Vec<Counts>,
    file: File,
}

impl Live {
    /// Creates the file, replacing what was there.
    pub fn create(path: &Path, connections: usize) -> Result<Live, String> {
        let file = File::create(path).map_err(|error| {
            format!("create {}: {error}; name a file in a folder that is there", path.display())
        })?;
        Ok(Live { connections: (0..connections).map(|_| Counts::new()).collect(), file })
    }

    /// The counts of one connection.
    pub fn of(&self, connection: usize) -> &Counts {
        &self.connections[connection]
    }

    /// Writes lines until `run` has ended; returns its result.
    pub fn written_during<R>(&self, run: impl FnOnce() -> R) -> R {
        std::thread::scope(|scope| {
            let (running, ended) = channel();
            scope.spawn(move || self.write_until(&ended));
            let result = run();
            drop(running);
            result
        })
    }

    fn write_until(&self, ended: &Receiver<()>) {
        give_way();
        let (mut at_ns, mut before) = (monotonic_ns(), Sums::of(&self.connections));
        loop {
            // Of all loads and networks on this machine alike, so that their steps are those of one chart.
            let next_ns = (at_ns / STEP_NS + 1) * STEP_NS;
            let wait = Duration::from_nanos(next_ns.saturating_sub(monotonic_ns()));
            let is_over = ended.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected);
            let (now_ns, now) = (monotonic_ns(), Sums::of(&self.connections));
            if let Err(error) = self.write(&now.since(&before).line(at_ns, now_ns)) {
                eprintln!("crosswind-load: write what the load does: {error}; the load goes on without it");
                return;
            }
            if is_over {
                return;
            }
            (at_ns, before) = (now_ns, now);
        }
    }

    fn write(&self, line: &Line) -> std::io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        // In one call, so that a reader seldom sees a part of a line.
        (&self.file).write_all(text.as_bytes())
    }
}

/// A step.
#[derive(Debug, Serialize)]
struct Line {
    at_ns: u64,
    length_ns: u64,
    ended: u32,
    failed: u32,
    median_ns: Option<u64>,
    p99_ns: Option<u64>,
    slowest_ns: Option<u64>,
}

/// The counts of several connections together.
struct Sums {
    latencies: [u32; CELLS],
    failed: u32,
}

impl Sums {
    fn of(connections: &[Counts]) -> Sums {
        let mut sums = Sums { latencies: [0; CELLS], failed: 0 };
        for counts in connections {
            for (sum, count) in sums.latencies.iter_mut().zip(&counts.latencies) {
                *sum = sum.wrapping_add(count.load(Ordering::Relaxed));
            }
            sums.failed = sums.failed.wrapping_add(counts.failed.load(Ordering::Relaxed));
        }
        sums
    }

    fn since(&self, before: &Sums) -> Sums {
        Sums {
            latencies: std::array::from_fn(|cell| self.latencies[cell].wrapping_sub(before.latencies[cell])),
            failed: self.failed.wrapping_sub(before.failed),
        }
    }

    fn line(&self, at_ns: u64, until_ns: u64) -> Line {
        let succeeded: u32 = self.latencies.iter().sum();
        Line {
            at_ns,
            length_ns: until_ns - at_ns,
            ended: succeeded + self.failed,
            failed: self.failed,
            median_ns: self.quantile_ns(succeeded, 0.5),
            p99_ns: self.quantile_ns(succeeded, 0.99),
            slowest_ns: self.quantile_ns(succeeded, 1.0),
        }
    }

    /// The middle of the cell that has the quantile; `None` where nothing succeeded.
    fn quantile_ns(&self, succeeded: u32, share: f64) -> Option<u64> {
        let rank = ((share * f64::from(succeeded)).ceil() as u32).max(1);
        let mut sum = 0;
        let cell = self.latencies.iter().position(|&count| {
            sum += count;
            sum >= rank
        })?;
        Some(middle_ns(cell))
    }
}

/// The cell of a latency.
fn cell(took_ns: u64) -> usize {
    let units = (took_ns >> UNIT_BITS).min((1 << (LONGEST_BITS - UNIT_BITS)) - 1);
    let bits = u64::BITS - units.leading_zeros();
    // The first 32 cells have one unit each.
    let shift = bits.saturating_sub(PART_BITS + 1);
    ((u64::from(shift) << PART_BITS) + (units >> shift)) as usize
}

/// The latency in the middle of a cell.
fn middle_ns(cell: usize) -> u64 {
    let (cell, first) = (cell as u64, 1 << (PART_BITS + 1));
    let shift = if cell < first { 0 } else { (cell >> PART_BITS) - 1 };
    let units = cell - (shift << PART_BITS);
    ((units << shift) << UNIT_BITS) + ((1 << (UNIT_BITS as u64 + shift)) >> 1)
}

/// Lets every other thread of the load run first.
fn give_way() {
    // SAFETY: the call takes three numbers and, on Linux, changes nothing but this thread's nice value.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_middle_of_a_cell_is_near_every_latency_in_it(took_ns in 0_u64..1 << LONGEST_BITS) {
            let middle_ns = middle_ns(cell(took_ns));
            prop_assert!(middle_ns.abs_diff(took_ns) <= (took_ns / 32).max(1 << UNIT_BITS), "{middle_ns}");
            prop_assert_eq!(cell(middle_ns), cell(took_ns));
        }
    }

    #[test]
    fn cells_are_in_the_order_of_latencies_and_none_is_missing() {
        let mut latest = 0;
        for units in 0..1_u64 << 16 {
            let found = cell(units << UNIT_BITS);
            assert!(found == latest || found == latest + 1, "{units}");
            latest = found;
        }
        assert_eq!(cell(u64::MAX), CELLS - 1);
    }

    #[test]
    fn a_line_has_what_was_counted_since_the_last_one() {
        let connections = [Counts::new(), Counts::new()];
        connections[0].count(1_000_000, true);
        let before = Sums::of(&connections);
        for number in 1..=99 {
            connections[number % 2].count(2_000_000, true);
        }
        connections[0].count(9_000_000, true);
        connections[1].count(5, false);
        let line = Sums::of(&connections).since(&before).line(7, 100_000_007);
        assert_eq!((line.at_ns, line.length_ns, line.ended, line.failed), (7, 100_000_000, 101, 1));
        let near = |found: Option<u64>, expected: u64| found.unwrap().abs_diff(expected) <= expected / 32;
        assert!(near(line.median_ns, 2_000_000) && near(line.p99_ns, 2_000_000), "{line:?}");
        assert!(near(line.slowest_ns, 9_000_000), "{line:?}");
        let none = Sums::of(&connections).since(&Sums::of(&connections)).line(0, 1);
        assert_eq!((none.ended, none.median_ns, none.slowest_ns), (0, None, None));
    }

    #[test]
    fn counts_go_round_and_their_difference_does_not() {
        let counts = Counts::new();
        counts.failed.store(u32::MAX, Ordering::Relaxed);
        let (before, one) = (Sums::of(std::slice::from_ref(&counts)), &counts);
        one.count(1, false);
        one.count(1, false);
        assert_eq!(Sums::of(std::slice::from_ref(&counts)).since(&before).failed, 2);
    }
}
