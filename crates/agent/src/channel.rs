//! The channel between the agent and the init of a node: whole messages, with attached files and the sender's process
//! id.
//!
//! A SOCK_SEQPACKET pair preserves message boundaries and reports the end of either side, so each side notices when
//! the other dies. The kernel attaches the sender's process id and translates it into the receiver's PID namespace.
//! The agent has no other way to learn the outside process id of a process in a node.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

use crosswind_dilation::{Clocks, Report};
use nix::errno::Errno;
use nix::sys::socket::{
    recvmsg, sendmsg, setsockopt, socketpair, sockopt, AddressFamily, ControlMessage, ControlMessageOwned,
    MsgFlags, SockFlag, SockType, UnixCredentials,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::failure::Failure;
use crate::init::{Keep, Usage};
use crate::offloads::Offloads;
use crate::protocol::Root;

/// Largest message, bytes: the default size of a Unix socket's buffer minus its own overhead.
pub const MESSAGE_BYTES_MAX: usize = 200_000;

/// Files one message can carry.
const FILES_MAX: usize = 2;

/// A message from the agent to an init.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToInit {
    /// Makes the namespaces; the file attached holds the text of /etc/hosts. Programs get other clocks with `clocks`.
    Prepare { hostname: String, application: Account, clocks: Option<Clocks> },
    /// Sets up `eth0`, which must exist.
    Connect(Connect),
    /// Mounts a disk of the node's own over a folder.
    Cover { device: PathBuf, folder: PathBuf },
    /// Runs a process; the files attached are its standard output and standard error.
    Start(StartOrder),
    /// Sends a signal to the process group of a process; 0 only asks whether the group still exists.
    Signal { process: u64, signal: i32 },
    /// Sends a signal to every process of the node but the init, at this instant of CLOCK_MONOTONIC or at once.
    Strike { signal: i32, at_ns: Option<u64> },
    /// Requests what the node has used.
    Use,
    /// Gives these clocks to every program that begins from now on.
    Clocks(Clocks),
    /// Requests the report on the node's other clocks.
    Dilated,
}

/// Where a node is in the network and how its TCP behaves.
#[derive(Debug, Serialize, Deserialize)]
pub struct Connect {
    pub position: u16,
    pub congestion_control: String,
    pub rto_min_ms: u32,
    /// How many times longer timers of the kernel have to be.
    pub slower: u64,
    pub ecn: bool,
    pub socket_buffer_bytes: Option<u32>,
    pub offloads: Offloads,
    pub overlay: Option<OverlayOrder>,
}

/// The overlay of a node: with how many nodes, and the MTU of the network below.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct OverlayOrder {
    pub nodes: u16,
    pub mtu_bytes: u32,
}

/// A process to run.
#[derive(Debug, Serialize, Deserialize)]
pub struct StartOrder {
    pub process: u64,
    pub name: String,
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    pub root: Option<Root>,
    /// `None`: with all privileges, for programs of the switch.
    pub account: Option<Account>,
    pub keep: Option<Keep>,
}

/// A message from an init to the agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromInit {
    /// `Prepare`, `Connect`, `Cover`, `Start` or `Clocks` was honoured.
    Done,
    /// The order could not be carried out.
    Refused(Failure),
    /// The answer to `Strike`: when every process had the signal, on CLOCK_MONOTONIC.
    Struck { done_ns: u64 },
    /// The answer to `Use`.
    Used(Usage),
    /// The answer to `Dilated`; nothing where clocks are real.
    Dilated(Option<Report>),
    /// Sent by the new process itself, so that the kernel attaches its process id.
    Born { process: u64 },
    /// A process has ended; other processes of its group may still run.
    Exited { process: u64, code: Option<i32>, signal: Option<i32> },
    /// The last process of its group has ended too.
    GroupEnded { process: u64 },
}

/// A message with its attachments.
pub struct Received<T> {
    pub message: T,
    pub files: Vec<OwnedFd>,
    /// Process id of the sender in the receiver's namespace; 0 when the receiver did not request it.
    pub sender: i32,
}

/// One end of the channel.
pub struct Channel {
    socket: OwnedFd,
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<OwnedFd> for Channel {
    fn from(socket: OwnedFd) -> Self {
        Self { socket }
    }
}

impl Channel {
    /// A connected pair: the agent's end, which receives senders' process ids, and the init's end.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (agent, init) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        setsockopt(&agent, sockopt::PassCred, &true)?;
        Ok((Self { socket: agent }, Self { socket: init }))
    }

    /// Sends a message completely or not at all; `InvalidInput` when it is larger than [`MESSAGE_BYTES_MAX`].
    pub fn send<T: Serialize>(&self, message: &T, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = serde_json::to_vec(message)?;
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let files: Vec<RawFd> = files.iter().map(|file| file.as_raw_fd()).collect();
        let attached = [ControlMessage::ScmRights(&files)];
        let attached = if files.is_empty() { &[] } else { attached.as_slice() };
        let parts = [IoSlice::new(&bytes)];
        loop {
            match sendmsg::<()>(self.socket.as_raw_fd(), &parts, attached, MsgFlags::MSG_NOSIGNAL, None) {
                Err(Errno::EINTR) => continue,
                outcome => return outcome.map(drop).map_err(io::Error::from),
            }
        }
    }

    /// Waits for the next message; `None` when the other side is gone.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<Received<T>>> {
        let mut bytes = vec![0; MESSAGE_BYTES_MAX];
        let mut space = nix::cmsg_space!([RawFd; FILES_MAX], UnixCredentials);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let received = loop {
            match recvmsg::<()>(
                self.socket.as_raw_fd(),
                &mut parts,
                Some(&mut space),
                MsgFlags::MSG_CMSG_CLOEXEC,
            ) {
                Err(Errno::EINTR) => continue,
                // The other side closed its end while messages from this side were unread.
                Err(Errno::ECONNRESET) => return Ok(None),
                outcome => break outcome?,
            }
        };
        let (mut files, mut sender) = (Vec::new(), 0);
        for attached in received.cmsgs()? {
            match attached {
                ControlMessageOwned::ScmRights(raw) => {
                    // SAFETY: the kernel has just made these descriptors for this process; nothing else refers to
                    // them.
                    files.extend(raw.into_iter().map(|file| unsafe { OwnedFd::from_raw_fd(file) }));
                }
                ControlMessageOwned::ScmCredentials(credentials) => sender = credentials.pid(),
                _ => {}
            }
        }
        let length = received.bytes;
        if length == 0 {
            return Ok(None);
        }
        let message = serde_json::from_slice(&bytes[..length])?;
        Ok(Some(Received { message, files, sender }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn messages_arrive_with_their_boundaries_files_and_sender() {
        let (agent, init) = Channel::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        init.send(&FromInit::Born { process: 7 }, &[]).unwrap();
        init.send(&FromInit::Done, &[writer.as_fd()]).unwrap();
        drop(writer);
        let born = agent.receive::<FromInit>().unwrap().unwrap();
        assert!(matches!(born.message, FromInit::Born { process: 7 }));
        assert_eq!(born.sender, std::process::id() as i32);
        let done = agent.receive::<FromInit>().unwrap().unwrap();
        assert_eq!(done.files.len(), 1);
        drop(done);
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0, "the attached descriptor was the last writer");
    }

    #[test]
    fn the_end_of_one_side_reaches_the_other() {
        let (agent, init) = Channel::pair().unwrap();
        drop(init);
        assert!(agent.receive::<FromInit>().unwrap().is_none());
    }

    #[test]
    fn a_message_that_is_too_large_is_refused_whole() {
        let (agent, init) = Channel::pair().unwrap();
        let large = ToInit::Prepare {
            hostname: "x".repeat(MESSAGE_BYTES_MAX),
            application: Account { uid: 1, gid: 1 },
            clocks: None,
        };
        assert_eq!(agent.send(&large, &[]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        drop(agent);
        assert!(init.receive::<ToInit>().unwrap().is_none());
    }

    #[test]
    fn a_message_of_the_largest_size_fits_the_socket() {
        let (agent, init) = Channel::pair().unwrap();
        let envelope = serde_json::to_vec(&ToInit::Prepare {
            hostname: String::new(),
            application: Account { uid: 1, gid: 1 },
            clocks: None,
        });
        let fitting = "x".repeat(MESSAGE_BYTES_MAX - envelope.unwrap().len());
        agent
            .send(
                &ToInit::Prepare { hostname: fitting, application: Account { uid: 1, gid: 1 }, clocks: None },
                &[],
            )
            .unwrap();
        assert!(init.receive::<ToInit>().unwrap().is_some());
    }
}
