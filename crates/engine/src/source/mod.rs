//! Sources: interference, packets that exist only inside the engine. What they offer, paths and elements then treat like
//! any other packet.

mod paced;
mod rate_law;

use crate::error::Problem;
use crate::packet::Packet;
use crate::units::{Duration, Rate};
pub(crate) use paced::Paced;
pub use rate_law::RateLaw;

/// A source of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId(pub(crate) u32);

impl SourceId {
    /// The source's place in the order of starting, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a source offers; `source/paced.rs` is its manual page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceSpec {
    /// Where the rate comes from.
    pub rate: RateLaw,
    /// How long a drawn rate holds; at least 1 ns.
    pub hold: Duration,
    /// Time between bursts; at least 1 ns.
    pub pacing: Duration,
    /// Size of every packet, in [1, 65 535] IP bytes.
    pub packet_ip_bytes: u32,
    /// Wire bits per second at which the packets of a burst follow each other; unlimited: all at the same instant.
    pub peak: Rate,
    /// What a draw of 0 means.
    pub zero: ZeroMeans,
}

/// What a rate of 0 means to a source.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum ZeroMeans {
    /// It sends nothing while the rate holds.
    Silence,
    /// It sends at `peak` while the rate holds, as iperf3 does when told `-b 0`.
    Unlimited,
}

impl SourceSpec {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.hold == Duration::ZERO {
            return Err(Problem::ZeroHold);
        }
        if self.pacing == Duration::ZERO {
            return Err(Problem::ZeroPacing);
        }
        if !(1..=Packet::MAX_IP_BYTES).contains(&self.packet_ip_bytes) {
            return Err(Problem::PacketSize { ip_bytes: self.packet_ip_bytes });
        }
        if self.peak == Rate::Unlimited && self.zero == ZeroMeans::Unlimited && self.rate.can_be_zero() {
            return Err(Problem::EndlessBurst);
        }
        self.rate.check()
    }
}
