//! The lead: how long before a packet is due the kernel is called to send it.
//!
//! The kernel needs time between the call and the instant at which it stamps the frame at its receiver. It is a
//! microsecond or two, depending on what is in the CPU's caches, and every packet would be late by it. So the time is
//! measured for some packets, and the lead is the shortest of the latest measurements. What a packet takes longer is
//! its own lateness. A packet that takes less time than all of these, because the one before it warmed the caches, is
//! early by the difference. The packet took the same way into the emulator, after its sender's clock and before the
//! stamp from which its delay counts. As long as the lead is at most twice the shortest time, no sender and receiver
//! can measure less than the declared delay.

use std::io;

use crosswind_wire::{Cut, VnetHeader};

use crate::clock::{Clock, MachineClock};
use crate::pace::Pace;
use crate::port::{PacketSocket, Takes};
use crate::warmth::{FRAME, LOOPBACK_INDEX};

/// Number of measurements that are stored; the first ones come from consecutive packets.
const REMEMBERED: usize = 32;
/// Later one packet per interval is measured, because the measurement itself delays it.
const EVERY_NS: u64 = 10_000_000;
/// For longer frames the time includes copying.
const FRAME_BYTES_MAX: usize = 256;
/// Number of samples of which the shortest is taken.
const SAMPLES: u32 = 256;

/// The measured times of the kernel.
#[derive(Debug)]
pub struct Lead {
    recent_ns: [u64; REMEMBERED],
    watched: usize,
    watched_ns: u64,
    longest_ns: u64,
    lead_ns: u64,
    pace: Pace,
}

impl Lead {
    /// `shortest_ns` and all times of the kernel are real. Starts with the shortest possible time, and uses most of it as the lead until packets have been measured.
    pub const fn new(shortest_ns: u64, pace: Pace) -> Self {
        // Not all of it: the shortest of a sample may be longer than the shortest possible time.
        let lead_ns = shortest_ns * 3 / 4;
        Self { recent_ns: [0; REMEMBERED], watched: 0, watched_ns: 0, longest_ns: 2 * lead_ns, lead_ns, pace }
    }

    /// The lead, in perceived time.
    pub const fn ns(&self) -> u64 {
        self.pace.perceived_length_ns(self.lead_ns)
    }

    /// The pace of the clock by which packets are due.
    pub const fn pace(&self) -> Pace {
        self.pace
    }

    /// Whether a frame of this length is to be measured.
    pub const fn watches(&self, frame_bytes: usize, now_ns: u64) -> bool {
        frame_bytes <= FRAME_BYTES_MAX && (self.watched < REMEMBERED || now_ns >= self.watched_ns + EVERY_NS)
    }

    /// The kernel handed a packet over `way_ns` after it was called at `asked_ns`.
    pub fn watched(&mut self, asked_ns: u64, way_ns: u64) {
        self.recent_ns[self.watched % REMEMBERED] = way_ns;
        (self.watched, self.watched_ns) = (self.watched + 1, asked_ns);
        if self.watched >= REMEMBERED {
            let shortest_ns = self.recent_ns.iter().min().expect("at least one was measured");
            self.lead_ns = self.longest_ns.min(*shortest_ns);
        }
    }
}

/// Measures the shortest time, in nanoseconds, on the loopback device of the fabric's own namespace; a veth pair takes
/// longer. Must be called on a thread inside that namespace.
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
            // If the wall clock was stepped back in the meantime, the result is invalid.
            shortest_ns = shortest_ns.min(stamped_ns.checked_sub(asked_ns).unwrap_or(u64::MAX));
        }
    }
    // Without a valid stamp the time is unknown and the lead is 0; on a machine this slow a lead does not matter.
    Ok(if shortest_ns < LONGEST_NS { shortest_ns } else { 0 })
}

/// No kernel needs this long if nothing delays it.
const LONGEST_NS: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ways_ns: impl IntoIterator<Item = u64>) -> Lead {
        let mut lead = Lead::new(1_000, Pace::real_time());
        for (number, way_ns) in ways_ns.into_iter().enumerate() {
            lead.watched(number as u64 * EVERY_NS, way_ns);
        }
        lead
    }

    #[test]
    fn before_enough_measurements_the_lead_is_below_the_shortest_time() {
        assert_eq!(after([1_300; REMEMBERED - 1]).ns(), 750);
    }

    #[test]
    fn the_lead_is_the_shortest_of_the_latest_times() {
        assert_eq!(after((0..100).map(|number| 1_200 + number % REMEMBERED as u64)).ns(), 1_200);
        let slower = [1_100].into_iter().chain([1_400; REMEMBERED]);
        assert_eq!(after(slower).ns(), 1_400, "the short one is forgotten");
    }

    #[test]
    fn the_lead_is_never_more_than_twice_the_shortest_time() {
        assert_eq!(after([9_000; REMEMBERED]).ns(), 1_500);
        let mut ignorant = Lead::new(0, Pace::real_time());
        for _ in 0..REMEMBERED {
            ignorant.watched(0, 1_000);
        }
        assert_eq!(ignorant.ns(), 0);
    }

    #[test]
    fn the_first_short_frames_are_measured_and_then_one_in_ten_milliseconds() {
        assert!(after([]).watches(FRAME_BYTES_MAX, 0));
        assert!(!after([]).watches(FRAME_BYTES_MAX + 1, 0));
        let knows = after([1_000; REMEMBERED]);
        let last_ns = (REMEMBERED as u64 - 1) * EVERY_NS;
        assert!(!knows.watches(60, last_ns + EVERY_NS - 1));
        assert!(knows.watches(60, last_ns + EVERY_NS));
    }
}
