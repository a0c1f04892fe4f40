//! Small datagrams with a code, and when they came: the kernel's stamp, on CLOCK_MONOTONIC.
//!
//! | bytes | |
//! |---|---|
//! | 1 | kind |
//! | 4 | number |
//! | 8 | when the asking end sent it, on its clock |
//! | 8 | in an answer: when it came to the answering end, on that clock |
//! | 8 | in an answer: when the answer left |
//! | 27 | nothing, so that both directions have the same size |
//! | 8 | code of everything before, with the key of this direction |

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

use crosswind_tunnel::{seal_in_place, verified, Key, RunKey, CODE_BYTES};
use nix::cmsg_space;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::socket::{recvmsg, setsockopt, sockopt, ControlMessageOwned, MsgFlags, SockaddrStorage};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::time::{clock_gettime, ClockId};

use crate::failure::Failure;

/// As the messages of other fingerprints.
const DATAGRAM_BYTES: usize = 64;
/// A datagram that seems older was stamped before the wall clock was set.
const AGE_NS_MAX: i64 = 1_000_000_000;

/// The keys of both directions.
#[derive(Clone, Debug)]
pub struct Secret {
    pub own: Key,
    pub other: Key,
}

impl Secret {
    /// The keys of one of the sides 0 and 1.
    pub fn of(key: &RunKey, side: u16) -> Result<Self, Failure> {
        if side > 1 {
            return Err(Failure::invalid(format!("open: side {side}: is neither 0 nor 1")));
        }
        Ok(Self { own: Key::of(key, side, 1 - side), other: Key::of(key, 1 - side, side) })
    }
}

/// What a datagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Asks for an answer, before the measurement.
    Call,
    /// Asks for an answer, and is a sample of the delay.
    Probe,
    /// Answers a call.
    CallAnswer,
    /// Answers a probe.
    ProbeAnswer,
    /// The sender has sent all its probes, and waited for late ones.
    Done,
}

const KINDS: [Kind; 5] = [Kind::Call, Kind::Probe, Kind::CallAnswer, Kind::ProbeAnswer, Kind::Done];

/// The content of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Small {
    pub kind: Kind,
    pub number: u32,
    pub sent_ns: u64,
    pub came_ns: u64,
    pub answered_ns: u64,
}

impl Small {
    fn write(&self, key: &Key) -> [u8; DATAGRAM_BYTES] {
        let mut bytes = [0; DATAGRAM_BYTES];
        bytes[0] = self.kind as u8;
        bytes[1..5].copy_from_slice(&self.number.to_be_bytes());
        bytes[5..13].copy_from_slice(&self.sent_ns.to_be_bytes());
        bytes[13..21].copy_from_slice(&self.came_ns.to_be_bytes());
        bytes[21..29].copy_from_slice(&self.answered_ns.to_be_bytes());
        seal_in_place(key, &mut bytes);
        bytes
    }

    fn read(bytes: &[u8], key: &Key) -> Option<Self> {
        let content = verified(key, bytes).filter(|content| content.len() == DATAGRAM_BYTES - CODE_BYTES)?;
        let instant = |at: usize| content[at..at + 8].try_into().map(u64::from_be_bytes).ok();
        Some(Self {
            kind: *KINDS.get(usize::from(content[0]))?,
            number: content[1..5].try_into().map(u32::from_be_bytes).ok()?,
            sent_ns: instant(5)?,
            came_ns: instant(13)?,
            answered_ns: instant(21)?,
        })
    }
}

/// A socket for them.
#[derive(Debug)]
pub struct Sealed {
    socket: UdpSocket,
    secret: Secret,
    control: Vec<u8>,
    /// Datagrams that the other end has not made.
    pub forged: u64,
}

impl Sealed {
    /// Opens it at an address of this machine; the kernel chooses the port.
    pub fn open(address: IpAddr, secret: Secret) -> io::Result<Self> {
        let socket = UdpSocket::bind(SocketAddr::new(address, 0))?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        Ok(Self { socket, secret, control: cmsg_space!(TimeSpec), forged: 0 })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// From now on datagrams go to this address, and none are taken from another one.
    pub fn connect(&self, to: SocketAddr) -> io::Result<()> {
        self.socket.connect(to)
    }

    /// Sends one. What the kernel does not take is lost, as on the way; the other end counts what arrives.
    pub fn send(&self, small: &Small) {
        let _ = self.socket.send(&small.write(&self.secret.own));
    }

    /// The next one that has come, and when.
    pub fn receive(&mut self) -> Option<(Small, u64)> {
        loop {
            let mut bytes = [0; DATAGRAM_BYTES + 1];
            let mut into = [IoSliceMut::new(&mut bytes)];
            let flags = MsgFlags::MSG_DONTWAIT;
            let fd = self.socket.as_raw_fd();
            let (length, stamp_ns) =
                match recvmsg::<SockaddrStorage>(fd, &mut into, Some(&mut self.control), flags) {
                    Ok(message) => {
                        let stamp = message.cmsgs().into_iter().flatten().find_map(|it| match it {
                            ControlMessageOwned::ScmTimestampns(at) => Some(at.num_nanoseconds()),
                            _ => None,
                        });
                        (message.bytes, stamp)
                    }
                    Err(nix::errno::Errno::EAGAIN) => return None,
                    // A refusal that came back for an earlier datagram.
                    Err(_) => continue,
                };
            // The wall clock is read first, as in the tunnel: a datagram is never taken for older than it is.
            let age_ns = stamp_ns.map_or(0, age_ns);
            let at_ns = monotonic_ns().saturating_sub(age_ns);
            match Small::read(&bytes[..length], &self.secret.other) {
                Some(small) => return Some((small, at_ns)),
                None => self.forged += 1,
            }
        }
    }

    /// Waits until something has come, or this instant.
    pub fn wait(&self, until_ns: u64) {
        let left = until_ns.saturating_sub(monotonic_ns());
        let mut sources = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        let _ = ppoll(&mut sources, Some(TimeSpec::nanoseconds(left as i64)), None);
    }
}

fn age_ns(stamp_ns: i64) -> u64 {
    let now = nanoseconds(ClockId::CLOCK_REALTIME);
    u64::try_from(now - stamp_ns).ok().filter(|&age| age < AGE_NS_MAX as u64).unwrap_or(0)
}

/// The clock of this machine.
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::CLOCK_MONOTONIC) as u64
}

/// A clock; 0 where the kernel does not have it.
pub fn nanoseconds(clock: ClockId) -> i64 {
    clock_gettime(clock).map_or(0, |at| at.num_nanoseconds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secrets() -> [Secret; 2] {
        [0, 1].map(|side| Secret::of(&[7; 32], side).unwrap())
    }

    #[test]
    fn a_datagram_is_read_by_the_other_end_alone() {
        let [near, far] = secrets();
        let small =
            Small { kind: Kind::ProbeAnswer, number: 3, sent_ns: 1 << 60, came_ns: 2, answered_ns: 5 };
        let bytes = small.write(&near.own);
        assert_eq!(Small::read(&bytes, &far.other), Some(small));
        assert_eq!(Small::read(&bytes, &near.other), None, "reflected");
        let another = Secret::of(&[8; 32], 1).unwrap();
        assert_eq!(Small::read(&bytes, &another.other), None, "of another meeting");
    }

    proptest! {
        #[test]
        fn no_bytes_can_end_the_reader(bytes: Vec<u8>, kind: u8) {
            let [near, far] = secrets();
            prop_assert_eq!(Small::read(&bytes, &far.other), None);
            let mut whole = [0; DATAGRAM_BYTES];
            whole[0] = kind;
            seal_in_place(&near.own, &mut whole);
            prop_assert_eq!(Small::read(&whole, &far.other).is_some(), usize::from(kind) < KINDS.len());
        }
    }
}
