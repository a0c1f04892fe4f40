//! Conservation: every packet that entered the engine, came from another one, or was duplicated has left, gone to
//! another engine, been dropped, or is inside. In packets, per class.
//!
//! `inside` is counted from storage, the other terms from events, so the equation can detect errors.

/// The whole engine since the last reset.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Real packets.
    pub real: ClassTotals,
    /// Ghosts.
    pub ghost: ClassTotals,
}

/// One class, in packets.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassTotals {
    /// Entered; those inside at the last reset count as entered.
    pub entered: u64,
    /// Made by duplication.
    pub duplicated: u64,
    /// Came from other engines ([`Engine::cross`](crate::Engine::cross)).
    pub came: u64,
    /// Reached the end of their path.
    pub left: u64,
    /// Went to other engines ([`Engine::cut`](crate::Engine::cut)).
    pub went: u64,
    /// Dropped by an element.
    pub dropped: u64,
    /// Inside now.
    pub inside: u64,
}

impl ClassTotals {
    /// Whether every packet is accounted for.
    pub const fn holds(&self) -> bool {
        let came_in = self.entered + self.came + self.duplicated;
        came_in == self.left + self.went + self.dropped + self.inside
    }
}

impl Totals {
    /// Whether every packet of both classes is accounted for.
    pub const fn holds(&self) -> bool {
        self.real.holds() && self.ghost.holds()
    }
}
