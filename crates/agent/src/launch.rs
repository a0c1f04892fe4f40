//! Launching the init of a node: a child in a PID namespace of its own, executing this program again.
//!
//! The child is made with `clone` from the main thread. Not from a short-lived one: the parent-death signal follows
//! the thread. Not with `unshare`: a process can do that to its children's PID namespace only once. Between clone and
//! exec it makes system calls only, because another thread may hold any lock at that instant.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;

use nix::errno::Errno;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::unistd::Pid;

use crate::channel::Channel;
use crate::init::CHANNEL_FD;

/// What every init is launched with.
pub struct Launcher {
    /// The limit on open files that the agent was given, which applications shall see.
    open_files: libc::rlimit,
    nothing: OwnedFd,
}

impl Launcher {
    /// Raises the agent's own limit on open files as far as it may: it needs two descriptors per node.
    pub fn new() -> io::Result<Self> {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
        let nothing = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?.into();
        Ok(Self { open_files: libc::rlimit { rlim_cur: soft, rlim_max: hard }, nothing })
    }

    /// Launches an init at the other end of the channel returned.
    pub fn launch(&self) -> io::Result<(Pid, Channel)> {
        let (ours, theirs) = Channel::pair()?;
        let flags = libc::CLONE_NEWPID | libc::SIGCHLD;
        // SAFETY: without CLONE_VM and a stack this is a fork; the child runs `execute_init` only, which never returns.
        match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
            -1 => Err(Errno::last().into()),
            // SAFETY: this is the child of a fork, and `theirs` and `nothing` are open in it.
            0 => unsafe { self.execute_init(theirs.as_fd().as_raw_fd()) },
            pid => Ok((Pid::from_raw(pid as i32), ours)),
        }
    }

    /// Leaves nothing of the agent's open except standard error, for a panic's last words.
    ///
    /// # Safety
    /// To be called in the child of a fork; makes system calls only.
    unsafe fn execute_init(&self, channel: i32) -> ! {
        let argv = [c"crosswind-agent".as_ptr(), c"node-init".as_ptr(), ptr::null()];
        let env = [ptr::null()];
        let nothing = self.nothing.as_raw_fd();
        // SAFETY: system calls on descriptors and memory of this process; all pointers are to live, terminated data.
        // The order matters: `nothing` is above 2 and the channel may be 3 already, or be overwritten last.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::dup2(nothing, 0);
            libc::dup2(nothing, 1);
            if channel == CHANNEL_FD {
                libc::fcntl(channel, libc::F_SETFD, 0);
            } else {
                libc::dup2(channel, CHANNEL_FD);
            }
            libc::syscall(libc::SYS_close_range, CHANNEL_FD + 1, u32::MAX, 0);
            libc::setrlimit(libc::RLIMIT_NOFILE, &self.open_files);
            libc::execve(c"/proc/self/exe".as_ptr(), argv.as_ptr(), env.as_ptr());
            libc::_exit(127)
        }
    }
}
