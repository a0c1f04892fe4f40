//! Paths: the elements that a packet passes, in order. They never change; a new condition is a new path.

use alloc::vec::Vec;

use crate::element::ElementId;

/// A path of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathId(u32);

impl PathId {
    /// The path's place in the order of creation, from 0.
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

    /// Its place among the hops of all paths.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// No element has this number.
const END: ElementId = ElementId(u32::MAX);

/// All paths, one behind the other, so that following a path is one look-up a hop.
#[derive(Default)]
pub(crate) struct Paths {
    /// Elements of all paths; [`END`] ends each. Half as large as with an `Option`, and every packet reads them.
    hops: Vec<ElementId>,
    /// Where each path begins in `hops`.
    begins: Vec<Hop>,
}

impl Paths {
    pub(crate) fn add(&mut self, elements: &[ElementId]) -> PathId {
        let id = PathId(u32::try_from(self.begins.len()).expect("fewer than 2^32 paths"));
        self.begins.push(Hop(u32::try_from(self.hops.len()).expect("fewer than 2^32 hops")));
        self.hops.extend(elements);
        self.hops.push(END);
        id
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
