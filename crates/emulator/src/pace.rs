//! The pace of the packet thread's clock. Applications whose clock runs ten times slower perceive a network ten times
//! faster: the emulator's clock runs slower by the same factor, and everything else is as declared.
//!
//! The engine gets its time as an argument, and all of its quantities are relative to that time: rates, delays, timers
//! of queues and of ghosts' TCP, steps of monitors, bounds of lateness. So nothing of a condition is converted, and
//! decisions do not depend on the factor. What the machine takes (late wake-ups, stalls, CPU time) is shorter by it.
//!
//! Source: Gupta et al., "To Infinity and Beyond: Time-Warped Network Emulation", NSDI '06, section 2. Deviation: they
//! multiply the parameters of the network.

use std::io;

use crate::clock::Clock;
use crate::commands::Inbox;
use crate::machine::{Account, Machine};
use crate::port::Port;
use crate::sleeper::Woken;

/// Both clocks at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
    /// Nanoseconds of CLOCK_REALTIME.
    pub realtime_ns: u64,
}

/// The line between real and perceived instants, which agree at the anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    factor: u64,
    anchor: Anchor,
}

impl Pace {
    /// Perceived time is real time.
    pub fn real_time() -> Self {
        Self { factor: 1, anchor: Anchor::default() }
    }

    /// Perceived time is slower by `factor`; a factor of 0 is 1.
    pub fn slower(factor: u32, anchor: Anchor) -> Self {
        Self { factor: u64::from(factor.max(1)), anchor }
    }

    /// Whether perceived time is real time.
    pub const fn is_real(self) -> bool {
        self.factor == 1
    }

    /// A length of time as it is perceived, rounded down.
    pub const fn perceived_length_ns(self, real_ns: u64) -> u64 {
        real_ns / self.factor
    }

    /// The real length of a perceived time.
    pub const fn real_length_ns(self, perceived_ns: u64) -> u64 {
        perceived_ns.saturating_mul(self.factor)
    }

    /// A CLOCK_MONOTONIC instant as it is perceived, rounded down.
    pub fn perceived_ns(self, real_ns: u64) -> u64 {
        self.slowed(real_ns, self.anchor.monotonic_ns)
    }

    /// The first real instant that is perceived as this one.
    pub fn real_ns(self, perceived_ns: u64) -> u64 {
        let anchor_ns = self.anchor.monotonic_ns;
        if perceived_ns >= anchor_ns {
            anchor_ns.saturating_add(self.real_length_ns(perceived_ns - anchor_ns))
        } else {
            anchor_ns.saturating_sub(self.real_length_ns(anchor_ns - perceived_ns))
        }
    }

    /// A CLOCK_REALTIME instant as it is perceived, rounded down.
    fn perceived_realtime_ns(self, real_ns: u64) -> u64 {
        self.slowed(real_ns, self.anchor.realtime_ns)
    }

    fn slowed(self, real_ns: u64, anchor_ns: u64) -> u64 {
        if self.is_real() {
            // A division takes as long as a reading of the clock.
            real_ns
        } else if real_ns >= anchor_ns {
            anchor_ns + (real_ns - anchor_ns) / self.factor
        } else {
            anchor_ns - (anchor_ns - real_ns).div_ceil(self.factor)
        }
    }
}

/// A machine whose clocks show perceived time.
#[derive(Debug)]
pub struct Paced<M> {
    /// The machine, in real time.
    pub machine: M,
    pace: Pace,
}

impl<M> Paced<M> {
    /// The machine at this pace.
    pub fn new(machine: M, pace: Pace) -> Self {
        Self { machine, pace }
    }
}

impl<M: Machine> Clock for Paced<M> {
    fn monotonic_ns(&self) -> u64 {
        self.pace.perceived_ns(self.machine.monotonic_ns())
    }

    fn realtime_ns(&self) -> u64 {
        self.pace.perceived_realtime_ns(self.machine.realtime_ns())
    }

    fn of_stamp_ns(&self, stamp_ns: u64) -> u64 {
        self.pace.perceived_realtime_ns(stamp_ns)
    }
}

impl<M: Machine> Machine for Paced<M> {
    fn has_own_cpu(&self) -> bool {
        self.machine.has_own_cpu()
    }

    fn claim(&mut self) {
        self.machine.claim();
    }

    fn awake(&mut self, now: u64) {
        self.machine.awake(self.pace.real_ns(now));
    }

    fn name_ready(&mut self, ready: &mut Vec<usize>) -> bool {
        self.machine.name_ready(ready)
    }

    fn spin(&mut self, now: u64, next: Option<u64>, receiver: Option<&impl Port>) {
        let pace = self.pace;
        self.machine.spin(pace.real_ns(now), next.map(|due| pace.real_ns(due)), receiver);
    }

    fn sleep(&mut self, length_ns: u64, inbox: &Inbox) -> io::Result<Woken> {
        self.machine.sleep(self.pace.real_length_ns(length_ns), inbox)
    }

    fn account(&self) -> Account {
        self.machine.account()
    }

    fn pace(&self) -> Pace {
        self.pace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANCHOR: Anchor = Anchor { monotonic_ns: 5_000_000_007, realtime_ns: 1_700_000_000_000_000_123 };

    #[test]
    fn instants_agree_at_the_anchor_and_are_perceived_as_passing_slowly() {
        let pace = Pace::slower(10, ANCHOR);
        assert_eq!(pace.perceived_ns(5_000_000_007), 5_000_000_007);
        assert_eq!(pace.perceived_ns(6_000_000_007), 5_100_000_007);
        assert_eq!(pace.perceived_realtime_ns(ANCHOR.realtime_ns + 30), ANCHOR.realtime_ns + 3);
        // Packets may have come just before the anchor.
        assert_eq!(pace.perceived_ns(4_999_999_996), 5_000_000_005);
    }

    #[test]
    fn real_time_is_perceived_as_it_is() {
        for ns in [0, 1, ANCHOR.monotonic_ns, u64::MAX] {
            assert_eq!(Pace::real_time().perceived_ns(ns), ns);
            assert_eq!(Pace::real_time().real_ns(ns), ns);
            assert_eq!(Pace::slower(1, ANCHOR).perceived_ns(ns), ns);
        }
    }

    #[test]
    fn the_real_instant_is_the_first_that_is_perceived_so() {
        for factor in [2, 3, 7, 10, 999, 1_000] {
            let pace = Pace::slower(factor, ANCHOR);
            for perceived in (0..5_000).map(|step| ANCHOR.monotonic_ns - 2_000_000 + step * 997) {
                let real = pace.real_ns(perceived);
                assert_eq!(pace.perceived_ns(real), perceived);
                assert_eq!(pace.perceived_ns(real - 1), perceived - 1, "no packet leaves early");
            }
        }
    }

    #[test]
    fn an_instant_that_never_comes_does_not_overflow() {
        assert_eq!(Pace::slower(1_000, ANCHOR).real_ns(u64::MAX), u64::MAX);
    }
}
