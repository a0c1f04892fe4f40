//! A node as the agent sees it: its init, and the line to it. The node exists exactly as long as this value.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::sched::{sched_setaffinity, CpuSet};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::cgroup::Kept;
use crate::channel::{Channel, FromInit, Received, ToInit};
use crate::launch::Launcher;

/// A node that exists, or is coming to exist.
pub struct Node {
    pub name: String,
    pub host: String,
    /// Process id of its init as the agent's caller sees it.
    pub init: Pid,
    channel: Channel,
    /// Its limits, and who keeps them.
    pub kept: Kept,
    /// Set once its init is known to be gone.
    pub lost: bool,
}

impl Node {
    /// A node whose init waits to be told what to do.
    ///
    /// # Safety
    /// As of [`Launcher::launch`].
    pub unsafe fn launch(launcher: &Launcher, name: &str, host: &str) -> io::Result<Self> {
        // SAFETY: the caller's promise.
        let (init, channel) = unsafe { launcher.launch() }?;
        Ok(Self {
            name: name.to_owned(),
            host: host.to_owned(),
            init,
            channel,
            kept: Kept::default(),
            lost: false,
        })
    }

    /// Keeps whatever will run in the node on these processors. The init must not have started anything yet.
    pub fn stay_on(&self, processors: &CpuSet) -> io::Result<()> {
        sched_setaffinity(self.init, processors).map_err(io::Error::from)
    }

    pub fn tell(&self, order: &ToInit, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.channel.send(order, files)
    }

    /// Waits for the init's next message; `None` when the init is gone.
    pub fn hear(&self) -> io::Result<Option<Received<FromInit>>> {
        self.channel.receive()
    }

    pub fn channel(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    fn kill(&self) {
        // Cannot fail for a child of ours that nobody has waited for yet.
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

/// Ends all nodes, side by side.
pub fn end_all(nodes: Vec<Node>) {
    nodes.iter().for_each(Node::kill);
    drop(nodes);
}
