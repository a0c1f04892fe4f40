//! Instants, durations, rates and limits: the engine's units, as types.
//!
//! Time is whole nanoseconds from an origin that the caller chooses (the emulator: CLOCK_MONOTONIC). Zero never means
//! infinity: a missing bound is `Unlimited`.

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

    /// The time since `earlier`, or `None` if `earlier` is later.
    pub const fn checked_duration_since(self, earlier: Instant) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(nanos) => Some(Duration(nanos)),
            None => None,
        }
    }

    /// This instant plus `duration`, or the last representable one, which is 584 years from the origin.
    pub const fn saturating_add(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_add(duration.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    /// Beyond the last representable instant; use [`Instant::saturating_add`] where that can happen.
    fn add(self, duration: Duration) -> Instant {
        Instant(self.0.checked_add(duration.0).expect("an instant lies within 584 years of the origin"))
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// # Panics
    /// If `earlier` is later; use [`Instant::checked_duration_since`] where that can happen.
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
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest representable time.
    pub(crate) const MAX: Duration = Duration(u64::MAX);

    pub(crate) const fn saturating_add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }

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

/// A rate in bits per second. The element defines whether these are IP or wire bits.
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

/// A share of a whole, or a probability, in parts per billion: exact in text, in files and in decisions.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Share(u32);

impl Share {
    /// Nothing, or never.
    pub const NOTHING: Share = Share(0);
    /// All of it, or always.
    pub const WHOLE: Share = Share(1_000_000_000);

    /// This many parts per billion; `None` above the whole.
    pub const fn parts_per_billion(ppb: u32) -> Option<Share> {
        if ppb <= Share::WHOLE.0 {
            Some(Share(ppb))
        } else {
            None
        }
    }

    /// Both together; `None` above the whole.
    pub const fn and(self, other: Share) -> Option<Share> {
        Share::parts_per_billion(self.0 + other.0)
    }

    /// Parts per billion, in [0, 10^9].
    pub const fn ppb(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(self.0) / 1e7)
    }
}

/// The present capacity of a link. An outage is no rate: no bit is sent until it ends.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Capacity {
    /// Nothing.
    Outage,
    /// As much as the rate lets through.
    Rate(Rate),
}

impl Capacity {
    /// This number of bits per second; 0 is an outage.
    pub const fn bits_per_second(rate: u64) -> Capacity {
        match Rate::bits_per_second(rate) {
            Some(rate) => Capacity::Rate(rate),
            None => Capacity::Outage,
        }
    }
}

/// The limit of a buffer. The element defines whether it counts IP or wire bytes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// No bound.
    Unlimited,
    /// At most this many bytes; with 0 nothing can wait.
    Bytes(u64),
    /// At most this many packets, whatever their sizes.
    Packets(u64),
    /// At most the bytes that the rate after the buffer sends in this time; without a rate no bound.
    Time(Duration),
}
