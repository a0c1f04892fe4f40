//! Paths: the elements that a packet passes, in order. A path never changes; a new condition makes a new path, unless
//! one through the same elements exists.
//!
//! Paths are found by a hash of their elements, at a cost of 16 B each. Two with one hash are stored at consecutive
//! keys.
//!
//! Source of the hash: Fowler, Noll and Vo, FNV-1a.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::element::ElementId;

/// A path of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathId(u32);

impl PathId {
    /// The path's position in the order of creation, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A position on a path.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Hop(u32);

impl Hop {
    pub(crate) fn next(self) -> Hop {
        Hop(self.0 + 1)
    }

    /// Its position among the hops of all paths.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// No element has this number.
const END: ElementId = ElementId(u32::MAX);

/// All paths in sequence, so that following a path is one look-up per hop.
#[derive(Default)]
pub(crate) struct Paths {
    /// Elements of all paths; [`END`] ends each. Half as large as with an `Option`, and read for every packet.
    hops: Vec<ElementId>,
    /// The position of each path's start in `hops`.
    begins: Vec<Hop>,
    by_hash: BTreeMap<u64, PathId>,
}

impl Paths {
    /// The path through these elements.
    pub(crate) fn find(&self, elements: &[ElementId]) -> Option<PathId> {
        self.place_of(elements).1
    }

    /// Adds a path that was not found.
    pub(crate) fn add(&mut self, elements: &[ElementId]) -> PathId {
        let (key, _) = self.place_of(elements);
        let id = PathId(u32::try_from(self.begins.len()).expect("fewer than 2^32 paths"));
        self.begins.push(Hop(u32::try_from(self.hops.len()).expect("fewer than 2^32 hops")));
        self.hops.extend(elements);
        self.hops.push(END);
        self.by_hash.insert(key, id);
        id
    }

    /// The key at which a path is stored, or will be.
    fn place_of(&self, elements: &[ElementId]) -> (u64, Option<PathId>) {
        let mut key = hash(elements);
        while let Some(&path) = self.by_hash.get(&key) {
            if self.elements_of(path) == elements {
                return (key, Some(path));
            }
            key = key.wrapping_add(1);
        }
        (key, None)
    }

    fn elements_of(&self, path: PathId) -> &[ElementId] {
        let hops = &self.hops[self.first(path).0 as usize..];
        let length = hops.iter().position(|&element| element == END).expect("every path has an end");
        &hops[..length]
    }

    pub(crate) fn first(&self, path: PathId) -> Hop {
        self.begins[path.index()]
    }

    /// The elements of each path.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[ElementId]> + '_ {
        self.hops.split_inclusive(|&element| element == END).map(|path| &path[..path.len() - 1])
    }

    /// The elements of a path from `hop` on.
    pub(crate) fn rest(&self, hop: Hop) -> &[ElementId] {
        let on = &self.hops[hop.index()..];
        let end = on.iter().position(|&element| element == END).expect("every path ends");
        &on[..end]
    }

    /// The element at `hop`, or `None` at the exit.
    pub(crate) fn element(&self, hop: Hop) -> Option<ElementId> {
        let element = self.hops[hop.index()];
        (element != END).then_some(element)
    }
}

fn hash(elements: &[ElementId]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    elements.iter().fold(OFFSET, |hash, id| (hash ^ id.index() as u64).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn the_same_elements_are_the_same_path_and_others_are_not() {
        let id = |number| ElementId(number);
        let ways = [vec![], vec![id(0)], vec![id(1)], vec![id(0), id(1)], vec![id(1), id(0)], vec![id(0); 2]];
        let mut paths = Paths::default();
        let made: Vec<PathId> = ways.iter().map(|way| paths.add(way)).collect();
        for (way, &path) in ways.iter().zip(&made) {
            assert_eq!(paths.find(way), Some(path));
            assert_eq!(paths.elements_of(path), way);
        }
        assert_eq!(paths.find(&[id(2)]), None);
    }

    #[test]
    fn paths_with_one_hash_are_distinguished() {
        let (one, other) = ([ElementId(3)], [ElementId(4), ElementId(5)]);
        let mut paths = Paths::default();
        let first = paths.add(&one);
        // As if the other had the hash of the first.
        paths.by_hash.insert(hash(&other), first);
        assert_eq!(paths.find(&other), None);
        let second = paths.add(&other);
        assert_eq!((paths.find(&one), paths.find(&other)), (Some(first), Some(second)));
    }
}
