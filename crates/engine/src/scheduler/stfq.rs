//! Start-time fair queueing: wire bytes in proportion to the weights, packet by packet, whatever the packets' sizes
//! and however the link's rate changes. It is the simplest rule that exactly fulfils the promise of "weighted fair
//! queueing".
//!
//! `weight`: share, at least 1. The head of a queue has a start tag; the smallest start tag is served next, of equal
//! ones the first in the list. A packet of l bytes ends at the tag start + l / weight, where the next one of its queue
//! starts. A queue that becomes busy starts at the virtual time, which is the start tag of the packet in transmission,
//! or at its own last end if that is later. When no packet waits, virtual time continues from the latest end.
//!
//! Bound: while two queues are busy, the bytes that they have sent, each divided by its weight, differ by at most l1 /
//! weight1 + l2 / weight2, where l1 and l2 are their largest packets. (Deficit round robin, `scheduler::drr`, is
//! cheaper and serves in turns.) Tags are in parts of a byte that weights up to 16 divide, so equal tags are equal
//! whatever the weights. With larger weights tags carry their remainders, so that nothing drifts.
//!
//! Source: Goyal, Vin and Cheng 1996, "Start-time fair queuing: a scheduling algorithm for integrated services packet switching
//! networks", section 2 (the rule) and theorem 1 (the bound, for servers of any rate).

use alloc::vec::Vec;

use crate::queue::ManagedQueue;

/// 720 720 is the least common multiple of 1 to 16.
const PARTS_PER_BYTE: u128 = 720_720 << 12;

pub(crate) struct Stfq {
    flows: Vec<Flow>,
    /// The start tag of the packet that was chosen last.
    virtual_time: u128,
}

struct Flow {
    weight: u32,
    /// The start tag of the head, or the earliest one of the next packet to arrive.
    start: u128,
    /// The remainder of the exact tag that `start` omits, in 1 / weight; in [0, weight).
    rest: u32,
    /// Whether `start` belongs to a waiting packet.
    is_busy: bool,
}

impl Stfq {
    pub(super) fn new(weights: impl Iterator<Item = u32>) -> Stfq {
        let flow = |weight| Flow { weight, start: 0, rest: 0, is_busy: false };
        Stfq { flows: weights.map(flow).collect(), virtual_time: 0 }
    }

    pub(super) fn has_same_weights(&self, other: &Stfq) -> bool {
        let weights = |stfq: &Stfq| stfq.flows.iter().map(|flow| flow.weight).collect::<Vec<_>>();
        weights(self) == weights(other)
    }

    pub(super) fn choose(&mut self, queues: &[ManagedQueue]) -> usize {
        // Virtual time does not change between two choices, so queues that became busy since the last one can start
        // now.
        for (flow, queue) in self.flows.iter_mut().zip(queues) {
            let is_busy = queue.front().is_some();
            if is_busy && !flow.is_busy && flow.start < self.virtual_time {
                (flow.start, flow.rest) = (self.virtual_time, 0);
            }
            flow.is_busy = is_busy;
        }
        let busy = self.flows.iter().enumerate().filter(|(_, flow)| flow.is_busy);
        let (chosen, flow) = busy.min_by_key(|(_, flow)| flow.start).expect("a queue has a packet");
        self.virtual_time = flow.start;
        chosen
    }

    pub(super) fn served(&mut self, queue: usize, wire_bytes: u32) {
        let flow = &mut self.flows[queue];
        let weight = u128::from(flow.weight);
        let cost = u128::from(wire_bytes) * PARTS_PER_BYTE + u128::from(flow.rest);
        flow.start += cost / weight;
        flow.rest = u32::try_from(cost % weight).expect("less than the weight");
    }

    /// No packet waits and none is in transmission.
    pub(super) fn rest(&mut self) {
        let latest = self.flows.iter().map(|flow| flow.start).max().unwrap_or(0);
        self.virtual_time = self.virtual_time.max(latest);
        for flow in &mut self.flows {
            flow.is_busy = false;
        }
    }
}
