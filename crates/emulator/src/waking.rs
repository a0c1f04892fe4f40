//! How long before a due instant a sleep has to end: learnt from how late sleeps have ended.
//!
//! A timer wakes a thread late, by some microseconds on a machine of one's own and by a hundred in a virtual machine whose
//! processor was given away meanwhile. Too short a margin makes packets late; too long a one is spent spinning, which is
//! what sleeping was to save. So the margin follows the quantile that is late once in [`ONCE_IN`] sleeps: it grows by a
//! step whenever a sleep ended later and shrinks by a fraction of it otherwise, and is at rest where the two balance.
//!
//! Source: Robbins and Monro, "A stochastic approximation method", Ann. Math. Statist. 22 (1951), for quantiles with a
//! constant step, which forgets what the machine was like before.

/// One sleep in so many may end later than the margin.
const ONCE_IN: u64 = 40;
/// What the margin shrinks by when a sleep ended in time.
const STEP_NS: u64 = 200;
/// Before anything is known; waking up takes about 25 us, rarely 60.
const AT_FIRST_NS: u64 = 60_000;
/// No thread is back sooner, and for later ones there is no waiting.
const BOUNDS_NS: (u64, u64) = (10_000, 200_000);

/// What is known of this thread's sleeps.
#[derive(Debug)]
pub struct Waking {
    margin_ns: u64,
}

impl Waking {
    /// Knows nothing yet.
    pub const fn new() -> Self {
        Self { margin_ns: AT_FIRST_NS }
    }

    /// How long before a due instant a sleep is to end.
    pub const fn margin_ns(&self) -> u64 {
        self.margin_ns
    }

    /// A sleep that was to end at one instant ended at another, by itself or because a packet came. One that a packet ended in time
    /// says nothing, but one that should long have been over says as much as any.
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

    /// Lateness by turns of a generator, so that every value below `spread` is as likely.
    fn after(sleeps: u64, base: u64, spread: u64) -> u64 {
        let mut waking = Waking::new();
        for turn in 0..sleeps {
            waking.woke(1_000_000, 1_000_000 + base + turn * 7_919 % spread, true);
        }
        waking.margin_ns()
    }

    #[test]
    fn the_margin_is_what_one_sleep_in_forty_exceeds() {
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
    fn punctual_sleeps_cost_little_and_late_ones_not_everything() {
        assert_eq!(after(1_000, 0, 1), BOUNDS_NS.0);
        assert_eq!(after(1_000, 900_000, 1), BOUNDS_NS.1);
    }
}
