//! The number of an element in an engine.

/// An element of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ElementId(pub(crate) u32);

impl ElementId {
    /// The element's position in the order of adding, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
