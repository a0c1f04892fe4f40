//! One signal to every process of the node but its init, at an instant: they are stopped, go on, or are killed.
//!
//! The kernel sends it under one lock: a process that forks meanwhile has a child that gets it too, or forks again.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{clock_gettime, clock_nanosleep, ClockId, ClockNanosleepFlags};

use super::Init;
use crate::channel::FromInit;
use crate::failure::Failure;

/// How long the kernel may take to end killed processes; only one that is blocked in a device takes longer.
const KILL_TIME: Duration = Duration::from_secs(5);
/// How often the init looks whether they have ended.
const CHECK: Duration = Duration::from_millis(1);

impl Init {
    /// Answers when it is done: after SIGKILL, when no process is left and the ends of all were reported.
    pub fn strike(&mut self, signal: i32, at_ns: Option<u64>) -> io::Result<()> {
        let precedence = Precedence::request();
        if let Some(at_ns) = at_ns {
            sleep_until(at_ns)?;
        }
        self.every_other(signal)?;
        let done_ns = now_ns()?;
        drop(precedence);
        let answer = if signal == libc::SIGKILL && !self.await_end_of_all()? {
            FromInit::Refused(Failure::internal(format!(
                "processes did not end within {} s of SIGKILL; a device blocks them; request `down`",
                KILL_TIME.as_secs()
            )))
        } else {
            FromInit::Struck { done_ns }
        };
        self.channel.send(&answer, &[])
    }

    /// As [`every_other`]; what slows the node's clocks is spared, too.
    fn every_other(&self, signal: i32) -> io::Result<bool> {
        match &self.dilation {
            Some(dilation) => dilation.strike_every_other(signal),
            None => every_other(signal),
        }
    }

    fn await_end_of_all(&mut self) -> io::Result<bool> {
        let deadline = Instant::now() + KILL_TIME;
        loop {
            self.reap()?;
            if !self.every_other(0)? {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            thread::sleep(CHECK);
        }
    }
}

/// Sends a signal to every process of this PID namespace but this one and process 1; returns whether there is any.
/// Signal 0 only asks.
pub fn every_other(signal: i32) -> io::Result<bool> {
    // SAFETY: kill touches no memory. It is called by number because `Signal` has no 0.
    match Errno::result(unsafe { libc::kill(-1, signal) }) {
        Ok(_) => Ok(true),
        Err(Errno::ESRCH) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// This process runs before every other program when it is due, while this value lives: on a busy machine it would
/// wait for its turn. Children do not inherit it.
struct Precedence {
    policy: i32,
}

impl Precedence {
    /// Refused without privileges, and in a control group without real-time budget; `done_ns` shows the effect.
    fn request() -> Option<Self> {
        // SAFETY: the call takes and returns numbers; 0 is this process.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) } as i32;
        set_policy(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1).then_some(Self { policy })
    }
}

impl Drop for Precedence {
    fn drop(&mut self) {
        set_policy(self.policy, 0);
    }
}

fn set_policy(policy: i32, priority: libc::c_int) -> bool {
    // The function of this name always fails in musl, because the call changes a thread and POSIX says a process.
    // SAFETY: the kernel's sched_param is one int, which is alive; 0 is this process.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0 }
}

fn now_ns() -> io::Result<u64> {
    Ok(Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC)?).as_nanos() as u64)
}

/// Returns at once when the instant has passed.
fn sleep_until(at_ns: u64) -> io::Result<()> {
    let at = TimeSpec::from_duration(Duration::from_nanos(at_ns));
    loop {
        match clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &at) {
            Err(Errno::EINTR) => {}
            outcome => return outcome.map(drop).map_err(io::Error::from),
        }
    }
}
