//! Slower or wrong clocks of a node: the process that supervises its programs, the init's side of it, and that of `enter`.
//!
//! The supervisor is a child of the init, because the init must go on while a program begins. It ends with the node.
//! Processes that enter the node from outside find it by a name in the node's own network namespace.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crosswind_dilation::{install, Clocks, Report, Supervisor};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::socket::{bind, connect, socket, AddressFamily, SockFlag, SockType, UnixAddr};
use nix::unistd::{close, fork, ForkResult, Pid};
use serde::{Deserialize, Serialize};

use super::strike::every_other;
use super::CHANNEL_FD;
use crate::channel::{Channel, Received};
use crate::failure::Failure;

/// Where the supervisor can be reached, among the abstract names of the node's network namespace.
const NAME: &[u8] = b"crosswind-clocks";

/// A message to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    /// Serve the filter whose listener is attached; the names of programs that were ended go to a second file.
    Listen,
    /// Programs that begin from now on have these clocks.
    Change(Box<Clocks>),
    Report,
    /// Send a signal to every other process of the node.
    Strike(i32),
}

/// A supervisor that runs.
pub struct Dilation {
    supervisor: Pid,
    channel: Channel,
}

impl Dilation {
    /// Starts the supervisor. The process must have one thread, and be in the namespaces of the node.
    pub fn begin(clocks: Clocks) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::internal(format!("start what slows its clocks: {error}"));
        let (ours, theirs) = Channel::pair().map_err(failed)?;
        // Before the node is said to be ready, so that nobody enters it in real time meanwhile.
        let door = door().map_err(failed)?;
        // SAFETY: this process has one thread, so no lock can be held by a thread that the child does not have.
        match unsafe { fork() }.map_err(|error| failed(error.into()))? {
            ForkResult::Child => {
                drop(ours);
                // The agent takes the end of this channel for the end of the node.
                let _ = close(CHANNEL_FD);
                let Err(error) = supervise(clocks, &theirs, &door);
                eprintln!("crosswind-agent: what slows the clocks of a node: {error}");
                // SAFETY: ends the child at once, without running the exit handlers that the init registered.
                unsafe { libc::_exit(1) }
            }
            ForkResult::Parent { child } => Ok(Self { supervisor: child, channel: ours }),
        }
    }

    /// Its process id.
    pub fn supervisor(&self) -> Pid {
        self.supervisor
    }

    /// Gives other clocks to every program that begins from now on.
    pub fn change(&self, clocks: Clocks) -> io::Result<()> {
        self.channel.send(&Order::Change(Box::new(clocks)), &[])
    }

    /// Slows this process, from its next program on, and everything that it will start.
    pub fn apply(&self) -> io::Result<()> {
        let listener = install()?;
        self.channel.send(&Order::Listen, &[listener.as_fd()])
    }

    pub fn report(&self) -> io::Result<Report> {
        self.channel.send(&Order::Report, &[])?;
        let received = self.channel.receive::<Report>()?;
        received.map(|received| received.message).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// As of `strike::every_other`, which the supervisor does: it must outlive a signal to every process.
    pub fn strike_every_other(&self, signal: i32) -> io::Result<bool> {
        self.channel.send(&Order::Strike(signal), &[])?;
        let received = self.channel.receive::<bool>()?;
        received.map(|received| received.message).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// The supervisor of a node, for a process that has entered the node from outside.
pub struct Door(Channel);

impl Door {
    /// `None` where clocks of the node are real. The process must be in the node's network namespace.
    pub fn find() -> io::Result<Option<Self>> {
        let socket = datagrams()?;
        match connect(socket.as_raw_fd(), &UnixAddr::new_abstract(NAME)?) {
            Ok(()) => Ok(Some(Self(Channel::from(socket)))),
            Err(Errno::ECONNREFUSED) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// As [`Dilation::apply`]; the socket gets a message for each program that is ended because it cannot be slowed.
    pub fn apply(&self, ended: BorrowedFd<'_>) -> io::Result<()> {
        let listener = install()?;
        self.0.send(&Order::Listen, &[listener.as_fd(), ended])
    }
}

fn datagrams() -> nix::Result<OwnedFd> {
    socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
}

/// Where processes that enter the node are heard.
fn door() -> io::Result<Channel> {
    let door = datagrams()?;
    bind(door.as_raw_fd(), &UnixAddr::new_abstract(NAME)?)?;
    Ok(Channel::from(door))
}

fn supervise(clocks: Clocks, init: &Channel, door: &Channel) -> io::Result<Infallible> {
    prctl::set_name(c"node-clocks")?;
    let mut supervisor = Supervisor::new(clocks).ok_or(io::ErrorKind::Unsupported)?;
    loop {
        let [ordered, entered] = supervisor.serve_until([init.as_fd(), door.as_fd()])?;
        if entered {
            // Every program of the node can send here. It can only have its own processes served.
            if let Ok(Some(Received { message: Order::Listen, files, .. })) = door.receive() {
                listen(&mut supervisor, files);
            }
        }
        if !ordered {
            continue;
        }
        let received = init.receive::<Order>()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        match received.message {
            Order::Listen => listen(&mut supervisor, received.files),
            Order::Change(clocks) => supervisor.change(*clocks),
            Order::Report => init.send(&supervisor.report(), &[])?,
            Order::Strike(signal) => init.send(&every_other(signal)?, &[])?,
        }
    }
}

fn listen(supervisor: &mut Supervisor, files: Vec<OwnedFd>) {
    let mut files = files.into_iter();
    if let Some(listener) = files.next() {
        supervisor.listen(listener, files.next());
    }
}
