//! A packet as the engine sees it: sizes, DSCP, class, and a tag by which the caller finds its bytes again.
//!
//! Two sizes are kept because meters count IP bytes (as routers' policers do) and links count wire bytes (as cables do).
//! `wire_bytes` = max(64, `ip_bytes` + 14 header + 4 FCS) + 8 preamble and start delimiter + 12 gap.
//!
//! Source: IEEE 802.3-2022, 3.1.1 and 4.4.2 (minimum frame, preamble, interpacket gap).

use crate::units::Instant;

const ETHERNET_HEADER_AND_FCS_BYTES: u32 = 14 + 4;
const SMALLEST_FRAME_BYTES: u32 = 64;
const PREAMBLE_AND_GAP_BYTES: u32 = 8 + 12;

/// Whether a packet has bytes somewhere (real) or exists only inside the engine (ghost).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Class {
    /// The caller holds the packet's bytes under its tag.
    Real = 0,
    /// Interference: fills queues and spends tokens, but nobody sends or receives it.
    Ghost = 1,
}

/// One wire packet, or a train of them that shares one fate.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Packet {
    /// The caller's opaque handle; 0 for ghosts.
    pub tag: u64,
    /// When it entered the engine; set by `Engine::push`.
    pub entered: Instant,
    /// Size from the IP header on, in [1, 65 535]; of a train the sum.
    pub ip_bytes: u32,
    /// Size on an Ethernet wire, preamble and gap included, in [84, 65 573]; of a train the sum.
    pub wire_bytes: u32,
    /// Wire packets it stands for: 1, or more for a train.
    pub count: u16,
    /// Differentiated services code point, in [0, 63].
    pub dscp: u8,
    /// Real or ghost.
    pub class: Class,
}

impl Packet {
    /// The largest IP packet (RFC 791, total length).
    pub const MAX_IP_BYTES: u32 = 65_535;

    /// A packet whose bytes the caller keeps under `tag`.
    ///
    /// # Panics
    /// Where `ip_bytes` is not in 1..=65 535 or `dscp` not in 0..=63: no IP packet is like that.
    pub fn real(tag: u64, ip_bytes: u32, dscp: u8) -> Packet {
        Packet::new(tag, ip_bytes, dscp, Class::Real)
    }

    /// `count` packets that arrive at one instant, for a path that treats them all alike (`Engine::treats_alike`): one event
    /// instead of `count`. `ip_bytes` and `wire_bytes` are sums.
    ///
    /// # Panics
    /// Where `count` is 0 or `dscp` not in 0..=63.
    pub fn train(tag: u64, count: u16, ip_bytes: u32, wire_bytes: u32, dscp: u8) -> Packet {
        assert!(count > 0 && dscp < 64, "train of {count} packets with DSCP {dscp}");
        Packet { tag, entered: Instant::ZERO, ip_bytes, wire_bytes, count, dscp, class: Class::Real }
    }

    /// A packet of interference, best effort (DSCP 0).
    ///
    /// # Panics
    /// Where `ip_bytes` is not in 1..=65 535.
    pub fn ghost(ip_bytes: u32) -> Packet {
        Packet::new(0, ip_bytes, 0, Class::Ghost)
    }

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
            wire_bytes: wire_bytes(ip_bytes),
            count: 1,
            dscp,
            class,
        }
    }
}

/// What `ip_bytes` take on an Ethernet wire.
pub const fn wire_bytes(ip_bytes: u32) -> u32 {
    let frame = ip_bytes + ETHERNET_HEADER_AND_FCS_BYTES;
    let padded = if frame < SMALLEST_FRAME_BYTES { SMALLEST_FRAME_BYTES } else { frame };
    padded + PREAMBLE_AND_GAP_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_1538_bytes_of_wire_and_a_short_one_84() {
        // 1500 + 14 + 4 + 8 + 12 = 1538; anything up to 46 IP bytes is padded to a frame of 64: 64 + 20 = 84.
        assert_eq!(Packet::ghost(1500).wire_bytes, 1538);
        assert_eq!(Packet::ghost(46).wire_bytes, 84);
        assert_eq!(Packet::ghost(47).wire_bytes, 85);
        assert_eq!(Packet::ghost(1).wire_bytes, 84);
    }
}
