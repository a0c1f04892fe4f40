//! A packet in the engine: sizes, DSCP, ECN, class, and a tag by which the caller finds its bytes.
//!
//! Two sizes are needed because meters count IP bytes (as routers' policers do) and links count wire bytes (as cables
//! do). `wire_bytes` = max(64, `ip_bytes` + 14 header + 4 FCS) + 8 preamble and start delimiter + 12 gap.
//!
//! Source: IEEE 802.3-2022, 3.1.1 and 4.4.2 (minimum frame, preamble, interpacket gap).

use core::num::NonZeroU16;

use crate::ecn::Ecn;
use crate::label::LabelSet;
use crate::units::Instant;

const ETHERNET_HEADER_AND_FCS_BYTES: u32 = 14 + 4;
const SMALLEST_FRAME_BYTES: u32 = 64;
const PREAMBLE_AND_GAP_BYTES: u32 = 8 + 12;

/// Whether a packet has bytes outside the engine (real) or exists only inside it (ghost).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Class {
    /// The caller stores the packet's bytes under its tag.
    Real = 0,
    /// Interference: fills queues and spends tokens, but no node sends or receives it.
    Ghost = 1,
}

/// One flipped bit of a packet, by its position. The engine does not know the bytes, so the position is a fraction of
/// their number.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Damage(NonZeroU16);

impl Damage {
    /// Number of distinct positions.
    pub(crate) const PLACES: u16 = u16::MAX;

    /// `place` in [0, 65 535).
    pub(crate) const fn at(place: u16) -> Damage {
        Damage(NonZeroU16::MIN.saturating_add(place))
    }

    /// The flipped bit of `bits`, in [0, bits); 0 if there are no bits.
    pub const fn bit(self, bits: usize) -> usize {
        (self.0.get() - 1) as usize * bits / Damage::PLACES as usize
    }

    /// The position as a number, for callers that carry it to another machine.
    pub const fn number(self) -> NonZeroU16 {
        self.0
    }

    /// The position with this number.
    pub const fn from_number(number: NonZeroU16) -> Damage {
        Damage(number)
    }
}

/// One wire packet, or a train of them with a common fate.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Packet {
    /// The caller's opaque handle. For a ghost: its source's number for it, 0 if the source does not wait for it.
    pub tag: u64,
    /// When it entered the engine; set by `Engine::push`.
    pub entered: Instant,
    /// Size from the IP header on, in [1, 65 535]; for a train the sum.
    pub ip_bytes: u32,
    /// Number of wire packets: 1, or more for a train.
    pub count: u16,
    /// IP bytes of each wire packet of a train except the last, which has the rest; for a single packet all of them.
    pub segment_ip_bytes: u16,
    /// Differentiated services code point, in [0, 63].
    pub dscp: u8,
    /// Explicit congestion notification; Not-ECT by default ([`Packet::with_ecn`]).
    pub ecn: Ecn,
    /// Real or ghost.
    pub class: Class,
    /// The bit that has been flipped on its way, if any.
    pub damage: Option<Damage>,
    /// Properties that the caller knows and the engine does not; monitors and gates select by them.
    pub labels: LabelSet,
}

impl Packet {
    /// The largest IP packet (RFC 791, total length).
    pub const MAX_IP_BYTES: u32 = 65_535;

    /// A packet whose bytes the caller stores under `tag`.
    ///
    /// # Panics
    /// When `ip_bytes` is not in 1..=65 535 or `dscp` not in 0..=63, which no IP packet can have.
    #[inline]
    pub fn real(tag: u64, ip_bytes: u32, dscp: u8) -> Packet {
        Packet::new(tag, ip_bytes, dscp, Class::Real)
    }

    /// `count` packets that arrive at one instant, for a path that treats them all alike (`Engine::treats_alike`): one
    /// event instead of `count`. `ip_bytes` is their sum; all except the last have `segment_ip_bytes`.
    ///
    /// # Panics
    /// When `count` is 0, `dscp` not in 0..=63, or nothing remains for the last packet.
    pub fn train(tag: u64, count: u16, segment_ip_bytes: u16, ip_bytes: u32, dscp: u8) -> Packet {
        assert!(count > 0 && dscp < 64, "train of {count} packets with DSCP {dscp}");
        assert!(
            u32::from(count - 1) * u32::from(segment_ip_bytes) < ip_bytes,
            "train of {count} packets of {segment_ip_bytes} in {ip_bytes} IP bytes"
        );
        Packet {
            tag,
            entered: Instant::ZERO,
            ip_bytes,
            count,
            segment_ip_bytes,
            dscp,
            ecn: Ecn::NotEct,
            class: Class::Real,
            damage: None,
            labels: LabelSet::NONE,
        }
    }

    /// Size on an Ethernet wire, including preamble and gap, in [84, 65 573]; for a train the sum.
    pub const fn wire_bytes(&self) -> u32 {
        if self.count == 1 {
            // The most frequent case, computed in every queue and link on the way.
            return wire_bytes(self.ip_bytes);
        }
        let all_but_last = self.count as u32 - 1;
        let each = self.segment_ip_bytes as u32;
        all_but_last * wire_bytes(each) + wire_bytes(self.ip_bytes - all_but_last * each)
    }

    /// The packet with the given labels.
    pub fn with_labels(self, labels: LabelSet) -> Packet {
        Packet { labels, ..self }
    }

    /// A packet of interference, best effort (DSCP 0).
    ///
    /// # Panics
    /// When `ip_bytes` is not in 1..=65 535.
    pub fn ghost(ip_bytes: u32) -> Packet {
        Packet::new(0, ip_bytes, 0, Class::Ghost)
    }

    /// The same packet with other ECN bits.
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> Packet {
        Packet { ecn, ..self }
    }

    /// A packet of a source.
    pub(crate) fn tagged_ghost(tag: u64, ip_bytes: u32, dscp: u8) -> Packet {
        Packet::new(tag, ip_bytes, dscp, Class::Ghost)
    }

    #[inline]
    fn new(tag: u64, ip_bytes: u32, dscp: u8, class: Class) -> Packet {
        assert!(
            (1..=Packet::MAX_IP_BYTES).contains(&ip_bytes),
            "packet of {ip_bytes} IP bytes: not in 1..=65535"
        );
        assert!(dscp < 64, "packet with DSCP {dscp}: not in 0..=63");
        Packet {
            tag,
            entered: Instant::ZERO,
            ip_bytes,
            count: 1,
            // At most MAX_IP_BYTES, as asserted above.
            segment_ip_bytes: ip_bytes as u16,
            dscp,
            ecn: Ecn::NotEct,
            class,
            damage: None,
            labels: LabelSet::NONE,
        }
    }
}

/// The size of `ip_bytes` on an Ethernet wire.
pub const fn wire_bytes(ip_bytes: u32) -> u32 {
    let frame = ip_bytes + ETHERNET_HEADER_AND_FCS_BYTES;
    let padded = if frame < SMALLEST_FRAME_BYTES { SMALLEST_FRAME_BYTES } else { frame };
    padded + PREAMBLE_AND_GAP_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_within_the_packet() {
        assert_eq!(Damage::at(0).bit(12_000), 0);
        assert_eq!(Damage::at(65_534).bit(12_000), 11_999);
        assert_eq!(Damage::at(65_534).bit(1), 0);
        assert_eq!(size_of::<Option<Damage>>(), 2);
    }

    #[test]
    fn a_full_packet_takes_1538_bytes_of_wire_and_a_short_one_84() {
        // 1500 + 14 + 4 + 8 + 12 = 1538; up to 46 IP bytes are padded to a frame of 64: 64 + 20 = 84.
        assert_eq!(Packet::ghost(1500).wire_bytes(), 1538);
        assert_eq!(Packet::ghost(46).wire_bytes(), 84);
        assert_eq!(Packet::ghost(47).wire_bytes(), 85);
        assert_eq!(Packet::ghost(1).wire_bytes(), 84);
    }
}
