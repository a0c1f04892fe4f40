//! Replaying source. Sends packets of recorded sizes with recorded gaps, once or repeatedly. It never backs off.
//!
//! Each packet is sent its own `gap` after the one before it. The first gap counts from the start and, with `repeat`,
//! from the last packet of the round before. Nothing is random. The content, receivers and purpose of the packets are
//! not recorded: a replay of connections does not react as they did (see `source/tcp`).
//!
//! `packets`: at least one; with `repeat` at least one gap must be above 0, so that time advances.

use alloc::sync::Arc;

use crate::describe::Problem;
use crate::packet::Packet;
use crate::units::{Duration, Instant};

/// The content of a replaying source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplaySpec {
    /// In the order in which they are sent.
    pub packets: Arc<[RecordedPacket]>,
    /// Whether it restarts after the last.
    pub repeat: bool,
    /// DSCP of every packet, in [0, 63].
    pub dscp: u8,
}

/// A packet of a recording.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct RecordedPacket {
    /// Time after the packet before it.
    pub gap: Duration,
    /// In [1, 65 535].
    pub ip_bytes: u32,
}

impl ReplaySpec {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.dscp > 63 {
            return Err(Problem::new(alloc::format!(
                "DSCP {dscp} is not in 0..=63; give a 6-bit code point",
                dscp = self.dscp
            )));
        }
        if self.packets.is_empty()
            || (self.repeat && self.packets.iter().all(|packet| packet.gap == Duration::ZERO))
        {
            return Err(Problem::new(alloc::format!("a replay of {packets} packets that takes no time; give at least one packet, and a gap above 0 to repeat it", packets = self.packets.len())));
        }
        let mut sizes = self.packets.iter().map(|packet| packet.ip_bytes);
        match sizes.find(|ip_bytes| !(1..=Packet::MAX_IP_BYTES).contains(ip_bytes)) {
            Some(ip_bytes) => Err(Problem::new(alloc::format!(
                "packets of {ip_bytes} IP bytes; an IP packet has 1..=65535: give such a size"
            ))),
            None => Ok(()),
        }
    }
}

pub(super) struct Replay {
    packets: Arc<[RecordedPacket]>,
    repeat: bool,
    /// Position of the next packet.
    next: usize,
    /// When it is sent, if there is one.
    due: Option<Instant>,
}

impl Replay {
    /// `spec` has been checked.
    pub(super) fn new(spec: ReplaySpec, start: Instant) -> Replay {
        let due = Some(start.saturating_add(spec.packets[0].gap));
        Replay { packets: spec.packets, repeat: spec.repeat, next: 0, due }
    }

    /// Sends the packet that is due now, if any; returns its size.
    pub(super) fn wake(&mut self, now: Instant) -> Option<u32> {
        if self.due != Some(now) {
            return None;
        }
        let sent = self.packets.get(self.next)?;
        self.next += 1;
        if self.repeat && self.next == self.packets.len() {
            self.next = 0;
        }
        self.due = self.packets.get(self.next).map(|packet| now.saturating_add(packet.gap));
        Some(sent.ip_bytes)
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.due
    }
}
