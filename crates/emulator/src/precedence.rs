//! Precedence: a thread that sleeps most of the time runs before every other program when it is due (`SCHED_FIFO`).
//!
//! Niceness only weighs shares of a CPU: a thread that has had its share waits for one that has not. A program that
//! spun for its next instant made a thread of niceness -20 wait for 70 us, and each such packet was late.
//!
//! A real-time thread that hardly ever sleeps would delay the application's processing of packets, and the kernel
//! takes 50 ms of every second away from it. So a thread that was awake for most of a window has no precedence in the
//! next one.
//!
//! Source: sched(7), "Limiting the CPU usage of real-time and deadline processes"; Linux, Documentation/scheduler/sched-eevdf.rst.

/// Long compared with a round of work, and short compared with the second whose last 50 ms the kernel would take.
const WINDOW_NS: u64 = 10_000_000;

/// Precedence of the thread that made this value.
#[derive(Debug)]
pub struct Precedence {
    began_ns: u64,
    slept_ns: u64,
    has: bool,
    refused: bool,
}

impl Precedence {
    /// Starts without precedence.
    pub const fn new(now_ns: u64) -> Self {
        Self { began_ns: now_ns, slept_ns: 0, has: false, refused: false }
    }

    /// The thread has slept for this long.
    pub const fn slept(&mut self, length_ns: u64) {
        self.slept_ns += length_ns;
    }

    /// Requests or gives up precedence at the end of a window that differed from the one before. The request is
    /// refused without privileges, and in a control group without real-time budget; the ledger shows the effect.
    pub fn keep(&mut self, now_ns: u64) {
        if !self.changes(now_ns) || self.refused {
            return;
        }
        let (policy, priority) = if self.has { (libc::SCHED_FIFO, 1) } else { (libc::SCHED_OTHER, 0) };
        let priority: libc::c_int = priority;
        // The function of this name always fails in musl, because the call changes a thread and POSIX says a process.
        // SAFETY: the kernel's sched_param is one int, which is alive; 0 is the calling thread.
        self.refused =
            unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) } != 0;
    }

    /// Whether precedence must be requested or given up now.
    const fn changes(&mut self, now_ns: u64) -> bool {
        let window_ns = now_ns - self.began_ns;
        if window_ns < WINDOW_NS {
            return false;
        }
        let sleeps = 2 * self.slept_ns > window_ns;
        let changes = sleeps != self.has;
        *self = Self { began_ns: now_ns, slept_ns: 0, has: sleeps, ..*self };
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Precedence after windows in which a thread sleeps the given milliseconds of ten.
    fn over(slept_ms: &[u64]) -> Vec<bool> {
        let mut precedence = Precedence::new(0);
        let windows = (1..).zip(slept_ms).map(|(number, slept_ms)| {
            precedence.slept(slept_ms * 1_000_000);
            assert!(!precedence.changes(number * WINDOW_NS - 1), "before the window has ended");
            precedence.changes(number * WINDOW_NS);
            precedence.has
        });
        windows.collect()
    }

    #[test]
    fn a_thread_that_sleeps_most_of_a_window_has_precedence_in_the_next() {
        assert_eq!(over(&[9, 9, 1, 5, 6]), [true, true, false, false, true]);
    }

    #[test]
    fn a_sleep_longer_than_its_window_counts_in_full() {
        let mut precedence = Precedence::new(0);
        precedence.slept(60_000_000);
        assert!(precedence.changes(100_000_000) && precedence.has);
        precedence.slept(40_000_000);
        assert!(precedence.changes(200_000_000) && !precedence.has);
    }
}
