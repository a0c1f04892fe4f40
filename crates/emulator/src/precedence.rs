//! Precedence: a thread that sleeps most of the time runs before every other program when it is due (`SCHED_FIFO`).
//!
//! Niceness only weighs shares of a CPU: a thread that has had its share waits for one that has not. A program that
//! spun for its next instant made a thread of niceness -20 wait for 70 us, and each such packet was late.
//!
//! A real-time thread that hardly ever sleeps would delay the application's processing of packets, and the kernel
//! takes 50 ms of every second away from it. So a thread that ran for most of a window has no precedence in the next
//! one. Waiting for a CPU is not running: else a thread that has to wait would never get precedence back.
//!
//! Source: sched(7), "Limiting the CPU usage of real-time and deadline processes"; Linux, Documentation/scheduler/sched-eevdf.rst.

use crate::clock;

/// Long compared with a round of work, and short compared with the second whose last 50 ms the kernel would take.
const WINDOW_NS: u64 = 10_000_000;

/// Precedence of the thread that made this value.
#[derive(Debug)]
pub struct Precedence {
    began_ns: u64,
    cpu_ns: u64,
    has: bool,
    refused: bool,
}

impl Precedence {
    /// Starts without precedence.
    pub const fn new(now_ns: u64) -> Self {
        Self { began_ns: now_ns, cpu_ns: 0, has: false, refused: false }
    }

    /// Requests or gives up precedence at the end of a window that differed from the one before. The request is
    /// refused without privileges, and in a control group without real-time budget; the ledger shows the effect.
    pub fn keep(&mut self, now_ns: u64) {
        if self.refused || now_ns - self.began_ns < WINDOW_NS || !self.changes(now_ns, clock::thread_cpu_ns())
        {
            return;
        }
        let (policy, priority) = if self.has { (libc::SCHED_FIFO, 1) } else { (libc::SCHED_OTHER, 0) };
        let priority: libc::c_int = priority;
        // The function of this name always fails in musl, because the call changes a thread and POSIX says a process.
        // SAFETY: the kernel's sched_param is one int, which is alive; 0 is the calling thread.
        self.refused =
            unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) } != 0;
    }

    /// Ends a window; true if precedence must be requested or given up. `cpu_ns`: of the thread since it began.
    const fn changes(&mut self, now_ns: u64, cpu_ns: u64) -> bool {
        let rests = 2 * (cpu_ns - self.cpu_ns) < now_ns - self.began_ns;
        let changes = rests != self.has;
        *self = Self { began_ns: now_ns, cpu_ns, has: rests, ..*self };
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_thread_that_rests_for_most_of_a_window_has_precedence_in_the_next() {
        let mut precedence = Precedence::new(0);
        let mut cpu_ns = 0;
        let windows = (1..).zip([1, 1, 9, 5, 4]).map(|(number, ran_ms)| {
            cpu_ns += ran_ms * MS;
            precedence.changes(number * WINDOW_NS, cpu_ns);
            precedence.has
        });
        assert_eq!(windows.collect::<Vec<_>>(), [true, true, false, false, true]);
    }

    #[test]
    fn a_window_counts_in_full_however_long_it_was() {
        let mut precedence = Precedence::new(0);
        assert!(precedence.changes(100 * MS, 40 * MS) && precedence.has);
        assert!(precedence.changes(200 * MS, 100 * MS) && !precedence.has);
        assert!(!precedence.changes(300 * MS, 160 * MS), "it still has none");
    }
}
