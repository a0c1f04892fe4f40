//! Conservation: what entered the engine, came from another one, or was made by duplication has left, went into another engine,
//! was dropped, or is inside. In packets, per class.
//!
//! `inside` is counted where packets are stored, the others where they happen, so that the equation can fail.

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
    /// Went into other engines ([`Engine::cut`](crate::Engine::cut)).
    pub went: u64,
    /// Dropped by an element.
    pub dropped: u64,
    /// In the engine now.
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
