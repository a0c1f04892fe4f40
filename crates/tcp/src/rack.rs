//! RACK: a packet is lost when one sent after it has arrived and a window for reordering has passed.
//!
//! The window is zero while no reordering was seen and either recovery is under way or three packets have overtaken;
//! otherwise a quarter of the shortest round trip, more after spurious retransmissions.
//!
//! Source: RFC 8985, 6; Linux, net/ipv4/tcp_recovery.c.

use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::recovery::State;
use crate::scoreboard::Sent;
use crate::sender::{Payload, Sender};
use crate::timer::Kind;

/// RFC 8985, 6.2: "reo_wnd_persist = 16".
const RECOVERIES: u32 = 16;
/// Linux, `TCP_TIMEOUT_MIN_US`: added to the timer of the reordering window.
const TIMER_MORE_US: u64 = 2_000;

/// What the latest delivered packets say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// Transmission and end of the delivered packet that was sent last.
    sent_at: Instant,
    end: u64,
    round_trip_us: u64,
    /// A packet was delivered since losses were searched for.
    advanced: bool,
    /// Quarters of the shortest round trip.
    quarters: u32,
    recoveries_left: u32,
    duplicate_seen: bool,
    delivered_at_change: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent_at: Instant::ZERO,
            end: 0,
            round_trip_us: 0,
            advanced: false,
            quarters: 1,
            recoveries_left: 0,
            duplicate_seen: false,
            delivered_at_change: 0,
        }
    }
}

impl Rack {
    /// RFC 8985, 6.2, step 2: "Update the state for the most recently sent segment that has been delivered".
    pub(crate) fn delivered(&mut self, now: Instant, sent: &Sent, shortest_us: u64) {
        let us = now.as_nanos() / 1_000 - sent.at.as_nanos() / 1_000;
        if sent.ever_retransmitted && us < shortest_us {
            // An acknowledgement of the original.
            return;
        }
        self.advanced = true;
        self.round_trip_us = us;
        if is_after((sent.at, sent.end()), (self.sent_at, self.end)) {
            (self.sent_at, self.end) = (sent.at, sent.end());
        }
    }

    pub(crate) fn examine_again(&mut self) {
        self.advanced = true;
    }

    pub(crate) fn duplicate_seen(&mut self) {
        self.duplicate_seen = true;
    }

    pub(crate) fn recovered(&mut self) {
        self.recoveries_left = self.recoveries_left.saturating_sub(1);
    }

    pub(crate) fn keep_window(&mut self) {
        self.recoveries_left = (self.recoveries_left + 1).min(RECOVERIES);
    }

    /// RFC 8985, 6.2, step 4: a wider window after a duplicate, at most once a round trip. `prior` is what had been
    /// delivered when the latest delivered packet was sent.
    pub(crate) fn adapt(&mut self, prior: Option<u64>, delivered: u64) {
        let Some(prior) = prior.filter(|&prior| prior > 0) else { return };
        if prior < self.delivered_at_change {
            self.duplicate_seen = false;
        }
        if core::mem::take(&mut self.duplicate_seen) {
            self.quarters = (self.quarters + 1).min(0xff);
            self.delivered_at_change = delivered;
            self.recoveries_left = RECOVERIES;
        } else if self.recoveries_left == 0 {
            self.quarters = 1;
        }
    }
}

fn is_after(one: (Instant, u64), other: (Instant, u64)) -> bool {
    let us = |(at, end): (Instant, u64)| (at.as_nanos() / 1_000, end);
    us(one) > us(other)
}

impl Sender {
    fn reordering_window_us(&self) -> u64 {
        if !self.has_seen_reordering {
            let recovering = matches!(self.state, State::Recovery | State::Loss);
            if recovering || self.board.sacked_out >= self.reordering {
                return 0;
            }
        }
        let quarter_us = self.round_trip.shortest_us() / 4;
        (quarter_us * u64::from(self.rack.quarters)).min(self.round_trip.smoothed_us().unwrap_or(0))
    }

    /// Time until a packet counts as lost; negative or zero when it does.
    pub(crate) fn until_lost_us(&self, now: Instant, sent: &Sent, window_us: u64) -> i64 {
        let passed_us = now.as_nanos() / 1_000 - sent.at.as_nanos() / 1_000;
        (self.rack.round_trip_us + window_us) as i64 - passed_us as i64
    }

    /// Marks lost packets; returns the time until others count as lost.
    fn detect_losses(&mut self, now: Instant) -> Option<u64> {
        let window_us = self.reordering_window_us();
        let mut wait_us = None;
        let mut next = self.board.earliest();
        while let Some(number) = next {
            next = self.board.next_in_time(number);
            let sent = *self.board.get(number);
            if sent.lost && !sent.retransmitted {
                continue;
            }
            if !is_after((self.rack.sent_at, self.rack.end), (sent.at, sent.end())) {
                break;
            }
            let left_us = self.until_lost_us(now, &sent, window_us);
            if left_us <= 0 {
                self.mark_lost(number);
                self.board.untime(number);
            } else {
                wait_us = wait_us.max(Some(left_us as u64));
            }
        }
        wait_us
    }

    /// After an acknowledgement; true where the timer of the reordering window runs.
    pub(crate) fn find_losses(&mut self, now: Instant) -> bool {
        if !core::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let Some(wait_us) = self.detect_losses(now) else { return false };
        let ticks = self.tick.of_us(wait_us + TIMER_MORE_US).min(self.round_trip.timeout());
        self.set_timer(now, Kind::Reordering, ticks);
        true
    }

    /// The reordering window of some packets is over.
    pub(crate) fn reordering_timer(&mut self, now: Instant, out: &mut Vec<Payload>) {
        let (in_flight, lost) = (self.board.in_flight(), self.lost);
        self.detect_losses(now);
        if self.board.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.enter_recovery(false);
                self.reduce(1, self.lost > lost, false);
            }
            self.retransmit_lost(now, out);
        }
        if self.timer.kind != Some(Kind::Retransmission) {
            self.start_timeout_again(now);
        }
    }

    /// Counts a packet as lost.
    pub(crate) fn mark_lost(&mut self, number: u64) {
        if self.board.lose(number) {
            self.lost += 1;
        }
    }
}
