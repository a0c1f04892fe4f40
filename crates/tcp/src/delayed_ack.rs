//! When a receiver acknowledges: at once, with data of its own, or after a while.
//!
//! * At once: for more than one full packet, in the first packets of a connection (*quick*), when a gap closes, and for
//!   what comes twice. Beyond a gap the first three are at once, later ones within 1 ms or a twentieth of the round trip.
//! * With data: a side that answers soon (*interactive*) holds its acknowledgement back.
//! * After a while: 40 ms at least, longer where packets come slowly, and less than the shortest timeout.
//!
//! Source: RFC 5681, 4.2; RFC 9293, 3.8.6.3; Linux, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, `tcp_event_data_recv`,
//! `__tcp_cleanup_rbuf`.

use crosswind_engine::Instant;

use crate::settings::Settings;
use crate::tick::Tick;

/// Linux, `TCP_ATO_MIN`, `TCP_DELACK_MIN`: a 25th of a second.
const LEAST_PARTS: u64 = 25;
/// `TCP_DELACK_MAX`: a fifth.
const MOST_PARTS: u64 = 5;
/// `TCP_MAX_QUICKACKS`.
pub(crate) const QUICK_MOST: u32 = 16;
/// Guessed before the first full packet (`TCP_MSS_DEFAULT`).
const FIRST_PACKET_BYTES: u64 = 536;
/// Acknowledgements beyond a gap that are sent at once.
const BEYOND_AT_ONCE: u32 = 3;
/// `tcp_comp_sack_nr`.
const COMPRESSED_MOST: u32 = 44;
/// `tcp_comp_sack_delay_ns` and `tcp_comp_sack_slack_ns`: the timer may expire that much later, and does.
const COMPRESSED_NS: u64 = 1_000_000;
const COMPRESSED_SLACK_NS: u64 = 100_000;
/// A 20th of the round trip.
const COMPRESSED_PARTS: u64 = 20;

/// What is to be done about an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Now,
    Later,
}

#[derive(Clone, Debug)]
pub(crate) struct DelayedAck {
    tick: Tick,
    rto_min_ticks: u64,
    /// Data came that no packet has acknowledged.
    pub(crate) owed: bool,
    /// At once, whatever else holds.
    urgent: bool,
    /// Small or last packets of a write came: one, or more.
    pushed: u32,
    /// Packets that are still acknowledged at once.
    quick: u32,
    interactive: bool,
    /// How long an acknowledgement may wait, in ticks; `None` before the first data.
    patience: Option<u64>,
    received_tick: u64,
    /// The largest payload of a packet.
    packet_bytes: u64,
    packet_bytes_most: u64,
    small_before: u64,
    /// The timer: its tick, and when it expires.
    timer: Option<(u64, Instant)>,
    /// Beyond a gap: acknowledgements sent at once and held back since the stream moved, and their timer.
    beyond_sent: u32,
    beyond_next: u64,
    compressed: u32,
    compressed_timer: Option<Instant>,
}

impl DelayedAck {
    pub(crate) fn new(settings: &Settings) -> Self {
        let tick = Tick::new(settings.tick, settings.tick_phase);
        Self {
            tick,
            rto_min_ticks: tick.of_us(settings.rto_min.as_nanos() / 1_000),
            owed: false,
            urgent: false,
            pushed: 0,
            quick: 0,
            interactive: false,
            patience: None,
            received_tick: 0,
            packet_bytes: FIRST_PACKET_BYTES,
            packet_bytes_most: u64::from(settings.mtu_bytes) - 40,
            small_before: 0,
            timer: None,
            beyond_sent: 0,
            beyond_next: 0,
            compressed: 0,
            compressed_timer: None,
        }
    }

    fn least(&self) -> u64 {
        self.tick.per_second() / LEAST_PARTS
    }

    fn most(&self) -> u64 {
        self.tick.per_second() / MOST_PARTS
    }

    pub(crate) fn packet_bytes(&self) -> u64 {
        self.packet_bytes
    }

    /// The next packets are acknowledged at once.
    pub(crate) fn quicken(&mut self, most: u32, window: u64) {
        let packets = (window / (2 * self.packet_bytes)).max(2).min(most.into()) as u32;
        self.quick = self.quick.max(packets);
    }

    /// As `quicken`, because something is wrong: also where the side was interactive.
    pub(crate) fn hurry(&mut self, most: u32, window: u64) {
        self.quicken(most, window);
        self.interactive = false;
        self.patience = Some(self.least());
    }

    /// At least one more packet is acknowledged at once.
    pub(crate) fn quicken_once(&mut self) {
        self.quick |= 1;
    }

    /// The reader is slow: no packet is acknowledged at once.
    pub(crate) fn calm(&mut self) {
        self.quick = 0;
    }

    pub(crate) fn is_urgent(&mut self) {
        self.urgent = true;
    }

    /// Data came in order: `packet` bytes a packet.
    pub(crate) fn received(
        &mut self,
        now: Instant,
        packet: u64,
        push: bool,
        window: u64,
        timeout_ticks: u64,
    ) {
        self.owed = true;
        self.measure_packet(packet, push);
        let tick = self.tick.at(now);
        let since = tick - self.received_tick;
        let (least, most) = (self.least(), self.most());
        match &mut self.patience {
            None => {
                self.quicken(QUICK_MOST, window);
                self.patience = Some(least);
            }
            Some(patience) if since <= least / 2 => *patience = *patience / 2 + least / 2,
            Some(patience) if since < *patience => {
                *patience = (*patience / 2 + since).min(timeout_ticks).min(most);
            }
            Some(_) if since > timeout_ticks => self.quicken(QUICK_MOST, window),
            Some(_) => {}
        }
        self.received_tick = tick;
    }

    fn measure_packet(&mut self, packet: u64, push: bool) {
        let before = core::mem::take(&mut self.small_before);
        if packet >= self.packet_bytes {
            self.packet_bytes = packet.min(self.packet_bytes_most);
            self.pushed = self.pushed.max(u32::from(push));
            return;
        }
        // Twice the same size is a full packet of a peer with smaller ones; below 536 bytes only without PSH.
        if packet + 12 >= FIRST_PACKET_BYTES || (packet + 12 >= 88 && !push) {
            self.small_before = packet;
            if packet == before {
                self.packet_bytes = packet;
                return;
            }
        }
        self.pushed += 1;
    }

    /// Data left: the side is interactive if it answers what came a moment ago.
    pub(crate) fn data_sent(&mut self, now: Instant) {
        if self.tick.at(now) - self.received_tick < self.patience.unwrap_or(0) {
            self.interactive = true;
        }
    }

    /// A packet left, with an acknowledgement.
    pub(crate) fn sent(&mut self) {
        let packets = u32::from(self.owed);
        if packets >= self.quick {
            if self.quick > 0 {
                self.patience = self.patience.map(|_| self.least());
            }
            self.quick = 0;
        } else {
            self.quick -= packets;
        }
        (self.owed, self.urgent, self.pushed, self.timer) = (false, false, 0, None);
        (self.compressed, self.compressed_timer) = (0, None);
    }

    /// After data came: whether to acknowledge now. `unacknowledged` bytes are in order; `moves` says whether the window's
    /// edge moves.
    pub(crate) fn decide(
        &mut self,
        now: Instant,
        unacknowledged: u64,
        moves: bool,
        gap_at: Option<u64>,
        round_trip_us: u64,
        smoothed_us: Option<u64>,
    ) -> Decision {
        let full = unacknowledged > self.packet_bytes && moves;
        if full || (self.quick > 0 && !self.interactive) || self.urgent {
            return Decision::Now;
        }
        let Some(next) = gap_at else { return self.delay(now, smoothed_us) };
        if self.compressed >= COMPRESSED_MOST {
            return Decision::Now;
        }
        if self.beyond_next != next {
            (self.beyond_next, self.beyond_sent) = (next, 0);
        }
        if self.beyond_sent < BEYOND_AT_ONCE {
            self.beyond_sent += 1;
            return Decision::Now;
        }
        self.compressed += 1;
        if self.compressed_timer.is_none() {
            let us = smoothed_us.map_or(round_trip_us, |us| us.min(round_trip_us));
            let delay_ns = (us * 1_000 / COMPRESSED_PARTS).min(COMPRESSED_NS) + COMPRESSED_SLACK_NS;
            self.compressed_timer = Some(Instant::from_nanos(now.as_nanos() + delay_ns));
        }
        Decision::Later
    }

    fn delay(&mut self, now: Instant, smoothed_us: Option<u64>) -> Decision {
        let mut ticks = self.patience.unwrap_or(0);
        if ticks > self.least() {
            let slow = self.interactive || self.pushed > 0;
            let mut most = if slow { self.most() } else { self.tick.per_second() / 2 };
            if let Some(us) = smoothed_us {
                most = most.min(self.tick.of_us(us).max(self.least()));
            }
            ticks = ticks.min(most);
        }
        ticks = ticks.min(self.most()).min(self.rto_min_ticks.max(2) - 1);
        let tick = self.tick.at(now);
        let mut until = tick + ticks;
        if let Some((earlier, _)) = self.timer {
            if earlier <= tick + ticks / 4 {
                return Decision::Now;
            }
            until = until.min(earlier);
        }
        self.timer = Some((until, self.tick.expiry(now, until)));
        Decision::Later
    }

    /// Whether data beyond a gap wait for their acknowledgement.
    pub(crate) fn is_compressing(&self) -> bool {
        self.compressed > 0
    }

    /// The application has read everything: whether that is worth an acknowledgement.
    pub(crate) fn after_reading(&self, unacknowledged: u64) -> bool {
        let small = self.pushed > 1 || (self.pushed > 0 && !self.interactive);
        self.owed && (unacknowledged > self.packet_bytes || small)
    }

    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timer.map(|(_, at)| at).into_iter().chain(self.compressed_timer).min()
    }

    /// Whether an acknowledgement is due now.
    pub(crate) fn wake(&mut self, now: Instant, timeout_ticks: u64) -> bool {
        if self.compressed_timer.is_some_and(|at| at <= now) {
            self.compressed_timer = None;
            return self.compressed > 0;
        }
        if self.timer.is_none_or(|(_, at)| at > now) {
            return false;
        }
        self.timer = None;
        if !self.owed {
            return false;
        }
        if self.interactive {
            // It did not answer in time.
            self.interactive = false;
            self.patience = Some(self.least());
        } else {
            let most = self.most();
            self.patience = self.patience.map(|ticks| (2 * ticks).min(timeout_ticks).min(most));
        }
        true
    }
}
