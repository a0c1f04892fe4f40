//! What a sender has sent and does not know to have arrived in order: packet by packet, with its state.
//!
//! A packet is in one of these states (Linux's tags): sent; sacked (it has arrived beyond a gap); lost; lost and
//! retransmitted; retransmitted though not lost (a probe). In flight are all except sacked and lost ones, and
//! retransmitted ones once more.
//!
//! Packets are in the order of the stream. A second order is that of their latest transmission, in which losses are
//! found (`rack`); packets that are sacked or that were found lost are not in it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::segment::Range;

/// No packet.
const NONE: u64 = u64::MAX;

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) sequence: u64,
    pub(crate) bytes: u32,
    /// Its latest transmission.
    pub(crate) at: Instant,
    /// Packets of one train were sent by one call and are retransmitted together.
    pub(crate) train: u32,
    pub(crate) sacked: bool,
    pub(crate) lost: bool,
    /// Its retransmission is under way.
    pub(crate) retransmitted: bool,
    /// It was retransmitted at any time.
    pub(crate) ever_retransmitted: bool,
    /// Whether the application's write ends in it.
    pub(crate) push: bool,
    /// Packets that had been delivered when it was sent.
    pub(crate) delivered_before: u64,
    /// Neighbours in the order of transmission.
    earlier: u64,
    later: u64,
    is_timed: bool,
}

impl Sent {
    pub(crate) fn end(&self) -> u64 {
        self.sequence + u64::from(self.bytes)
    }
}

/// Packets by number; numbers are consecutive.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    sent: VecDeque<Sent>,
    /// The number of the first packet.
    first: u64,
    earliest: u64,
    latest: u64,
    /// Sacked data, in order and apart.
    sacked: Vec<Range>,
    pub(crate) sacked_out: u32,
    pub(crate) lost_out: u32,
    pub(crate) retransmitted_out: u32,
    /// Where the search for lost packets that were not retransmitted begins.
    pub(crate) hint: Option<u64>,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self {
            sent: VecDeque::new(),
            first: 0,
            earliest: NONE,
            latest: NONE,
            sacked: Vec::new(),
            sacked_out: 0,
            lost_out: 0,
            retransmitted_out: 0,
            hint: None,
        }
    }

    /// Packets that were sent and not acknowledged in order.
    pub(crate) fn out(&self) -> u32 {
        self.sent.len() as u32
    }

    /// Packets that are believed to be under way.
    pub(crate) fn in_flight(&self) -> u32 {
        (self.out() + self.retransmitted_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    pub(crate) fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    pub(crate) fn head(&self) -> Option<&Sent> {
        self.sent.front()
    }

    pub(crate) fn get(&self, number: u64) -> &Sent {
        &self.sent[(number - self.first) as usize]
    }

    fn get_mut(&mut self, number: u64) -> &mut Sent {
        &mut self.sent[(number - self.first) as usize]
    }

    pub(crate) fn numbers(&self) -> core::ops::Range<u64> {
        self.first..self.first + self.sent.len() as u64
    }

    /// A new packet was sent.
    pub(crate) fn push(
        &mut self,
        sequence: u64,
        bytes: u32,
        push: bool,
        at: Instant,
        train: u32,
        delivered: u64,
    ) {
        let number = self.numbers().end;
        self.sent.push_back(Sent {
            sequence,
            bytes,
            at,
            train,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
            push,
            delivered_before: delivered,
            earlier: NONE,
            later: NONE,
            is_timed: false,
        });
        self.append(number);
    }

    /// Removes the first packet, which was acknowledged in order.
    pub(crate) fn remove_head(&mut self) -> Sent {
        self.untime(self.first);
        let sent = self.sent.pop_front().expect("there is a packet");
        if self.hint == Some(self.first) {
            self.hint = None;
        }
        self.first += 1;
        self.sacked_out -= u32::from(sent.sacked);
        self.lost_out -= u32::from(sent.lost);
        self.retransmitted_out -= u32::from(sent.retransmitted);
        while self.sacked.first().is_some_and(|range| range.to <= sent.end()) {
            self.sacked.remove(0);
        }
        sent
    }

    /// The end of the last sacked packet; `una` where none is sacked.
    pub(crate) fn sacked_to(&self, una: u64) -> u64 {
        self.sacked.last().filter(|_| self.sacked_out > 0).map_or(una, |range| range.to.max(una))
    }

    /// The packet that has a byte, or the first after it.
    fn number_of(&self, sequence: u64) -> u64 {
        self.first + self.sent.partition_point(|sent| sent.end() <= sequence) as u64
    }

    /// The packets that lie within a block and are not sacked yet.
    pub(crate) fn not_sacked_within(&self, block: Range) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut from = block.from;
        let mut at = self.sacked.partition_point(|range| range.to <= from);
        while from < block.to {
            let (gap_to, next) = match self.sacked.get(at) {
                Some(range) => (range.from.min(block.to), range.to),
                None => (block.to, block.to),
            };
            if from < gap_to {
                let mut number = self.number_of(from);
                while number < self.numbers().end && self.get(number).end() <= gap_to {
                    if self.get(number).sequence >= from && !self.get(number).sacked {
                        numbers.push(number);
                    }
                    number += 1;
                }
            }
            from = next.max(gap_to);
            at += 1;
        }
        numbers
    }

    /// The packets that lie within a block.
    pub(crate) fn within(&self, block: Range) -> impl Iterator<Item = u64> + '_ {
        let from = self.number_of(block.from);
        (from..self.numbers().end).take_while(move |&number| self.get(number).end() <= block.to)
    }

    /// A packet arrived beyond a gap.
    pub(crate) fn sack(&mut self, number: u64) {
        let sent = self.get_mut(number);
        sent.sacked = true;
        let range = Range { from: sent.sequence, to: sent.end() };
        // A retransmission without a loss is still under way.
        let (was_lost, was_retransmitted) = (sent.lost, sent.lost && sent.retransmitted);
        sent.lost = false;
        if was_retransmitted {
            sent.retransmitted = false;
        }
        self.sacked_out += 1;
        self.lost_out -= u32::from(was_lost);
        self.retransmitted_out -= u32::from(was_retransmitted);
        self.untime(number);
        self.note_sacked(range);
    }

    fn note_sacked(&mut self, range: Range) {
        let from = self.sacked.partition_point(|known| known.to < range.from);
        let to = self.sacked.partition_point(|known| known.from <= range.to);
        let joined = self.sacked[from..to]
            .iter()
            .fold(range, |sum, known| Range { from: sum.from.min(known.from), to: sum.to.max(known.to) });
        self.sacked.splice(from..to, [joined]);
    }

    /// A retransmission of a packet was not needed: both arrived.
    pub(crate) fn forget_retransmission(&mut self, number: u64) {
        let sent = self.get_mut(number);
        if core::mem::take(&mut sent.retransmitted) {
            self.retransmitted_out -= 1;
        }
    }

    /// A packet is lost, or its retransmission is; false where that was known.
    pub(crate) fn lose(&mut self, number: u64) -> bool {
        if self.get(number).sacked {
            return false;
        }
        // Lost packets before the hint are retransmitted already, unless it is one of them that is lost again.
        let hint_is_later = self.hint.is_some_and(|hint| number < hint);
        if hint_is_later || (self.hint.is_none() && self.retransmitted_out >= self.lost_out) {
            self.hint = Some(number);
        }
        let sent = self.get_mut(number);
        match (sent.lost, sent.retransmitted) {
            (true, true) => {
                sent.retransmitted = false;
                self.retransmitted_out -= 1;
                true
            }
            (true, false) => false,
            (false, _) => {
                sent.lost = true;
                self.lost_out += 1;
                true
            }
        }
    }

    /// No packet is lost after all.
    pub(crate) fn forget_losses(&mut self) {
        self.sent.iter_mut().for_each(|sent| sent.lost = false);
        self.lost_out = 0;
        self.hint = None;
    }

    /// A packet is sent again. `counted` is false for a probe, which does not count as a retransmission under way.
    pub(crate) fn retransmit(&mut self, number: u64, at: Instant, delivered: u64, counted: bool) {
        self.untime(number);
        let sent = self.get_mut(number);
        sent.at = at;
        sent.delivered_before = delivered;
        sent.ever_retransmitted = true;
        if counted {
            sent.retransmitted = true;
            self.retransmitted_out += 1;
        }
        self.append(number);
    }

    /// The packet that was sent first of those in the order of transmission.
    pub(crate) fn earliest(&self) -> Option<u64> {
        Some(self.earliest).filter(|&number| number != NONE)
    }

    /// The next one in the order of transmission.
    pub(crate) fn next_in_time(&self, number: u64) -> Option<u64> {
        Some(self.get(number).later).filter(|&number| number != NONE)
    }

    /// Takes a packet out of the order of transmission.
    pub(crate) fn untime(&mut self, number: u64) {
        let Sent { earlier, later, is_timed, .. } = *self.get(number);
        if !is_timed {
            return;
        }
        match earlier {
            NONE => self.earliest = later,
            _ => self.get_mut(earlier).later = later,
        }
        match later {
            NONE => self.latest = earlier,
            _ => self.get_mut(later).earlier = earlier,
        }
        let sent = self.get_mut(number);
        (sent.earlier, sent.later, sent.is_timed) = (NONE, NONE, false);
    }

    fn append(&mut self, number: u64) {
        let latest = self.latest;
        let sent = self.get_mut(number);
        (sent.earlier, sent.later, sent.is_timed) = (latest, NONE, true);
        match latest {
            NONE => self.earliest = number,
            _ => self.get_mut(latest).later = number,
        }
        self.latest = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(packets: u32) -> Scoreboard {
        let mut board = Scoreboard::new();
        for number in 0..packets {
            let sequence = u64::from(number) * 100;
            board.push(sequence, 100, false, Instant::from_nanos(number.into()), 0, 0);
        }
        board
    }

    fn in_time(board: &Scoreboard) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut next = board.earliest();
        while let Some(number) = next {
            numbers.push(number);
            next = board.next_in_time(number);
        }
        numbers
    }

    #[test]
    fn packets_in_flight_are_those_neither_sacked_nor_lost_and_those_sent_again() {
        let mut board = board(10);
        board.sack(5);
        assert!(board.lose(0));
        assert!(!board.lose(0), "known");
        assert!(!board.lose(5), "it has arrived");
        assert_eq!(board.in_flight(), 8);
        board.retransmit(0, Instant::from_nanos(50), 0, true);
        assert_eq!(board.in_flight(), 9);
        assert!(board.lose(0), "the retransmission");
        assert_eq!(board.in_flight(), 8);
        board.retransmit(0, Instant::from_nanos(60), 0, true);
        board.sack(0);
        assert_eq!((board.in_flight(), board.lost_out, board.retransmitted_out), (8, 0, 0));
    }

    #[test]
    fn the_order_of_transmission_has_retransmissions_last_and_no_sacked_packets() {
        let mut board = board(5);
        board.sack(3);
        board.retransmit(1, Instant::from_nanos(50), 0, true);
        assert_eq!(in_time(&board), [0, 2, 4, 1]);
        board.remove_head();
        board.untime(4);
        assert_eq!(in_time(&board), [2, 1]);
    }

    #[test]
    fn packets_of_a_block_are_found_once() {
        let mut board = board(10);
        assert_eq!(board.not_sacked_within(Range { from: 250, to: 650 }), [3, 4, 5]);
        board.sack(4);
        assert_eq!(board.not_sacked_within(Range { from: 300, to: 700 }), [3, 5, 6]);
        for number in [3, 5, 6, 9] {
            board.sack(number);
        }
        assert_eq!(board.not_sacked_within(Range { from: 200, to: 1_000 }), [2, 7, 8]);
        assert_eq!(board.sacked_to(0), 1_000);
        assert_eq!(board.within(Range { from: 300, to: 600 }).collect::<Vec<_>>(), [3, 4, 5]);
    }
}
