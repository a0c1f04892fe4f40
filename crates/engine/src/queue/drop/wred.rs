//! Weighted random early detection (WRED). RED with a profile for each colour of packets: those that a meter has coloured worse are
//! dropped earlier and more often.
//!
//! `green`, `yellow`, `red`: each `min_bytes`, `max_bytes` and `probability` as in RED (`queue/drop/red.rs`). The colour is the drop
//! precedence of the DSCP: AFx1 is green, AFx2 yellow, AFx3 red; every other code point is green (`meter/colour.rs`). There is one
//! average, of everything that waits in the queue, and a count of packets between drops for each colour. `weight`: as in RED.
//! Drop reason: `red`.
//!
//! Source: RFC 2597, section 4 (drop precedence by an active algorithm, the same for all flows of a class); Cisco IOS, "Weighted
//! Random Early Detection" (one average, a profile for each precedence). RIO (Clark and Fang 1998) instead compares packets of
//! profile with an average of their own kind only.

use super::red::check_weight;
use super::RedProfile;
use crate::error::Problem;
use crate::units::Share;

/// Parameters of WRED.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct WredSpec {
    /// For AFx1 and for packets without a colour.
    pub green: RedProfile,
    /// For AFx2.
    pub yellow: RedProfile,
    /// For AFx3.
    pub red: RedProfile,
    /// How much an arrival counts in the average; above 0.
    pub weight: Share,
}

impl WredSpec {
    /// The profiles, best colour first.
    pub(super) const fn profiles(&self) -> [RedProfile; 3] {
        [self.green, self.yellow, self.red]
    }

    pub(super) fn check(&self) -> Result<(), Problem> {
        check_weight(self.weight)?;
        self.profiles().iter().try_for_each(RedProfile::check)
    }
}
