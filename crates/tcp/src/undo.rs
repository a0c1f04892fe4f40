//! Taking back a reduction of the window: nothing was lost after all.
//!
//! Two signs. All retransmissions are reported as duplicates (D-SACK); or an acknowledgement echoes a stamp that is older
//! than the first retransmission, so that the original has arrived (Eifel).
//!
//! Source: RFC 3708; RFC 3522, 3.2; Linux, `tcp_undo_cwnd_reduction`.

use crate::recovery::State;
use crate::sender::{is_before, Sender};
use crosswind_engine::Instant;

/// What is known of the present reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// The first byte that was not acknowledged when it began; `None` where it cannot be taken back.
    marker: Option<u64>,
    /// Retransmissions of which no duplicate was reported; `None` before the first.
    outstanding: Option<u32>,
    /// The threshold before; `None` where a mark proves congestion.
    threshold: Option<u32>,
    /// The first retransmission.
    first_retransmission: Option<Instant>,
    /// Reported duplicates so far.
    duplicates: u64,
}

impl Undo {
    /// A reduction begins that can be taken back; some retransmissions may be under way already.
    pub(crate) fn begin(&mut self, una: u64, under_way: u32) {
        self.marker = Some(una);
        self.outstanding = Some(under_way).filter(|&packets| packets > 0);
    }

    pub(crate) fn set_threshold(&mut self, threshold: Option<u32>) {
        self.threshold = threshold;
    }

    /// It cannot be taken back.
    pub(crate) fn give_up(&mut self) {
        self.marker = None;
    }

    pub(crate) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Packets are retransmitted now.
    pub(crate) fn retransmitted(&mut self, packets: u32, now: Instant) {
        self.outstanding = Some(self.outstanding.unwrap_or(0) + packets);
        self.first_retransmission.get_or_insert(now);
    }

    /// No retransmission is under way.
    pub(crate) fn forget_first_retransmission(&mut self) {
        self.first_retransmission = None;
    }

    /// Counts reported duplicates; false where there are more than retransmissions.
    pub(crate) fn count_duplicates(&mut self, packets: u32, retransmitted: u64) -> bool {
        self.duplicates += u64::from(packets);
        self.duplicates <= retransmitted
    }

    /// Retransmissions that end at `end` were reported as duplicates.
    pub(crate) fn were_needless(&mut self, packets: u32, end: u64) {
        if let (Some(marker), Some(outstanding @ 1..)) = (self.marker, self.outstanding) {
            if end > marker {
                self.outstanding = Some(outstanding.saturating_sub(packets));
            }
        }
    }

    pub(crate) fn one_was_needless(&mut self, end: u64) {
        self.were_needless(1, end);
    }

    fn all_were_needless(&self) -> bool {
        self.marker.is_some() && self.outstanding == Some(0)
    }

    /// Whether the original came, by the stamp that is echoed.
    pub(crate) fn original_came(&self, echo_ms: u64) -> bool {
        match self.first_retransmission {
            Some(at) => is_before(echo_ms, at),
            None => true,
        }
    }
}

impl Sender {
    /// Whether the present reduction was for nothing.
    fn was_needless(&self) -> bool {
        self.undo.all_were_needless() || (self.undo.is_possible() && self.undo.original_came(self.echo_ms))
    }

    fn take_back(&mut self, forget_losses: bool) {
        if forget_losses {
            self.board.forget_losses();
        }
        if let Some(threshold) = self.undo.threshold {
            let window = &mut self.congestion.window;
            window.packets = window.packets.max(self.reduction.from);
            if threshold > window.threshold {
                window.threshold = threshold;
                self.must_announce = false;
            }
        }
        self.undo.give_up();
        self.rack.examine_again();
        self.counts.undone += 1;
    }

    /// Everything of the recovery is acknowledged.
    pub(crate) fn try_undo_recovery(&mut self) {
        if self.was_needless() {
            self.take_back(false);
        } else {
            self.rack.recovered();
        }
        self.state = State::Open;
    }

    /// All retransmissions came twice.
    pub(crate) fn try_undo_by_duplicates(&mut self) -> bool {
        if !self.undo.all_were_needless() {
            return false;
        }
        self.rack.keep_window();
        self.take_back(false);
        true
    }

    /// After a timeout; `spurious` where other signs prove it.
    pub(crate) fn try_undo_timeout(&mut self, spurious: bool) -> bool {
        if !spurious && !self.was_needless() {
            return false;
        }
        self.take_back(true);
        self.timeouts_in_a_row = 0;
        self.state = State::Open;
        true
    }

    /// During fast recovery; true where nothing more must be retransmitted now.
    pub(crate) fn try_undo_partly(&mut self, prior_una: u64) -> bool {
        if !self.undo.is_possible() || !self.undo.original_came(self.echo_ms) {
            return false;
        }
        self.note_overtaken(prior_una);
        if self.board.retransmitted_out > 0 {
            return true;
        }
        if !self.has_retransmitted() {
            self.undo.forget_first_retransmission();
        }
        self.take_back(true);
        self.try_stay_open();
        false
    }
}
