//! One AF_PACKET socket on one interface, with virtio-net headers and kernel ingress timestamps.
//!
//! The owner decides how frames are taken from it ([`super::packet_ring`], [`super::socket_queue`]); handing a frame
//! to the other end of the veth pair is the same for both.
//!
//! Source: Linux packet(7); linux/if_packet.h, linux/filter.h.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use crosswind_wire::{Cut, VnetHeader};
use nix::sys::socket::{AddressFamily, SockFlag, SockType};

use crate::clock::{Clock, MachineClock};

const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const PACKET_QDISC_BYPASS: libc::c_int = 20;

/// More than the longest MTU, 65,535 bytes, and any headers.
static TOO_LONG: [u8; 70_000] = [0; 70_000];

/// The frames that a socket gets, and how much of each.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Every frame; of those longer than `whole_bytes` only the first `head_bytes`.
    Heads {
        /// Frames up to this length are whole.
        whole_bytes: u32,
        /// Bytes of longer frames.
        head_bytes: u32,
    },
    /// Whole frames of more than this number of bytes.
    Above(u32),
}

/// An open socket.
#[derive(Debug)]
pub struct PacketSocket(OwnedFd);

impl PacketSocket {
    /// A socket that receives nothing until it is bound, so that everything else can be set up first.
    pub fn open(takes: Takes) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = nix::sys::socket::socket(AddressFamily::Packet, SockType::Raw, flags, None);
        let socket = Self(socket.map_err(|error| {
            named(error.into(), "AF_PACKET socket (needs CAP_NET_RAW in its user namespace)")
        })?);
        socket.set(libc::SOL_PACKET, PACKET_VNET_HDR, &1i32, "PACKET_VNET_HDR")?;
        socket.set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32, "PACKET_IGNORE_OUTGOING")?;
        socket.set(libc::SOL_PACKET, PACKET_QDISC_BYPASS, &1i32, "PACKET_QDISC_BYPASS")?;
        // Makes the kernel stamp packets where they enter the device rather than where they are read.
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1i32, "SO_TIMESTAMPNS")?;
        // For frames whose hand-over is timed: the socket gets their stamps back without the frames.
        let stamps_alone = libc::SOF_TIMESTAMPING_OPT_TSONLY;
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &stamps_alone, "SO_TIMESTAMPING")?;
        socket.filter(takes)?;
        Ok(socket)
    }

    /// Starts to receive, on an interface of the calling thread's network namespace.
    pub fn bind(&self, ifindex: i32) -> io::Result<()> {
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = ifindex;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: `address` is a valid sockaddr_ll and its size is passed along.
        let bound = unsafe { libc::bind(self.0.as_raw_fd(), ptr::from_ref(&address).cast(), length) };
        check(bound, "bind of the packet socket")
    }

    /// Sets an option; `what` names it in the error.
    pub fn set<T>(&self, level: libc::c_int, name: libc::c_int, value: &T, what: &str) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: `value` is a live reference and its size is passed along.
        let result =
            unsafe { libc::setsockopt(self.0.as_raw_fd(), level, name, ptr::from_ref(value).cast(), length) };
        check(result, what)
    }

    /// A descriptor to wait on for frames.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Classic BPF: load the length, compare, and return the number of bytes to pass (0 refuses the frame).
    fn filter(&self, takes: Takes) -> io::Result<()> {
        let (limit, longer, others) = match takes {
            Takes::Heads { whole_bytes, head_bytes } => (whole_bytes, head_bytes, u32::MAX),
            Takes::Above(limit) => (limit, u32::MAX, 0),
        };
        let statement = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
        let mut program = [
            statement(libc::BPF_LD | libc::BPF_W | libc::BPF_LEN, 0, 0, 0),
            statement(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 0, 1, limit),
            statement(libc::BPF_RET | libc::BPF_K, 0, 0, longer),
            statement(libc::BPF_RET | libc::BPF_K, 0, 0, others),
        ];
        let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program, "SO_ATTACH_FILTER")
    }

    /// Takes the next frame from the receive queue: its length and the kernel's stamp, CLOCK_REALTIME nanoseconds.
    pub fn receive(&self, vnet: &mut [u8; VnetHeader::LEN], frame: &mut [u8]) -> Option<(usize, u64)> {
        let mut pieces = [
            libc::iovec { iov_base: vnet.as_mut_ptr().cast(), iov_len: vnet.len() },
            libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() },
        ];
        // Room for the one control message, the stamp, at the alignment that it needs.
        let mut control = [0u64; 8];
        // SAFETY: all-zero is a valid msghdr.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = pieces.len() as _;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        // SAFETY: the pieces and the control buffer are live, and their sizes are passed along.
        let received = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        let length = usize::try_from(received).ok()?.checked_sub(VnetHeader::LEN)?;
        Some((length, stamp(&message)?))
    }

    /// Hands a frame to the other end of the veth pair.
    pub fn send(&self, cut: &Cut<'_>) -> io::Result<()> {
        self.send_with(cut, &mut [])
    }

    /// The same, and returns the nanoseconds that the kernel took to hand it over, where it reports them.
    pub fn send_watched(&self, cut: &Cut<'_>) -> io::Result<Option<u64>> {
        // One control message: three words.
        let mut control = [0u64; 3];
        // SAFETY: the message fits the buffer, which has the alignment that it needs.
        unsafe {
            let header: *mut libc::cmsghdr = control.as_mut_ptr().cast();
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SO_TIMESTAMPING;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<u32>() as u32) as _;
            ptr::write_unaligned(libc::CMSG_DATA(header).cast(), libc::SOF_TIMESTAMPING_TX_SOFTWARE);
        }
        let asked_ns = MachineClock.realtime_ns();
        self.send_with(cut, &mut control)?;
        // If the wall clock was stepped back in the meantime, the result is invalid.
        Ok(self.handed_over_ns().and_then(|handed_over_ns| handed_over_ns.checked_sub(asked_ns)))
    }

    /// Loads what sending from here needs into the caches; sends nothing. No device accepts a frame of this length,
    /// and the kernel checks the length late.
    pub fn warm(&self) {
        let _ = self.send(&Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest: &TOO_LONG });
    }

    /// The latest stamp of sent frames, CLOCK_REALTIME. All stamps are read; otherwise waiting for frames would end at
    /// once.
    fn handed_over_ns(&self) -> Option<u64> {
        let mut latest_ns = None;
        loop {
            let mut control = [0u64; 32];
            // SAFETY: all-zero is a valid msghdr.
            let mut message: libc::msghdr = unsafe { zeroed() };
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control) as _;
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            // SAFETY: the control buffer is live, and its size is passed along.
            if unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut message, flags) } < 0 {
                return latest_ns;
            }
            latest_ns = stamp(&message);
        }
    }

    fn send_with(&self, cut: &Cut<'_>, control: &mut [u64]) -> io::Result<()> {
        let piece =
            |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut pieces = [piece(&cut.vnet), piece(cut.headers), piece(cut.rest)];
        // SAFETY: all-zero is a valid msghdr.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = pieces.len() as _;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(control) as _;
        // SAFETY: the three pieces and the control messages outlive the call, which only reads them.
        let sent = unsafe { libc::sendmsg(self.0.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }
}

/// The kernel's stamp of a received message, CLOCK_REALTIME nanoseconds.
fn stamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled the control buffer and set its length; the macros stay inside it.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_TIMESTAMPNS {
            return None;
        }
        let at: libc::timespec = ptr::read_unaligned(libc::CMSG_DATA(header).cast());
        Some(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
    }
}

fn check(result: libc::c_int, what: &str) -> io::Result<()> {
    if result < 0 {
        return Err(named(io::Error::last_os_error(), what));
    }
    Ok(())
}

fn named(error: io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warmth::{FRAME, LOOPBACK_INDEX};

    #[test]
    fn a_timed_frame_reports_how_long_it_took_and_leaves_no_stamp() {
        let socket = match PacketSocket::open(Takes::Above(u32::MAX)) {
            Ok(socket) => socket,
            Err(error) => return println!("SKIPPED: {error}"),
        };
        socket.bind(LOOPBACK_INDEX).unwrap();
        let cut = Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest: &FRAME };
        for _ in 0..3 {
            let way_ns = socket.send_watched(&cut).unwrap().expect("lo stamps what it hands over");
            assert!(way_ns < 1_000_000_000, "{way_ns}");
            assert_eq!(socket.handed_over_ns(), None);
        }
    }
}
