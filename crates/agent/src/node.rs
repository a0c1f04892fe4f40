//! A node from the agent's side: its init, and the channel to it. The node exists exactly as long as this value.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::sched::{sched_setaffinity, CpuSet};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::cgroup::Kept;
use crate::channel::{Channel, FromInit, Received, ToInit};
use crate::disk::Disk;
use crate::launch::Launcher;

/// A node that exists, or is being made.
pub struct Node {
    /// Its position in the fabric, from which its addresses follow.
    pub number: u16,
    pub name: String,
    pub host: String,
    /// Process id of its init as the agent's caller sees it.
    pub init: Pid,
    channel: Channel,
    /// Its limits, and what enforces them.
    pub kept: Kept,
    /// The disk over the folder with its data, where it has one.
    pub disk: Option<Disk>,
    /// Whether it ever had a clock of its own, which is reported from then on.
    pub own_clock: bool,
    /// Set once its init is known to be gone.
    pub lost: bool,
}

impl Node {
    /// A node whose init waits for its first order.
    ///
    /// # Safety
    /// As for [`Launcher::launch`].
    pub unsafe fn launch(launcher: &Launcher, number: u16, name: &str, host: &str) -> io::Result<Self> {
        // SAFETY: the caller's promise.
        let (init, channel) = unsafe { launcher.launch() }?;
        Ok(Self {
            number,
            name: name.to_owned(),
            host: host.to_owned(),
            init,
            channel,
            kept: Kept::default(),
            disk: None,
            own_clock: false,
            lost: false,
        })
    }

    /// Restricts every process of the node to these CPUs. The init must not have started a process yet.
    pub fn restrict_to(&self, cpus: &CpuSet) -> io::Result<()> {
        sched_setaffinity(self.init, cpus).map_err(io::Error::from)
    }

    pub fn send(&self, order: &ToInit, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.channel.send(order, files)
    }

    /// Waits for the init's next message; `None` when the init is gone.
    pub fn receive(&self) -> io::Result<Option<Received<FromInit>>> {
        self.channel.receive()
    }

    pub fn channel(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    fn kill(&self) {
        // A process that waits for a slow disk ends no sooner than its write.
        self.kept.lift();
        // Cannot fail for a child that has not been waited for yet.
        let _ = kill(self.init, Signal::SIGKILL);
    }
}

impl Drop for Node {
    /// Kills the init and waits for it. The kernel ends an init only after every process of its namespace has ended.
    fn drop(&mut self) {
        self.kill();
        while waitpid(self.init, None) == Err(Errno::EINTR) {}
    }
}

/// Ends all nodes in parallel.
pub fn end_all(nodes: Vec<Node>) {
    nodes.iter().for_each(Node::kill);
    drop(nodes);
}
