//! UDP between machines: any network that carries IP. The kernel cuts runs of datagrams on the way out (UDP_SEGMENT) and
//! joins them on the way in (UDP_GRO). Datagrams are never fragmented: their size follows what the kernel knows of the
//! path's MTU.
//!
//! Source: udp(7), UDP_SEGMENT and UDP_GRO; ip(7), IP_MTU_DISCOVER and IP_MTU.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    connect, setsockopt, socket, sockopt, AddressFamily, SockFlag, SockType, SockaddrStorage,
};

use crate::socket::{Bound, Kind};

/// Headers of IP and UDP.
const IPV4_UDP_BYTES: usize = 28;
const IPV6_UDP_BYTES: usize = 48;

/// Sockets that have no address yet. They belong to the network namespace in which they were opened.
#[derive(Debug)]
pub struct Unbound {
    socket: OwnedFd,
    /// Asks for the MTU of paths.
    probe: OwnedFd,
}

/// What the kernel knows of paths.
#[derive(Debug)]
pub(crate) struct Paths {
    /// With the port.
    pub own: SocketAddr,
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
        let own = socket.local_addr()?;
        // Older kernels join nothing.
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        let (level, name) = match own {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
        };
        set_int(&socket, level, name, libc::IP_PMTUDISC_DO)?;
        Ok(Bound::new(socket.into(), Kind::Udp(Paths { own, probe: self.probe })))
    }
}

fn set_int(socket: &UdpSocket, level: i32, name: i32, value: i32) -> io::Result<()> {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: `value` lives across the call and has that size.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    Errno::result(done).map(drop).map_err(io::Error::from)
}

impl Paths {
    /// The MTU of the path to an address, as far as the kernel knows it, and the headers in it.
    pub fn mtu_to(&self, address: SocketAddr) -> io::Result<(usize, usize)> {
        let (level, name, headers) = match address {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU, IPV4_UDP_BYTES),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU, IPV6_UDP_BYTES),
        };
        // A socket that is connected has a path.
        connect(self.probe.as_raw_fd(), &SockaddrStorage::from(address))?;
        let (mut mtu, mut size) = (0i32, size_of::<i32>() as libc::socklen_t);
        // SAFETY: both live across the call, and `size` is the size of `mtu`.
        let done = unsafe {
            libc::getsockopt(self.probe.as_raw_fd(), level, name, (&raw mut mtu).cast(), &raw mut size)
        };
        Errno::result(done)?;
        Ok(((mtu as usize).min(u16::MAX.into()), headers))
    }
}
