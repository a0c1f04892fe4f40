//! UDP sockets whose packets carry the kernel's own receive stamp, and super-packets of many wire packets.
//!
//! A super-packet is one system call for many packets of one size (UDP_SEGMENT to send, UDP_GRO to receive). On a path that
//! carries it whole it is as much work as one packet; what it stands for is decided packet by packet.
//!
//! Source: udp(7), UDP_SEGMENT and UDP_GRO; socket(7), SO_TIMESTAMPNS and SO_RXQ_OVFL.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// What one call received.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Payload bytes, of all packets together.
    pub bytes: usize,
    /// Payload of each packet but the last; `bytes` for a single one.
    pub segment_bytes: usize,
    /// CLOCK_REALTIME; of a super-packet the first to come.
    pub at_ns: u64,
    /// Packets that the socket's buffer has had no room for until then.
    pub overflowed: u32,
}

/// A socket on which every packet is stamped; a read ends after `silence`.
pub fn listen(address: &str, silence: Duration) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_read_timeout(Some(silence))?;
    set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
    set(&socket, libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1)?;
    // Root may exceed the machine's limit; others get the limit.
    set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 32 << 20)
        .or_else(|_| set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, 32 << 20))?;
    Ok(socket)
}

/// Lets super-packets be received as they come, in one call each.
pub fn receive_merged(socket: &UdpSocket) -> io::Result<()> {
    set(socket, libc::SOL_UDP, libc::UDP_GRO, 1)
}

/// Makes every call send packets of `segment_bytes` payload each.
pub fn send_merged(socket: &UdpSocket, segment_bytes: u16) -> io::Result<()> {
    set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, i32::from(segment_bytes))
}

fn set(socket: &UdpSocket, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the value lives through the call and its size is passed along.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Receives one packet, or super-packet, into `packet`.
///
/// # Errors
/// `WouldBlock` after the silence that the socket was made with; whatever the kernel says.
pub fn receive(socket: &UdpSocket, packet: &mut [u8]) -> io::Result<Received> {
    let mut control = [0u64; 16];
    let mut piece = libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: packet.len() };
    // SAFETY: all-zero is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: packet and control buffer outlive the call and their sizes are passed along.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let bytes = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    let (mut at_ns, mut segment_bytes, mut overflowed) = (None, bytes, 0);
    // SAFETY: the kernel has filled the control buffer as described by the message, and each header's kind says what
    // its data is.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let stamp = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
                    at_ns = Some(stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64);
                }
                // The kernel says it from the first loss on.
                (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => {
                    overflowed = libc::CMSG_DATA(header).cast::<u32>().read_unaligned();
                }
                (libc::SOL_UDP, libc::UDP_GRO) => {
                    segment_bytes = libc::CMSG_DATA(header).cast::<libc::c_int>().read_unaligned() as usize;
                }
                _ => {}
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    let at_ns = at_ns.ok_or_else(|| io::Error::other("the kernel put no receive stamp on a packet"))?;
    Ok(Received { bytes, segment_bytes, at_ns, overflowed })
}
