//! Flows that are followed at one place, in bounded memory.
//!
//! A flow is one direction of a 5-tuple. At most 16,384 are followed (about 1 kB each); when there is no room the one that
//! ended first makes some, and if none has ended the new flow is not followed and its packets are counted.

use std::collections::VecDeque;

use ahash::AHashMap;
use crosswind_wire::Flow;

use crate::flow_size::Size;
use crate::reordering::Order;
use crate::retransmission::Sent;
use crate::rtt::Probes;

const FLOWS_MAX: usize = 16_384;

/// What is remembered of a flow.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) size: Size,
    pub(crate) sent: Option<Sent>,
    pub(crate) order: Order,
    pub(crate) probes: Probes,
    /// From the flow's SYN: how far its windows are shifted.
    pub(crate) window_shift: Option<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Flows {
    places: AHashMap<Flow, usize>,
    states: Vec<State>,
    /// Places in `states` of flows that are no longer followed.
    free: Vec<usize>,
    /// The flow that was looked up last: packets of one come one after the other.
    last: Option<(Flow, usize)>,
    /// In the order in which they ended; may name flows that are no longer followed.
    ended: VecDeque<Flow>,
    /// Packets of flows for which there was no room.
    pub(crate) not_followed: u64,
}

impl Flows {
    /// The flow's state, made when there is room.
    pub(crate) fn follow(&mut self, flow: &Flow, packets: u32) -> Option<&mut State> {
        if let Some(place) = self.place(flow) {
            return Some(&mut self.states[place]);
        }
        while self.places.len() >= FLOWS_MAX {
            let Some(ended) = self.ended.pop_front() else {
                self.not_followed += u64::from(packets);
                return None;
            };
            self.forget(&ended);
        }
        let place = self.free.pop().unwrap_or(self.states.len());
        if place == self.states.len() {
            self.states.push(State::default());
        }
        self.places.insert(*flow, place);
        self.last = Some((*flow, place));
        Some(&mut self.states[place])
    }

    pub(crate) fn find(&mut self, flow: &Flow) -> Option<&mut State> {
        self.place(flow).map(|place| &mut self.states[place])
    }

    pub(crate) fn end(&mut self, flow: &Flow) {
        // A flow that ends more than once has at most a few names in the queue.
        if self.ended.len() < 2 * FLOWS_MAX {
            self.ended.push_back(*flow);
        }
    }

    pub(crate) fn states(&mut self) -> impl Iterator<Item = &mut State> {
        self.states.iter_mut()
    }

    fn place(&mut self, flow: &Flow) -> Option<usize> {
        if let Some((last, place)) = &self.last {
            if last == flow {
                return Some(*place);
            }
        }
        let place = *self.places.get(flow)?;
        self.last = Some((*flow, place));
        Some(place)
    }

    fn forget(&mut self, flow: &Flow) {
        if let Some(place) = self.places.remove(flow) {
            self.states[place] = State::default();
            self.free.push(place);
            self.last = None;
        }
    }
}
