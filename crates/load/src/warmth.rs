//! Keeps the kernel's send path in the CPU's caches while a sender waits for its next instant.
//!
//! After a sleep of some milliseconds the system call that sends takes 13 to 33 us; right after another one it takes 3 us.
//! Other processes, and other virtual machines, have displaced its code and data from the caches. Every measured delay would
//! contain this time. So a socket on `lo` sends a datagram to itself from time to time, which is never read. Shortly before the
//! sender's own instant the kernel is asked to look up the route to the receiver.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

/// After this time without a send the next one is slower.
const EVERY_NS: u64 = 50_000;
/// A packet that is due within this time gets one more datagram.
const BEFORE_NS: u64 = 8_000;

/// Linux, linux/socket.h: do not send, only look up the route.
const MSG_PROBE: libc::c_int = 0x10;

/// The socket, and when the kernel's send path was last used: by any socket, and by the owner.
pub struct Warmth {
    socket: UdpSocket,
    used_ns: u64,
    sent_ns: u64,
}

impl Warmth {
    /// Fails where there is no `lo`.
    pub fn open() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        Ok(Self { socket, used_ns: 0, sent_ns: 0 })
    }

    /// Sends a datagram if the last one is long enough ago; the owner sends through `socket` at `due_ns`.
    pub fn keep(&mut self, now_ns: u64, due_ns: u64, socket: &UdpSocket) {
        let soon = due_ns < now_ns + BEFORE_NS;
        let enough_ns = if soon { BEFORE_NS } else { EVERY_NS };
        if now_ns < self.used_ns + enough_ns || due_ns < self.sent_ns + EVERY_NS {
            return;
        }
        self.used_ns = now_ns;
        // Once the receive buffer is full the kernel drops the datagram at the end of the path.
        let _ = self.socket.send(&[0; 18]);
        if soon {
            // Goes as far as the route to the receiver, and sends nothing.
            let flags = libc::MSG_CONFIRM | MSG_PROBE;
            // SAFETY: an empty message.
            unsafe { libc::send(socket.as_raw_fd(), ptr::null(), 0, flags) };
        }
    }

    /// Notes that the owner has sent.
    pub fn sent(&mut self, at_ns: u64) {
        (self.used_ns, self.sent_ns) = (at_ns, at_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.connect(socket.local_addr().unwrap()).unwrap();
        socket
    }

    fn arrived(socket: &UdpSocket) -> usize {
        socket.set_nonblocking(true).unwrap();
        std::iter::from_fn(|| socket.recv(&mut [0; 32]).ok()).count()
    }

    #[test]
    fn a_datagram_is_sent_every_50_us_and_once_more_shortly_before() {
        let (mut warmth, owner) = (Warmth::open().unwrap(), owner());
        let due_ns = 1_000_000;
        warmth.sent(due_ns - 300_000);
        for now_ns in (due_ns - 300_000..due_ns).step_by(100) {
            warmth.keep(now_ns, due_ns, &owner);
        }
        assert_eq!(arrived(&warmth.socket), 6, "250, 200, 150, 100, 50 and 8 us before");
        assert_eq!(arrived(&owner), 0);
    }

    #[test]
    fn a_sender_that_sends_often_needs_no_datagrams() {
        let (mut warmth, owner) = (Warmth::open().unwrap(), owner());
        warmth.sent(1_000_000);
        for due_ns in (1_030_000..2_000_000).step_by(30_000) {
            for now_ns in (due_ns - 30_000..due_ns).step_by(100) {
                warmth.keep(now_ns, due_ns, &owner);
            }
            warmth.sent(due_ns);
        }
        assert_eq!(arrived(&warmth.socket), 0);
    }
}
