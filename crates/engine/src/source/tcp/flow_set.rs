//! A set of connections, by their positions; the next one in turn is found without checking each.

use alloc::vec;
use alloc::vec::Vec;

const BITS: usize = u64::BITS as usize;

pub(super) struct FlowSet {
    /// One bit per connection.
    words: Vec<u64>,
}

impl FlowSet {
    /// An empty set of up to `flows` connections.
    pub(super) fn new(flows: usize) -> FlowSet {
        FlowSet { words: vec![0; flows.div_ceil(BITS)] }
    }

    pub(super) fn set(&mut self, flow: usize, member: bool) {
        let bit = 1 << (flow % BITS);
        if member {
            self.words[flow / BITS] |= bit;
        } else {
            self.words[flow / BITS] &= !bit;
        }
    }

    /// The first member at or after `turn`, or else the first of all.
    pub(super) fn next_from(&self, turn: usize) -> Option<usize> {
        let begun = self.words[turn / BITS] & (u64::MAX << (turn % BITS));
        if begun != 0 {
            return Some(turn / BITS * BITS + begun.trailing_zeros() as usize);
        }
        let words = self.words.len();
        // The word of `turn` is checked again at the end, for members before it.
        (1..=words).map(|n| (turn / BITS + n) % words).find_map(|word| {
            let members = self.words[word];
            (members != 0).then(|| word * BITS + members.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_in_turn_equals_that_of_a_linear_search() {
        for flows in [1, 3, 64, 65, 200] {
            for (step, offset) in [(1, 0), (7, 3), (63, 1), (64, 0), (150, 149), (1_000, 999)] {
                let is_member = |flow: usize| flow % step == offset % step;
                let mut set = FlowSet::new(flows);
                for flow in 0..flows {
                    set.set(flow, true);
                    set.set(flow, is_member(flow));
                }
                for turn in 0..flows {
                    let searched = (0..flows).map(|n| (turn + n) % flows).find(|&flow| is_member(flow));
                    assert_eq!(set.next_from(turn), searched, "{flows} flows, {step} {offset}, from {turn}");
                }
            }
        }
    }
}
