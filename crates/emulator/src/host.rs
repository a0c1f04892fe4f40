//! What the machine does to the emulator: stolen time, waiting for a processor, and which ones the emulator may keep for itself.
//!
//! Source: Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`, and fs/proc/base.c, proc_pid_schedstat().

use std::fs;

use crosswind_fabric::{Fabric, Wait};
use nix::sched::{sched_getaffinity, sched_setaffinity, CpuSet};
use nix::sys::prctl::set_timerslack;
use nix::unistd::{sysconf, Pid, SysconfVar};

use crate::division;

/// Time that the hypervisor took from this machine since boot, nanoseconds; 0 where the kernel does not say.
pub fn steal_ns() -> u64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks =
        stat.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse::<u64>().ok()).unwrap_or(0);
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100).max(1) as u64;
    ticks * (1_000_000_000 / per_second)
}

/// Time that the calling thread could have run and waited for a processor, since it began, nanoseconds; `None` where the kernel
/// does not say.
///
/// A wait counts when it has ended; the caller runs, so none of its own is left out.
pub fn run_queue_delay_ns() -> Option<u64> {
    parse_run_queue_delay_ns(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// `schedstat`: time on a processor and time waiting for one (nanoseconds), and how often the thread was given one.
fn parse_run_queue_delay_ns(schedstat: &str) -> Option<u64> {
    let mut fields = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
    let (Some(Ok(_)), Some(Ok(delay_ns)), Some(Ok(given)), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return None;
    };
    // A kernel that keeps no account writes three zeros, but a thread that reads this was given a processor.
    (given > 0).then_some(delay_ns)
}

/// Pid 0 is the calling thread.
const SELF: Pid = Pid::from_raw(0);

fn allowed_processors() -> Vec<usize> {
    let allowed = sched_getaffinity(SELF).unwrap_or_default();
    (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu) == Ok(true)).collect()
}

/// The last of the processors this process may use, when the emulator is to spin: one for each domain, as far as there is another one
/// left for the application.
pub fn processors_for_emulator(wait: Wait, domains: usize) -> Vec<usize> {
    let mut allowed = allowed_processors();
    let to_spare = if wait == Wait::Spin { allowed.len().saturating_sub(1) } else { 0 };
    allowed.split_off(allowed.len() - domains.min(to_spare))
}

/// Where processes of the application may run: everywhere but on processors that the emulator keeps.
///
/// # Errors
/// Where the fabric cannot be divided into the domains that it asks for.
pub fn application_processors(fabric: &Fabric) -> Result<CpuSet, String> {
    let domains = division::domains(fabric)?.map_or(1, |domains| domains.count());
    let reserved = processors_for_emulator(fabric.wait, domains);
    Ok(all_but(&reserved))
}

fn all_but(reserved: &[usize]) -> CpuSet {
    set_of(allowed_processors().into_iter().filter(|cpu| !reserved.contains(cpu)))
}

fn set_of(processors: impl IntoIterator<Item = usize>) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in processors {
        // Refused only beyond what a set has room for, and the numbers come from the kernel's own sets.
        let _ = set.set(cpu);
    }
    set
}

/// Makes the calling thread the emulator's: its processor, or none of those that others of the emulator keep, exact timers, and priority
/// where that is allowed.
///
/// What is refused without privileges shows in the ledger.
pub fn claim(cpu: Option<usize>, others: &[usize]) {
    if let Some(cpu) = cpu {
        let _ = sched_setaffinity(SELF, &set_of([cpu]));
    } else if !others.is_empty() {
        let _ = sched_setaffinity(SELF, &all_but(others));
    }
    // The default slack of 50 us would make every sleep that much too long.
    let _ = set_timerslack(1);
    // SAFETY: plain call; 0 is the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_figure_is_the_wait() {
        // Read on Linux 6.18: 1.04 s on a processor, 15.9 ms of waiting, 131 turns.
        assert_eq!(parse_run_queue_delay_ns("1038933769 15933291 131\n"), Some(15_933_291));
        assert_eq!(parse_run_queue_delay_ns("0 0 1\n"), Some(0), "a thread that never waited");
    }

    #[test]
    fn what_the_kernel_does_not_count_is_unknown_and_not_nothing() {
        assert_eq!(parse_run_queue_delay_ns("0 0 0\n"), None);
    }

    #[test]
    fn another_format_is_unknown() {
        for malformed in [
            "",
            "\n",
            "1",
            "1 2",
            "1 2 x",
            "x 2 3",
            "1 -2 3",
            "1 2.5 3",
            "1 2 3 4",
            "1 18446744073709551616 3",
        ] {
            assert_eq!(parse_run_queue_delay_ns(malformed), None, "{malformed:?}");
        }
    }
}
