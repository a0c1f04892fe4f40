//! Queues of runs on their way to receivers: runs that are due, and runs that a receiver could not take yet.
//!
//! A receiver that cannot take a frame delays its own frames only, which stay in order. It is tried again in every
//! round.

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
    /// When its packets were due, and the number at each instant.
    pub dues_ns: Vec<(u64, u32)>,
    /// Since when the run waits for its receiver.
    pub waits_since_ns: Option<u64>,
}

/// All waiting runs.
#[derive(Debug)]
pub struct Handovers {
    due: VecDeque<Handover>,
    /// By receiver, the runs that it could not take, in order.
    refused: Vec<VecDeque<Handover>>,
    /// Receivers that could not take a run; the first `asked` of them were tried in this round.
    receivers: Vec<usize>,
    asked: usize,
    tried: Tried,
}

/// The position of the run that is being tried.
#[derive(Clone, Copy, Debug)]
enum Tried {
    /// First among the due runs.
    Due,
    /// First among the runs that this receiver could not take before.
    Again(usize),
}

impl Handovers {
    /// No runs, for this number of receivers.
    pub fn new(receivers: usize) -> Self {
        Self {
            due: VecDeque::new(),
            refused: (0..receivers).map(|_| VecDeque::new()).collect(),
            receivers: Vec::new(),
            asked: 0,
            tried: Tried::Due,
        }
    }

    /// Adds a due run.
    pub fn push(&mut self, handover: Handover) {
        self.due.push_back(handover);
    }

    /// Starts a round: receivers that could not take a frame are tried again.
    pub fn start_round(&mut self) {
        self.asked = 0;
    }

    /// Whether there are due runs that were not tried yet.
    pub fn are_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Whether no run is due and none waits for its receiver.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.receivers.is_empty()
    }

    /// Whether a receiver could not take a frame.
    pub fn are_refused(&self) -> bool {
        !self.receivers.is_empty()
    }

    /// Tries the next run of this round; false if there is none. The run stays until it is taken or refused.
    pub fn next(&mut self, now_ns: u64) -> bool {
        while let Some(&to) = self.receivers.get(self.asked) {
            if !self.refused[to].is_empty() {
                self.tried = Tried::Again(to);
                return true;
            }
            self.receivers.swap_remove(self.asked);
        }
        self.tried = Tried::Due;
        while let Some(first) = self.due.front() {
            let before = &mut self.refused[first.to];
            if before.is_empty() {
                return true;
            }
            let waits_since_ns = Some(now_ns);
            before.extend(self.due.pop_front().map(|first| Handover { waits_since_ns, ..first }));
        }
        false
    }

    /// The run that is being tried.
    pub fn tried(&mut self) -> &mut Handover {
        self.queue().front_mut().expect(IS_TRIED)
    }

    /// Removes the run that is being tried: it has been handed over, or is lost.
    pub fn take(&mut self) -> Handover {
        self.queue().pop_front().expect(IS_TRIED)
    }

    /// The receiver could not take the run that is being tried; it is tried again in the next round.
    pub fn refuse(&mut self) {
        if let Tried::Due = self.tried {
            let handover = self.due.pop_front().expect(IS_TRIED);
            // It had refused no run before, and all receivers that had were tried already.
            self.receivers.push(handover.to);
            self.refused[handover.to].push_back(handover);
        }
        self.asked += 1;
    }

    fn queue(&mut self) -> &mut VecDeque<Handover> {
        match self.tried {
            Tried::Due => &mut self.due,
            Tried::Again(to) => &mut self.refused[to],
        }
    }
}

const IS_TRIED: &str = "a run is being tried";

#[cfg(test)]
mod tests {
    use crosswind_engine::Ecn;

    use super::*;

    fn handover(to: usize, number: u64) -> Handover {
        let (damage, ecn) = (None, Ecn::NotEct);
        let run = Run { first: 0, last: 0, dscp: 0, damage, ecn, first_due_ns: 0, number };
        Handover { key: 0, to, run, dues_ns: Vec::new(), waits_since_ns: None }
    }

    /// A round in which each receiver can take the given number of frames; returns what was handed over.
    fn round(handovers: &mut Handovers, mut room: [usize; 3]) -> Vec<(usize, u64)> {
        let mut done = Vec::new();
        handovers.start_round();
        while handovers.next(5) {
            let to = handovers.tried().to;
            if room[to] == 0 {
                handovers.refuse();
            } else {
                room[to] -= 1;
                done.push((to, handovers.take().run.number));
            }
        }
        done
    }

    #[test]
    fn a_receiver_without_room_delays_its_own_frames_only_and_they_stay_in_order() {
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
