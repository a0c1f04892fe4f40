//! Runs on their way to their receivers: those that are due, and those that a receiver could not take yet.
//!
//! A receiver that cannot take a frame holds up its own frames only, which keep their order. It is asked again in every round.

use std::collections::VecDeque;

use crate::trains::Run;

/// A run that is due.
#[derive(Debug)]
pub struct Handover {
    /// Its train.
    pub key: u32,
    /// Index of the receiving node.
    pub to: usize,
    /// Its wire packets.
    pub run: Run,
    /// When they were due, and how many at each instant.
    pub dues_ns: Vec<(u64, u32)>,
    /// Since when its receiver could have had it.
    pub waits_since_ns: Option<u64>,
}

/// All that are due.
#[derive(Debug)]
pub struct Handovers {
    due: VecDeque<Handover>,
    /// By receiver, those that it could not take, in their order.
    refused: Vec<VecDeque<Handover>>,
    /// Receivers that could not take some; the first `asked` of them were asked in this round.
    receivers: Vec<usize>,
    asked: usize,
}

impl Handovers {
    /// None, for so many receivers.
    pub fn new(receivers: usize) -> Self {
        Self {
            due: VecDeque::new(),
            refused: (0..receivers).map(|_| VecDeque::new()).collect(),
            receivers: Vec::new(),
            asked: 0,
        }
    }

    /// Another run is due.
    pub fn push(&mut self, handover: Handover) {
        self.due.push_back(handover);
    }

    /// Starts a round: receivers that could not take a frame are asked again.
    pub fn start_round(&mut self) {
        self.asked = 0;
    }

    /// Whether some are due that were not tried yet.
    pub fn are_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Whether none is due and none waits for its receiver.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.receivers.is_empty()
    }

    /// Whether a receiver could not take a frame.
    pub fn are_refused(&self) -> bool {
        !self.receivers.is_empty()
    }

    /// The next one to try in this round.
    pub fn next(&mut self, now_ns: u64) -> Option<Handover> {
        while let Some(&to) = self.receivers.get(self.asked) {
            if let Some(handover) = self.refused[to].pop_front() {
                return Some(handover);
            }
            self.receivers.swap_remove(self.asked);
        }
        while let Some(mut handover) = self.due.pop_front() {
            let before = &mut self.refused[handover.to];
            if before.is_empty() {
                return Some(handover);
            }
            handover.waits_since_ns = Some(now_ns);
            before.push_back(handover);
        }
        None
    }

    /// The receiver could not take the latest one: it is asked again in the next round.
    pub fn refuse(&mut self, handover: Handover) {
        // Where all receivers have been asked, it is one that had refused nothing.
        if self.asked == self.receivers.len() {
            self.receivers.push(handover.to);
        }
        self.asked += 1;
        self.refused[handover.to].push_front(handover);
    }
}

#[cfg(test)]
mod tests {
    use crosswind_engine::Ecn;

    use super::*;

    fn handover(to: usize, number: u64) -> Handover {
        let (damage, ecn) = (None, Ecn::NotEct);
        let run = Run { first: 0, last: 0, dscp: 0, damage, ecn, first_due_ns: 0, number };
        Handover { key: 0, to, run, dues_ns: Vec::new(), waits_since_ns: None }
    }

    /// A round in which some receivers can take so many frames and all others everything; what was handed over.
    fn round(handovers: &mut Handovers, mut room: [usize; 3]) -> Vec<(usize, u64)> {
        let mut done = Vec::new();
        handovers.start_round();
        while let Some(handover) = handovers.next(5) {
            if room[handover.to] == 0 {
                handovers.refuse(handover);
            } else {
                room[handover.to] -= 1;
                done.push((handover.to, handover.run.number));
            }
        }
        done
    }

    #[test]
    fn a_receiver_without_room_holds_up_its_own_frames_only_and_they_keep_their_order() {
        let mut handovers = Handovers::new(3);
        for (number, to) in [0, 1, 0, 2, 1, 0].into_iter().enumerate() {
            handovers.push(handover(to, number as u64));
        }
        assert_eq!(round(&mut handovers, [0, 9, 1]), [(1, 1), (2, 3), (1, 4)]);
        assert!(handovers.are_refused());
        handovers.push(handover(0, 6));
        handovers.push(handover(2, 7));
        assert_eq!(round(&mut handovers, [1, 0, 0]), [(0, 0)]);
        assert_eq!(round(&mut handovers, [2, 0, 9]), [(0, 2), (0, 5), (2, 7)]);
        assert_eq!(round(&mut handovers, [9, 9, 9]), [(0, 6)]);
        assert!(round(&mut handovers, [9, 9, 9]).is_empty() && !handovers.are_refused());
    }
}
