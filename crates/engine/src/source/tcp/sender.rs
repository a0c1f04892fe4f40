//! The sending end of a connection: packets in flight, lost packets, and retransmission.
//!
//! A packet is lost in three cases. First, one sent three or more later has arrived, or one sent later has arrived and
//! this one is overdue by a quarter of the shortest round trip (RFC 8985, 6.2: "RACK.reo_wnd"). Second, a probe's
//! answer shows it. Third, the timer expired. Losses within one round trip are one event for the window. Recovery ends
//! when a packet sent after its start has arrived.
//!
//! Deviation: a packet is never retransmitted under its number; its data are sent in a new one. The loss of a
//! retransmission is therefore detected like that of any other packet, as Linux does with time stamps.

use alloc::collections::VecDeque;

use super::super::CongestionControl;
use super::receiver::Came;
use super::rtt::RoundTrip;
use super::window::Window;
use crate::units::{Duration, Instant};

/// RFC 5681, 3.2: "the arrival of 3 duplicate ACKs".
const OVERTAKEN_BY: u64 = 3;

pub(super) struct Sender {
    window: Window,
    round_trip: RoundTrip,
    /// Packets from number `first` on, while the fate of an earlier one is unknown.
    sent: VecDeque<Sent>,
    first: u64,
    in_flight: u64,
    /// Lost packets whose data wait for retransmission in new ones.
    again: u64,
    /// One more than the largest number that has arrived.
    came_below: u64,
    /// Losses of packets below this number belong to an event to which the window has reacted.
    repaired_below: u64,
    /// Whether the window, not a lack of data, stopped sending last time.
    held_back: bool,
    sent_at: Instant,
    timer: Option<(Instant, Timer)>,
    /// When an overtaken packet becomes overdue.
    overdue_at: Option<Instant>,
    /// A packet beyond the window must be sent.
    probes: bool,
    /// Consecutive timeouts.
    backoff: u32,
}

#[derive(Copy, Clone)]
struct Sent {
    at: Instant,
    /// Known to have arrived, or assumed lost.
    settled: bool,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Timer {
    /// RFC 8985, 7: "send a loss probe to elicit an acknowledgement".
    Probe,
    /// RFC 6298, 5.
    Timeout,
}

impl Sender {
    pub(super) fn new(control: CongestionControl, timeout_min: Duration) -> Sender {
        Sender {
            window: Window::new(control),
            round_trip: RoundTrip::new(timeout_min),
            sent: VecDeque::new(),
            first: 0,
            in_flight: 0,
            again: 0,
            came_below: 0,
            repaired_below: 0,
            held_back: false,
            sent_at: Instant::ZERO,
            timer: None,
            overdue_at: None,
            probes: false,
            backoff: 0,
        }
    }

    /// Whether lost data wait for retransmission.
    pub(super) fn owes_again(&self) -> bool {
        self.again > 0
    }

    /// Whether a packet may be sent now, if there is new data for it.
    pub(super) fn may_send(&self, has_data: bool) -> bool {
        self.probes || (self.in_flight < self.window.packets() && (self.again > 0 || has_data))
    }

    /// Sends a packet, with lost data first; returns its number (last 32 bits) and whether no packet follows at
    /// present.
    pub(super) fn send(&mut self, now: Instant, more_data: bool) -> (u32, bool) {
        if self.in_flight == 0 && self.sent_at.saturating_add(self.round_trip.timeout(0)) < now {
            self.window.restart();
        }
        let number = self.next();
        self.again = self.again.saturating_sub(1);
        self.probes = false;
        self.sent.push_back(Sent { at: now, settled: false });
        self.in_flight += 1;
        self.sent_at = now;
        let full = self.in_flight >= self.window.packets();
        let last = full || (self.again == 0 && !more_data);
        // Within a burst its last packet is not known yet.
        if last {
            self.held_back = full;
        }
        if !matches!(self.timer, Some((_, Timer::Timeout))) {
            self.arm(now);
        }
        (number as u32, last)
    }

    /// The full number whose last bits are `low`: the largest such number below `next`.
    pub(super) fn whole_number(&self, low: u32) -> u64 {
        let behind = (self.next() as u32).wrapping_sub(low);
        self.next() - u64::from(behind)
    }

    /// These packets have arrived.
    pub(super) fn acknowledge(&mut self, packets: impl Iterator<Item = Came>, now: Instant) {
        let was_held_back = self.held_back;
        let mut acknowledged = 0;
        let mut latest = None;
        let mut marked = false;
        for Came { number, marked: by_a_queue } in packets {
            let Some(sent) = self.settle(number) else { continue };
            acknowledged += 1;
            marked |= by_a_queue && number >= self.repaired_below;
            latest = Some((number, sent));
            self.came_below = self.came_below.max(number + 1);
        }
        let Some((number, sent)) = latest else { return };
        self.round_trip.measured(now - sent);
        self.backoff = 0;
        self.find_losses(now);
        if marked && number >= self.repaired_below {
            self.answer_congestion();
        }
        if was_held_back && number >= self.repaired_below {
            self.window.grow(acknowledged, now, self.round_trip.smoothed());
        }
        self.timer = None;
        if self.in_flight > 0 {
            self.arm(now);
        }
    }

    /// When to wake it next.
    pub(super) fn timer(&self) -> Option<Instant> {
        let timer = self.timer.map(|(at, _)| at);
        timer.into_iter().chain(self.overdue_at).min()
    }

    /// Does what its timers require now.
    pub(super) fn wake(&mut self, now: Instant) {
        if self.overdue_at.is_some_and(|at| at <= now) {
            self.find_losses(now);
        }
        match self.timer {
            Some((at, Timer::Probe)) if at <= now => {
                self.probes = true;
                self.timer = Some((now.saturating_add(self.round_trip.timeout(0)), Timer::Timeout));
            }
            Some((at, Timer::Timeout)) if at <= now => self.time_out(now),
            _ => {}
        }
    }

    fn next(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    /// Marks a packet as arrived; returns when it was sent, or `None` if its fate was known or assumed already.
    fn settle(&mut self, number: u64) -> Option<Instant> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let sent = self.sent.get_mut(index).filter(|sent| !sent.settled)?;
        sent.settled = true;
        let at = sent.at;
        self.in_flight -= 1;
        self.forget_settled();
        Some(at)
    }

    fn forget_settled(&mut self) {
        while self.sent.front().is_some_and(|sent| sent.settled) {
            self.sent.pop_front();
            self.first += 1;
        }
    }

    /// Assumes the loss of packets that too many others overtook, or that have been overtaken for too long.
    fn find_losses(&mut self, now: Instant) {
        let patience = Duration::from_nanos(self.round_trip.latest_ns + self.round_trip.shortest_ns / 4);
        self.overdue_at = None;
        let overtaken = self.came_below.saturating_sub(self.first);
        let mut event = false;
        for (number, sent) in (self.first..).zip(self.sent.iter_mut()).take(overtaken as usize) {
            if sent.settled {
                continue;
            }
            let overdue_at = sent.at.saturating_add(patience);
            if number + OVERTAKEN_BY < self.came_below || overdue_at <= now {
                sent.settled = true;
                self.in_flight -= 1;
                self.again += 1;
                event |= number >= self.repaired_below;
            } else {
                self.overdue_at = Some(self.overdue_at.map_or(overdue_at, |at| at.min(overdue_at)));
            }
        }
        self.forget_settled();
        if event {
            self.answer_congestion();
        }
    }

    /// Reacts to congestion once; later losses of packets in flight now belong to the same event.
    fn answer_congestion(&mut self) {
        self.window.reduce();
        self.repaired_below = self.next();
    }

    /// RFC 6298, 5.4 to 5.6: everything in flight is assumed lost, the window is one packet, the timer doubles.
    fn time_out(&mut self, now: Instant) {
        self.again += self.in_flight;
        self.in_flight = 0;
        self.first = self.next();
        self.sent.clear();
        self.overdue_at = None;
        // RFC 5681, 3.1: a segment that was already resent by the timer leaves "the value of ssthresh [...] constant".
        if self.backoff == 0 {
            self.window.collapse();
        }
        self.backoff += 1;
        self.repaired_below = self.next();
        self.timer = Some((now.saturating_add(self.round_trip.timeout(self.backoff)), Timer::Timeout));
    }

    fn arm(&mut self, now: Instant) {
        let repairing = self.came_below < self.repaired_below;
        let probe = self.round_trip.probe(self.in_flight).filter(|_| !repairing);
        self.timer = Some(match probe {
            Some(after) => (now.saturating_add(after), Timer::Probe),
            None => (now.saturating_add(self.round_trip.timeout(self.backoff)), Timer::Timeout),
        });
    }
}
