//! Keeps the kernel's code for sending in the CPU's caches while the emulator spins with nothing to send.
//!
//! After a millisecond of spinning, a send takes microseconds longer than the one before, because its code and data
//! have been displaced. So from time to time a frame without a receiver is sent on the loopback device of the fabric's
//! own namespace, which carries no other traffic, and the kernel drops it. Shortly before a packet is due, its own
//! port is warmed, too.
//!
//! Source of the frame's type: IEEE 802, local experimental EtherType 1, 0x88B5.

use std::io;

use crosswind_wire::{Cut, VnetHeader};

use crate::port::{PacketSocket, Port, Takes};

/// Index of `lo` in every network namespace.
pub const LOOPBACK_INDEX: i32 = 1;
/// Interval between sends, which take about a microsecond each.
const EVERY_NS: u64 = 50_000;
/// One more send when a packet is due within this time: it restores what other work of the CPU displaced since the
/// last one.
const BEFORE_NS: u64 = 8_000;

/// The smallest Ethernet frame, with neither sender nor receiver.
pub const FRAME: [u8; 60] = {
    let mut frame = [0; 60];
    frame[12] = 0x88;
    frame[13] = 0xb5;
    frame
};

/// The socket, and when it was last used.
#[derive(Debug)]
pub struct Warmth {
    socket: PacketSocket,
    used_ns: u64,
}

impl Warmth {
    /// Must be called on a thread inside the fabric's network namespace.
    pub fn open() -> io::Result<Self> {
        let socket = PacketSocket::open(Takes::Above(u32::MAX))?;
        socket.bind(LOOPBACK_INDEX)?;
        Ok(Self { socket, used_ns: 0 })
    }

    /// Sends if the last send is long enough ago for what is due next, and warms the port of the probable receiver.
    pub fn keep(&mut self, now: u64, due: Option<u64>, port: Option<&impl Port>) {
        let soon = due.is_some_and(|due| due < now + BEFORE_NS);
        if now < self.used_ns + if soon { BEFORE_NS } else { EVERY_NS } {
            return;
        }
        self.used_ns = now;
        let cut = Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest: &FRAME };
        // The result of the send does not matter.
        let _ = self.socket.send(&cut);
        if let (true, Some(port)) = (soon, port) {
            port.warm();
        }
    }
}
