//! A frame as it enters the engine: one packet, or a train of wire packets that a super-packet represents.
//!
//! Only this module decides whether a train enters as one packet or as several, so the emulator and a replay of its
//! recording do the same.

use crosswind_engine::{Ecn, Instant, LabelSet, Packet};

use crate::network::Network;

/// The tag index of a train that the engine carries as one packet.
const WHOLE: u32 = u32::MAX;

/// Wire packets that enter at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The caller's key of this frame.
    pub key: u32,
    /// Number of wire packets, in 1..=65 535.
    pub count: u32,
    /// IP bytes of each packet except the last, in 1..=65 535.
    pub ip_bytes: u32,
    /// IP bytes of the last packet, in 1..=65 535.
    pub last_ip_bytes: u32,
    /// In 0..=63.
    pub dscp: u8,
    /// The bits of explicit congestion notification.
    pub ecn: Ecn,
}

impl Frame {
    /// Whether every number lies in its range.
    pub fn is_sound(&self) -> bool {
        let size = 1..=Packet::MAX_IP_BYTES;
        (1..=u32::from(u16::MAX)).contains(&self.count)
            && size.contains(&self.ip_bytes)
            && size.contains(&self.last_ip_bytes)
            && self.dscp < 64
    }

    /// Sum of the IP bytes of all wire packets.
    pub fn ip_bytes_total(&self) -> u32 {
        (self.count - 1) * self.ip_bytes + self.last_ip_bytes
    }

    /// The key of the frame that an engine packet belongs to.
    pub fn key_of(tag: u64) -> u32 {
        (tag >> 32) as u32
    }

    /// The wire packet of an engine packet; `None` where it represents the whole train.
    pub fn index_of(tag: u64) -> Option<u32> {
        Some(tag as u32).filter(|&index| index != WHOLE)
    }

    /// The tag of the same engine packet, for another key.
    pub fn renamed(tag: u64, key: u32) -> u64 {
        u64::from(key) << 32 | u64::from(tag as u32)
    }

    fn tag(&self, index: u32) -> u64 {
        u64::from(self.key) << 32 | u64::from(index)
    }

    #[inline]
    fn wire_packet(&self, index: u32) -> Packet {
        let ip_bytes = if index + 1 < self.count { self.ip_bytes } else { self.last_ip_bytes };
        Packet::real(self.tag(index), ip_bytes, self.dscp).with_ecn(self.ecn)
    }

    fn whole(&self) -> Packet {
        let ip_bytes = self.ip_bytes_total();
        let (count, each) = (self.count as u16, self.ip_bytes as u16);
        Packet::train(self.tag(WHOLE), count, each, ip_bytes, self.dscp).with_ecn(self.ecn)
    }
}

impl Network {
    /// Whether a train of `count` packets enters as one packet now: its path treats all packets of an instant alike.
    pub fn carries_whole(&mut self, from: usize, to: usize, flow: u32, count: u32) -> bool {
        count > 1 && self.path(from, to, flow).1
    }

    /// Pushes a frame; returns the instant used (see `Engine::push`).
    pub fn push(&mut self, at: Instant, from: usize, to: usize, flow: u32, frame: &Frame) -> Instant {
        let labels = self.labels_of_sender(from);
        self.push_labelled(at, (from, to, flow), frame, labels)
    }

    /// Pushes a frame with these labels, derived from its headers (see [`Network::labels`]). Labels other than that of
    /// the sender affect only what monitors count, so a replay without them makes the same decisions.
    #[inline]
    pub fn push_labelled(
        &mut self,
        at: Instant,
        (from, to, flow): (usize, usize, u32),
        frame: &Frame,
        labels: LabelSet,
    ) -> Instant {
        let (path, alike) = self.path(from, to, flow);
        if alike && frame.count > 1 {
            return self.engine().push(at, path, frame.whole().with_labels(labels));
        }
        let used = self.engine().push(at, path, frame.wire_packet(0).with_labels(labels));
        for index in 1..frame.count {
            self.engine().push(used, path, frame.wire_packet(index).with_labels(labels));
        }
        used
    }
}
