//! The wake-up margin: how long before a due instant a sleep must end, learnt from the lateness of earlier sleeps.
//!
//! A timer wakes a thread late: by some microseconds on a dedicated machine, by a hundred in a virtual machine whose
//! CPU was given away in the meantime. Too short a margin makes packets late; too long a one is spent spinning, which
//! sleeping is meant to avoid. So the margin follows the lateness that one in [`ONCE_IN`] sleeps exceeds. It grows by
//! a step when a sleep ended later and shrinks by a fraction of the step otherwise, and is stable where the two
//! balance.
//!
//! Source: Robbins and Monro, "A stochastic approximation method", Ann. Math. Statist. 22 (1951), for quantiles. The
//! step is constant, so that earlier behaviour of the machine is forgotten.

/// One sleep in this number may end later than the margin.
const ONCE_IN: u64 = 40;
/// The decrease of the margin after a sleep that ended in time.
const STEP_NS: u64 = 200;
/// The initial value; waking up takes about 25 us, rarely 60.
const AT_FIRST_NS: u64 = 60_000;
/// No thread wakes up faster than the first, and no margin covers more than the second.
const BOUNDS_NS: (u64, u64) = (10_000, 200_000);

/// What was learnt from this thread's sleeps.
#[derive(Debug)]
pub struct Waking {
    margin_ns: u64,
}

impl Waking {
    /// Starts with the initial value.
    pub const fn new() -> Self {
        Self { margin_ns: AT_FIRST_NS }
    }

    /// How long before a due instant a sleep must end.
    pub const fn margin_ns(&self) -> u64 {
        self.margin_ns
    }

    /// A sleep that should have ended at `until_ns` ended at `now_ns`, by itself or because a packet came. A sleep
    /// that a packet ended in time has no information. One that should have ended long before counts like any other.
    pub fn woke(&mut self, until_ns: u64, now_ns: u64, by_itself: bool) {
        let late = now_ns.saturating_sub(until_ns) > self.margin_ns;
        if !late && !by_itself {
            return;
        }
        let moved = if late { self.margin_ns + STEP_NS * (ONCE_IN - 1) } else { self.margin_ns - STEP_NS };
        self.margin_ns = moved.clamp(BOUNDS_NS.0, BOUNDS_NS.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lateness from a generator, so that every value below `spread` is equally likely.
    fn after(sleeps: u64, base: u64, spread: u64) -> u64 {
        let mut waking = Waking::new();
        for turn in 0..sleeps {
            waking.woke(1_000_000, 1_000_000 + base + turn * 7_919 % spread, true);
        }
        waking.margin_ns()
    }

    #[test]
    fn one_sleep_in_forty_exceeds_the_margin() {
        let margin = after(20_000, 20_000, 40_000);
        assert!((52_000..62_000).contains(&margin), "{margin}: near 58 us");
    }

    #[test]
    fn a_packet_hides_no_late_sleep() {
        let mut waking = Waking::new();
        let before = waking.margin_ns();
        waking.woke(1_000_000, 900_000, false);
        waking.woke(1_000_000, 1_010_000, false);
        assert_eq!(waking.margin_ns(), before);
        waking.woke(1_000_000, 1_500_000, false);
        assert!(waking.margin_ns() > before);
    }

    #[test]
    fn punctual_sleeps_have_a_small_margin_and_late_ones_a_bounded_one() {
        assert_eq!(after(1_000, 0, 1), BOUNDS_NS.0);
        assert_eq!(after(1_000, 900_000, 1), BOUNDS_NS.1);
    }
}
