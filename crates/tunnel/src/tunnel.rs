//! What a socket sends and receives, and the peers behind it.
//!
//! One socket serves all peers; who sent a datagram is said by its header, and proved by its code. Over UDP the kernel
//! cuts runs of datagrams on the way out and joins them on the way in; where it refuses, and over raw Ethernet, datagrams
//! are sent one by one.
//!
//! A frame of 64 KiB is cut into datagrams of the path's MTU that leave with two system calls and come with two. The
//! throughput is that of the packet thread: `examples/throughput.rs` measures it.
//!
//! Where the socket has no room, datagrams wait for the next turn and none is lost here. Where its receiver comes too
//! late, the kernel drops datagrams, and counts them: a large buffer (net.core.rmem_max, or privileges) prevents that.
//!
//! Source: udp(7), UDP_SEGMENT and UDP_GRO; socket(7), SO_TIMESTAMPNS.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;

use crosswind_fabric::Crosses;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    recvmsg, sendmsg, setsockopt, sockopt, ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage,
};
use nix::sys::time::TimeSpec;
use nix::time::{clock_gettime, ClockId};
use serde::Serialize;

use crate::address::Address;
use crate::message::{Message, Passage};
use crate::native::is_for_here;
use crate::peer::{Membership, Now, Peer, PeerReport};
use crate::socket::{Bound, Network};
use crate::ClockReport;

/// Received at once, at most: what the kernel joins.
const RECEIVED_BYTES: usize = 65_536;
/// Received before other work gets its turn.
const TURNS: usize = 64;
/// More than this waits for no room in the socket.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// The tunnel of one machine to all others.
#[derive(Debug)]
pub struct Tunnel {
    socket: Bound,
    own: Membership,
    generation: u32,
    nodes: usize,
    peers: Vec<(Peer, Target)>,
    received: VecDeque<Message>,
    buffer: Box<[u8]>,
    /// What the kernel says about received bytes.
    control: Vec<u8>,
    forged: u64,
    /// Runs that the kernel did not take; the trial is void, because the peer misses their numbers.
    unsent: u64,
    before: Before,
}

/// Counts when the window started.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    forged: u64,
    unsent: u64,
    dropped: u64,
}

#[derive(Debug)]
struct Target {
    address: Address,
    /// The same as the kernel takes it.
    to: SockaddrStorage,
    /// Of a datagram.
    limit: usize,
    segments: bool,
    /// Runs for which the socket had no room, with the length of each datagram but the last.
    waiting: VecDeque<(Vec<u8>, usize)>,
    waiting_bytes: usize,
    /// Since when the first of them is refused with ENOBUFS.
    refused_since_ns: Option<u64>,
}

/// In this time a frame of 1,500 bytes leaves a full queue at 6 Mbit/s and more.
const REFUSED_NS_MAX: u64 = 2_000_000;

/// The window so far.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct TunnelReport {
    /// Of this machine.
    pub domain: usize,
    /// What carried the datagrams.
    pub network: Network,
    /// Datagrams that no peer of this run has made.
    pub forged_datagrams: u64,
    /// Runs of datagrams that the kernel refused to send.
    pub unsent: u64,
    /// Datagrams that came when the socket's buffer was full.
    pub dropped_here: u64,
    /// The size of that buffer, as the kernel counts it.
    pub receive_buffer_bytes: u64,
    pub peers: Vec<PeerReport>,
}

/// Datagrams that the kernel has joined.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Not for a group, and not overheard.
    is_for_here: bool,
    /// Bytes of all.
    length: usize,
    /// Bytes of each but the last.
    each: usize,
    /// When the first came, on CLOCK_REALTIME.
    stamp_ns: Option<i64>,
}

/// A datagram that seems older was stamped before the wall clock was set.
const AGE_NS_MAX: u64 = 1_000_000_000;

/// How long ago a stamp was made.
fn age_ns(stamp_ns: i64) -> u64 {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, nanoseconds);
    u64::try_from(now - stamp_ns).ok().filter(|&age| age < AGE_NS_MAX).unwrap_or(0)
}

fn nanoseconds(time: TimeSpec) -> i64 {
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

impl Tunnel {
    /// The tunnel over a socket to these peers: domain and address of each.
    ///
    /// # Errors
    /// When there is no way to a peer.
    pub fn new(
        socket: Bound,
        own: Membership,
        peers: impl IntoIterator<Item = (u16, Address)>,
    ) -> io::Result<Self> {
        let to = |(domain, address): (u16, Address)| {
            let target = Target::new(&socket, address).map_err(|error| {
                io::Error::new(error.kind(), format!("domain {domain} at {address}: {error}"))
            })?;
            Ok((Peer::new(&own, domain), target))
        };
        let peers = peers.into_iter().map(to).collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            socket,
            generation: 0,
            nodes: 0,
            peers,
            own,
            received: VecDeque::new(),
            buffer: vec![0; RECEIVED_BYTES].into(),
            control: cmsg_space!(i32, TimeSpec),
            forged: 0,
            unsent: 0,
            before: Before::default(),
        })
    }

    /// Lets no kernel cut and join datagrams, as where it cannot.
    pub fn one_by_one(&mut self) {
        let _ = setsockopt(&self.socket, sockopt::UdpGroSegment, &false);
        self.peers.iter_mut().for_each(|(_, target)| target.segments = false);
    }

    /// The own domain.
    pub fn domain(&self) -> usize {
        usize::from(self.own.domain)
    }

    /// A fabric with this number of nodes is up, the `generation`-th of the run.
    pub fn start_generation(&mut self, generation: u32, nodes: usize) {
        (self.generation, self.nodes) = (generation, nodes);
        self.received.clear();
        self.peers.iter_mut().for_each(|(peer, _)| peer.start_generation());
    }

    /// Another window starts.
    pub fn start_window(&mut self) {
        self.before =
            Before { forged: self.forged, unsent: self.unsent, dropped: self.socket.memory().dropped };
        self.peers.iter_mut().for_each(|(peer, _)| peer.start_window());
    }

    /// The window so far.
    pub fn report(&self, now_ns: u64) -> TunnelReport {
        let memory = self.socket.memory();
        TunnelReport {
            domain: self.domain(),
            network: self.socket.network(),
            forged_datagrams: self.forged - self.before.forged,
            unsent: self.unsent - self.before.unsent,
            dropped_here: memory.dropped.saturating_sub(self.before.dropped),
            receive_buffer_bytes: memory.receive_buffer,
            peers: self.peers.iter().map(|(peer, _)| peer.report(now_ns)).collect(),
        }
    }

    /// Every peer's domain and the estimate of its clock.
    pub fn clocks(&self, now_ns: u64) -> Vec<(usize, ClockReport)> {
        self.peers.iter().map(|(peer, _)| (usize::from(peer.domain()), peer.clock(now_ns))).collect()
    }

    /// An item crosses to another domain; it leaves with [`Tunnel::flush`].
    pub fn send(&mut self, to: usize, crosses: &Crosses, passage: Option<&Arc<Passage>>) {
        let peer = self.peers.iter_mut().find(|(peer, _)| usize::from(peer.domain()) == to);
        if let Some((peer, target)) = peer {
            peer.send(crosses, passage, target.limit);
        }
    }

    /// A datagram of the largest size leaves for each peer with [`Tunnel::flush`]; returns these sizes.
    pub fn send_longest(&mut self) -> Vec<usize> {
        let each = |(peer, target): &mut (Peer, Target)| {
            peer.send_longest(target.limit);
            target.limit
        };
        self.peers.iter_mut().map(each).collect()
    }

    /// When [`flush`](Self::flush) has something to do: at once where the socket had no room, or when the next exchange of
    /// instants is due.
    pub fn next_ns(&self) -> u64 {
        if self.peers.iter().any(|(_, target)| !target.waiting.is_empty()) {
            return 0;
        }
        self.peers.iter().map(|(peer, _)| peer.next_ns()).min().unwrap_or(u64::MAX)
    }

    /// Sends everything that waits, and the exchanges that are due; `now_ns` is asked again for each peer.
    pub fn flush(&mut self, now_ns: impl Fn() -> u64) {
        let Self { socket, own, generation, peers, unsent, .. } = self;
        for (peer, target) in peers {
            *unsent += target.send_waiting(socket, now_ns());
            peer.tick(now_ns(), target.limit);
            peer.flush(own, *generation, now_ns(), |bytes, each| *unsent += target.send(socket, bytes, each));
        }
    }

    /// Takes in what has come. The kernel's stamps say when, so that an exchange of instants does not depend on when this
    /// thread ran: `now_ns` less the time since then.
    pub fn take_in(&mut self, now_ns: impl Fn() -> u64) {
        for (peer, _) in self.peers.iter_mut().filter(|(peer, _)| peer.has_early()) {
            let now = Now { at_ns: now_ns(), generation: self.generation, nodes: self.nodes };
            peer.take_in_early(&now, &mut self.received);
        }
        for _ in 0..TURNS {
            let Some(Arrived { is_for_here, length, each, stamp_ns }) = self.receive() else { return };
            if !is_for_here {
                continue;
            }
            // The wall clock is read first: a thread that is stopped between the two takes the datagram for younger than
            // it is, never for older, which no bound would hold.
            let age_ns = stamp_ns.map_or(0, age_ns);
            let read_ns = now_ns();
            let mut now =
                Now { at_ns: read_ns.saturating_sub(age_ns), generation: self.generation, nodes: self.nodes };
            let Self { own, peers, received, buffer, forged, .. } = self;
            // An empty one has no datagram in it below.
            *forged += u64::from(length == 0);
            for datagram in buffer[..length].chunks(each.max(1)) {
                let domain = datagram.get(1..3).map(|it| u16::from_be_bytes([it[0], it[1]]));
                let peer = peers.iter_mut().find(|(peer, _)| Some(peer.domain()) == domain);
                if !peer.is_some_and(|(peer, _)| peer.take_in(own, datagram, &now, received)) {
                    *forged += 1;
                }
                // The stamp is that of the first one; the others came later, and no bound would hold.
                now.at_ns = read_ns;
            }
        }
    }

    /// Reads datagrams that the kernel has joined.
    fn receive(&mut self) -> Option<Arrived> {
        let mut into = [IoSliceMut::new(&mut self.buffer)];
        let fd = self.socket.as_raw_fd();
        let flags = MsgFlags::MSG_DONTWAIT;
        loop {
            match recvmsg::<SockaddrStorage>(fd, &mut into, Some(&mut self.control), flags) {
                Ok(message) => {
                    let mut arrived = Arrived {
                        is_for_here: is_for_here(message.address.as_ref()),
                        length: message.bytes,
                        each: message.bytes,
                        stamp_ns: None,
                    };
                    for it in message.cmsgs().into_iter().flatten() {
                        match it {
                            ControlMessageOwned::UdpGroSegments(each) => arrived.each = each as usize,
                            ControlMessageOwned::ScmTimestampns(at) => {
                                arrived.stamp_ns = Some(nanoseconds(at))
                            }
                            _ => {}
                        }
                    }
                    return Some(arrived);
                }
                Err(Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
    }

    /// The next message that has come.
    pub fn next_message(&mut self) -> Option<Message> {
        self.received.pop_front()
    }
}

impl Target {
    fn new(socket: &Bound, address: Address) -> io::Result<Self> {
        Ok(Self {
            address,
            to: socket.to(address)?,
            limit: socket.limit_to(address)?,
            segments: socket.cuts_and_joins(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            refused_since_ns: None,
        })
    }

    /// Sends a run, or stores it until the socket has room; returns how many runs are lost.
    fn send(&mut self, socket: &Bound, bytes: &[u8], each: usize) -> u64 {
        let refused = if self.waiting.is_empty() {
            match self.send_now(socket, bytes, each) {
                Ok(()) => return 0,
                Err(refused) => refused,
            }
        } else {
            Refused { sent_bytes: 0, error: Errno::EAGAIN }
        };
        let rest = &bytes[refused.sent_bytes..];
        if refused.is_for_now() && self.waiting_bytes + rest.len() <= WAITING_BYTES_MAX {
            self.waiting_bytes += rest.len();
            self.waiting.push_back((rest.to_vec(), each));
            return 0;
        }
        if refused.error == Errno::EMSGSIZE {
            // A router has announced a smaller MTU, or the interface got one.
            self.limit = socket.limit_to(self.address).unwrap_or(self.limit);
        }
        1
    }

    /// Sends what is stored, as far as there is room; returns how many runs are lost.
    fn send_waiting(&mut self, socket: &Bound, now_ns: u64) -> u64 {
        let mut lost = 0;
        while let Some((mut bytes, each)) = self.waiting.pop_front() {
            self.waiting_bytes -= bytes.len();
            match self.send_now(socket, &bytes, each) {
                Ok(()) => self.refused_since_ns = None,
                Err(refused) if refused.is_for_now() && self.is_tried_again(refused.error, now_ns) => {
                    bytes.drain(..refused.sent_bytes);
                    self.waiting_bytes += bytes.len();
                    self.waiting.push_front((bytes, each));
                    return lost;
                }
                Err(_) => {
                    self.refused_since_ns = None;
                    lost += 1;
                }
            }
        }
        lost
    }

    /// Whether the first of what is stored may still leave. A full queue of the device has room soon; a wire that drops a
    /// frame, as a veth pair does with one that is too long for its other end, is said in the same way.
    fn is_tried_again(&mut self, error: Errno, now_ns: u64) -> bool {
        error != Errno::ENOBUFS
            || now_ns.saturating_sub(*self.refused_since_ns.get_or_insert(now_ns)) < REFUSED_NS_MAX
    }

    fn send_now(&mut self, socket: &Bound, bytes: &[u8], each: usize) -> Result<(), Refused> {
        if self.segments && bytes.len() > each {
            let size = each as u16;
            match send(socket, &self.to, bytes, &[ControlMessage::UdpGsoSegments(&size)]) {
                // The device or the kernel cannot cut it.
                Err(Errno::EINVAL | Errno::EIO | Errno::ENOPROTOOPT) => self.segments = false,
                sent => return sent.map_err(|error| Refused { sent_bytes: 0, error }),
            }
        }
        bytes.chunks(each).enumerate().try_for_each(|(place, datagram)| {
            send(socket, &self.to, datagram, &[]).map_err(|error| Refused { sent_bytes: place * each, error })
        })
    }
}

/// A run that has not left.
#[derive(Debug)]
struct Refused {
    /// Bytes of it that have.
    sent_bytes: usize,
    error: Errno,
}

impl Refused {
    /// The socket had no room.
    fn is_for_now(&self) -> bool {
        matches!(self.error, Errno::EAGAIN | Errno::ENOBUFS)
    }
}

fn send(
    socket: &Bound,
    address: &SockaddrStorage,
    bytes: &[u8],
    how: &[ControlMessage<'_>],
) -> Result<(), Errno> {
    loop {
        let from = [IoSlice::new(bytes)];
        match sendmsg(socket.as_raw_fd(), &from, how, MsgFlags::MSG_DONTWAIT, Some(address)) {
            Ok(_) => return Ok(()),
            // A message from the network about an earlier datagram, such as a closed port.
            Err(Errno::EINTR | Errno::ECONNREFUSED) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Becomes readable when a datagram comes.
impl AsFd for Tunnel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
