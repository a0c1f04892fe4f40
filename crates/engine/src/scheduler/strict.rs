//! Strict priority: the first queue in the list that has a packet. A busy higher queue starves the lower ones.
//!
//! Source: RFC 3246, section 2 (a priority queue as expedited forwarding); IEEE 802.1Q-2022, 8.6.8.1.

use crate::queue::ManagedQueue;

pub(super) fn choose(queues: &[ManagedQueue]) -> usize {
    queues.iter().position(|queue| queue.front().is_some()).expect("a queue has a packet")
}
