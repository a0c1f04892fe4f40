//! Exact instants of shapers: whole nanoseconds, rounded up, and the bits that the rate has carried since the exact
//! instant.
//!
//! The remainder is in nano-bits, so that it has the same meaning after a change of rate: the old rate applied until
//! the whole nanosecond, and the bits that it carried are not carried again. Sizes are IP bytes, rates IP bits per
//! second.

use core::num::NonZeroU64;

use crate::units::{Duration, Instant, NANO};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ExactInstant {
    rounded_up: Instant,
    /// Carried between the exact instant and the rounded one; less than a nanosecond's worth at the rate at that time.
    ahead_nano_bits: u64,
}

impl ExactInstant {
    /// A whole nanosecond.
    pub(crate) fn whole(at: Instant) -> ExactInstant {
        ExactInstant { rounded_up: at, ahead_nano_bits: 0 }
    }

    /// Rounded up to a whole nanosecond.
    pub(crate) fn rounded_up(self) -> Instant {
        self.rounded_up
    }

    /// The instant by which `rate` has carried `ip_bytes` more.
    pub(crate) fn after(self, ip_bytes: u32, rate: NonZeroU64) -> ExactInstant {
        // At most 65 535 bytes x 8 bits x 10^9: far below 2^64.
        let nano_bits = u64::from(ip_bytes) * 8 * NANO;
        let Some(missing) = nano_bits.checked_sub(self.ahead_nano_bits) else {
            return ExactInstant { ahead_nano_bits: self.ahead_nano_bits - nano_bits, ..self };
        };
        let wait = Duration::from_nanos(missing.div_ceil(rate.get()));
        let beyond = match missing % rate {
            0 => 0,
            rest => rate.get() - rest,
        };
        ExactInstant { rounded_up: self.rounded_up.saturating_add(wait), ahead_nano_bits: beyond }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(bits_per_second: u64) -> NonZeroU64 {
        NonZeroU64::new(bits_per_second).unwrap()
    }

    #[test]
    fn remainders_carry_over_from_packet_to_packet_and_through_a_change_of_rate() {
        // 1500 B x 8 / 7 Gbit/s = 1714.2857 ns; multiples 1714.29, 3428.57, rounded up. Until 3429 ns 7 Gbit/s carry 3
        // more bits (0.4286 ns x 7). The next 12 000 bits still need 11 997, which take 11 997 ns at 1 Gbit/s: 15 426.
        let mut at = ExactInstant::whole(Instant::ZERO);
        let mut instants = [0; 3];
        for (instant, rate) in instants.iter_mut().zip([7, 7, 1]) {
            at = at.after(1500, bps(rate * 1_000_000_000));
            *instant = at.rounded_up().as_nanos();
        }
        assert_eq!(instants, [1715, 3429, 15_426]);
    }

    #[test]
    fn several_packets_fit_into_a_nanosecond_of_a_fast_rate() {
        // 8 Tbit/s carry 1000 bytes per nanosecond: 300 B end at 0.3, 0.6, 0.9, 1.2 ns.
        let mut at = ExactInstant::whole(Instant::ZERO);
        let mut instants = [0; 4];
        for instant in &mut instants {
            at = at.after(300, bps(8_000_000_000_000));
            *instant = at.rounded_up().as_nanos();
        }
        assert_eq!(instants, [1, 1, 1, 2]);
    }
}
