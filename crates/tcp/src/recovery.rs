//! The state of congestion: what a sender does about losses, marks and timeouts.
//!
//! | state | is entered | is left |
//! |---|---|---|
//! | open | | |
//! | disorder | data arrived beyond a gap | the gap closed |
//! | reducing | a mark, or a probe that found a loss | all sent before is acknowledged |
//! | recovery | a packet is lost | all sent before is acknowledged, or nothing was lost after all |
//! | loss | a timeout | likewise |
//!
//! Source: Linux, `tcp_fastretrans_alert`; RFC 6675 (recovery); RFC 5682 (F-RTO, spurious timeouts); RFC 3168, 6.1.2
//! (marks).

use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::sender::{Payload, Said, Sender, REORDERING};

/// A state of congestion, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Open,
    Disorder,
    Reducing,
    Recovery,
    Loss,
}

/// What is to be sent after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    None,
    /// Lost packets.
    Lost,
    /// New data, to find out whether a timeout was spurious.
    New,
}

impl Sender {
    /// Handles an acknowledgement that is not an ordinary one.
    pub(crate) fn alert(
        &mut self,
        now: Instant,
        prior_una: u64,
        is_duplicate: bool,
        said: &mut Said,
    ) -> Repair {
        if said.marked {
            // A mark proves congestion.
            self.undo.set_threshold(None);
        }
        if self.state == State::Open {
            self.undo.forget_first_retransmission();
        } else if self.una >= self.high {
            match self.state {
                // A byte more, so that the announcement has reached the receiver.
                State::Reducing if self.una > self.high => {
                    self.end_reduction();
                    self.state = State::Open;
                }
                State::Recovery => {
                    // Back to the threshold, or to the window before where nothing was lost.
                    self.try_undo_recovery();
                    self.end_reduction();
                }
                _ => {}
            }
        }
        match self.state {
            State::Recovery => {
                if said.advances && self.try_undo_partly(prior_una) {
                    return Repair::None;
                }
                if self.try_undo_by_duplicates() {
                    self.try_open(said);
                }
                self.look_for_losses(now, said);
                if self.state != State::Recovery {
                    if self.board.lost_out == 0 {
                        return Repair::None;
                    }
                    self.enter_recovery(said.marked);
                }
            }
            State::Loss => {
                let repair = self.after_timeout(is_duplicate, said);
                self.look_for_losses(now, said);
                if self.state != State::Open && !said.loses_retransmitted {
                    return repair;
                }
                return self.look_again(now, said);
            }
            _ => return self.look_again(now, said),
        }
        Repair::Lost
    }

    fn look_again(&mut self, now: Instant, said: &mut Said) -> Repair {
        if self.state <= State::Disorder {
            self.try_undo_by_duplicates();
        }
        self.look_for_losses(now, said);
        if self.board.lost_out == 0 {
            self.try_open(said);
            return Repair::None;
        }
        self.enter_recovery(said.marked);
        Repair::Lost
    }

    fn look_for_losses(&mut self, now: Instant, said: &mut Said) {
        if self.board.out() == 0 {
            return;
        }
        let retransmitted = self.board.retransmitted_out;
        if self.find_losses(now) {
            said.sets_timer = false;
        }
        said.loses_retransmitted |= self.board.retransmitted_out < retransmitted;
    }

    fn try_open(&mut self, said: &Said) {
        if !self.has_retransmitted() {
            self.undo.forget_first_retransmission();
        }
        if said.marked {
            self.answer_mark();
        }
        if self.state != State::Reducing {
            self.try_stay_open();
        }
    }

    pub(crate) fn try_stay_open(&mut self) {
        let quiet = self.board.left_out() == 0 && !self.has_retransmitted();
        let state = if quiet { State::Open } else { State::Disorder };
        if self.state != state {
            self.state = state;
            self.high = self.next;
        }
    }

    /// Whether a retransmission is under way, or the head has been one.
    pub(crate) fn has_retransmitted(&self) -> bool {
        self.board.retransmitted_out > 0 || self.board.head().is_some_and(|sent| sent.ever_retransmitted)
    }

    /// RFC 3168, 6.1.2: "the TCP source reacts as if to a packet loss", once per round trip.
    fn answer_mark(&mut self) {
        self.undo.set_threshold(None);
        if self.state < State::Reducing {
            self.undo.give_up();
            self.begin_reduction();
            self.state = State::Reducing;
        }
    }

    /// A packet is lost.
    pub(crate) fn enter_recovery(&mut self, marked: bool) {
        if !self.has_retransmitted() {
            self.undo.forget_first_retransmission();
        }
        self.undo.set_threshold(None);
        self.undo.begin(self.una, self.retransmissions_under_way());
        if !self.is_reducing() {
            if !marked {
                self.undo.set_threshold(Some(self.threshold_now()));
            }
            self.begin_reduction();
        }
        self.state = State::Recovery;
    }

    fn retransmissions_under_way(&self) -> u32 {
        self.board.retransmitted_out + u32::from(self.probe.high.is_some() && self.probe.is_retransmission)
    }

    /// A timeout: what was sent is lost, except what was sent too recently.
    pub(crate) fn enter_loss(&mut self, now: Instant) {
        let is_new = self.state < State::Recovery;
        for number in self.board.numbers() {
            let sent = *self.board.get(number);
            let is_head = number == self.board.numbers().start;
            if is_head || self.until_lost_us(now, &sent, 0) <= 0 {
                self.mark_lost(number);
            }
        }
        self.board.hint = None;
        let again = self.state == State::Loss && self.timeouts_in_a_row == 0;
        if self.state <= State::Disorder || self.high <= self.una || again {
            self.undo.set_threshold(Some(self.threshold_now()));
            self.reduction.from = self.congestion.window.packets;
            self.congestion.window.threshold = self.congestion.threshold_after_loss();
            self.undo.begin(self.una, self.retransmissions_under_way());
        }
        // RFC 5681, 3.1: "cwnd MUST be set to no more than the loss window", beyond what is in flight.
        self.congestion.window.packets = self.board.in_flight() + 1;
        self.congestion.window.restart_credit();
        if self.state <= State::Disorder && self.board.sacked_out >= REORDERING {
            // As many packets arrived beyond the gap as make it a loss and no reordering.
            self.reordering = self.reordering.min(REORDERING);
        }
        self.state = State::Loss;
        self.congestion.timed_out(now, self.next);
        self.high = self.next;
        self.probe.high = None;
        self.must_announce = true;
        self.may_be_spurious = is_new || self.timeouts_in_a_row > 0;
    }

    /// An acknowledgement after a timeout.
    fn after_timeout(&mut self, is_duplicate: bool, said: &Said) -> Repair {
        let recovered = self.una >= self.high;
        if said.advances && self.try_undo_timeout(false) {
            return Repair::None;
        }
        if self.may_be_spurious {
            // RFC 5682, 3.1, step 3b: data that were sent once have arrived.
            if said.delivers_original && self.try_undo_timeout(true) {
                return Repair::None;
            }
            if self.next > self.high {
                if said.sacks || is_duplicate {
                    // Step 3a: "the retransmission timer expired because of a loss".
                    self.may_be_spurious = false;
                }
            } else if said.advances && !recovered {
                self.high = self.next;
                // Step 2b: new data, if there are any and they fit.
                if !self.queue.is_empty() && self.window_end() > self.next {
                    return Repair::New;
                }
                self.may_be_spurious = false;
            }
        }
        if recovered {
            self.try_undo_recovery();
            return Repair::None;
        }
        Repair::Lost
    }

    /// Sends what is to be sent after an acknowledgement.
    pub(crate) fn repair(&mut self, now: Instant, repair: Repair, out: &mut Vec<Payload>) {
        match repair {
            Repair::None => {}
            Repair::Lost => self.retransmit_lost(now, out),
            Repair::New => {
                self.push(now, out);
                if self.next <= self.high {
                    self.may_be_spurious = false;
                    self.retransmit_lost(now, out);
                }
            }
        }
    }
}
