//! What the processes of a node use: current and peak memory, and CPU time so far.
//!
//! Read from the node's own /proc, so it counts every process in the node and needs no privilege. Memory is the
//! anonymous memory of all processes plus the largest file-backed and shared part of any one of them. Processes of one
//! program map the same files, so a sum would count these many times. Memory is sampled; a peak between two samples is
//! missed. CPU time is that of living processes and of the children that they, or the init, have waited for. Excluded
//! are the init itself and children of a process that ignores SIGCHLD.
//!
//! Source: proc_pid_stat(5), proc_pid_statm(5).

use std::fs;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Time between two samples of memory. A sample of ten processes takes about 0.2 ms.
const INTERVAL: Duration = Duration::from_millis(250);

/// What a node has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Largest sample of memory since the node exists.
    pub memory_peak_bytes: u64,
    /// Since the node exists; in steps of a clock tick (10 ms).
    pub cpu_time_ns: u64,
}

/// Samples at regular intervals.
pub struct Meter {
    page_bytes: u64,
    tick_ns: u64,
    memory_peak_bytes: u64,
    next: Instant,
}

impl Meter {
    pub fn new() -> Self {
        // SAFETY: sysconf touches no memory.
        let known = |name| unsafe { libc::sysconf(name) };
        Self {
            page_bytes: known(libc::_SC_PAGESIZE).unsigned_abs(),
            tick_ns: 1_000_000_000 / known(libc::_SC_CLK_TCK).unsigned_abs().max(1),
            memory_peak_bytes: 0,
            next: Instant::now() + INTERVAL,
        }
    }

    /// Time until the next sample.
    pub fn until_next(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Samples if it is due; returns whether it was.
    pub fn tick(&mut self) -> bool {
        let due = self.until_next().is_zero();
        if due {
            self.look();
        }
        due
    }

    pub fn look(&mut self) -> Usage {
        let (mut anonymous_pages, mut shared_pages, mut ticks) = (0, 0, 0);
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for pid in processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
            // A process that has ended since is counted by its parent, or at the next sample.
            let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            let Some([own, waited_for]) = ticks_of(&read("stat")) else {
                continue;
            };
            ticks += waited_for;
            if pid != 1 {
                ticks += own;
                let (anonymous, shared) = pages_of(&read("statm"));
                anonymous_pages += anonymous;
                shared_pages = shared_pages.max(shared);
            }
        }
        self.next = Instant::now() + INTERVAL;
        self.memory_peak_bytes =
            self.memory_peak_bytes.max((anonymous_pages + shared_pages) * self.page_bytes);
        Usage { memory_peak_bytes: self.memory_peak_bytes, cpu_time_ns: ticks * self.tick_ns }
    }
}

/// CPU time of a process, and of its children that it has waited for.
fn ticks_of(stat: &str) -> Option<[u64; 2]> {
    // utime, stime, cutime and cstime are fields 14 to 17; the first after the name is field 3.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some([next()? + next()?, next()? + next()?])
}

/// Anonymous pages in memory, and all other pages in memory.
fn pages_of(statm: &str) -> (u64, u64) {
    let mut fields = statm.split_whitespace().skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    (resident.saturating_sub(shared), shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_after_any_process_name() {
        // From Linux 6.18; the name was set with prctl.
        let stat = "77 (a) b (c) S 1 77 77 0 -1 4194560 150 9 0 0 21 4 13 2 20 0 1 0 12345 5000000 300";
        assert_eq!(ticks_of(stat), Some([25, 15]));
        assert_eq!(ticks_of(""), None);
        assert_eq!(ticks_of("77 (a) S 1"), None);
    }

    #[test]
    fn anonymous_and_shared_pages_are_separate() {
        assert_eq!(pages_of("5000 300 120 10 0 400 0\n"), (180, 120));
        assert_eq!(pages_of(""), (0, 0));
    }

    #[test]
    fn this_process_is_seen() {
        let ballast = std::hint::black_box(vec![1u8; 64 << 20]);
        let usage = Meter::new().look();
        assert!(usage.memory_peak_bytes > ballast.len() as u64, "{usage:?}");
    }
}
