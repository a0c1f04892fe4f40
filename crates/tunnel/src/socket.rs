//! The socket of a tunnel: UDP (`udp`) or raw Ethernet (`native`), and how long its datagrams may be.
//!
//! Source: socket(7), SO_TIMESTAMPNS; sock_diag(7), SO_MEMINFO.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{setsockopt, sockopt, SockaddrStorage};
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::native::Interface;
use crate::udp::Paths;

/// A frame of 64 KiB at 10 Gbit/s to each of some dozen peers, and what a sleep of the packet thread lets queue up.
const SOCKET_BYTES: usize = 16 << 20;
/// The smallest MTU of IPv6; on less, a path is not used.
const MTU_MIN: usize = 1_280;

/// What carries datagrams between machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// UDP over IP.
    #[default]
    Udp,
    /// Ethernet alone: frames with an EtherType of their own.
    Native,
}

/// A socket with an address. It belongs to the network namespace in which it was opened.
#[derive(Debug)]
pub struct Bound {
    fd: OwnedFd,
    kind: Kind,
}

/// What differs between networks.
#[derive(Debug)]
pub(crate) enum Kind {
    Udp(Paths),
    Native(Interface),
}

impl Bound {
    pub(crate) fn new(fd: OwnedFd, kind: Kind) -> Self {
        // Beyond net.core.rmem_max only with privileges; the plain option takes what is allowed.
        let _ = setsockopt(&fd, sockopt::RcvBuf, &SOCKET_BYTES);
        let _ = setsockopt(&fd, sockopt::SndBuf, &SOCKET_BYTES);
        let _ = setsockopt(&fd, sockopt::RcvBufForce, &SOCKET_BYTES);
        let _ = setsockopt(&fd, sockopt::SndBufForce, &SOCKET_BYTES);
        let _ = setsockopt(&fd, sockopt::ReceiveTimestampns, &true);
        Self { fd, kind }
    }

    /// Where datagrams arrive.
    pub fn address(&self) -> Address {
        match &self.kind {
            Kind::Udp(paths) => Address::Udp(paths.own),
            Kind::Native(interface) => Address::Native(interface.address),
        }
    }

    /// What carries its datagrams.
    pub fn network(&self) -> Network {
        match self.kind {
            Kind::Udp(_) => Network::Udp,
            Kind::Native(_) => Network::Native,
        }
    }

    /// The interface of raw Ethernet and its MTU; UDP takes those that routes say.
    pub fn interface(&self) -> Option<(&str, usize)> {
        match &self.kind {
            Kind::Udp(_) => None,
            Kind::Native(interface) => {
                Some((&interface.name, interface.mtu_bytes(self.fd.as_fd()).unwrap_or_default()))
            }
        }
    }

    /// The largest datagram on the way to an address, as far as the kernel knows it.
    pub(crate) fn limit_to(&self, address: Address) -> io::Result<usize> {
        let (whose, mtu, headers) = match (&self.kind, address) {
            (Kind::Udp(paths), Address::Udp(address)) => {
                paths.mtu_to(address).map(|(mtu, it)| ("path", mtu, it))
            }
            (Kind::Native(interface), Address::Native(_)) => {
                interface.mtu_bytes(self.fd.as_fd()).map(|mtu| ("interface", mtu, 0))
            }
            _ => Err(strange()),
        }?;
        if mtu < MTU_MIN {
            return Err(io::Error::other(format!(
                "the {whose}'s MTU is {mtu}; at least {MTU_MIN} is needed"
            )));
        }
        Ok(mtu - headers)
    }

    /// An address as the kernel takes it.
    pub(crate) fn to(&self, address: Address) -> io::Result<SockaddrStorage> {
        match (&self.kind, address) {
            (Kind::Udp(_), Address::Udp(address)) => Ok(address.into()),
            (Kind::Native(interface), Address::Native(address)) => interface.to(address),
            _ => Err(strange()),
        }
    }

    /// Whether the kernel may cut and join runs of datagrams.
    pub(crate) fn cuts_and_joins(&self) -> bool {
        self.network() == Network::Udp
    }

    /// What the kernel knows of its buffers.
    pub(crate) fn memory(&self) -> Memory {
        let mut values = [0u32; SK_MEMINFO_DROPS + 1];
        let mut size = size_of_val(&values) as libc::socklen_t;
        // SAFETY: both live across the call, and `size` is the size of `values`. Older kernels refuse; zeros remain.
        unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                values.as_mut_ptr().cast(),
                &raw mut size,
            )
        };
        Memory { receive_buffer: values[SK_MEMINFO_RCVBUF].into(), dropped: values[SK_MEMINFO_DROPS].into() }
    }
}

fn strange() -> io::Error {
    io::Error::other("it is an address of another network; give all machines the same `network`")
}

impl AsFd for Bound {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Bound {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.fd.as_raw_fd()
    }
}

/// What the kernel knows of a socket's buffers.
pub(crate) struct Memory {
    pub receive_buffer: u64,
    pub dropped: u64,
}

/// Of the array that SO_MEMINFO fills in (linux/sock_diag.h).
const SK_MEMINFO_RCVBUF: usize = 1;
const SK_MEMINFO_DROPS: usize = 8;
