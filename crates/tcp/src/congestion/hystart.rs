//! HyStart: ends slow start before the queue overflows, when the acknowledgements of one round come for longer than half
//! a round trip, or when round trips get longer by an eighth.
//!
//! As in Linux, which has both signs of the original; RFC 9406 (HyStart++) is newer and has only the second.
//!
//! Source: Ha and Rhee 2008, "Hybrid slow start for high-bandwidth and long-distance networks"; Linux, `hystart_update`.

use crosswind_engine::Instant;

use super::{Measured, Window};
use crate::send_queue::TRAIN_BYTES_MOST;

/// Not below this window.
const PACKETS_LEAST: u32 = 16;
/// Acknowledgements this near belong to one train.
const GAP_US: u64 = 2_000;
/// Round trips that a round must have.
const SAMPLES: u32 = 8;
/// An eighth of the round trip, within these bounds.
const LONGER_US: (u64, u64) = (4_000, 16_000);
/// The most that a round may last longer for the trains' own length.
const TRAINS_US_MOST: u64 = 1_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hystart {
    /// Slow start has ended.
    found: bool,
    started: Instant,
    last: Instant,
    /// The round ends when data from here on are acknowledged.
    ends: u64,
    shortest_us: Option<u64>,
    samples: u32,
}

impl Hystart {
    pub(super) fn start_round(&mut self, now: Instant, next: u64) {
        (self.started, self.last, self.ends) = (now, now, next);
        (self.shortest_us, self.samples) = (None, 0);
    }

    /// A round trip of `us` in slow start; `path_us` is the shortest so far.
    pub(super) fn measured(&mut self, window: &mut Window, measured: &Measured, us: u64, path_us: u64) {
        if self.found {
            return;
        }
        if measured.acknowledged > self.ends {
            self.start_round(measured.now, measured.next);
        }
        if window.packets < PACKETS_LEAST {
            return;
        }
        if self.comes_for_long(measured, path_us) || self.takes_longer(us, path_us) {
            self.found = true;
            window.threshold = window.packets;
        }
    }

    fn comes_for_long(&mut self, measured: &Measured, path_us: u64) -> bool {
        let us = |from: Instant| (measured.now - from).as_nanos() / 1_000;
        if us(self.last) > GAP_US {
            return false;
        }
        self.last = measured.now;
        let trains_us = match measured.pacing_rate {
            0 => 0,
            rate => (TRAIN_BYTES_MOST * 4 * 1_000_000 / rate).min(TRAINS_US_MOST),
        };
        us(self.started) > (path_us + trains_us) / 2
    }

    fn takes_longer(&mut self, us: u64, path_us: u64) -> bool {
        let shortest_us = self.shortest_us.map_or(us, |shortest| shortest.min(us));
        self.shortest_us = Some(shortest_us);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        shortest_us > path_us + (path_us / 8).clamp(LONGER_US.0, LONGER_US.1)
    }
}
