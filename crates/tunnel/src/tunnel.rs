//! The socket of a tunnel, and the peers behind it.
//!
//! One socket serves all peers; who sent a datagram is said by its header, and proved by its code. The kernel cuts
//! runs of datagrams on the way out (UDP_SEGMENT) and joins them on the way in (UDP_GRO); where it refuses, datagrams
//! are sent one by one. Datagrams are never fragmented: their size follows what the kernel knows of the path's MTU.
//!
//! A frame of 64 KiB is cut into datagrams of the path's MTU that leave with two system calls and come with two. The
//! throughput is that of the packet thread: `examples/throughput.rs` measures it.
//!
//! Where the socket has no room, datagrams wait for the next turn and none is lost here. Where its receiver comes too
//! late, the kernel drops datagrams, and counts them: a large buffer (net.core.rmem_max, or privileges) prevents that.
//!
//! Source: udp(7), UDP_SEGMENT and UDP_GRO; ip(7), IP_MTU_DISCOVER and IP_MTU; socket(7), SO_TIMESTAMPNS; sock_diag(7),
//! SO_MEMINFO.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crosswind_fabric::Crosses;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    connect, recvmsg, sendmsg, setsockopt, socket, sockopt, AddressFamily, ControlMessage,
    ControlMessageOwned, MsgFlags, SockFlag, SockType, SockaddrStorage,
};
use nix::sys::time::TimeSpec;
use nix::time::{clock_gettime, ClockId};
use serde::Serialize;

use crate::message::{Message, Passage};
use crate::peer::{Membership, Now, Peer, PeerReport};
use crate::ClockReport;

/// A frame of 64 KiB at 10 Gbit/s to each of some dozen peers, and what a sleep of the packet thread lets queue up.
const SOCKET_BYTES: usize = 16 << 20;
/// Received at once, at most: what the kernel joins.
const RECEIVED_BYTES: usize = 65_536;
/// Received before other work gets its turn.
const TURNS: usize = 64;
/// More than this waits for no room in the socket.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Headers of IP and UDP.
const IPV4_UDP_BYTES: usize = 28;
const IPV6_UDP_BYTES: usize = 48;
/// The smallest MTU of IPv6; on less, a path is not used.
const MTU_MIN: usize = 1_280;

/// The tunnel of one machine to all others.
#[derive(Debug)]
pub struct Tunnel {
    socket: UdpSocket,
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
    address: SockaddrStorage,
    socket_address: SocketAddr,
    /// Asks for the MTU of the path.
    probe: OwnedFd,
    /// Of a datagram.
    limit: usize,
    segments: bool,
    /// Runs for which the socket had no room, with the length of each datagram but the last.
    waiting: VecDeque<(Vec<u8>, usize)>,
    waiting_bytes: usize,
}

/// The window so far.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct TunnelReport {
    /// Of this machine.
    pub domain: usize,
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

/// Sockets that have no address yet. They belong to the network namespace in which they were opened.
#[derive(Debug)]
pub struct Unbound {
    socket: OwnedFd,
    /// Asks for the MTU of paths.
    probe: OwnedFd,
}

/// A socket with an address.
#[derive(Debug)]
pub struct Bound {
    socket: UdpSocket,
    probe: OwnedFd,
}

impl Unbound {
    /// Opens them.
    ///
    /// # Errors
    /// When the kernel lacks this version of IP.
    pub fn open(family: AddressFamily) -> io::Result<Self> {
        let open =
            || socket(family, SockType::Datagram, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None);
        Ok(Self { socket: open()?, probe: open()? })
    }

    /// Gives it an address of the machine; the kernel chooses the port where it is 0.
    ///
    /// # Errors
    /// When the address is not the machine's, or another process has the port.
    pub fn bind(self, address: IpAddr, port: u16) -> io::Result<Bound> {
        let address = SockaddrStorage::from(SocketAddr::new(address, port));
        nix::sys::socket::bind(self.socket.as_raw_fd(), &address)?;
        let socket = UdpSocket::from(self.socket);
        // Beyond net.core.rmem_max only with privileges; the plain option takes what is allowed.
        let _ = setsockopt(&socket, sockopt::RcvBuf, &SOCKET_BYTES);
        let _ = setsockopt(&socket, sockopt::SndBuf, &SOCKET_BYTES);
        let _ = setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BYTES);
        let _ = setsockopt(&socket, sockopt::SndBufForce, &SOCKET_BYTES);
        let _ = setsockopt(&socket, sockopt::ReceiveTimestampns, &true);
        // Older kernels join nothing.
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        let (level, name) = match socket.local_addr()? {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
        };
        set_int(&socket, level, name, libc::IP_PMTUDISC_DO)?;
        Ok(Bound { socket, probe: self.probe })
    }
}

impl Bound {
    /// The address, with the port.
    ///
    /// # Errors
    /// Never, for a socket that is bound.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

fn set_int(socket: &UdpSocket, level: i32, name: i32, value: i32) -> io::Result<()> {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: `value` lives across the call and has that size.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    Errno::result(done).map(drop).map_err(io::Error::from)
}

/// Datagrams that the kernel has joined.
#[derive(Clone, Copy, Debug)]
struct Arrived {
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

/// What the kernel knows of a socket's buffers.
struct Memory {
    receive_buffer: u64,
    dropped: u64,
}

/// Of the array that SO_MEMINFO fills in (linux/sock_diag.h).
const SK_MEMINFO_RCVBUF: usize = 1;
const SK_MEMINFO_DROPS: usize = 8;

fn memory(socket: &UdpSocket) -> Memory {
    let mut values = [0u32; SK_MEMINFO_DROPS + 1];
    let mut size = size_of_val(&values) as libc::socklen_t;
    // SAFETY: both live across the call, and `size` is the size of `values`. Older kernels refuse; zeros remain.
    unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    Memory { receive_buffer: values[SK_MEMINFO_RCVBUF].into(), dropped: values[SK_MEMINFO_DROPS].into() }
}

/// The largest datagram on the way to an address, as far as the kernel knows it.
fn limit_to(probe: &OwnedFd, address: SocketAddr) -> io::Result<usize> {
    let (level, name, headers) = match address {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU, IPV4_UDP_BYTES),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU, IPV6_UDP_BYTES),
    };
    // A socket that is connected has a path.
    connect(probe.as_raw_fd(), &SockaddrStorage::from(address))?;
    let (mut mtu, mut size) = (0i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: both live across the call, and `size` is the size of `mtu`.
    let done =
        unsafe { libc::getsockopt(probe.as_raw_fd(), level, name, (&raw mut mtu).cast(), &raw mut size) };
    Errno::result(done)?;
    let mtu = (mtu as usize).min(u16::MAX.into());
    if mtu < MTU_MIN {
        return Err(io::Error::other(format!("the path's MTU is {mtu}; at least {MTU_MIN} is needed")));
    }
    Ok(mtu - headers)
}

impl Tunnel {
    /// The tunnel over a socket to these peers: domain and address of each.
    ///
    /// # Errors
    /// When there is no way to a peer.
    pub fn new(
        bound: Bound,
        own: Membership,
        peers: impl IntoIterator<Item = (u16, SocketAddr)>,
    ) -> io::Result<Self> {
        let Bound { socket, probe } = bound;
        let to = |(domain, address): (u16, SocketAddr)| {
            let limit = limit_to(&probe, address).map_err(|error| {
                io::Error::new(error.kind(), format!("domain {domain} at {address}: {error}"))
            })?;
            Ok((Peer::new(&own, domain), Target::new(address, limit, probe.try_clone()?)))
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
            Before { forged: self.forged, unsent: self.unsent, dropped: memory(&self.socket).dropped };
        self.peers.iter_mut().for_each(|(peer, _)| peer.start_window());
    }

    /// The window so far.
    pub fn report(&self, now_ns: u64) -> TunnelReport {
        let memory = memory(&self.socket);
        TunnelReport {
            domain: self.domain(),
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
            *unsent += target.send_waiting(socket);
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
            let Some(Arrived { length, each, stamp_ns }) = self.receive() else { return };
            // The wall clock is read first: a thread that is stopped between the two takes the datagram for younger than
            // it is, never for older, which no bound would hold.
            let age_ns = stamp_ns.map_or(0, age_ns);
            let read_ns = now_ns();
            let mut now =
                Now { at_ns: read_ns.saturating_sub(age_ns), generation: self.generation, nodes: self.nodes };
            let Self { own, peers, received, buffer, forged, .. } = self;
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
                    let mut arrived = Arrived { length: message.bytes, each: message.bytes, stamp_ns: None };
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
    fn new(address: SocketAddr, limit: usize, probe: OwnedFd) -> Self {
        let socket_address = address;
        let address = address.into();
        Self {
            address,
            socket_address,
            probe,
            limit,
            segments: true,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    /// Sends a run, or stores it until the socket has room; returns how many runs are lost.
    fn send(&mut self, socket: &UdpSocket, bytes: &[u8], each: usize) -> u64 {
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
            // A router has announced a smaller MTU.
            self.limit = limit_to(&self.probe, self.socket_address).unwrap_or(self.limit);
        }
        1
    }

    /// Sends what is stored, as far as there is room; returns how many runs are lost.
    fn send_waiting(&mut self, socket: &UdpSocket) -> u64 {
        let mut lost = 0;
        while let Some((mut bytes, each)) = self.waiting.pop_front() {
            self.waiting_bytes -= bytes.len();
            match self.send_now(socket, &bytes, each) {
                Ok(()) => {}
                Err(refused) if refused.is_for_now() => {
                    bytes.drain(..refused.sent_bytes);
                    self.waiting_bytes += bytes.len();
                    self.waiting.push_front((bytes, each));
                    return lost;
                }
                Err(_) => lost += 1,
            }
        }
        lost
    }

    fn send_now(&mut self, socket: &UdpSocket, bytes: &[u8], each: usize) -> Result<(), Refused> {
        if self.segments && bytes.len() > each {
            let size = each as u16;
            match send(socket, &self.address, bytes, &[ControlMessage::UdpGsoSegments(&size)]) {
                // The device or the kernel cannot cut it.
                Err(Errno::EINVAL | Errno::EIO | Errno::ENOPROTOOPT) => self.segments = false,
                sent => return sent.map_err(|error| Refused { sent_bytes: 0, error }),
            }
        }
        bytes.chunks(each).enumerate().try_for_each(|(place, datagram)| {
            send(socket, &self.address, datagram, &[])
                .map_err(|error| Refused { sent_bytes: place * each, error })
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
    socket: &UdpSocket,
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
