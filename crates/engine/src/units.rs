//! Instants, durations, rates and limits: the engine's units, as types.
//!
//! Time is whole nanoseconds from an origin that the caller chooses (the emulator: CLOCK_MONOTONIC). Zero is never
//! infinity: what has no bound says `Unlimited`.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::{Add, Sub};

/// Nano-units in a unit: rates are bits per second, instants nanoseconds, so products are nano-bits.
pub(crate) const NANO: u64 = 1_000_000_000;

/// A point in time, in nanoseconds from the caller's origin; covers 584 years.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

impl Instant {
    /// The origin.
    pub const ZERO: Instant = Instant(0);

    /// The instant this many nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Instant {
        Instant(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time since `earlier`, or `None` where `earlier` is later.
    pub const fn checked_duration_since(self, earlier: Instant) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(nanos) => Some(Duration(nanos)),
            None => None,
        }
    }

    /// This instant plus `duration`, or the last representable one: 584 years are as good as never.
    pub const fn saturating_add(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_add(duration.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    /// Past the last representable instant; use [`Instant::saturating_add`] where that can happen.
    fn add(self, duration: Duration) -> Instant {
        Instant(self.0.checked_add(duration.0).expect("an instant lies within 584 years of the origin"))
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// # Panics
    /// Where `earlier` is later; use [`Instant::checked_duration_since`] where that can happen.
    fn sub(self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).expect("the instant subtracted is not later than this one")
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

/// A length of time in nanoseconds.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);

    /// This many nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Duration {
        Duration(nanos)
    }

    /// This many microseconds.
    pub const fn from_micros(micros: u64) -> Duration {
        Duration(micros * 1_000)
    }

    /// This many milliseconds.
    pub const fn from_millis(millis: u64) -> Duration {
        Duration(millis * 1_000_000)
    }

    /// This many seconds.
    pub const fn from_secs(secs: u64) -> Duration {
        Duration(secs * NANO)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

/// A rate in bits per second. Whether IP or wire bits are meant, the element says.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rate {
    /// No bound.
    Unlimited,
    /// At most this many bits per second.
    BitsPerSecond(NonZeroU64),
}

impl Rate {
    /// A bounded rate; `None` for 0, which is no rate (and never infinity).
    pub const fn bits_per_second(rate: u64) -> Option<Rate> {
        match NonZeroU64::new(rate) {
            Some(rate) => Some(Rate::BitsPerSecond(rate)),
            None => None,
        }
    }
}

/// How much a buffer holds. Whether IP or wire bytes are meant, the element says.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// No bound.
    Unlimited,
    /// At most this many bytes; with 0 nothing can wait.
    Bytes(u64),
}

impl Limit {
    /// Whether `bytes` are within the limit.
    pub const fn allows(self, bytes: u64) -> bool {
        match self {
            Limit::Unlimited => true,
            Limit::Bytes(most) => bytes <= most,
        }
    }
}
