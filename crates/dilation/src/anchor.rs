//! An instant, and all clocks at it.

use serde::{Deserialize, Serialize};

use crate::map::{Map, CLOCKS, MONOTONIC, REALTIME, SECOND_NS};

/// One instant on two clocks. Machines that share an experiment have their own readings of the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Reading of CLOCK_MONOTONIC, ns.
    pub monotonic_ns: i64,
    /// Reading of CLOCK_REALTIME, ns.
    pub realtime_ns: i64,
}

impl Anchor {
    /// The instant at hand.
    pub fn now() -> Self {
        let monotonic_ns = read(MONOTONIC);
        Self { monotonic_ns, realtime_ns: read(REALTIME) }
    }

    /// When CLOCK_MONOTONIC reads this; the wall clock is as far from it as now.
    pub fn at(monotonic_ns: i64) -> Self {
        let now = Self::now();
        Self { monotonic_ns, realtime_ns: now.realtime_ns.saturating_add(monotonic_ns - now.monotonic_ns) }
    }

    /// Readings of all clocks, ns; 0 for those of CPU time. The other clocks have a fixed distance to these two.
    pub(crate) fn readings(self) -> [i64; CLOCKS] {
        let mut readings_ns = [0; CLOCKS];
        for (clock, reading_ns) in readings_ns.iter_mut().enumerate() {
            let [beside, anchored] = match Map::source(clock) {
                _ if Map::counts_cpu_time(clock) => continue,
                source if source == clock => [MONOTONIC as i64, self.monotonic_ns],
                _ => [REALTIME as i64, self.realtime_ns],
            };
            // The distance changes in steps of the clock's resolution, so clocks that are the same are taken as such.
            *reading_ns = match clock as i32 {
                libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE => self.monotonic_ns,
                libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM => {
                    self.realtime_ns
                }
                _ => anchored + read(clock) - read(beside as usize),
            };
        }
        readings_ns
    }
}

pub(crate) fn read(clock: usize) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the reading is written to a live structure. A clock that this kernel lacks reads as 0.
    unsafe { libc::clock_gettime(clock as i32, &raw mut now) };
    now.tv_sec * SECOND_NS + now.tv_nsec
}
