//! The kernel's timers: they expire at ticks, never early, and the later the coarser.
//!
//! A timer of `n` ticks expires at a tick that is more than `n` and at most `n + 1` ticks away. From 63 ticks on, ticks
//! come in groups of 8, from 504 on in groups of 64 and so on, and a timer expires with the group after its own. With
//! 250 ticks a second a timeout of 204 ms takes 204 to 208 ms, and one of 400 ms takes 400 to 432 ms.
//!
//! Source: Linux, kernel/time/timer.c ("The timer wheel has to guarantee that a timer does not fire early").

use crosswind_engine::{Duration, Instant};

/// Groups of one level have this many times the length of those of the level below.
const LEVEL_BITS: u32 = 3;
/// Timers of up to this many groups of a level are on it.
const LEVEL_GROUPS: u64 = 63;
/// The last level.
const LEVELS: u32 = 9;

/// A host's timer interrupt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    length_ns: u64,
    phase_ns: u64,
}

impl Tick {
    /// A tick of this length; the first is `phase` after the origin of time.
    pub(crate) fn new(length: Duration, phase: Duration) -> Self {
        Self { length_ns: length.as_nanos().max(1), phase_ns: phase.as_nanos() % length.as_nanos().max(1) }
    }

    /// Ticks up to an instant (Linux: `jiffies`).
    pub(crate) fn at(&self, now: Instant) -> u64 {
        // The phase is below a tick, so that no instant is before tick 0.
        (now.as_nanos() + self.length_ns - self.phase_ns) / self.length_ns
    }

    /// Ticks that a time takes, rounded up.
    pub(crate) fn of_us(&self, us: u64) -> u64 {
        (us * 1_000).div_ceil(self.length_ns)
    }

    /// The microseconds of a number of ticks.
    pub(crate) fn us(&self, ticks: u64) -> u64 {
        ticks * self.length_ns / 1_000
    }

    /// Ticks in a second.
    pub(crate) fn per_second(&self) -> u64 {
        1_000_000_000 / self.length_ns
    }

    /// When a timer that was set now for a tick expires.
    pub(crate) fn expiry(&self, now: Instant, tick: u64) -> Instant {
        let ahead = tick.saturating_sub(self.at(now));
        let level = (0..LEVELS - 1).find(|level| ahead < LEVEL_GROUPS << (LEVEL_BITS * level));
        let bits = LEVEL_BITS * level.unwrap_or(LEVELS - 1);
        let group = (tick >> bits) + 1;
        Instant::from_nanos(((group << bits) * self.length_ns + self.phase_ns).saturating_sub(self.length_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_timer_expires_up_to_one_tick_late_and_long_ones_up_to_a_group_late() {
        let tick = Tick::new(Duration::from_millis(4), Duration::from_millis(1));
        for after_ns in [0, 1, 3_999_999, 17 * MS] {
            let now = Instant::from_nanos(1_000 * MS + after_ns);
            for (ticks, group) in [(1, 1), (51, 1), (62, 1), (63, 8), (100, 8), (504, 64)] {
                let waited = (tick.expiry(now, tick.at(now) + ticks) - now).as_nanos();
                let least = ticks * 4 * MS;
                assert!(waited > least, "{ticks} ticks took {waited} ns");
                assert!(waited <= least + group * 4 * MS, "{ticks} ticks took {waited} ns");
            }
        }
    }

    #[test]
    fn ticks_have_their_phase() {
        let tick = Tick::new(Duration::from_millis(4), Duration::from_millis(1));
        let before = tick.at(Instant::from_nanos(5 * MS - 1));
        assert_eq!(tick.at(Instant::from_nanos(5 * MS)), before + 1);
        assert_eq!(tick.expiry(Instant::from_nanos(5 * MS), before + 1), Instant::from_nanos(9 * MS));
    }
}
