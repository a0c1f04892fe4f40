//! The transmitter of a link: how the packet on it is sent at present. It holds one packet at a time and neither
//! queues nor chooses packets.
//!
//! A link without a process sends at its own rate. A process (`process/mod.rs`) changes the transmitter's capacity at
//! exact instants, even in the middle of a packet: bits that have left stay sent, and the rest of the packet continues
//! at the new level, as in a fluid model. A packet that ends at the instant of a change ends before it. So the last
//! bit leaves when the integral of the capacity over time has reached the packet's size.
//!
//! In an outage no bit is sent and no packet is taken from the queue; the packet on the transmitter waits there. The
//! same holds between delivery opportunities. With these, packets count their IP bytes instead of their wire bytes;
//! this includes the rest of the packet on the transmitter when one kind of process replaces another.

use super::Serialiser;
use crate::packet::Packet;
use crate::units::{Capacity, Instant, NANO};

pub(crate) enum Transmitter {
    /// At a rate.
    Rate(Serialiser),
    /// No bit is sent.
    Outage {
        /// The rest of the packet on the transmitter, if there is one.
        left_nano_bits: u64,
    },
    /// At certain instants a number of bytes is sent at once.
    Opportunities {
        /// The rest of the packet on the transmitter, if there is one.
        left_nano_bits: u64,
        /// The rest of the present opportunity.
        granted_nano_bits: u64,
    },
}

impl Transmitter {
    /// Whether packets take no time.
    pub(crate) fn is_unlimited(&self) -> bool {
        matches!(self, Transmitter::Rate(serialiser) if serialiser.is_unlimited())
    }

    /// Whether a waiting packet may enter the transmitter now.
    pub(crate) fn takes_next(&self) -> bool {
        match self {
            Transmitter::Rate(_) => true,
            Transmitter::Outage { .. } => false,
            Transmitter::Opportunities { granted_nano_bits, .. } => *granted_nano_bits > 0,
        }
    }

    /// Starts a packet that has waited since `since`; returns when its last bit leaves, if known.
    pub(crate) fn send(&mut self, packet: &Packet, since: Instant, now: Instant) -> Option<Instant> {
        match self {
            Transmitter::Rate(serialiser) => Some(serialiser.send(packet.wire_bytes(), since)),
            _ => self.carry_on(nano_bits(u64::from(packet.ip_bytes)), now),
        }
    }

    /// Nano-bits of the packet on the transmitter that have not left yet.
    pub(crate) fn left_nano_bits(&self, now: Instant) -> u64 {
        match self {
            Transmitter::Rate(serialiser) => serialiser.left_nano_bits(now),
            Transmitter::Outage { left_nano_bits } | Transmitter::Opportunities { left_nano_bits, .. } => {
                *left_nano_bits
            }
        }
    }

    /// Changes the capacity from now on. [`Transmitter::carry_on`] puts the rest of a packet back.
    pub(crate) fn change(&mut self, capacity: Capacity, now: Instant) {
        match (&mut *self, capacity) {
            (Transmitter::Rate(serialiser), Capacity::Rate(rate)) => serialiser.change(rate, now),
            (_, Capacity::Rate(rate)) => *self = Transmitter::Rate(Serialiser::free_since(now, rate)),
            (_, Capacity::Outage) => *self = Transmitter::Outage { left_nano_bits: 0 },
        }
    }

    /// An opportunity to send this number of bytes now. Zero only starts the wait for the first opportunity.
    pub(crate) fn grant(&mut self, ip_bytes: u64) {
        if let Transmitter::Opportunities { granted_nano_bits, .. } = self {
            *granted_nano_bits = granted_nano_bits.saturating_add(nano_bits(ip_bytes));
        } else {
            *self = Transmitter::Opportunities { left_nano_bits: 0, granted_nano_bits: nano_bits(ip_bytes) };
        }
    }

    /// The rest of an opportunity is lost when there is nothing to send.
    pub(crate) fn lapse(&mut self) {
        if let Transmitter::Opportunities { granted_nano_bits, .. } = self {
            *granted_nano_bits = 0;
        }
    }

    /// Sends the rest of the packet on the transmitter; returns when its last bit leaves, if known.
    pub(crate) fn carry_on(&mut self, nano_bits: u64, now: Instant) -> Option<Instant> {
        match self {
            Transmitter::Rate(serialiser) => Some(serialiser.carry_on(nano_bits, now)),
            Transmitter::Outage { left_nano_bits } => {
                *left_nano_bits = nano_bits;
                None
            }
            Transmitter::Opportunities { left_nano_bits, granted_nano_bits } => {
                let leave = nano_bits.min(*granted_nano_bits);
                *granted_nano_bits -= leave;
                *left_nano_bits = nano_bits - leave;
                (*left_nano_bits == 0).then_some(now)
            }
        }
    }
}

/// Bytes as nano-bits. An opportunity larger than 2.3 GB counts as that.
fn nano_bits(bytes: u64) -> u64 {
    bytes.saturating_mul(8 * NANO)
}
