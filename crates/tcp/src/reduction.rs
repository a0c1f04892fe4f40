//! Proportional rate reduction: the window shrinks over a round trip, in step with what is delivered.
//!
//! Source: RFC 6937 and its successor RFC 9937 (packet conservation, and slow start only where no further loss is seen);
//! Linux, `tcp_cwnd_reduction`.

use crate::recovery::State;
use crate::sender::Sender;

/// Counts since the reduction began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reduction {
    /// The window before.
    pub(crate) from: u32,
    delivered: u32,
    pub(crate) sent: u32,
}

impl Sender {
    /// Begins a reduction to the threshold that the algorithm says.
    pub(crate) fn begin_reduction(&mut self) {
        self.high = self.next;
        self.probe.high = None;
        self.congestion.window.restart_credit();
        self.reduction = Reduction { from: self.congestion.window.packets, delivered: 0, sent: 0 };
        self.congestion.window.threshold = self.congestion.threshold_after_loss();
        self.must_announce = true;
    }

    /// RFC 6937, 3: "sndcnt", from what was delivered by one acknowledgement.
    pub(crate) fn reduce(&mut self, delivered: u32, has_lost: bool, advances: bool) {
        if delivered == 0 || self.reduction.from == 0 {
            return;
        }
        let threshold = self.congestion.window.threshold;
        let in_flight = self.board.in_flight();
        let Reduction { from, delivered: sum, sent } = &mut self.reduction;
        *sum += delivered;
        let may_send = if in_flight > threshold {
            let due = (u64::from(threshold) * u64::from(*sum)).div_ceil(u64::from(*from));
            due as i64 - i64::from(*sent)
        } else {
            let conserved = (i64::from(*sum) - i64::from(*sent)).max(i64::from(delivered));
            let conserved = conserved + i64::from(advances && !has_lost);
            conserved.min(i64::from(threshold - in_flight))
        };
        // The first retransmission is not held back.
        let may_send = may_send.max(i64::from(*sent == 0));
        self.congestion.window.packets = (i64::from(in_flight) + may_send).max(0) as u32;
    }

    /// The window is the threshold from now on, unless the reduction was taken back.
    pub(crate) fn end_reduction(&mut self) {
        let window = &mut self.congestion.window;
        if window.has_threshold() && (self.state == State::Reducing || self.undo.is_possible()) {
            window.packets = window.threshold;
        }
    }
}
