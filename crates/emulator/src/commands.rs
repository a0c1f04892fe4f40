//! Commands to the packet thread, and how they reach it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};
use std::sync::Arc;

use crosswind_fabric::{Cuts, Plan, Spent, Timeline};
use crosswind_tunnel::ClockReport;

use crate::snapshot::Snapshot;
use crate::waker::Waker;
use crate::watch::Watched;

/// A command to the thread.
#[derive(Debug)]
pub enum Command {
    /// Apply another condition. It ends the timeline of the earlier one.
    Set {
        /// When it was requested; the same for all domains.
        at_ns: u64,
        /// The target state.
        plan: Box<Plan>,
        /// Receives the result.
        reply: Sender<Done>,
    },
    /// Cut nodes off by hand; replaces all earlier cuts by hand.
    Cut {
        /// When it was requested; the same for all domains.
        at_ns: u64,
        /// All of them.
        cuts: Arc<Cuts>,
        /// Receives the result.
        reply: Sender<Done>,
    },
    /// Start a window, and with it the timeline of the condition.
    Measure {
        /// Start of the window, the same for all domains; now if there is one domain. The time until the thread reads
        /// this command is not part of the window.
        at_ns: Option<u64>,
        /// Time that the hypervisor took since boot; slow to read, so the caller reads it.
        steal_ns: u64,
        /// Starts at its beginning.
        timeline: Box<Timeline>,
        /// Receives the result.
        reply: Sender<Done>,
    },
    /// Return a snapshot of the window so far.
    Read {
        /// Time that the hypervisor took since boot, up to now.
        steal_ns: u64,
        /// Receives the snapshot.
        reply: Sender<Box<Snapshot>>,
    },
    /// Return the time, and the estimates of the clocks of other machines, by domain.
    Clocks(Sender<(u64, Vec<(usize, ClockReport)>)>),
    /// Report every step of the series from now on.
    Watch(Box<Watched>),
    /// End the thread.
    Stop,
}

/// The result of a command, and the objects that it replaced. Dropping these takes long, so the thread that sent the
/// command does it.
#[derive(Debug)]
pub struct Done {
    /// When it took effect.
    pub at_ns: u64,
    /// Objects that a plan has replaced.
    pub spent: Option<Spent>,
    /// The timeline that has ended.
    pub timeline: Timeline,
}

/// The sender's end.
#[derive(Clone, Debug)]
pub struct Commands {
    sender: Sender<Command>,
    waker: Waker,
}

/// The packet thread's end.
#[derive(Debug)]
pub struct Inbox {
    receiver: Receiver<Command>,
    waker: Waker,
}

/// Both ends.
pub fn commands() -> io::Result<(Commands, Inbox)> {
    let (sender, receiver) = channel();
    let waker = Waker::new()?;
    Ok((Commands { sender, waker: waker.clone() }, Inbox { receiver, waker }))
}

impl Commands {
    /// Sends a command; false if the thread has ended.
    pub fn send(&self, command: Command) -> bool {
        let sent = self.sender.send(command).is_ok();
        self.waker.wake();
        sent
    }
}

impl Inbox {
    /// Whether commands may have come since the last call. `reported`: whether the latest wait found this readable.
    pub fn rung(&self, reported: bool) -> bool {
        self.waker.rung(reported)
    }

    /// Wakes the thread for another reason than a command.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// The next waiting command; `Stop` when no sender is left.
    pub fn next(&self) -> Option<Command> {
        match self.receiver.try_recv() {
            Ok(command) => Some(command),
            Err(TryRecvError::Disconnected) => Some(Command::Stop),
            Err(TryRecvError::Empty) => None,
        }
    }
}

/// Becomes readable when there is a command.
impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }
}
