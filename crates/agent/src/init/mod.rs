//! Process 1 of a node: makes the node's namespaces, runs its processes, reaps them, and takes them all with it.
//!
//! It is a child of the agent that executed nothing (`launch`), single-threaded, with its channel to the agent as
//! descriptor 3 and nothing else of the agent's open. When the agent dies, at whatever instant, two things end it: the kernel's
//! parent-death signal and the end of the channel (which covers the moments before the signal is asked for). With
//! process 1 the kernel kills every process of the PID namespace, and with the last process go the namespaces.

mod application;
mod credentials;
mod executable;
mod namespaces;
mod outputs;
mod root;
mod usage;

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

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
pub use outputs::Keep;
use outputs::Outputs;
use usage::Meter;
pub use usage::Usage;

/// Where the agent leaves the init's end of the channel.
pub const CHANNEL_FD: RawFd = 3;

/// Serves the agent until it is gone. The process must have been launched for it.
pub fn serve() -> io::Result<()> {
    Init::begin()?.serve()
}

struct Init {
    channel: Channel,
    children: SignalFd,
    groups: Vec<Group>,
    /// From the first process, or the first question: among a thousand idle nodes looking takes a fifth of a processor.
    meter: Option<Meter>,
    outputs: Outputs,
}

/// A process that was asked for, and whatever shares its process group.
struct Group {
    process: u64,
    /// Of the process and of the group.
    id: Pid,
    leader_ended: bool,
}

impl Init {
    fn begin() -> io::Result<Self> {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // What `ps` shows; the command line stays the agent's.
        prctl::set_name(c"node-init")?;
        fcntl(
            // SAFETY: whether the descriptor is open is what this call finds out.
            unsafe { std::os::fd::BorrowedFd::borrow_raw(CHANNEL_FD) },
            FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC),
        )?;
        // SAFETY: the agent put the channel there for us, and nothing else in this process refers to it.
        let channel = Channel::from(unsafe { OwnedFd::from_raw_fd(CHANNEL_FD) });
        // A terminal's Ctrl-C is for the agent, which then ends the node in order.
        let _ = setsid();
        // What applications and /etc/hosts get, whatever the agent's caller prefers.
        umask(Mode::S_IWGRP | Mode::S_IWOTH);
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_set_mask()?;
        let children = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self { channel, children, groups: Vec::new(), meter: None, outputs: Outputs::default() })
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

    /// Waits until there is an order, a child has ended or the meter has to look; says which of the first two.
    fn wait(&self) -> io::Result<(bool, bool)> {
        let mut ready = [
            PollFd::new(self.channel.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.children.as_fd(), PollFlags::POLLIN),
        ];
        let patience = self.meter.as_ref().map_or(PollTimeout::NONE, |meter| {
            // Rounded up, so that the meter looks when the wait ends.
            PollTimeout::try_from(meter.rest() + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut ready, patience) {
            Err(Errno::EINTR) => Ok((false, false)),
            Err(error) => Err(error.into()),
            Ok(_) => Ok((ready[0].any().unwrap_or(true), ready[1].any().unwrap_or(true))),
        }
    }

    fn obey(&mut self, received: Received<ToInit>) -> io::Result<()> {
        let outcome = match received.message {
            ToInit::Prepare { hostname, application } => {
                namespaces::prepare(&hostname, received.files, application)
            }
            ToInit::Connect(connect) => namespaces::connect(&connect),
            ToInit::Start(order) => self.start(&order, received.files),
            ToInit::Signal { process, signal } => return self.signal(process, signal),
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

    fn start(&mut self, order: &StartOrder, files: Vec<OwnedFd>) -> Result<(), Failure> {
        if let Some(keep) = order.keep {
            for file in &files {
                self.outputs
                    .watch(file, keep)
                    .map_err(|error| Failure::internal(format!("watch an output: {error}")))?;
            }
        }
        let id = application::start(order, files, &self.channel)?;
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

    /// Reaps whatever has ended, orphans included, and reports what was asked for.
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
            if let Some(group) = self.groups.iter_mut().find(|group| group.id == id && !group.leader_ended) {
                group.leader_ended = true;
                self.channel.send(&FromInit::Exited { process: group.process, code, signal }, &[])?;
            }
        }
        self.report_ended_groups()
    }

    /// A group's number can be given to another once it is empty, so an empty group is forgotten at once.
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
