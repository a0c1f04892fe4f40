//! Keeps the kernel's way of sending in the processor's caches while a sender waits for its next instant.
//!
//! Who sent last some milliseconds ago, and slept meanwhile, needs 13 to 33 us for a system call that takes 3 us a moment later:
//! others have displaced its code and data, on a virtual machine other machines too. That would be part of every delay
//! measured. So a datagram is sent now and then from a socket to itself, on `lo`, and nobody reads it; and shortly before
//! its own instant the kernel is asked for the sender's way.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

/// After so long without a send the next one is slower.
const EVERY_NS: u64 = 50_000;
/// And one when a packet is due so soon.
const BEFORE_NS: u64 = 8_000;

/// Linux, linux/socket.h: do not send, only find the way.
const MSG_PROBE: libc::c_int = 0x10;

/// The socket, and when the kernel's way was used last, by whomever and by its owner.
pub struct Warmth {
    socket: UdpSocket,
    used_ns: u64,
    sent_ns: u64,
}

impl Warmth {
    /// There may be no `lo`.
    pub fn open() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        Ok(Self { socket, used_ns: 0, sent_ns: 0 })
    }

    /// Sends, where the last time is long enough ago for what is going to be sent through `socket` at `due_ns`.
    pub fn keep(&mut self, now_ns: u64, due_ns: u64, socket: &UdpSocket) {
        let soon = due_ns < now_ns + BEFORE_NS;
        let enough_ns = if soon { BEFORE_NS } else { EVERY_NS };
        if now_ns < self.used_ns + enough_ns || due_ns < self.sent_ns + EVERY_NS {
            return;
        }
        self.used_ns = now_ns;
        // Once its own buffer is full the kernel drops the datagram at the end of the way.
        let _ = self.socket.send(&[0; 18]);
        if soon {
            // Goes as far as the route to the receiver, and sends nothing.
            let flags = libc::MSG_CONFIRM | MSG_PROBE;
            // SAFETY: an empty message.
            unsafe { libc::send(socket.as_raw_fd(), ptr::null(), 0, flags) };
        }
    }

    /// Its owner has sent.
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
    fn who_sends_often_is_left_alone() {
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
