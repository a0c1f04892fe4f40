//! The transmitter of a link: how the packet on it is sent, now. One packet at a time; it neither queues nor chooses.
//!
//! A link without a process sends at its own rate. A process (`process/mod.rs`) changes what the transmitter can do, at exact
//! instants and even in the middle of a packet: bits that have left stay sent, and what is left of the packet goes on at the
//! new level, as in a fluid. A packet that ends at the instant of a change ends before it. So the last bit leaves when the integral of the capacity over time has reached the packet's size.
//!
//! In an outage nothing moves and no packet is taken from the queue; the packet on the transmitter waits there.
//! With delivery opportunities the same holds between them; packets then count their IP bytes instead of their wire bytes,
//! also for what is left of the packet on the transmitter when one kind of process replaces another.

use super::Serialiser;
use crate::packet::Packet;
use crate::units::{Capacity, Instant, NANO};

pub(crate) enum Transmitter {
    /// At a rate.
    Rate(Serialiser),
    /// Nothing moves.
    Outage {
        /// Of the packet on the transmitter, if there is one.
        left_nano_bits: u64,
    },
    /// At certain instants some bytes are sent at once.
    Opportunities {
        /// Of the packet on the transmitter, if there is one.
        left_nano_bits: u64,
        /// Of the opportunity that is now.
        granted_nano_bits: u64,
    },
}

impl Transmitter {
    /// Whether packets take no time.
    pub(crate) fn is_unlimited(&self) -> bool {
        matches!(self, Transmitter::Rate(serialiser) if serialiser.is_unlimited())
    }

    /// Whether a packet that waits may come onto the transmitter now.
    pub(crate) fn takes_next(&self) -> bool {
        match self {
            Transmitter::Rate(_) => true,
            Transmitter::Outage { .. } => false,
            Transmitter::Opportunities { granted_nano_bits, .. } => *granted_nano_bits > 0,
        }
    }

    /// Begins a packet that has waited since `since`; returns when its last bit leaves, where that is known.
    pub(crate) fn send(&mut self, packet: &Packet, since: Instant, now: Instant) -> Option<Instant> {
        match self {
            Transmitter::Rate(serialiser) => Some(serialiser.send(packet.wire_bytes(), since)),
            _ => self.carry_on(nano_bits(u64::from(packet.ip_bytes)), now),
        }
    }

    /// Nano-bits of the packet on the transmitter that have not left by now.
    pub(crate) fn left_nano_bits(&self, now: Instant) -> u64 {
        match self {
            Transmitter::Rate(serialiser) => serialiser.left_nano_bits(now),
            Transmitter::Outage { left_nano_bits } | Transmitter::Opportunities { left_nano_bits, .. } => {
                *left_nano_bits
            }
        }
    }

    /// Has another capacity from now on. What is left of a packet is handed back by [`Transmitter::carry_on`].
    pub(crate) fn change(&mut self, capacity: Capacity, now: Instant) {
        match (&mut *self, capacity) {
            (Transmitter::Rate(serialiser), Capacity::Rate(rate)) => serialiser.change(rate, now),
            (_, Capacity::Rate(rate)) => *self = Transmitter::Rate(Serialiser::free_since(now, rate)),
            (_, Capacity::Outage) => *self = Transmitter::Outage { left_nano_bits: 0 },
        }
    }

    /// An opportunity to send so many bytes, now and never again; none of them only begins the waiting for the first one.
    pub(crate) fn grant(&mut self, ip_bytes: u64) {
        if let Transmitter::Opportunities { granted_nano_bits, .. } = self {
            *granted_nano_bits = granted_nano_bits.saturating_add(nano_bits(ip_bytes));
        } else {
            *self = Transmitter::Opportunities { left_nano_bits: 0, granted_nano_bits: nano_bits(ip_bytes) };
        }
    }

    /// What an opportunity has left, with nothing there to send, is lost.
    pub(crate) fn lapse(&mut self) {
        if let Transmitter::Opportunities { granted_nano_bits, .. } = self {
            *granted_nano_bits = 0;
        }
    }

    /// Sends what is left of the packet on the transmitter; returns when its last bit leaves, where that is known.
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
