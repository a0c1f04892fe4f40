//! CPU time of one end of a connection: each has a thread of its own, and the kernel counts a thread's time.
//!
//! System calls of the thread are in it, copying above all. Work that the kernel does for it elsewhere (interrupts,
//! softirqs of arriving packets) is not.

/// Counts the calling thread's CPU time from an instant on.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    from_ns: u64,
    at_from_ns: Option<u64>,
}

impl Cpu {
    /// Counts from the first `look` on or after this instant (CLOCK_MONOTONIC).
    pub fn from(from_ns: u64) -> Cpu {
        Cpu { from_ns, at_from_ns: None }
    }

    /// Looks at the clock. Call it often: it costs a comparison.
    pub fn look(&mut self, now_ns: u64) {
        if self.at_from_ns.is_none() && now_ns >= self.from_ns {
            self.at_from_ns = Some(thread_cpu_ns());
        }
    }

    /// CPU time since then; 0 when that instant never came.
    pub fn spent_ns(&self) -> u64 {
        self.at_from_ns.map_or(0, |at_from_ns| thread_cpu_ns() - at_from_ns)
    }
}

fn thread_cpu_ns() -> u64 {
    let mut spent = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `spent` is a valid timespec to write to. The call cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut spent) };
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic_ns;

    #[test]
    fn only_what_is_spent_from_the_instant_on_counts() {
        let mut cpu = Cpu::from(100);
        cpu.look(99);
        assert_eq!(cpu.spent_ns(), 0);
        cpu.look(100);
        let until_ns = monotonic_ns() + 5_000_000;
        let before_ns = thread_cpu_ns();
        while monotonic_ns() < until_ns {}
        let spun_ns = thread_cpu_ns() - before_ns;
        assert!(cpu.spent_ns() >= spun_ns);
    }
}
