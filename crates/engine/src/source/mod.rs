//! Sources: interference, packets that exist only inside the engine. Paths and elements treat them like any other
//! packet.
//!
//! Most sources have no feedback about their packets, like a sender of UDP. A responsive source has, like TCP: when a
//! packet reaches the end of its path, a ghost on the way back acknowledges it.

mod demand;
mod on_off;
mod paced;
mod poisson;
mod rate_law;
mod replay;
mod sizes;
mod spec;
mod tcp;

use crate::ecn::Ecn;
use crate::packet::Packet;
use crate::path::PathId;
use crate::random::Stream;
use crate::units::Instant;
use on_off::OnOff;
use paced::Paced;
use poisson::Poisson;
pub use rate_law::RateLaw;
use replay::Replay;
pub use replay::{RecordedPacket, ReplaySpec};
pub use sizes::Sizes;
pub use spec::{Arrivals, CongestionControl, SourceSpec, ZeroMeans};
use tcp::Responsive;
pub(crate) use tcp::Tag;

/// A source of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId(pub(crate) u32);

impl SourceId {
    /// The source's position in the order of starting, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A packet on its way into the engine.
pub(crate) struct Shot {
    pub(crate) path: PathId,
    pub(crate) packet: Packet,
}

/// A source in operation.
pub(crate) struct Source {
    path: PathId,
    dscp: u8,
    arrivals: Kind,
}

enum Kind {
    Paced(Paced),
    Poisson(Poisson),
    OnOff(OnOff),
    Responsive(Responsive),
    Replay(Replay),
}

impl Source {
    /// `spec` has been checked. The first wake-up is due at `start`. Stream `rate` draws the rates, `packets`
    /// everything else, so that one does not change the numbers of the other.
    pub(crate) fn new(
        spec: SourceSpec,
        id: SourceId,
        path: PathId,
        streams: [Stream; 2],
        start: Instant,
    ) -> Source {
        let [rate, packets] = streams;
        let demand = demand::Demand::new(spec.rate, spec.hold, rate, start);
        let sizes = sizes::Sizer::new(spec.sizes);
        let arrivals = match spec.arrivals {
            Arrivals::Paced { pacing, peak, zero } => {
                Kind::Paced(Paced::new(demand, sizes, packets, pacing, peak, zero, start))
            }
            Arrivals::Poisson => Kind::Poisson(Poisson::new(demand, sizes, packets)),
            Arrivals::OnOff { on, off, shape_thousandths } => {
                let sojourns = on_off::Sojourns { on, off, shape_thousandths };
                Kind::OnOff(OnOff::new(demand, sizes, packets, sojourns, start))
            }
            Arrivals::Responsive { pacing, flows, control, ecn, rto_min, acks } => {
                let tcp = tcp::Parameters { flows, control, ecn, rto_min, ip_bytes: sizes.largest() };
                Kind::Responsive(Responsive::new(demand, tcp, pacing, id, acks, start))
            }
        };
        Source { path, dscp: spec.dscp, arrivals }
    }

    /// A source that sends a recording; `spec` has been checked.
    pub(crate) fn replaying(spec: ReplaySpec, path: PathId, start: Instant) -> Source {
        Source { path, dscp: spec.dscp, arrivals: Kind::Replay(Replay::new(spec, start)) }
    }

    /// Sends along another path from now on.
    pub(crate) fn redirect(&mut self, path: PathId) {
        self.path = path;
    }

    /// Sends acknowledgements along another path from now on; false where there are none.
    pub(crate) fn redirect_acks(&mut self, path: PathId) -> bool {
        match &mut self.arrivals {
            Kind::Responsive(responsive) => {
                responsive.redirect_acks(path);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn draws(&self) -> &[(Instant, u64)] {
        match &self.arrivals {
            Kind::Paced(paced) => paced.draws(),
            Kind::Poisson(poisson) => poisson.draws(),
            Kind::OnOff(on_off) => on_off.draws(),
            Kind::Responsive(responsive) => responsive.draws(),
            Kind::Replay(_) => &[],
        }
    }

    /// Does what is due now; returns the packet that it sends, if any. It does nothing if nothing is due.
    pub(crate) fn wake(&mut self, now: Instant) -> Option<Shot> {
        let ip_bytes = match &mut self.arrivals {
            Kind::Paced(paced) => paced.wake(now),
            Kind::Poisson(poisson) => poisson.wake(now),
            Kind::OnOff(on_off) => on_off.wake(now),
            Kind::Replay(replay) => replay.wake(now),
            Kind::Responsive(responsive) => {
                let (tag, ip_bytes) = responsive.wake(now)?;
                let packet = Packet::tagged_ghost(tag, ip_bytes, self.dscp).with_ecn(responsive.ecn());
                return Some(Shot { path: self.path, packet });
            }
        };
        Some(Shot { path: self.path, packet: Packet::tagged_ghost(0, ip_bytes?, self.dscp) })
    }

    /// When to wake it next; `None` when it has finished.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        match &self.arrivals {
            Kind::Paced(paced) => Some(paced.next_wake()),
            Kind::Poisson(poisson) => Some(poisson.next_wake()),
            Kind::OnOff(on_off) => Some(on_off.next_wake()),
            Kind::Responsive(responsive) => Some(responsive.next_wake()),
            Kind::Replay(replay) => replay.next_wake(),
        }
    }

    /// A packet that it tagged has reached the end of its path; returns the acknowledgement, if any.
    pub(crate) fn delivered(&mut self, tag: Tag, ecn: Ecn, now: Instant) -> Option<Shot> {
        let Kind::Responsive(responsive) = &mut self.arrivals else {
            unreachable!("only responsive sources tag their packets");
        };
        let (path, tag, ip_bytes) = responsive.delivered(tag, ecn, now)?;
        Some(Shot { path, packet: Packet::tagged_ghost(tag, ip_bytes, self.dscp) })
    }
}
