//! The number of an element in an engine.

/// An element of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ElementId(pub(crate) u32);

impl ElementId {
    /// The element's position in the order of adding, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The element at this position, for callers that carry it from an engine to another one of the same network.
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }
}
