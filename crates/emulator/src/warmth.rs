//! Keeps the kernel's way of sending in the processor's caches while the emulator spins with nothing to send.
//!
//! After a millisecond of spinning, a send takes microseconds longer than the one before: its code and data have been
//! displaced. So a frame that nobody reads is sent now and then on the loopback device of the fabric's own namespace,
//! where there is nothing else, and the kernel drops it. Shortly before a packet is due its own port is warmed, too.
//!
//! Source of the frame's type: IEEE 802, local experimental EtherType 1, 0x88B5.

use std::io;

use crosswind_wire::{Cut, VnetHeader};

use crate::port::{PacketSocket, Port, Takes};

/// Index of `lo` in every network namespace.
pub const LOOPBACK_INDEX: i32 = 1;
/// One send of about a microsecond in so many.
const EVERY_NS: u64 = 50_000;
/// And one when a packet is due so soon: what other work of the processor displaced since the last one is then back.
const BEFORE_NS: u64 = 8_000;

/// The smallest Ethernet frame, from nobody to nobody.
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

    /// Sends, where the last time is long enough ago for what is due next, and warms the port that it is probably for.
    pub fn keep(&mut self, now: u64, due: Option<u64>, port: Option<&impl Port>) {
        let soon = due.is_some_and(|due| due < now + BEFORE_NS);
        if now < self.used_ns + if soon { BEFORE_NS } else { EVERY_NS } {
            return;
        }
        self.used_ns = now;
        let cut = Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest: &FRAME };
        // What becomes of it does not matter.
        let _ = self.socket.send(&cut);
        if let (true, Some(port)) = (soon, port) {
            port.warm();
        }
    }
}
