//! The timer of a sender: for a timeout, a probe, the reordering window, or a closed window. Only one runs.
//!
//! Source: RFC 6298, 5; Linux, net/ipv4/tcp_timer.c.

use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::sender::{Payload, Sender};

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Retransmission,
    Probe,
    Reordering,
    /// The receiver's window is closed, and nothing is out.
    ClosedWindow,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timer {
    pub(crate) kind: Option<Kind>,
    pub(crate) expires: Instant,
}

impl Sender {
    /// When to wake it.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timer.kind.map(|_| self.timer.expires)
    }

    /// Sets the timer; one that ran is forgotten.
    pub(crate) fn set_timer(&mut self, now: Instant, kind: Kind, ticks: u64) {
        let tick = self.tick.at(now) + ticks;
        self.timer = Timer { kind: Some(kind), expires: self.tick.expiry(now, tick) };
    }

    /// Time until the timeout of the head; not positive where it is over.
    pub(crate) fn until_timeout_us(&self, now: Instant) -> i64 {
        let timeout_us = self.tick.us(self.round_trip.timeout());
        let Some(head) = self.board.head() else { return timeout_us as i64 };
        let sent_us = head.at.as_nanos() / 1_000;
        (sent_us + timeout_us) as i64 - (now.as_nanos() / 1_000) as i64
    }

    /// RFC 6298, 5.3: "When an ACK is received that acknowledges new data, restart the retransmission timer".
    pub(crate) fn start_timeout_again(&mut self, now: Instant) {
        if self.board.out() == 0 {
            self.timer.kind = None;
            return;
        }
        let ticks = match self.timer.kind {
            // The time that has passed since the timeout would have been set counts.
            Some(Kind::Reordering | Kind::Probe) => self.tick.of_us(self.until_timeout_us(now).max(1) as u64),
            _ => self.round_trip.timeout(),
        };
        self.set_timer(now, Kind::Retransmission, ticks);
    }

    /// As `start_timeout_again`, with a probe first where one may be sent.
    pub(crate) fn start_timer_again(&mut self, now: Instant) {
        if !self.schedule_probe(now, true) {
            self.start_timeout_again(now);
        }
    }

    /// Does what is due.
    pub(crate) fn wake(&mut self, now: Instant, out: &mut Vec<Payload>) {
        if self.timer.expires > now {
            return;
        }
        match self.timer.kind {
            Some(Kind::Retransmission) => {
                self.timer.kind = None;
                self.time_out(now, out);
            }
            Some(Kind::Probe) => self.probe_timer(now, out),
            Some(Kind::Reordering) => self.reordering_timer(now, out),
            Some(Kind::ClosedWindow) => {
                self.timer.kind = None;
                self.probe_window(now, out);
            }
            None => {}
        }
    }

    fn time_out(&mut self, now: Instant, out: &mut Vec<Payload>) {
        if self.board.out() == 0 {
            return;
        }
        self.counts.timeouts += 1;
        self.enter_loss(now);
        self.timeouts_in_a_row += 1;
        let head = self.board.numbers().start;
        self.send_again(now, head, 1, true, out);
        // RFC 6298, 5.5 and 5.6.
        self.round_trip.back_off(&self.tick);
        self.set_timer(now, Kind::Retransmission, self.round_trip.timeout());
    }

    /// RFC 9293, 3.8.6.1: a byte beyond a closed window, so that the receiver says when it opens.
    fn probe_window(&mut self, now: Instant, out: &mut Vec<Payload>) {
        if self.board.out() > 0 || self.queue.is_empty() {
            return;
        }
        if self.next < self.window_end() {
            self.push(now, out);
            return;
        }
        // A byte that was acknowledged is enough for an answer.
        out.push(Payload {
            sequence: self.una.saturating_sub(1),
            bytes: 0,
            push: false,
            markable: false,
            has_reduced: false,
        });
        self.round_trip.back_off(&self.tick);
        self.set_timer(now, Kind::ClosedWindow, self.round_trip.timeout());
    }
}
