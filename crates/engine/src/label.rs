//! Labels: properties of a packet that the caller knows and the engine does not. Only monitors use them, to select
//! packets.
//!
//! A packet carries the number of a set of labels, so there can be any number of labels, and a monitor that checks for
//! one reads one bit.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// A set of labels of one engine ([`Engine::label_set`](crate::Engine::label_set)).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LabelSet(u16);

impl LabelSet {
    /// No label.
    pub const NONE: LabelSet = LabelSet(0);

    /// Its position in the order in which sets were added, from 0; `None` for the empty set.
    pub fn index(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1)
    }

    /// Its number, for callers that carry it to another machine; 0 is the empty set.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The set with this number.
    pub const fn from_number(number: u16) -> LabelSet {
        LabelSet(number)
    }
}

/// The sets of an engine.
#[derive(Default)]
pub(crate) struct LabelSets {
    /// By the number of the set minus 1: a bit for each label.
    sets: Vec<Box<[u64]>>,
}

impl LabelSets {
    /// A set of these labels; `None` if there are 65 535 sets already.
    pub(crate) fn add(&mut self, labels: &[u16]) -> Option<LabelSet> {
        let Some(&last) = labels.iter().max() else { return Some(LabelSet::NONE) };
        let number = u16::try_from(self.sets.len() + 1).ok()?;
        let mut bits = vec![0; usize::from(last) / 64 + 1].into_boxed_slice();
        for label in labels.iter().map(|&label| usize::from(label)) {
            bits[label / 64] |= 1 << (label % 64);
        }
        self.sets.push(bits);
        Some(LabelSet(number))
    }

    /// Forgets all sets.
    pub(crate) fn clear(&mut self) {
        self.sets.clear();
    }

    /// Whether a set has a label.
    #[inline]
    pub(crate) fn has(&self, set: LabelSet, label: u16) -> bool {
        let bits = set.index().and_then(|index| self.sets.get(index));
        let word = bits.and_then(|bits| bits.get(usize::from(label) / 64));
        word.is_some_and(|word| word >> (label % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_labels_and_no_other() {
        let mut sets = LabelSets::default();
        let (few, many) = (sets.add(&[3]).unwrap(), sets.add(&[0, 64, 1000]).unwrap());
        assert_eq!(sets.add(&[]), Some(LabelSet::NONE));
        let has = |set| [0, 3, 63, 64, 1000, u16::MAX].map(|label| sets.has(set, label));
        assert_eq!(has(LabelSet::NONE), [false; 6]);
        assert_eq!(has(few), [false, true, false, false, false, false]);
        assert_eq!(has(many), [true, false, false, true, true, false]);
    }

    #[test]
    fn there_are_as_many_sets_as_a_packet_can_name() {
        let mut sets = LabelSets::default();
        assert!((1..=u16::MAX).all(|number| sets.add(&[0]) == Some(LabelSet(number))));
        assert_eq!(sets.add(&[0]), None);
        sets.clear();
        assert_eq!(sets.add(&[0]), Some(LabelSet(1)));
    }
}
