//! Serialiser: computes when a transmitter of a given rate has sent the last bit of each packet. Exact; rounds up,
//! never drifts.
//!
//! The exact end of a packet is `free_at` - `ahead` / rate, a fraction below the whole nanosecond that is reported.
//! While the transmitter is busy, the next packet starts at the exact end; after a pause, at the instant of its
//! arrival. This is Lindley's recursion in rational numbers: end = max(arrival, previous end) + bits / rate.
//!
//! `rate`: wire bits per second, or unlimited. There are two ways to change it. With `set_rate` the rate applies to
//! the next packet, and if it differs, the fraction (< 1 ns) is discarded. With `change` and `carry_on` it applies
//! from now on, and the rest of the packet in transmission is exact.

use crate::units::{Duration, Instant, Rate, NANO};

pub(crate) struct Serialiser {
    rate: Rate,
    /// Bits per second at which the present packet is sent: after `set_rate` still the earlier rate.
    under_way: u64,
    /// When the last packet ends, rounded up.
    free_at: Instant,
    /// How far `free_at` is after the exact end, in 1 / rate nanoseconds, which are nano-bits; in [0, rate).
    ahead: u64,
    /// The last size and its time, so that consecutive equal packets need no division.
    time: Time,
}

/// Serialisation time of a packet: whole nanoseconds, and the remainder in 1 / rate nanoseconds.
#[derive(Copy, Clone)]
struct Time {
    wire_bytes: u32,
    nanos: u64,
    rest: u64,
}

impl Time {
    const NOTHING: Time = Time { wire_bytes: 0, nanos: 0, rest: 0 };
}

impl Serialiser {
    pub(crate) fn new(rate: Rate) -> Serialiser {
        Serialiser { rate, under_way: 0, free_at: Instant::ZERO, ahead: 0, time: Time::NOTHING }
    }

    /// A transmitter that can start a packet that has waited since `since`, but no earlier.
    pub(crate) fn free_since(since: Instant, rate: Rate) -> Serialiser {
        Serialiser { free_at: since, ..Serialiser::new(rate) }
    }

    /// The fraction of a nanosecond at the old rate has no meaning at another rate.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        if rate == self.rate {
            return;
        }
        *self = Serialiser { under_way: self.under_way, ..Serialiser::free_since(self.free_at, rate) };
    }

    /// Changes the rate from now on. The packet in transmission is removed; [`Serialiser::carry_on`] puts the rest of
    /// it back.
    pub(crate) fn change(&mut self, rate: Rate, now: Instant) {
        *self = Serialiser::free_since(self.free_at.min(now), rate);
    }

    /// Nano-bits of the packet in transmission that have not left yet.
    pub(crate) fn left_nano_bits(&self, now: Instant) -> u64 {
        let left = self.free_at.checked_duration_since(now).unwrap_or(Duration::ZERO);
        // At most a packet's nano-bits plus what the rate sends in a nanosecond.
        (self.under_way * left.as_nanos()).saturating_sub(self.ahead)
    }

    /// Sends this number of nano-bits from now on; returns when the last has left, rounded up.
    pub(crate) fn carry_on(&mut self, nano_bits: u64, now: Instant) -> Instant {
        self.free_at = now;
        if let Rate::BitsPerSecond(rate) = self.rate {
            let nanos = nano_bits.div_ceil(rate.get());
            self.under_way = rate.get();
            self.ahead = nanos * rate.get() - nano_bits;
            self.free_at = now.saturating_add(Duration::from_nanos(nanos));
        }
        self.free_at
    }

    pub(crate) fn is_unlimited(&self) -> bool {
        self.rate == Rate::Unlimited
    }

    /// When the transmitter is free again, rounded up.
    pub(crate) fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Sends a packet that has waited since `since`; returns when its last bit has left, rounded up.
    pub(crate) fn send(&mut self, wire_bytes: u32, since: Instant) -> Instant {
        // An arrival at `free_at` or later found the transmitter idle: the exact end was not after it.
        if since >= self.free_at {
            self.free_at = since;
            self.ahead = 0;
        }
        let Rate::BitsPerSecond(rate) = self.rate else {
            return self.free_at;
        };
        self.under_way = rate.get();
        if self.time.wire_bytes != wire_bytes {
            // At most 65 573 bytes x 8 bits x 10^9: far below 2^64.
            let nano_bits = u64::from(wire_bytes) * 8 * NANO;
            self.time = Time { wire_bytes, nanos: nano_bits / rate, rest: nano_bits % rate };
        }
        let Time { nanos, rest, .. } = self.time;
        let round_up = u64::from(rest > self.ahead);
        self.ahead = if rest > self.ahead { rate.get() - (rest - self.ahead) } else { self.ahead - rest };
        self.free_at = self.free_at.saturating_add(Duration::from_nanos(nanos + round_up));
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(bits_per_second: u64, wire_bytes: u32, packets: usize) -> [u64; 6] {
        let mut serialiser = Serialiser::new(Rate::bits_per_second(bits_per_second).unwrap());
        let mut ends = [0; 6];
        for end in ends.iter_mut().take(packets) {
            *end = serialiser.send(wire_bytes, Instant::ZERO).as_nanos();
        }
        ends
    }

    #[test]
    fn remainders_are_carried_over_while_the_transmitter_is_busy() {
        // 1538 B x 8 / 10 Gbit/s = 1230.4 ns; multiples 1230.4, 2460.8, 3691.2, 4921.6, 6152.0, 7382.4, rounded up.
        assert_eq!(ends(10_000_000_000, 1538, 6), [1231, 2461, 3692, 4922, 6152, 7383]);
    }

    #[test]
    fn several_packets_may_end_in_one_nanosecond() {
        // 84 B x 8 / 1 Tbit/s = 0.672 ns; multiples 0.672, 1.344, 2.016, 2.688, 3.36, 4.032, rounded up.
        assert_eq!(ends(1_000_000_000_000, 84, 6), [1, 2, 3, 3, 4, 5]);
    }

    #[test]
    fn after_a_pause_a_packet_starts_when_it_arrives() {
        let mut serialiser = Serialiser::new(Rate::bits_per_second(10_000_000_000).unwrap());
        assert_eq!(serialiser.send(1538, Instant::ZERO).as_nanos(), 1231);
        // Arrived at 1231, after the exact end 1230.4: 1231 + 1230.4 = 2461.4.
        assert_eq!(serialiser.send(1538, Instant::from_nanos(1231)).as_nanos(), 2462);
    }
}
