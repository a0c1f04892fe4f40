//! How much before a packet is due the kernel is asked to send it.
//!
//! Between the question and the instant at which a frame is at its receiver, where the kernel stamps it, lies the kernel's
//! own way: a microsecond or two, by what is in the processor's caches, which every packet would be late. So packets are
//! watched now and then on this way, and the shortest of the last ones is taken off: what a packet takes longer is its own
//! lateness. A packet that finds a shorter way than all of these, behind one that warmed it, is early by the difference. It
//! took the same way into the emulator, after its sender's clock and before the stamp that its delay counts from: as long
//! as no more than the two shortest ways is taken off, nobody at a sender and a receiver sees less than the declared delay.

use std::io;

use crosswind_wire::{Cut, VnetHeader};

use crate::clock::{Clock, MachineClock};
use crate::port::{PacketSocket, Takes};
use crate::warmth::{FRAME, LOOPBACK_INDEX};

/// So many ways are remembered; the first of them are as many packets in a row.
const REMEMBERED: usize = 32;
/// Later one packet in so long: it is held up by what the kernel does to tell.
const EVERY_NS: u64 = 10_000_000;
/// Copying a longer frame is part of its way.
const FRAME_BYTES_MAX: usize = 256;
/// How many ways the shortest is the shortest of.
const SAMPLES: u32 = 256;

/// What is known of the kernel's way.
#[derive(Debug)]
pub struct Lead {
    recent_ns: [u64; REMEMBERED],
    watched: usize,
    watched_ns: u64,
    longest_ns: u64,
    lead_ns: u64,
}

impl Lead {
    /// Knows the shortest way there is, and takes most of it off until packets have been watched.
    pub const fn new(shortest_ns: u64) -> Self {
        // Not all of it: the shortest of a sample is not the shortest there is.
        let lead_ns = shortest_ns * 3 / 4;
        Self { recent_ns: [0; REMEMBERED], watched: 0, watched_ns: 0, longest_ns: 2 * lead_ns, lead_ns }
    }

    /// The lead.
    pub const fn ns(&self) -> u64 {
        self.lead_ns
    }

    /// Whether a frame of so many bytes is to be watched.
    pub const fn watches(&self, frame_bytes: usize, now_ns: u64) -> bool {
        frame_bytes <= FRAME_BYTES_MAX && (self.watched < REMEMBERED || now_ns >= self.watched_ns + EVERY_NS)
    }

    /// A packet that was asked for at one instant was handed over so much later.
    pub fn watched(&mut self, asked_ns: u64, way_ns: u64) {
        self.recent_ns[self.watched % REMEMBERED] = way_ns;
        (self.watched, self.watched_ns) = (self.watched + 1, asked_ns);
        if self.watched >= REMEMBERED {
            let shortest_ns = self.recent_ns.iter().min().expect("there are some");
            self.lead_ns = self.longest_ns.min(*shortest_ns);
        }
    }
}

/// Measures the shortest way, in nanoseconds, on the loopback device of the fabric's own namespace; a veth pair's is longer.
/// Must be called on a thread inside that namespace.
pub fn shortest_way_ns() -> io::Result<u64> {
    let (sender, receiver) =
        (PacketSocket::open(Takes::Above(u32::MAX))?, PacketSocket::open(Takes::Above(0))?);
    receiver.bind(LOOPBACK_INDEX)?;
    sender.bind(LOOPBACK_INDEX)?;
    let mut shortest_ns = u64::MAX;
    for _ in 0..SAMPLES {
        let asked_ns = MachineClock.realtime_ns();
        sender.send(&Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest: &FRAME })?;
        let (mut vnet, mut frame) = ([0; VnetHeader::LEN], [0; FRAME.len()]);
        if let Some((_, stamped_ns)) = receiver.receive(&mut vnet, &mut frame) {
            // A wall clock that was put back meanwhile says nothing.
            shortest_ns = shortest_ns.min(stamped_ns.checked_sub(asked_ns).unwrap_or(u64::MAX));
        }
    }
    // Without a stamp nothing is known and nothing taken off; a machine this slow has other troubles than a lead.
    Ok(if shortest_ns < LONGEST_NS { shortest_ns } else { 0 })
}

/// No kernel needs this long on a way that is open.
const LONGEST_NS: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ways_ns: impl IntoIterator<Item = u64>) -> Lead {
        let mut lead = Lead::new(1_000);
        for (number, way_ns) in ways_ns.into_iter().enumerate() {
            lead.watched(number as u64 * EVERY_NS, way_ns);
        }
        lead
    }

    #[test]
    fn before_enough_packets_have_been_watched_it_is_less_than_the_shortest_way() {
        assert_eq!(after([1_300; REMEMBERED - 1]).ns(), 750);
    }

    #[test]
    fn it_is_the_shortest_of_the_last_ways() {
        assert_eq!(after((0..100).map(|number| 1_200 + number % REMEMBERED as u64)).ns(), 1_200);
        let slower = [1_100].into_iter().chain([1_400; REMEMBERED]);
        assert_eq!(after(slower).ns(), 1_400, "the short one is forgotten");
    }

    #[test]
    fn it_is_never_more_than_two_ways() {
        assert_eq!(after([9_000; REMEMBERED]).ns(), 1_500);
        let mut ignorant = Lead::new(0);
        for _ in 0..REMEMBERED {
            ignorant.watched(0, 1_000);
        }
        assert_eq!(ignorant.ns(), 0);
    }

    #[test]
    fn the_first_short_frames_are_watched_and_then_one_in_ten_milliseconds() {
        assert!(after([]).watches(FRAME_BYTES_MAX, 0));
        assert!(!after([]).watches(FRAME_BYTES_MAX + 1, 0));
        let knows = after([1_000; REMEMBERED]);
        let last_ns = (REMEMBERED as u64 - 1) * EVERY_NS;
        assert!(!knows.watches(60, last_ns + EVERY_NS - 1));
        assert!(knows.watches(60, last_ns + EVERY_NS));
    }
}
