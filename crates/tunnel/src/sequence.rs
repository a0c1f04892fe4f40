//! Datagrams that have overtaken others wait for them for a moment, so that records are read in the order in which they
//! were written.
//!
//! A thread that moves to another CPU overtakes itself on a veth pair, and on a card with several queues. A frame whose
//! parts are overtaken would be lost.

use std::collections::BTreeMap;

/// What has not come by then is taken for lost.
const PATIENCE_NS: u64 = 5_000_000;
/// Datagrams that wait, at most.
const WAITING_MAX: usize = 4_096;

/// Datagrams of one machine.
#[derive(Debug, Default)]
pub struct Sequence {
    /// The number that comes next; 0 before the first has come.
    next: u64,
    waiting: BTreeMap<u64, Early>,
}

/// A datagram that came before its turn.
#[derive(Debug, PartialEq, Eq)]
pub struct Early {
    /// When it came.
    pub at_ns: u64,
    /// It.
    pub bytes: Vec<u8>,
}

impl Sequence {
    /// A datagram has come that had not come before; false if it must wait, which [`next`](Self::next) ends.
    pub fn take_in(&mut self, number: u64, at_ns: u64, bytes: &[u8]) -> bool {
        let is_early = self.next != 0 && number > self.next && self.waiting.len() < WAITING_MAX;
        if is_early {
            self.waiting.insert(number, Early { at_ns, bytes: bytes.to_vec() });
            return false;
        }
        self.next = self.next.max(number.saturating_add(1));
        true
    }

    /// The next datagram whose turn it is, or that has waited long enough.
    pub fn next(&mut self, now_ns: u64) -> Option<Early> {
        let (&number, first) = self.waiting.first_key_value()?;
        if number > self.next && now_ns < first.at_ns.saturating_add(PATIENCE_NS) {
            return None;
        }
        self.next = self.next.max(number.saturating_add(1));
        self.waiting.pop_first().map(|(_, early)| early)
    }

    /// When a datagram has waited long enough.
    pub fn patience_ends_ns(&self) -> u64 {
        self.waiting.first_key_value().map_or(u64::MAX, |(_, first)| first.at_ns.saturating_add(PATIENCE_NS))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The order in which datagrams are read that come in this order, all at one instant.
    fn read(sequence: &mut Sequence, numbers: &[u64], now_ns: u64) -> Vec<u64> {
        let mut read = Vec::new();
        for &number in numbers {
            if sequence.take_in(number, now_ns, &number.to_be_bytes()) {
                read.push(number);
            }
            let waited = std::iter::from_fn(|| sequence.next(now_ns));
            read.extend(waited.map(|early| u64::from_be_bytes(early.bytes.try_into().unwrap())));
        }
        read
    }

    #[test]
    fn what_has_overtaken_waits() {
        assert_eq!(read(&mut Sequence::default(), &[7, 9, 10, 8, 11], 0), [7, 8, 9, 10, 11]);
    }

    #[test]
    fn what_is_lost_is_not_waited_for_long() {
        let mut sequence = Sequence::default();
        assert_eq!(read(&mut sequence, &[1, 3, 5], 100), [1]);
        assert_eq!(sequence.patience_ends_ns(), 100 + PATIENCE_NS);
        assert!(sequence.next(99 + PATIENCE_NS).is_none());
        assert_eq!(sequence.next(100 + PATIENCE_NS).unwrap().bytes, 3u64.to_be_bytes());
        assert_eq!(sequence.next(100 + PATIENCE_NS).unwrap().bytes, 5u64.to_be_bytes());
        assert_eq!(sequence.patience_ends_ns(), u64::MAX);
        // Too late to be in sequence, but not refused.
        assert_eq!(read(&mut sequence, &[2, 6], 200 + PATIENCE_NS), [2, 6]);
    }

    #[test]
    fn not_more_wait_than_there_is_room_for() {
        let mut sequence = Sequence::default();
        let numbers: Vec<u64> = [1].into_iter().chain(3..2 * WAITING_MAX as u64).collect();
        assert_eq!(read(&mut sequence, &numbers, 0).len() + sequence.waiting.len(), numbers.len());
        assert!(sequence.waiting.len() <= WAITING_MAX);
    }

    proptest! {
        #[test]
        fn each_is_read_once_and_in_sequence_whatever_overtakes(
            delays in proptest::collection::vec(0u64..40, 1..200)
        ) {
            let mut order: Vec<(u64, u64)> = (1..).zip(&delays).map(|(it, delay)| (it + delay, it)).collect();
            order.sort_unstable();
            let mut sequence = Sequence { next: 1, ..Sequence::default() };
            let numbers: Vec<u64> = order.into_iter().map(|(_, number)| number).collect();
            let all: Vec<u64> = (1..=delays.len() as u64).collect();
            prop_assert_eq!(read(&mut sequence, &numbers, 0), all);
        }
    }
}
