//! Launches the init of a node: a child in its own PID namespace, which continues as process 1 there (`init`).
//!
//! The child is made with `clone` from the main thread. A short-lived thread would not do: the parent-death signal is
//! tied to the thread. `unshare` would not do: a process can use it only once for its children's PID namespace. The
//! child executes no program: loading the program again took a third of the time in which a node comes up. This is
//! sound because the agent has one thread while it launches; the emulator starts its threads after all nodes are
//! connected.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::panic::{catch_unwind, AssertUnwindSafe};

use nix::errno::Errno;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::unistd::Pid;

use crate::channel::Channel;
use crate::init::{self, CHANNEL_FD};

/// The settings that every init is launched with.
pub struct Launcher {
    /// The limit on open files at the agent's start; applications get the same limit.
    open_files: (u64, u64),
    nothing: OwnedFd,
}

impl Launcher {
    /// Raises the agent's own limit on open files as far as allowed, because it needs two descriptors per node.
    pub fn new() -> io::Result<Self> {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
        let nothing = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?.into();
        Ok(Self { open_files: (soft, hard), nothing })
    }

    /// Launches an init at the other end of the returned channel.
    ///
    /// # Safety
    /// This process must have one thread: the child continues without the others, whatever locks they hold.
    pub unsafe fn launch(&self) -> io::Result<(Pid, Channel)> {
        let (ours, theirs) = Channel::pair()?;
        let flags = libc::CLONE_NEWPID | libc::SIGCHLD;
        // SAFETY: without CLONE_VM and a stack this is a fork of the only thread.
        match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
            -1 => Err(Errno::last().into()),
            0 => self.go_on_as_init(&theirs),
            pid => Ok((Pid::from_raw(pid as i32), ours)),
        }
    }

    /// Runs the child. It never returns, so nothing that belongs to the agent is dropped here.
    fn go_on_as_init(&self, channel: &Channel) -> ! {
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.leave_behind(channel.as_fd().as_raw_fd())?;
            init::serve()
        }));
        let status = match done {
            Ok(Ok(())) => 0,
            Ok(Err(error)) => {
                eprintln!("crosswind-agent: init of a node: {error}");
                1
            }
            // The panic has printed its message.
            Err(_) => 1,
        };
        // SAFETY: ends this process only.
        unsafe { libc::_exit(status) }
    }

    /// Closes every descriptor of the agent except standard error, for final error messages, and the channel.
    fn leave_behind(&self, channel: i32) -> io::Result<()> {
        let nothing = self.nothing.as_raw_fd();
        // SAFETY: the child closes or replaces descriptors of the agent that nothing in the child uses. The order
        // matters: `nothing` is above 2, and the channel may be 3 already, or be overwritten last.
        unsafe {
            Errno::result(libc::dup2(nothing, 0))?;
            Errno::result(libc::dup2(nothing, 1))?;
            if channel != CHANNEL_FD {
                Errno::result(libc::dup2(channel, CHANNEL_FD))?;
            }
            Errno::result(libc::syscall(libc::SYS_close_range, CHANNEL_FD + 1, u32::MAX, 0))?;
        }
        let (soft, hard) = self.open_files;
        Ok(setrlimit(Resource::RLIMIT_NOFILE, soft, hard)?)
    }
}
