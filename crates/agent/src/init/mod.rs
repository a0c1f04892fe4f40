//! Process 1 of a node: makes the node's namespaces, runs and reaps its processes, and ends them all when it ends.
//!
//! It is a child of the agent that executed no other program (`launch`). It is single-threaded, and its only open
//! descriptor of the agent's is 3, the channel to the agent. Two mechanisms end it when the agent dies, at whatever
//! instant: the kernel's parent-death signal and the end of the channel. The second covers the moments before the
//! signal is requested. When process 1 ends, the kernel kills every process of the PID namespace; the namespaces end
//! with the last process.

mod application;
mod credentials;
mod dilation;
mod disk;
mod executable;
mod namespaces;
mod outputs;
mod root;
mod strike;
mod timers;
mod usage;

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crosswind_dilation::Clocks;
use nix::errno::Errno;
use nix::fcntl::{fcntl, FcntlArg, FdFlag};
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::prctl;
use nix::sys::signal::{killpg, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::stat::{umask, Mode};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::{setsid, Pid};

use crate::channel::{Channel, FromInit, Received, StartOrder, ToInit};
use crate::failure::Failure;
use dilation::Dilation;
pub use dilation::Door;
pub use outputs::Keep;
use outputs::Outputs;
use usage::Meter;
pub use usage::Usage;

/// Number of the descriptor at which the agent leaves the init's end of the channel.
pub const CHANNEL_FD: RawFd = 3;

/// Serves the agent until the agent has ended. The process must have been launched as an init.
pub fn serve() -> io::Result<()> {
    Init::begin()?.serve()
}

struct Init {
    channel: Channel,
    children: SignalFd,
    groups: Vec<Group>,
    /// Started with the first process or the first question: for a thousand idle nodes, sampling takes a fifth of a
    /// CPU.
    meter: Option<Meter>,
    outputs: Outputs,
    /// Where clocks are not the machine's.
    dilation: Option<Dilation>,
}

/// A requested process and every other process of its group.
struct Group {
    process: u64,
    /// Id of the process and of the group.
    id: Pid,
    leader_ended: bool,
}

impl Init {
    fn begin() -> io::Result<Self> {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The name that `ps` shows; the command line is still the agent's.
        prctl::set_name(c"node-init")?;
        fcntl(
            // SAFETY: this call only finds out whether the descriptor is open.
            unsafe { std::os::fd::BorrowedFd::borrow_raw(CHANNEL_FD) },
            FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC),
        )?;
        // SAFETY: the agent put the channel there for this process, and nothing else here refers to it.
        let channel = Channel::from(unsafe { OwnedFd::from_raw_fd(CHANNEL_FD) });
        // A terminal's Ctrl-C must reach only the agent, which then ends the node in order.
        let _ = setsid();
        // The mask for applications and /etc/hosts, whatever the agent's caller uses.
        umask(Mode::S_IWGRP | Mode::S_IWOTH);
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_set_mask()?;
        let children = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self {
            channel,
            children,
            groups: Vec::new(),
            meter: None,
            outputs: Outputs::default(),
            dilation: None,
        })
    }

    fn serve(mut self) -> io::Result<()> {
        loop {
            let (order, child) = self.wait()?;
            if child {
                self.reap()?;
            }
            if self.meter.as_mut().is_some_and(Meter::tick) {
                self.outputs.trim();
            }
            if order {
                let Some(received) = self.channel.receive()? else {
                    return Ok(());
                };
                self.obey(received)?;
            }
        }
    }

    /// Waits until there is an order, a child has ended or the meter is due; returns whether it was the first or the
    /// second.
    fn wait(&self) -> io::Result<(bool, bool)> {
        let mut ready = [
            PollFd::new(self.channel.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.children.as_fd(), PollFlags::POLLIN),
        ];
        let patience = self.meter.as_ref().map_or(PollTimeout::NONE, |meter| {
            // Rounded up, so that the meter is due when the wait ends.
            PollTimeout::try_from(meter.until_next() + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut ready, patience) {
            Err(Errno::EINTR) => Ok((false, false)),
            Err(error) => Err(error.into()),
            Ok(_) => Ok((ready[0].any().unwrap_or(true), ready[1].any().unwrap_or(true))),
        }
    }

    fn obey(&mut self, received: Received<ToInit>) -> io::Result<()> {
        let outcome = match received.message {
            ToInit::Prepare { hostname, application, clocks } => {
                namespaces::prepare(&hostname, received.files, application)
                    .and_then(|()| clocks.map_or(Ok(()), |clocks| self.change(clocks)))
            }
            ToInit::Clocks(clocks) => self.change(clocks),
            ToInit::Connect(connect) => namespaces::connect(&connect),
            ToInit::Cover { device, folder } => disk::cover(&device, &folder).map_err(|error| {
                let remedy =
                    "the kernel needs CONFIG_EXT4_FS, and a container has to allow mounts of devices";
                Failure::preflight(format!("mount a disk at {}: {error}; {remedy}", folder.display()))
            }),
            ToInit::Start(order) => self.start(&order, received.files),
            ToInit::Signal { process, signal } => return self.signal(process, signal),
            ToInit::Strike { signal, at_ns } => return self.strike(signal, at_ns),
            ToInit::Dilated => {
                let report = self.dilation.as_ref().map(Dilation::report).transpose()?;
                return self.channel.send(&FromInit::Dilated(report), &[]);
            }
            ToInit::Use => {
                let used = self.meter.get_or_insert_with(Meter::new).look();
                return self.channel.send(&FromInit::Used(used), &[]);
            }
        };
        let answer = match outcome {
            Ok(()) => FromInit::Done,
            Err(failure) => FromInit::Refused(failure),
        };
        self.channel.send(&answer, &[])
    }

    fn change(&mut self, clocks: Clocks) -> Result<(), Failure> {
        match &self.dilation {
            Some(dilation) => dilation
                .change(clocks)
                .map_err(|error| Failure::internal(format!("change its clocks: {error}")))?,
            None => self.dilation = Some(Dilation::begin(clocks)?),
        }
        Ok(())
    }

    fn start(&mut self, order: &StartOrder, files: Vec<OwnedFd>) -> Result<(), Failure> {
        if let Some(keep) = order.keep {
            for file in &files {
                self.outputs
                    .watch(file, keep)
                    .map_err(|error| Failure::internal(format!("watch an output: {error}")))?;
            }
        }
        let id = application::start(order, files, &self.channel, self.dilation.as_ref())?;
        self.meter.get_or_insert_with(Meter::new);
        self.groups.push(Group { process: order.process, id, leader_ended: false });
        Ok(())
    }

    fn signal(&mut self, process: u64, signal: i32) -> io::Result<()> {
        let Some(group) = self.groups.iter().find(|group| group.process == process) else {
            return Ok(());
        };
        if signal != 0 && group_exists(group) {
            // SAFETY: kill touches no memory. It is called by number because `Signal` has no real-time signals.
            unsafe { libc::killpg(group.id.as_raw(), signal) };
        }
        self.report_ended_groups()
    }

    /// Reaps all children that have ended, orphans included, and reports those that were requested.
    fn reap(&mut self) -> io::Result<()> {
        while self.children.read_signal()?.is_some() {}
        loop {
            let (id, code, signal) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(id, code)) => (id, Some(code), None),
                Ok(WaitStatus::Signaled(id, signal, _)) => (id, None, Some(signal as i32)),
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => break,
                Ok(_) | Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if self.dilation.as_ref().is_some_and(|dilation| dilation.supervisor() == id) {
                return Err(io::Error::other("what slows the node's clocks has ended"));
            }
            if let Some(group) = self.groups.iter_mut().find(|group| group.id == id && !group.leader_ended) {
                group.leader_ended = true;
                self.channel.send(&FromInit::Exited { process: group.process, code, signal }, &[])?;
            }
        }
        self.report_ended_groups()
    }

    /// The kernel may reuse a group's number once the group is empty, so an empty group is forgotten at once.
    fn report_ended_groups(&mut self) -> io::Result<()> {
        let channel = &self.channel;
        let mut outcome = Ok(());
        self.groups.retain(|group| {
            let alive = !group.leader_ended || group_exists(group);
            if !alive && outcome.is_ok() {
                outcome = channel.send(&FromInit::GroupEnded { process: group.process }, &[]);
            }
            alive
        });
        outcome
    }
}

fn group_exists(group: &Group) -> bool {
    killpg(group.id, None) != Err(Errno::ESRCH)
}
