//! What the packet thread is asked to do, and how it hears of it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};

use crosswind_fabric::{Plan, Spent, Timeline};

use crate::snapshot::Snapshot;
use crate::waker::Waker;

/// What the thread is asked to do.
#[derive(Debug)]
pub enum Command {
    /// Another condition. It ends the timeline of the one before.
    Set {
        /// When it was asked for, of all domains alike.
        at_ns: u64,
        /// What is to be.
        plan: Box<Plan>,
        /// Where to.
        reply: Sender<Done>,
    },
    /// Start a window, and with it the timeline of the condition. With the time that the hypervisor has taken until now, which takes
    /// long to read.
    Measure {
        /// From when on, the same for all domains; from now on where there is one. What the thread had to wait before it heard of a window
        /// is none of that window's.
        at_ns: Option<u64>,
        /// Since boot.
        steal_ns: u64,
        /// From its beginning.
        timeline: Box<Timeline>,
        /// Where to.
        reply: Sender<Done>,
    },
    /// The window so far, with the time that the hypervisor has taken until now.
    Read {
        /// Since boot.
        steal_ns: u64,
        /// Where to.
        reply: Sender<Box<Snapshot>>,
    },
    /// End.
    Stop,
}

/// What was done, and what it left over: to let go of that takes long, so whoever asked does it.
#[derive(Debug)]
pub struct Done {
    /// When it took effect.
    pub at_ns: u64,
    /// What a plan has taken the place of.
    pub spent: Option<Spent>,
    /// The timeline that has ended.
    pub timeline: Timeline,
}

/// The asking end.
#[derive(Clone, Debug)]
pub struct Commands {
    sender: Sender<Command>,
    waker: Waker,
}

/// The thread's end.
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
    /// Sends a command; false where the thread has ended.
    pub fn send(&self, command: Command) -> bool {
        let sent = self.sender.send(command).is_ok();
        self.waker.wake();
        sent
    }
}

impl Inbox {
    /// Whether commands may have come since the last call. `reported`: the wait that has just ended found this readable.
    pub fn rung(&self, reported: bool) -> bool {
        self.waker.rung(reported)
    }

    /// Wakes the thread for something else than a command.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// The next command that waits; to stop, where nobody is left who could ask for anything.
    pub fn next(&self) -> Option<Command> {
        match self.receiver.try_recv() {
            Ok(command) => Some(command),
            Err(TryRecvError::Disconnected) => Some(Command::Stop),
            Err(TryRecvError::Empty) => None,
        }
    }
}

/// What becomes readable with a command.
impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }
}
