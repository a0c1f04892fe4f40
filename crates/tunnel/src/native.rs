//! Raw Ethernet between machines of one layer-2 network: a datagram is the content of a frame, without IP and UDP.
//!
//! The frame is addressed to one interface, and its EtherType is 0x88B5, which IEEE 802 leaves to local experiments. No
//! switch has to know it. No router forwards it, so all machines are in one layer-2 network, with one MTU.
//!
//! The kernel neither cuts nor joins these datagrams; each is a call. Ethernet fills frames up to 46 bytes of content
//! and does not say by how much, so no datagram is shorter (`outgoing`). Frames to a group, or to other machines, are
//! ignored. The socket needs CAP_NET_RAW in the user namespace of its network namespace.
//!
//! Source: packet(7); netdevice(7), SIOCGIFINDEX, SIOCGIFHWADDR and SIOCGIFMTU; IEEE 802-2014, 9.2.4 (local
//! experimental EtherTypes); IEEE 802.3-2018, 3.2.8 (pad field).

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType, SockaddrLike, SockaddrStorage};

use crate::address::HardwareAddress;
use crate::socket::{Bound, Kind};

/// IEEE 802 local experimental EtherType 1.
pub const ETHERTYPE: u16 = 0x88B5;
/// The least content of a frame.
pub const CONTENT_BYTES_MIN: usize = 46;

/// A socket without an interface. It belongs to the network namespace in which it was opened, and receives nothing.
#[derive(Debug)]
pub struct Unbound {
    socket: OwnedFd,
    /// Interfaces of the machine by their IP addresses.
    addresses: Vec<(IpAddr, String)>,
}

/// An Ethernet interface.
#[derive(Debug)]
pub(crate) struct Interface {
    /// As the machine calls it.
    pub name: String,
    /// Its own.
    pub address: HardwareAddress,
    index: i32,
}

impl Unbound {
    /// Opens it.
    ///
    /// # Errors
    /// Without CAP_NET_RAW.
    pub fn open() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Packet, SockType::Datagram, flags, None)?;
        let address_of = |storage: SockaddrStorage| {
            let version_4 = storage.as_sockaddr_in().map(|it| IpAddr::V4(it.ip()));
            version_4.or_else(|| storage.as_sockaddr_in6().map(|it| IpAddr::V6(it.ip())))
        };
        let addresses = getifaddrs()?
            .filter_map(|it| it.address.and_then(address_of).map(|address| (address, it.interface_name)))
            .collect();
        Ok(Self { socket, addresses })
    }

    /// The interface that has an IP address.
    pub fn interface_at(&self, address: IpAddr) -> Option<&str> {
        self.addresses.iter().find(|(it, _)| *it == address).map(|(_, name)| name.as_str())
    }

    /// Receives datagrams of an interface from now on.
    ///
    /// # Errors
    /// When there is no such interface, or it is not Ethernet, or down.
    pub fn bind(self, name: &str) -> io::Result<Bound> {
        let index = ask(self.socket.as_fd(), name, libc::SIOCGIFINDEX)?;
        // SAFETY: the kernel has filled in the member that belongs to this request, also in those below.
        let index = unsafe { index.ifr_ifru.ifru_ifindex };
        let hardware = ask(self.socket.as_fd(), name, libc::SIOCGIFHWADDR)?;
        // SAFETY: as above.
        let hardware = unsafe { hardware.ifr_ifru.ifru_hwaddr };
        if hardware.sa_family != libc::ARPHRD_ETHER {
            return Err(io::Error::other("it is not an Ethernet interface"));
        }
        let flags = ask(self.socket.as_fd(), name, libc::SIOCGIFFLAGS)?;
        // SAFETY: as above.
        if unsafe { flags.ifr_ifru.ifru_flags } & libc::IFF_UP as libc::c_short == 0 {
            return Err(Errno::ENETDOWN.into());
        }
        let mut address = [0; 6];
        address.iter_mut().zip(hardware.sa_data).for_each(|(to, from)| *to = from as u8);
        let interface = Interface { name: name.to_owned(), address: HardwareAddress(address), index };
        nix::sys::socket::bind(self.socket.as_raw_fd(), &interface.to(interface.address)?)?;
        Ok(Bound::new(self.socket, Kind::Native(interface)))
    }
}

impl Interface {
    /// The longest content of a frame now.
    pub fn mtu_bytes(&self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let mtu = ask(socket, &self.name, libc::SIOCGIFMTU)?;
        // SAFETY: the kernel has filled in the member that belongs to this request.
        let mtu = unsafe { mtu.ifr_ifru.ifru_mtu };
        Ok(usize::try_from(mtu).unwrap_or_default().min(u16::MAX.into()))
    }

    /// The address of another interface in the network of this one.
    pub fn to(&self, address: HardwareAddress) -> io::Result<SockaddrStorage> {
        if !address.is_of_one() {
            return Err(io::Error::other("it is not the address of one interface"));
        }
        // SAFETY: all zeros are a valid sockaddr_ll.
        let mut to: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        to.sll_family = libc::AF_PACKET as u16;
        to.sll_protocol = ETHERTYPE.to_be();
        to.sll_ifindex = self.index;
        to.sll_halen = 6;
        to.sll_addr[..6].copy_from_slice(&address.0);
        let length = size_of_val(&to) as libc::socklen_t;
        // SAFETY: `to` is a sockaddr_ll of that length.
        let storage = unsafe { SockaddrStorage::from_raw((&raw const to).cast(), Some(length)) };
        Ok(storage.expect("the family is known"))
    }
}

/// Whether a frame that came from there was for this machine: not for a group, and not overheard.
pub(crate) fn is_for_here(from: Option<&SockaddrStorage>) -> bool {
    let from = from.and_then(SockaddrStorage::as_link_addr);
    from.is_none_or(|from| from.as_ref().sll_pkttype == libc::PACKET_HOST)
}

/// Asks the network namespace of a socket about an interface.
fn ask(socket: BorrowedFd<'_>, name: &str, request: libc::c_ulong) -> io::Result<libc::ifreq> {
    // SAFETY: all zeros are a valid ifreq.
    let mut asked: libc::ifreq = unsafe { std::mem::zeroed() };
    // The name ends with a zero.
    if name.is_empty() || name.len() >= asked.ifr_name.len() {
        return Err(Errno::ENODEV.into());
    }
    asked.ifr_name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
    // SAFETY: `asked` lives across the call and is what these requests read and fill in.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), request as _, &raw mut asked) };
    Errno::result(done)?;
    Ok(asked)
}
