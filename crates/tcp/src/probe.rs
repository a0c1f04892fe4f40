//! Tail loss probe: new data or the last packet once more, after two round trips without an acknowledgement.
//!
//! With a single packet out the probe waits for a delayed acknowledgement too, so it comes at the instant of the timeout.
//!
//! Source: RFC 8985, 7; Linux, `tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`.

use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::recovery::State;
use crate::sender::{Payload, Said, Sender};
use crate::timer::Kind;
use crate::transmit::Push;

/// Linux, `TCP_TIMEOUT_MIN_US`.
const WAIT_MORE_US: u64 = 2_000;

/// The probe under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Probe {
    /// The end of what was sent when it left; `None` where there is none.
    pub(crate) high: Option<u64>,
    /// It sent data again.
    pub(crate) is_retransmission: bool,
}

impl Sender {
    /// Sets the timer of a probe, if one may be sent. `progress` is false for new data that leave without one.
    pub(crate) fn schedule_probe(&mut self, now: Instant, progress: bool) -> bool {
        if self.board.out() == 0 || !matches!(self.state, State::Open | State::Reducing) {
            return false;
        }
        let wait_us = match self.round_trip.smoothed_us() {
            // RFC 8985, 7.2: "PTO = 2 * SRTT", and "If the number of packets in flight is one, then PTO += TLP.max_ack_delay".
            Some(_) if self.board.out() == 1 => {
                self.round_trip.smoothed_us_x8() / 4 + self.round_trip.rto_min_us()
            }
            Some(_) => self.round_trip.smoothed_us_x8() / 4 + WAIT_MORE_US,
            None => 1_000_000,
        };
        let mut ticks = self.tick.of_us(wait_us);
        let until_timeout_us = if progress {
            self.tick.us(self.round_trip.timeout()) as i64
        } else {
            self.until_timeout_us(now)
        };
        if until_timeout_us > 0 {
            ticks = ticks.min(self.tick.of_us(until_timeout_us as u64));
        }
        self.set_timer(now, Kind::Probe, ticks);
        true
    }

    /// The timer of the probe has expired.
    pub(crate) fn probe_timer(&mut self, now: Instant, out: &mut Vec<Payload>) {
        if self.probe.high.is_none() && self.send_probe(now, out) {
            self.probe.high = Some(self.next);
            self.counts.probes += 1;
            self.timer.kind = None;
        }
        self.start_timeout_again(now);
    }

    fn send_probe(&mut self, now: Instant, out: &mut Vec<Payload>) -> bool {
        self.probe.is_retransmission = false;
        let first = self.queue.first().min(self.payload_bytes());
        if first > 0 && self.next + first <= self.window_end() {
            let before = self.board.out();
            self.transmit(now, Push::Probe, out);
            return self.board.out() > before;
        }
        let Some(last) = self.board.numbers().next_back() else { return false };
        self.send_again(now, last, 1, false, out);
        self.probe.is_retransmission = true;
        true
    }

    /// Ends the probe, if an acknowledgement shows what it found.
    pub(crate) fn end_probe(&mut self, ack: u64, said: &Said) {
        let Some(high) = self.probe.high.filter(|&high| ack >= high) else { return };
        if !self.probe.is_retransmission || said.duplicate_probe {
            self.probe.high = None;
        } else if ack > high {
            // RFC 8985, 7.4.2: the probe has repaired a loss, which is a sign of congestion.
            self.begin_reduction();
            self.state = State::Reducing;
            self.end_reduction();
            self.try_stay_open();
        } else if !said.advances
            && !said.updates_window
            && !said.with_data
            && !said.acknowledges
            && !said.sacks
        {
            // A plain duplicate: both arrived.
            self.probe.high = None;
        }
    }
}
