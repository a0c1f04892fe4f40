//! Weighted round robin: up to `weight` packets of each queue in turn, in list order; shares packets, not bytes.
//!
//! `weight`: packets per round, at least 1. A queue that is empty at its turn loses the rest of it, and a packet's
//! size does not count (for shares of bytes see `scheduler::drr`). The first round starts with the first queue; the
//! position in the round does not change while the link is idle.
//!
//! Source: Katevenis, Sidiropoulos and Courcoubetis 1991, "Weighted round-robin cell multiplexing".

use alloc::vec::Vec;

use crate::queue::ManagedQueue;

pub(crate) struct Wrr {
    weights: Vec<u32>,
    current: usize,
    /// Packets that the current queue may still send in this round, in [0, its weight].
    left: u32,
}

impl Wrr {
    pub(super) fn new(weights: impl Iterator<Item = u32>) -> Wrr {
        let weights: Vec<u32> = weights.collect();
        Wrr { current: weights.len() - 1, weights, left: 0 }
    }

    pub(super) fn has_same_weights(&self, other: &Wrr) -> bool {
        self.weights == other.weights
    }

    pub(super) fn choose(&mut self, queues: &[ManagedQueue]) -> usize {
        while self.left == 0 || queues[self.current].front().is_none() {
            self.current = (self.current + 1) % self.weights.len();
            self.left = self.weights[self.current];
        }
        self.current
    }

    pub(super) fn served(&mut self) {
        self.left -= 1;
    }
}
