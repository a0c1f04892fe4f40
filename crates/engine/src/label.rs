//! Labels: properties of a packet that the caller knows and the engine does not. Monitors and gates use them, to
//! select packets.
//!
//! A packet carries the number of a set of labels, so there can be any number of labels, and a monitor that checks for
//! one reads one bit.

use alloc::boxed::Box;
use alloc::sync::Arc;
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

/// Several labels, for an element that selects packets with any of them. Clones share them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LabelMask(Arc<[u64]>);

impl LabelMask {
    /// Whether a label is among them.
    pub fn has(&self, label: u16) -> bool {
        self.0.get(usize::from(label) / 64).is_some_and(|word| word >> (label % 64) & 1 == 1)
    }
}

impl FromIterator<u16> for LabelMask {
    fn from_iter<T: IntoIterator<Item = u16>>(labels: T) -> LabelMask {
        LabelMask(bits_of(labels).into())
    }
}

/// A bit for each label.
fn bits_of(labels: impl IntoIterator<Item = u16>) -> Vec<u64> {
    let mut bits = Vec::new();
    for label in labels.into_iter().map(usize::from) {
        if bits.len() <= label / 64 {
            bits.resize(label / 64 + 1, 0);
        }
        bits[label / 64] |= 1 << (label % 64);
    }
    bits
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
        if labels.is_empty() {
            return Some(LabelSet::NONE);
        }
        let number = u16::try_from(self.sets.len() + 1).ok()?;
        self.sets.push(bits_of(labels.iter().copied()).into());
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

    /// Whether a set has a label of the mask.
    #[inline]
    pub(crate) fn has_any(&self, set: LabelSet, mask: &LabelMask) -> bool {
        let bits = set.index().and_then(|index| self.sets.get(index));
        bits.is_some_and(|bits| bits.iter().zip(&*mask.0).any(|(set, mask)| set & mask != 0))
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
        let mask = |labels: &[u16]| labels.iter().copied().collect::<LabelMask>();
        for (labels, expected) in [
            (&[][..], [false, false, false]),
            (&[3], [false, true, false]),
            (&[1000, 2000], [false, false, true]),
            (&[3, 64], [false, true, true]),
            (&[4, 1001], [false; 3]),
        ] {
            let any = [LabelSet::NONE, few, many].map(|set| sets.has_any(set, &mask(labels)));
            assert_eq!(any, expected, "{labels:?}");
        }
        assert!(mask(&[7, 70]).has(70) && !mask(&[7, 70]).has(71) && !mask(&[7]).has(u16::MAX));
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
