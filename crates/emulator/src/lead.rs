//! How much before a packet is due the kernel is asked to send it.
//!
//! Between the question and the instant at which a frame is at its receiver, where the kernel stamps it, lies the kernel's
//! own way: some hundred nanoseconds at the least, which every packet would be late. So the shortest such way is measured
//! when the emulator starts, on the loopback device of the fabric's own namespace (a veth pair's is longer), and most of
//! it is taken off. Not all: the shortest of a sample is not the shortest there is, and no packet may be early.

use std::io;

use crosswind_wire::{Cut, VnetHeader};

use crate::clock;
use crate::port::{PacketSocket, Takes};
use crate::warmth::{FRAME, LOOPBACK_INDEX};

const SAMPLES: u32 = 256;

/// Measures it, in nanoseconds. Must be called on a thread inside the fabric's network namespace.
pub fn measure() -> io::Result<u64> {
    let (sender, receiver) =
        (PacketSocket::open(Takes::Above(u32::MAX))?, PacketSocket::open(Takes::Above(0))?);
    receiver.bind(LOOPBACK_INDEX)?;
    sender.bind(LOOPBACK_INDEX)?;
    let mut shortest_ns = u64::MAX;
    for _ in 0..SAMPLES {
        let asked_ns = clock::realtime_ns();
        sender.send(&Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest: &FRAME })?;
        let (mut vnet, mut frame) = ([0; VnetHeader::LEN], [0; FRAME.len()]);
        if let Some((_, stamped_ns)) = receiver.receive(&mut vnet, &mut frame) {
            // A wall clock that was put back meanwhile says nothing.
            shortest_ns = shortest_ns.min(stamped_ns.checked_sub(asked_ns).unwrap_or(u64::MAX));
        }
    }
    // Without a stamp nothing is known and nothing taken off; a machine this slow has other troubles than a lead.
    Ok(if shortest_ns < LONGEST_NS { shortest_ns * 3 / 4 } else { 0 })
}

/// No kernel needs this long on a way that is open.
const LONGEST_NS: u64 = 5_000;
