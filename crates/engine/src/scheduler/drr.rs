//! Deficit round robin: wire bytes in proportion to the weights, whatever the packets' sizes.
//!
//! `weight`: share, at least 1. At its turn a queue's deficit grows by its quantum, `weight` x 1538 wire bytes (one
//! full Ethernet packet, so that nearly every turn sends a packet), and it sends while its head is within the deficit.
//! A queue that becomes empty loses its deficit. The first round starts with the first queue.
//!
//! Bound: while two queues are busy, the bytes that they have sent, each divided by its weight, differ by at most 1538
//! + 2 x the largest packet (in wire bytes).
//!
//! Source: Shreedhar and Varghese 1996, "Efficient fair queuing using deficit round-robin", sections III and IV.
//! Deviation: turns follow the list of queues and skip empty ones, instead of a list of active queues; a queue that
//! becomes busy therefore waits for its position in the list, not for the end of it.

use alloc::vec::Vec;

use crate::packet;
use crate::queue::ManagedQueue;
use crate::slab::Slab;

const QUANTUM_WIRE_BYTES: i64 = packet::wire_bytes(1500) as i64;

pub(crate) struct Drr {
    shares: Vec<Share>,
    current: usize,
}

struct Share {
    quantum_bytes: i64,
    /// Wire bytes that the queue may still send in this turn; below 0 if it sent a larger packet than the head for
    /// which it was chosen.
    deficit_bytes: i64,
}

impl Drr {
    pub(super) fn new(weights: impl Iterator<Item = u32>) -> Drr {
        let quantum = |weight| QUANTUM_WIRE_BYTES * i64::from(weight);
        let shares: Vec<Share> =
            weights.map(|weight| Share { quantum_bytes: quantum(weight), deficit_bytes: 0 }).collect();
        Drr { current: shares.len() - 1, shares }
    }

    pub(super) fn has_same_quanta(&self, other: &Drr) -> bool {
        let quanta = |drr: &Drr| drr.shares.iter().map(|share| share.quantum_bytes).collect::<Vec<_>>();
        quanta(self) == quanta(other)
    }

    pub(super) fn choose(&mut self, queues: &[ManagedQueue], slab: &Slab) -> usize {
        loop {
            let deficit_bytes = self.shares[self.current].deficit_bytes;
            let head = queues[self.current].front().map(|head| i64::from(slab[head].packet.wire_bytes()));
            if head.is_some_and(|head_bytes| head_bytes <= deficit_bytes) {
                return self.current;
            }
            self.current = (self.current + 1) % self.shares.len();
            if queues[self.current].front().is_some() {
                self.shares[self.current].deficit_bytes += self.shares[self.current].quantum_bytes;
            }
        }
    }

    pub(super) fn served(&mut self, queue: usize, wire_bytes: u32, is_empty: bool) {
        let share = &mut self.shares[queue];
        share.deficit_bytes = if is_empty { 0 } else { share.deficit_bytes - i64::from(wire_bytes) };
    }
}
