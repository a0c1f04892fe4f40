//! How long a packet occupies the wire of a port. Consecutive packets are mostly equal, so the last result is stored.

use crate::units::Rate;

const PICO_BITS_PER_BYTE: u64 = 8 * 1_000_000_000_000;

pub(crate) struct WireTime {
    rate: Rate,
    /// Wire bytes of the last packet, and its time in picoseconds.
    last: (u32, u64),
}

impl WireTime {
    pub(crate) fn new(rate: Rate) -> WireTime {
        WireTime { rate, last: (0, 0) }
    }

    /// Rounded down; 0 without a rate.
    #[inline]
    pub(crate) fn picoseconds(&mut self, wire_bytes: u32) -> u64 {
        if self.last.0 != wire_bytes {
            let picoseconds = match self.rate {
                Rate::Unlimited => 0,
                Rate::BitsPerSecond(rate) => u64::from(wire_bytes) * PICO_BITS_PER_BYTE / rate,
            };
            self.last = (wire_bytes, picoseconds);
        }
        self.last.1
    }
}
