//! A token bucket in exact integers, shared by policers and shapers.
//!
//! Tokens are nano-bits: rate (bit/s) x time (ns) is a whole number of them, so no remainder is lost. The bucket
//! starts full. It takes no action: `meter::police` drops, `shaper` delays.
//!
//! `rate`: IP bits per second. `burst`: IP bytes, the depth. It must be more than the rate brings in a nanosecond;
//! otherwise a shaper, which rounds up to whole nanoseconds, loses tokens.
//!
//! Source: RFC 2697, section 3 (one rate, one of its colours); Le Boudec and Thiran 2001, section 1.2 (leaky bucket).

use core::num::NonZeroU64;

use crate::units::{Duration, Instant, Rate, NANO};

const NANO_BITS_PER_BYTE: u128 = 8 * NANO as u128;

/// Tokens, and the instant of their last count.
pub(crate) struct TokenBucket {
    rate: Rate,
    depth_nano_bits: u128,
    /// In [0, depth].
    level_nano_bits: u128,
    counted_at: Instant,
}

impl TokenBucket {
    /// A full bucket; it has been full since the origin of time, so it needs no starting instant.
    pub(crate) fn new(rate: Rate, burst_bytes: u64) -> TokenBucket {
        let depth_nano_bits = nano_bits(burst_bytes);
        TokenBucket { rate, depth_nano_bits, level_nano_bits: depth_nano_bits, counted_at: Instant::ZERO }
    }

    /// Changes rate and depth from now on; tokens beyond the new depth are lost.
    pub(crate) fn reconfigure(&mut self, rate: Rate, burst_bytes: u64, now: Instant) {
        let level_nano_bits = self.level_at(now);
        *self = TokenBucket::new(rate, burst_bytes);
        self.level_nano_bits = level_nano_bits.min(self.depth_nano_bits);
        self.counted_at = now;
    }

    /// Spends the tokens for a packet if they suffice. With an unlimited rate they always do, and the bucket stays
    /// full.
    pub(crate) fn take(&mut self, ip_bytes: u32, now: Instant) -> bool {
        self.level_nano_bits = self.level_at(now);
        self.counted_at = now;
        if self.rate == Rate::Unlimited {
            return true;
        }
        let left = self.level_nano_bits.checked_sub(cost(ip_bytes));
        self.level_nano_bits = left.unwrap_or(self.level_nano_bits);
        left.is_some()
    }

    /// Spends the tokens for a packet that has waited until now, the instant from `ready_at`.
    ///
    /// The exact instant was up to a nanosecond earlier. Tokens since then belong to the next packet even if the
    /// bucket was full at that instant, so the depth bounds only the rest.
    pub(crate) fn take_after_wait(&mut self, ip_bytes: u32, now: Instant) {
        if let Rate::BitsPerSecond(rate) = self.rate {
            let unbounded = self.level_nano_bits + self.gained(rate, now);
            self.level_nano_bits = (unbounded - cost(ip_bytes)).min(self.depth_nano_bits);
            self.counted_at = now;
        }
    }

    /// The first instant from now on at which tokens suffice for a packet; `None` if it is larger than the burst.
    pub(crate) fn ready_at(&self, ip_bytes: u32, now: Instant) -> Option<Instant> {
        let Rate::BitsPerSecond(rate) = self.rate else {
            return Some(now);
        };
        let cost = cost(ip_bytes);
        if cost > self.depth_nano_bits {
            return None;
        }
        let missing = cost.saturating_sub(self.level_at(now));
        if missing == 0 {
            // The most frequent case; it avoids a division of 128 bits.
            return Some(now);
        }
        let wait = missing.div_ceil(u128::from(rate.get()));
        Some(now.saturating_add(Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))))
    }

    fn level_at(&self, now: Instant) -> u128 {
        match self.rate {
            Rate::Unlimited => self.depth_nano_bits,
            Rate::BitsPerSecond(rate) => {
                (self.level_nano_bits + self.gained(rate, now)).min(self.depth_nano_bits)
            }
        }
    }

    fn gained(&self, rate: NonZeroU64, now: Instant) -> u128 {
        u128::from(rate.get()) * u128::from((now - self.counted_at).as_nanos())
    }
}

fn cost(ip_bytes: u32) -> u128 {
    nano_bits(u64::from(ip_bytes))
}

/// The cost of this number of bytes in tokens.
pub(super) fn nano_bits(bytes: u64) -> u128 {
    u128::from(bytes) * NANO_BITS_PER_BYTE
}
