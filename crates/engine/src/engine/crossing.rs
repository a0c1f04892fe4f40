//! Cuts: links whose far end is in another engine, and the packets that cross them.
//!
//! Several engines can carry one network if each has all of its elements, added in the same order. Each link between
//! two parts is cut in the engine that has its transmitter. In an engine, packets pass only elements of the engine's
//! own part.
//!
//! A packet crosses when its last bit leaves the transmitter. The link's own delay, and its rule that no packet
//! overtakes another, then determine when it is due at the far end. [`Engine::pop_crossing`] hands the packet out, and
//! [`Engine::cross`] takes it in, where it joins the line of the same link. So the same event delivers it, at the same
//! position among the events of one instant, as in a single engine. Path numbers of one engine have no meaning in
//! another: an [`Onward`] represents the rest of the path, and the other engine makes its own path for it.
//!
//! This module moves nothing between threads or machines, and does not decide how far an engine may advance before it
//! has the crossings of others. A crossing is due at least the link's delay after the instant at which it was handed
//! out.
//!
//! Source: Chandy and Misra 1979, "Distributed simulation", IEEE Trans. Softw. Eng. 5(5).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::Engine;
use crate::describe::Problem;
use crate::element::{ElementId, ElementSpec};
use crate::error::SpecError;
use crate::link::{Link, LinkSpec};
use crate::packet::Packet;
use crate::path::{Hop, PathId};
use crate::slab::{Slot, SlotId};
use crate::units::{Duration, Instant};

/// The rest of a path from a cut link on. Equal for all packets that cross it on one path.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Onward(u32);

impl Onward {
    /// Its position in the order in which their first packets crossed, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The one at this position, for callers that carry it to another machine.
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }
}

/// A packet that has left the transmitter of a cut link.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// When it is due at the other end of the link.
    pub due: Instant,
    /// The link; the same in every engine.
    pub link: ElementId,
    /// Its path from there on ([`Engine::onward`]).
    pub onward: Onward,
    /// The packet, with the instant at which it entered its first engine.
    pub packet: Packet,
}

/// A hop at which no [`Onward`] starts.
const NONE: u32 = u32::MAX;

const NO_DELAY: &str = "has no delay, so crossing packets would be due at once; cut a link with a delay";

/// Packets that have crossed, and the rest of their paths.
#[derive(Default)]
pub(super) struct Crossings {
    waiting: VecDeque<Crossing>,
    /// By the number of an [`Onward`]: its first hop.
    onwards: Vec<Hop>,
    /// By hop: the number of the [`Onward`] that starts there.
    numbers: Vec<u32>,
}

impl Crossings {
    fn onward(&mut self, hop: Hop) -> Onward {
        if self.numbers.len() <= hop.index() {
            self.numbers.resize(hop.index() + 1, NONE);
        }
        let number = &mut self.numbers[hop.index()];
        if *number == NONE {
            *number = u32::try_from(self.onwards.len()).expect("fewer than 2^32 hops");
            self.onwards.push(hop);
        }
        Onward(*number)
    }
}

impl Engine {
    /// Makes every packet that leaves the transmitter of `link` from now on cross into another engine.
    ///
    /// # Errors
    /// When the element is not a link, or is a link without a delay, whose packets would be due at once.
    ///
    /// # Panics
    /// When the link holds a packet.
    pub fn cut(&mut self, link: ElementId) -> Result<(), SpecError> {
        let station = &mut self.elements[link.index()];
        let delay = station.element.link().map(Link::delay);
        let refusal = match delay {
            None => "is not a link; cut the network where packets propagate",
            Some(Duration::ZERO) => NO_DELAY,
            Some(_) => {
                self.with_link(link, |link, _| link.set_cut());
                self.watch_of(link).is_cut = true;
                self.beyond.forget();
                return Ok(());
            }
        };
        Err(SpecError { name: station.name.clone(), problem: Problem::new(refusal) })
    }

    /// The reason why an element cannot have these parameters, if it is cut.
    pub(super) fn refused_by_cut(&self, id: ElementId, spec: &ElementSpec) -> Option<Problem> {
        let delay = match spec {
            ElementSpec::Link(LinkSpec { delay, .. }) => *delay,
            _ => return None,
        };
        (delay == Duration::ZERO && self.is_cut(id)).then(|| Problem::new(NO_DELAY))
    }

    /// The next packet that has crossed, in the order of crossing.
    pub fn pop_crossing(&mut self) -> Option<Crossing> {
        self.crossings.waiting.pop_front()
    }

    /// The elements of an [`Onward`]; the first is the cut link.
    pub fn onward(&self, onward: Onward) -> &[ElementId] {
        self.paths.rest(self.crossings.onwards[onward.index()])
    }

    /// Takes in a packet that another engine has handed out. `path` has the elements of its [`Onward`]. Returns the
    /// instant at which it is due: that of the crossing, or now where that is earlier.
    ///
    /// # Panics
    /// When the path does not start with the crossing's link.
    pub fn cross(&mut self, crossing: Crossing, path: PathId) -> Instant {
        let Crossing { due, link, packet, .. } = crossing;
        let hop = self.paths.first(path);
        assert_eq!(self.paths.element(hop), Some(link), "the path starts with the link that was crossed");
        self.totals_of(packet.class).came += u64::from(packet.count);
        let slot = self.shared.slab.insert(packet, path, hop);
        let due = due.max(self.shared.now);
        self.with_link(link, |link, context| link.take_in(slot, due, context));
        due
    }

    /// Whether packets from an element's transmitter leave for another engine.
    #[inline]
    pub(super) fn is_cut(&self, id: ElementId) -> bool {
        self.elements[id.index()].watch.as_ref().is_some_and(|watch| watch.is_cut)
    }

    /// Hands out packets that have left the transmitter of a cut link. A separate function, so that other links do not
    /// pay for it.
    #[inline(never)]
    pub(super) fn hand_out(&mut self, id: ElementId) {
        while let Some(slot) = self.next_out(id) {
            let Slot { at: due, hop, .. } = self.shared.slab[slot];
            let (packet, _) = self.shared.slab.remove(slot);
            self.totals_of(packet.class).went += u64::from(packet.count);
            let onward = self.crossings.onward(hop);
            self.crossings.waiting.push_back(Crossing { due, link: id, onward, packet });
        }
    }

    fn next_out(&mut self, id: ElementId) -> Option<SlotId> {
        self.elements[id.index()].element.link_mut()?.hand_out(&self.shared.slab)
    }
}
