//! The instant at which perceived time is real, and the clocks at that instant.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::map::{Map, CLOCKS, MONOTONIC, REALTIME, SECOND_NS};

/// The largest factor.
pub const FACTOR_MAX: u64 = 1000;

/// One instant on two clocks. Machines that share an experiment have their own readings of the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Reading of CLOCK_MONOTONIC, ns.
    pub monotonic_ns: i64,
    /// Reading of CLOCK_REALTIME, ns.
    pub realtime_ns: i64,
}

/// The factor and all clocks at the anchor: what the processes of all nodes of a machine get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slowed {
    factor: NonZeroU64,
    origin_ns: [i64; CLOCKS],
}

impl Anchor {
    /// The instant at hand.
    pub fn now() -> Self {
        let monotonic_ns = read(MONOTONIC);
        Self { monotonic_ns, realtime_ns: read(REALTIME) }
    }

    /// Clocks `factor` times slower from this instant on. The other clocks have a fixed distance to these two.
    pub fn slow(self, factor: NonZeroU64) -> Slowed {
        let mut origin_ns = [0; CLOCKS];
        for (clock, origin_ns) in origin_ns.iter_mut().enumerate() {
            let [beside, anchored] = match Map::source(clock) {
                _ if Map::counts_cpu_time(clock) => continue,
                source if source == clock => [MONOTONIC as i64, self.monotonic_ns],
                _ => [REALTIME as i64, self.realtime_ns],
            };
            // The distance changes in steps of the clock's resolution, so clocks that are the same are taken as such.
            *origin_ns = match clock as i32 {
                libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE => self.monotonic_ns,
                libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM => {
                    self.realtime_ns
                }
                _ => anchored + read(clock) - read(beside as usize),
            };
        }
        Slowed { factor, origin_ns }
    }
}

impl From<Slowed> for Map {
    fn from(slowed: Slowed) -> Self {
        Self { factor: slowed.factor, origin_ns: slowed.origin_ns }
    }
}

fn read(clock: usize) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the reading is written to a live structure. A clock that this kernel lacks reads as 0.
    unsafe { libc::clock_gettime(clock as i32, &raw mut now) };
    now.tv_sec * SECOND_NS + now.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_reads_the_same_at_the_anchor_and_then_slower() {
        let anchor = Anchor::now();
        let map = Map::from(anchor.slow(NonZeroU64::new(10).unwrap()));
        for clock in [0, 1, 4, 5, 6, 7, 9, 11] {
            let source = Map::source(clock);
            let passed = read(source) - map.origin_ns[source];
            // A coarse clock may be up to 10 ms behind the anchor.
            assert!((-10_000_001..1_000_000_000).contains(&passed), "clock {clock}: {passed} ns");
            let perceived = map.perceived(clock, map.origin_ns[source] + 1_000_000) - map.origin_ns[clock];
            assert_eq!(perceived, 100_000, "clock {clock}");
        }
        assert_eq!(map.origin_ns[MONOTONIC], anchor.monotonic_ns);
        assert_eq!(map.origin_ns[REALTIME], anchor.realtime_ns);
    }
}
