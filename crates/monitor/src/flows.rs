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
    states: AHashMap<Flow, State>,
    /// In the order in which they ended; may name flows that are no longer followed.
    ended: VecDeque<Flow>,
    /// Packets of flows for which there was no room.
    pub(crate) not_followed: u64,
}

impl Flows {
    /// The flow's state, made when there is room.
    pub(crate) fn follow(&mut self, flow: &Flow, packets: u32) -> Option<&mut State> {
        if self.states.len() >= FLOWS_MAX && !self.states.contains_key(flow) {
            while self.states.len() >= FLOWS_MAX {
                let Some(ended) = self.ended.pop_front() else {
                    self.not_followed += u64::from(packets);
                    return None;
                };
                self.states.remove(&ended);
            }
        }
        Some(self.states.entry(*flow).or_default())
    }

    pub(crate) fn find(&mut self, flow: &Flow) -> Option<&mut State> {
        self.states.get_mut(flow)
    }

    pub(crate) fn end(&mut self, flow: &Flow) {
        // A flow that ends more than once has at most a few names in the queue.
        if self.ended.len() < 2 * FLOWS_MAX {
            self.ended.push_back(*flow);
        }
    }

    pub(crate) fn states(&mut self) -> impl Iterator<Item = &mut State> {
        self.states.values_mut()
    }
}
