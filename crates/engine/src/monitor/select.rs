//! Which packets a monitor counts, and when it starts.

use crate::label::LabelSets;
use crate::packet::{Class, Packet};
use crate::units::Duration;

/// A selection by properties that the engine knows. All given properties must match.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Real or ghost; `None` for both.
    pub class: Option<Class>,
    /// Bit `d` set: packets with DSCP `d`.
    pub dscps: u64,
    /// Packets with this label of the caller's ([`Packet::with_labels`]); `None` for any.
    pub label: Option<u16>,
}

impl Selection {
    /// Every packet.
    pub const ALL: Selection = Selection { class: None, dscps: u64::MAX, label: None };

    #[inline]
    pub(crate) fn admits(&self, packet: &Packet, sets: &LabelSets) -> bool {
        self.dscps >> packet.dscp & 1 == 1
            && self.class.is_none_or(|class| class == packet.class)
            && self.label.is_none_or(|label| sets.has(packet.labels, label))
    }
}

/// When a monitor starts to count.
///
/// Source: Zilberman et al. 2021, NRG, section V-E ("starting on a triggered event (e.g., first packet of a certain type), or
/// on a configuration trigger").
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// This long after it was added or its counters were last reset.
    After(Duration),
    /// With the first packet of this kind, which counts if the monitor selects it.
    FirstPacket(Selection),
}
