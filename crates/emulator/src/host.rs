//! The machine's effect on the emulator: steal (CPU time taken by the hypervisor), time waiting for a CPU, and the
//! CPUs that are reserved for the emulator.
//!
//! Source: Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`, and fs/proc/base.c, proc_pid_schedstat().

use std::fs;

use crosswind_fabric::{Fabric, Wait};
use nix::sched::{sched_getaffinity, sched_setaffinity, CpuSet};
use nix::sys::prctl::set_timerslack;
use nix::unistd::{getpid, getsid, sysconf, Pid, SysconfVar};

use crate::division;
use crate::pace::Pace;

/// Steal since boot: CPU time taken by the hypervisor, nanoseconds; 0 where the kernel does not report it.
pub fn steal_ns() -> u64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks =
        stat.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse::<u64>().ok()).unwrap_or(0);
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100).max(1) as u64;
    ticks * (1_000_000_000 / per_second)
}

/// Time that the calling thread was runnable and waited for a CPU, since it began, nanoseconds; `None` where the
/// kernel does not report it.
///
/// The kernel counts a wait when it has ended; the caller runs, so all its waits are counted.
pub fn run_queue_delay_ns() -> Option<u64> {
    parse_run_queue_delay_ns(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// `schedstat`: time on a CPU and time waiting for one (nanoseconds), and the number of times that the thread was
/// scheduled.
fn parse_run_queue_delay_ns(schedstat: &str) -> Option<u64> {
    let mut fields = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
    let (Some(Ok(_)), Some(Ok(delay_ns)), Some(Ok(given)), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return None;
    };
    // A kernel that does not count writes three zeros, but a thread that reads this was scheduled at least once.
    (given > 0).then_some(delay_ns)
}

/// Pid 0 is the calling thread.
const SELF: Pid = Pid::from_raw(0);

fn allowed_cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(SELF).unwrap_or_default();
    (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu) == Ok(true)).collect()
}

/// With fewer CPUs, none is to spare for an emulator that would do as well without: as with `domains: auto`
/// (python/crosswind/doctor/domains.py).
const CPUS_TO_SPARE: usize = 8;

/// How an emulator waits where the fabric does not say it, with this number of CPUs: by sleep in slower time, which
/// divides the error of a sleep, unless there are CPUs to spare.
fn chosen(pace: Pace, cpus: usize) -> Wait {
    if pace.is_real() || cpus >= CPUS_TO_SPARE {
        Wait::Spin
    } else {
        Wait::Sleep
    }
}

/// The CPUs for a spinning emulator: the last ones that this process may use, one for each domain, as long as one
/// remains for the application.
pub fn cpus_for_emulator(fabric: &Fabric, pace: Pace, domains: usize) -> Vec<usize> {
    let mut allowed = allowed_cpus();
    let to_spare = match fabric.wait.unwrap_or_else(|| chosen(pace, allowed.len())) {
        Wait::Spin => allowed.len().saturating_sub(1),
        Wait::Sleep => 0,
    };
    allowed.split_off(allowed.len() - domains.min(to_spare))
}

/// The CPUs on which processes of the application may run: all except those reserved for the emulator. `one_domain`:
/// other machines carry the other domains.
///
/// # Errors
/// When the fabric cannot be divided into the requested domains.
pub fn application_cpus(fabric: &Fabric, pace: Pace, one_domain: bool) -> Result<CpuSet, String> {
    let domains =
        if one_domain { 1 } else { division::domains(fabric)?.map_or(1, |domains| domains.count()) };
    let reserved = cpus_for_emulator(fabric, pace, domains);
    Ok(all_but(&reserved))
}

fn all_but(reserved: &[usize]) -> CpuSet {
    set_of(allowed_cpus().into_iter().filter(|cpu| !reserved.contains(cpu)))
}

fn set_of(cpus: impl IntoIterator<Item = usize>) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus {
        // Fails only for numbers beyond the size of a set; these come from the kernel's own sets.
        let _ = set.set(cpu);
    }
    set
}

/// Sets up the calling thread as a packet thread: on its own CPU, or on none of those reserved for the emulator's
/// other threads; with exact timers, and with priority where allowed.
///
/// The ledger shows the effect of what is refused without privileges.
pub fn claim(cpu: Option<usize>, others: &[usize]) {
    if let Some(cpu) = cpu {
        let _ = sched_setaffinity(SELF, &set_of([cpu]));
    } else if !others.is_empty() {
        let _ = sched_setaffinity(SELF, &all_but(others));
    }
    // The default slack of 50 us would lengthen every sleep by that much.
    let _ = set_timerslack(1);
    // SAFETY: plain call; 0 is the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
    if cpu.is_none() {
        outweigh_sessions();
    }
}

/// Gives this program's session the niceness of its packet threads.
///
/// The kernel shares CPUs among sessions first, whatever the niceness of their threads, and each node has sessions of
/// its own. A session that another program leads is left as it is.
///
/// Source: sched(7), "The autogroup feature".
fn outweigh_sessions() {
    if getsid(None) == Ok(getpid()) {
        let _ = fs::write("/proc/self/autogroup", "-20");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Anchor;

    #[test]
    fn slower_time_lets_it_sleep_where_cpus_are_few() {
        let slower = Pace::slower(10, Anchor::default());
        assert_eq!(chosen(slower, 2), Wait::Sleep);
        assert_eq!(chosen(slower, CPUS_TO_SPARE), Wait::Spin);
        assert_eq!(chosen(Pace::slower(1, Anchor::default()), 2), Wait::Spin);
        assert_eq!(chosen(Pace::real_time(), 2), Wait::Spin);
    }

    #[test]
    fn the_second_number_is_the_wait() {
        // Read on Linux 6.18: 1.04 s on a CPU, 15.9 ms of waiting, scheduled 131 times.
        assert_eq!(parse_run_queue_delay_ns("1038933769 15933291 131\n"), Some(15_933_291));
        assert_eq!(parse_run_queue_delay_ns("0 0 1\n"), Some(0), "a thread that never waited");
    }

    #[test]
    fn time_that_the_kernel_does_not_count_is_unknown_and_not_zero() {
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
