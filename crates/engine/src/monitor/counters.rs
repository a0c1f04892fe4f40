//! Counts of each element since the last reset, per class. Bytes are IP bytes.
//!
//! A reset starts from zero although packets may be inside the element: afterwards `departed` and `dropped` may exceed
//! `arrived`. Conservation over the whole engine is in [`super::Totals`].

use core::ops::Add;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::outcome::DropReason;
use crate::packet::{Class, Packet};

/// Packets and their IP bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

impl Count {
    /// Counts a packet, or all of a train.
    pub fn count(&mut self, packet: &Packet) {
        self.packets += u64::from(packet.count);
        self.bytes += u64::from(packet.ip_bytes);
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut count = serializer.serialize_struct("Count", 2)?;
        count.serialize_field("packets", &self.packets)?;
        count.serialize_field("bytes", &self.bytes)?;
        count.end()
    }
}

/// What one element saw of one class. What every packet counts in comes first, in one line of the cache however large the element in
/// front of it is: where it lay in two, 10,000 paths cost 5 % more.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[repr(C, align(64))]
pub struct ClassCounters {
    /// Arrived at the element.
    pub arrived: Count,
    /// Left it for the next one.
    pub departed: Count,
    /// Made by the element: the copies of packets that it sent twice.
    pub duplicated: Count,
    /// Left it after it had flipped a bit.
    pub corrupted: Count,
    /// Marked by it with congestion experienced (`ecn.rs`); those that arrived with a mark do not count.
    pub marked: Count,
    dropped: [Count; DropReason::ALL.len()],
}

impl ClassCounters {
    /// Dropped by the element for `reason`.
    pub fn dropped(&self, reason: DropReason) -> Count {
        self.dropped[reason as usize]
    }

    /// Every reason for which packets were dropped, by name, with what was dropped.
    pub fn dropped_by_reason(&self) -> impl Iterator<Item = (&'static str, Count)> + '_ {
        let all = DropReason::ALL.iter().map(|&reason| (reason.name(), self.dropped(reason)));
        all.filter(|(_, count)| count.packets > 0)
    }

    /// Dropped by the element for any reason.
    pub fn dropped_for_any_reason(&self) -> Count {
        self.dropped.iter().fold(Count::default(), |sum, &count| sum + count)
    }
}

/// Counts of one element.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Of real packets.
    pub real: ClassCounters,
    /// Of ghosts.
    pub ghost: ClassCounters,
}

/// The sum of two sets of counts: for a link that is cut, each engine counts a part.
impl Add for Counters {
    type Output = Counters;

    fn add(self, other: Counters) -> Counters {
        Counters { real: self.real + other.real, ghost: self.ghost + other.ghost }
    }
}

impl Add for ClassCounters {
    type Output = ClassCounters;

    fn add(self, other: ClassCounters) -> ClassCounters {
        ClassCounters {
            arrived: self.arrived + other.arrived,
            departed: self.departed + other.departed,
            duplicated: self.duplicated + other.duplicated,
            corrupted: self.corrupted + other.corrupted,
            marked: self.marked + other.marked,
            dropped: core::array::from_fn(|reason| self.dropped[reason] + other.dropped[reason]),
        }
    }
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Counters {
    /// The counts of the given class.
    pub const fn of(&self, class: Class) -> &ClassCounters {
        match class {
            Class::Real => &self.real,
            Class::Ghost => &self.ghost,
        }
    }

    fn of_mut(&mut self, class: Class) -> &mut ClassCounters {
        match class {
            Class::Real => &mut self.real,
            Class::Ghost => &mut self.ghost,
        }
    }

    pub(crate) fn arrived(&mut self, packet: &Packet) {
        self.of_mut(packet.class).arrived.count(packet);
    }

    pub(crate) fn duplicated(&mut self, packet: &Packet) {
        self.of_mut(packet.class).duplicated.count(packet);
    }

    pub(crate) fn corrupted(&mut self, packet: &Packet) {
        self.of_mut(packet.class).corrupted.count(packet);
    }

    pub(crate) fn departed(&mut self, packet: &Packet) {
        self.of_mut(packet.class).departed.count(packet);
    }

    pub(crate) fn marked(&mut self, packet: &Packet) {
        self.of_mut(packet.class).marked.count(packet);
    }

    pub(crate) fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        self.of_mut(packet.class).dropped[reason as usize].count(packet);
    }
}
