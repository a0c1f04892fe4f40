//! Deficit round robin: wire bytes in proportion to the weights, whatever the packets' sizes.
//!
//! `weight`: share, at least 1. At its turn a queue's deficit grows by its quantum, `weight` x 1538 wire bytes (one full
//! Ethernet packet, so that a turn nearly always sends something), and it sends while its head is within the deficit. A
//! queue that has become empty loses its deficit. The first round begins with the first queue.
//!
//! Bound: while two queues stay busy, what they have sent, each divided by its weight, differs by at most
//! 1538 + 2 x the largest packet (in wire bytes).
//!
//! Source: Shreedhar and Varghese 1996, "Efficient fair queuing using deficit round-robin", sections III and IV.
//! Deviation: turns go round the list of queues and skip empty ones, instead of a list of active queues; a queue that
//! becomes busy therefore waits for its place in the list, not for the end of it.

use alloc::vec::Vec;

use crate::packet;
use crate::queue::Buffer;
use crate::slab::{Slab, SlotId};

const QUANTUM_WIRE_BYTES: u64 = packet::wire_bytes(1500) as u64;

pub(crate) struct Drr {
    shares: Vec<Share>,
    current: usize,
}

struct Share {
    quantum_bytes: u64,
    /// Wire bytes that the queue may still send at this turn.
    deficit_bytes: u64,
}

impl Drr {
    pub(super) fn new(weights: impl Iterator<Item = u32>) -> Drr {
        let quantum = |weight| QUANTUM_WIRE_BYTES * u64::from(weight);
        let shares: Vec<Share> =
            weights.map(|weight| Share { quantum_bytes: quantum(weight), deficit_bytes: 0 }).collect();
        Drr { current: shares.len() - 1, shares }
    }

    pub(super) fn has_same_quanta(&self, other: &Drr) -> bool {
        let quanta = |drr: &Drr| drr.shares.iter().map(|share| share.quantum_bytes).collect::<Vec<_>>();
        quanta(self) == quanta(other)
    }

    pub(super) fn choose(&mut self, buffers: &[Buffer], slab: &Slab) -> usize {
        loop {
            let share = &mut self.shares[self.current];
            if let Some(head) = buffers[self.current].front() {
                let head = &slab[head];
                if let Some(rest) = share.deficit_bytes.checked_sub(u64::from(head.packet.wire_bytes)) {
                    let becomes_empty = head.next == SlotId::NONE;
                    share.deficit_bytes = if becomes_empty { 0 } else { rest };
                    return self.current;
                }
            }
            self.current = (self.current + 1) % self.shares.len();
            if buffers[self.current].front().is_some() {
                self.shares[self.current].deficit_bytes += self.shares[self.current].quantum_bytes;
            }
        }
    }
}
