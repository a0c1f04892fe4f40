//! The sending half of an end: state, and what an acknowledgement does to it.
//!
//! An acknowledgement is handled in this order: blocks and order of arrival mark packets as delivered (here), losses are
//! found and the state of congestion changes (`recovery`), the timer starts again (`timer`), the window changes
//! (`reduction`, `congestion`), lost packets and then new ones are sent (`transmit`).
//!
//! Source: Linux, `tcp_ack`; RFC 9293, 3.10.7.4.

use alloc::vec::Vec;

use crosswind_engine::Instant;

use crate::congestion::{Congestion, Measured};
use crate::probe::Probe;
use crate::rack::Rack;
use crate::recovery::{Repair, State};
use crate::reduction::Reduction;
use crate::round_trip::RoundTrip;
use crate::scoreboard::{Scoreboard, Sent};
use crate::segment::{Range, Segment};
use crate::send_queue::SendQueue;
use crate::settings::Settings;
use crate::tick::Tick;
use crate::timer::Timer;
use crate::undo::Undo;

/// Linux, `tcp_reordering`.
pub(crate) const REORDERING: u32 = 3;
/// Linux, `tcp_max_reordering`.
const REORDERING_MOST: u32 = 300;

/// Data to be sent now; the end adds what it acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) sequence: u64,
    pub(crate) bytes: u32,
    pub(crate) push: bool,
    pub(crate) markable: bool,
    pub(crate) has_reduced: bool,
}

/// What a sender has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Packets with data, first transmissions.
    pub sent: u64,
    /// Packets that were sent again, probes included.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Loss probes (TLP).
    pub probes: u64,
    /// Reductions of the window that were taken back.
    pub undone: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) settings: Settings,
    pub(crate) tick: Tick,
    /// The first byte that is not acknowledged.
    pub(crate) una: u64,
    /// The next byte to be sent for the first time.
    pub(crate) next: u64,
    /// Bytes from `una` that the receiver takes, and the packet that said so.
    pub(crate) window: u64,
    window_from: u64,
    pub(crate) window_most: u64,
    pub(crate) queue: SendQueue,
    pub(crate) board: Scoreboard,
    pub(crate) congestion: Congestion,
    pub(crate) state: State,
    /// Recovery, or a reduction, ends when this is acknowledged.
    pub(crate) high: u64,
    pub(crate) reduction: Reduction,
    pub(crate) undo: Undo,
    pub(crate) rack: Rack,
    pub(crate) probe: Probe,
    /// RFC 5682: the timeout may have been spurious.
    pub(crate) may_be_spurious: bool,
    /// Packets that others may overtake.
    pub(crate) reordering: u32,
    pub(crate) has_seen_reordering: bool,
    pub(crate) round_trip: RoundTrip,
    /// Timeouts since the last acknowledgement that moved `una`.
    pub(crate) timeouts_in_a_row: u32,
    pub(crate) timer: Timer,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) trains: u32,
    /// Bytes per second.
    pub(crate) pacing_rate: u64,
    /// When data were sent last.
    pub(crate) sent_at: Instant,
    pub(crate) limited: Limited,
    /// The latest stamp that was echoed.
    pub(crate) echo_ms: u64,
    /// A reduction must be announced (CWR).
    pub(crate) must_announce: bool,
    pub(crate) counts: SenderCounts,
}

/// Whether the window or something else limited the sender (RFC 7661; Linux, `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limited {
    pub(crate) by_window: bool,
    pub(crate) most_out: u32,
    pub(crate) until: u64,
    /// Packets in use of a window that was not full.
    pub(crate) used: u32,
    pub(crate) since_tick: u64,
}

/// What an acknowledgement said, as it is handled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Said {
    /// It has data of its own.
    pub(crate) with_data: bool,
    pub(crate) updates_window: bool,
    /// New data are acknowledged in order.
    pub(crate) acknowledges: bool,
    /// Some of these had been sent again.
    pub(crate) acknowledges_retransmitted: bool,
    /// New data are sacked.
    pub(crate) sacks: bool,
    /// A queue has marked a packet.
    pub(crate) marked: bool,
    /// `una` has moved.
    pub(crate) advances: bool,
    /// Data that were sent before the recovery, and not again, have arrived.
    pub(crate) delivers_original: bool,
    /// Data came twice.
    pub(crate) duplicate: bool,
    /// The probe came twice.
    pub(crate) duplicate_probe: bool,
    /// The timer starts again.
    pub(crate) sets_timer: bool,
    /// It may be a delayed acknowledgement.
    pub(crate) may_be_delayed: bool,
    pub(crate) loses_retransmitted: bool,
}

impl Said {
    fn is_no_duplicate(&self) -> bool {
        self.with_data || self.updates_window || self.acknowledges
    }
}

/// What blocks and order have delivered.
#[derive(Clone, Copy, Debug)]
struct Delivery {
    /// First and last transmission of newly sacked packets that were sent once.
    first_sacked_at: Option<Instant>,
    last_sacked_at: Instant,
    /// The lowest packet that was overtaken.
    overtaken: u64,
    /// Packets delivered when the latest delivered one was sent.
    prior_delivered: Option<(Instant, u64, u64)>,
}

impl Sender {
    pub(crate) fn new(settings: Settings, now: Instant) -> Self {
        let tick = Tick::new(settings.tick, settings.tick_phase);
        Self {
            settings,
            tick,
            una: 0,
            next: 0,
            window: 0,
            window_from: 0,
            window_most: 0,
            queue: SendQueue::new(settings.send_buffer),
            board: Scoreboard::new(),
            congestion: Congestion::new(settings.congestion, tick),
            state: State::Open,
            high: 0,
            reduction: Reduction::default(),
            undo: Undo::default(),
            rack: Rack::default(),
            probe: Probe::default(),
            may_be_spurious: false,
            reordering: REORDERING,
            has_seen_reordering: false,
            round_trip: RoundTrip::new(settings.rto_min, &tick),
            timeouts_in_a_row: 0,
            timer: Timer::default(),
            delivered: 0,
            lost: 0,
            trains: 0,
            pacing_rate: u64::MAX,
            sent_at: now,
            limited: Limited { since_tick: tick.at(now), ..Limited::default() },
            echo_ms: 0,
            must_announce: false,
            counts: SenderCounts::default(),
        }
    }

    /// The connection is made; the handshake took this long, where it was measured.
    pub(crate) fn establish(&mut self, window: u64, round_trip_us: Option<u64>) {
        (self.window, self.window_most) = (window, window);
        if let Some(us) = round_trip_us {
            self.round_trip.passed(us);
            self.round_trip.measured(us, 0, 0, &self.tick);
        }
        self.queue.expand(self.congestion.window.packets);
    }

    pub(crate) fn payload_bytes(&self) -> u64 {
        self.settings.payload_bytes().into()
    }

    pub(crate) fn window_end(&self) -> u64 {
        self.una + self.window
    }

    pub(crate) fn is_reducing(&self) -> bool {
        matches!(self.state, State::Reducing | State::Recovery)
    }

    /// RFC 5681, 3.1, the threshold to return to: Linux keeps three quarters of a window that was in use.
    pub(crate) fn threshold_now(&self) -> u32 {
        let window = &self.congestion.window;
        if self.is_reducing() {
            window.threshold
        } else {
            window.threshold.max(window.packets / 2 + window.packets / 4)
        }
    }

    /// Whether the congestion window limits the sender; in slow start also where it is less than twice what was used.
    pub(crate) fn is_limited_by_window(&self) -> bool {
        let window = &self.congestion.window;
        self.limited.by_window || (window.is_in_slow_start() && window.packets < 2 * self.limited.most_out)
    }

    /// Handles the acknowledgement of a segment that came now.
    pub(crate) fn acknowledge(&mut self, now: Instant, segment: &Segment, out: &mut Vec<Payload>) {
        let ack = segment.acknowledged;
        let prior_una = self.una;
        if ack > self.next {
            return;
        }
        self.echo_ms = segment.echo_ms;
        let mut said = Said { with_data: segment.bytes > 0, ..Said::default() };
        let mut delivery = Delivery {
            first_sacked_at: None,
            last_sacked_at: now,
            overtaken: self.next,
            prior_delivered: None,
        };
        let (delivered_before, lost_before) = (self.delivered, self.lost);
        let prior_sacked_to = self.board.sacked_to(self.una);
        if ack < prior_una {
            // An old one may still have news beyond gaps.
            if !segment.blocks.as_slice().is_empty() || segment.duplicate.is_some() {
                self.take_blocks(now, segment, prior_una, &mut said, &mut delivery);
                let repair = self.alert(now, prior_una, false, &mut said);
                self.repair(now, repair, out);
            }
            return;
        }
        if ack > prior_una {
            said.advances = true;
            self.timeouts_in_a_row = 0;
        }
        self.take_window(segment, &mut said);
        self.una = ack;
        if !segment.blocks.as_slice().is_empty() || segment.duplicate.is_some() {
            self.take_blocks(now, segment, prior_una, &mut said, &mut delivery);
        }
        said.marked = self.settings.ecn && segment.echoes_mark;
        if self.board.out() == 0 {
            if said.duplicate {
                let repair = self.alert(now, prior_una, false, &mut said);
                self.repair(now, repair, out);
            }
            self.end_probe(ack, &said);
            return;
        }
        self.take_order(now, segment, prior_una, prior_sacked_to, &mut said, &mut delivery);
        self.rack.adapt(delivery.prior_delivered.map(|(_, _, prior)| prior), self.delivered);
        self.end_probe(ack, &said);
        let mut repair = Repair::None;
        if !said.is_no_duplicate() || said.sacks || said.marked || self.state != State::Open {
            let is_duplicate = !said.advances && !said.is_no_duplicate() && !said.duplicate;
            repair = self.alert(now, prior_una, is_duplicate, &mut said);
        }
        if said.sets_timer {
            self.start_timer_again(now);
        }
        let delivered = (self.delivered - delivered_before) as u32;
        let lost = self.lost - lost_before;
        self.change_window(now, delivered, lost, &said);
        self.repair(now, repair, out);
    }

    fn change_window(&mut self, now: Instant, delivered: u32, lost: u64, said: &Said) {
        // With much reordering, the order of arrival says little.
        let grows = said.acknowledges || (self.reordering > REORDERING && said.sacks);
        if self.is_reducing() {
            self.reduce(delivered, lost > 0, said.advances);
        } else if grows && self.is_limited_by_window() {
            self.congestion.grow(delivered, now);
        }
        self.update_pacing_rate();
    }

    fn take_window(&mut self, segment: &Segment, said: &mut Said) {
        let newer = segment.sequence > self.window_from;
        let larger = segment.sequence == self.window_from && segment.window > self.window;
        if segment.acknowledged > self.una || newer || larger {
            said.updates_window = true;
            self.window_from = segment.sequence;
            self.window = segment.window;
            self.window_most = self.window_most.max(segment.window);
        }
    }

    /// Selective acknowledgements (RFC 2018), and reports of duplicates (RFC 2883).
    fn take_blocks(
        &mut self,
        now: Instant,
        segment: &Segment,
        prior_una: u64,
        said: &mut Said,
        delivery: &mut Delivery,
    ) {
        let duplicate = segment.duplicate.filter(|&range| self.take_duplicate(range, prior_una, said));
        if let Some(range) = duplicate.filter(|range| range.from >= self.una) {
            for number in self.board.within(range).collect::<Vec<_>>() {
                let sent = *self.board.get(number);
                if sent.sacked && sent.ever_retransmitted {
                    self.undo.one_was_needless(sent.end());
                    delivery.overtaken = delivery.overtaken.min(sent.sequence);
                }
                self.board.forget_retransmission(number);
            }
        }
        for &block in segment.blocks.as_slice() {
            if block.to <= self.una.max(prior_una) || block.to > self.next {
                continue;
            }
            for number in self.board.not_sacked_within(block) {
                self.sack(now, number, said, delivery);
            }
        }
        if self.state != State::Loss || self.undo.is_possible() {
            self.note_overtaken(delivery.overtaken);
        }
        delivery.overtaken = self.next;
    }

    fn sack(&mut self, now: Instant, number: u64, said: &mut Said, delivery: &mut Delivery) {
        let sent = *self.board.get(number);
        let is_in_hole = sent.sequence < self.board.sacked_to(self.una);
        self.rack.delivered(now, &sent, self.round_trip.shortest_us());
        if !sent.ever_retransmitted {
            if is_in_hole {
                delivery.overtaken = delivery.overtaken.min(sent.sequence);
            }
            said.delivers_original |= sent.end() <= self.high;
            delivery.first_sacked_at.get_or_insert(sent.at);
            delivery.last_sacked_at = sent.at;
        }
        self.note_delivered(&sent, delivery);
        self.board.sack(number);
        said.sacks = true;
        self.delivered += 1;
    }

    /// Remembers what had been delivered when the latest of the delivered packets was sent.
    fn note_delivered(&self, sent: &Sent, delivery: &mut Delivery) {
        let latest = (sent.at, sent.end());
        if delivery.prior_delivered.is_none_or(|(at, end, _)| latest > (at, end)) {
            delivery.prior_delivered = Some((sent.at, sent.end(), sent.delivered_before));
        }
    }

    /// A report that data came twice; false where no retransmission can explain it.
    fn take_duplicate(&mut self, range: Range, prior_una: u64, said: &mut Said) -> bool {
        let bytes = range.to - range.from;
        let packets = bytes.div_ceil(self.payload_bytes()) as u32;
        if bytes > self.window_most || !self.undo.count_duplicates(packets, self.counts.retransmitted) {
            return false;
        }
        said.duplicate = true;
        said.duplicate_probe = packets == 1 && self.probe.high == Some(range.to);
        if self.has_seen_reordering && !said.duplicate_probe {
            self.rack.duplicate_seen();
        }
        self.delivered += u64::from(packets);
        if range.to <= prior_una {
            self.undo.were_needless(packets, range.to);
        }
        true
    }

    /// Packets arrived in the order of transmission up to `una`.
    fn take_order(
        &mut self,
        now: Instant,
        segment: &Segment,
        prior_una: u64,
        prior_sacked_to: u64,
        said: &mut Said,
        delivery: &mut Delivery,
    ) {
        let us_since = |at: Instant| (now.as_nanos() / 1_000).saturating_sub(at.as_nanos() / 1_000);
        let prior_sacked = self.board.sacked_out;
        let (mut first_at, mut last_at) = (None, now);
        let mut overtaken = self.next;
        let mut packets = 0;
        while self.board.head().is_some_and(|sent| sent.end() <= self.una) {
            let sent = self.board.remove_head();
            packets += 1;
            said.acknowledges = true;
            if sent.ever_retransmitted {
                said.acknowledges_retransmitted = true;
            } else if !sent.sacked {
                first_at.get_or_insert(sent.at);
                last_at = sent.at;
                overtaken = overtaken.min(sent.sequence);
                said.delivers_original |= sent.end() <= self.high;
            }
            if !sent.sacked {
                self.delivered += 1;
                let spurious = sent.ever_retransmitted && is_before(segment.echo_ms, sent.at);
                if !spurious {
                    self.rack.delivered(now, &sent, self.round_trip.shortest_us());
                }
                self.note_delivered(&sent, delivery);
            }
        }
        self.queue.release(self.una);
        let mut round_trip_us = None;
        let mut latest_us = None;
        if let Some(first_at) = first_at.filter(|_| !said.acknowledges_retransmitted) {
            round_trip_us = Some(us_since(first_at));
            latest_us = Some(us_since(last_at));
            said.may_be_delayed = packets == 1
                && prior_sacked == 0
                && self.una - prior_una < self.payload_bytes()
                && delivery.prior_delivered.is_some_and(|(_, _, prior)| prior + 1 == self.delivered)
                && !said.sacks
                && !said.marked;
        }
        let sacked_us = delivery.first_sacked_at.map(us_since);
        if sacked_us.is_some() {
            latest_us = Some(us_since(delivery.last_sacked_at));
            round_trip_us = round_trip_us.or(sacked_us);
        }
        if round_trip_us.is_none() && said.acknowledges && segment.echo_ms > 0 {
            let ms = (now.as_nanos() / 1_000_000).saturating_sub(segment.echo_ms);
            round_trip_us = Some(ms.max(1) * 1_000);
            latest_us = round_trip_us;
        }
        if let Some(us) = round_trip_us {
            let latest_us = latest_us.unwrap_or(us);
            if !said.may_be_delayed || latest_us <= self.round_trip.shortest_us() {
                self.round_trip.passed(latest_us);
            }
            self.round_trip.measured(us, self.una, self.next, &self.tick);
        }
        if said.acknowledges {
            said.sets_timer = true;
            if overtaken < prior_sacked_to {
                self.note_overtaken(overtaken);
            }
        } else if let (Some(us), Some(head)) =
            (sacked_us.filter(|_| round_trip_us.is_some()), self.board.head())
        {
            // Not where the head was sent after what is sacked: the timeout would be put off again and again.
            said.sets_timer = us > us_since(head.at);
        }
        if let Some(round_trip_us) = latest_us {
            let measured = Measured {
                now,
                round_trip_us,
                acknowledged: self.una,
                next: self.next,
                pacing_rate: self.pacing_rate,
            };
            self.congestion.measured(&measured);
        }
    }

    /// A packet that was sent once and before others arrived after them.
    pub(crate) fn note_overtaken(&mut self, lowest: u64) {
        let sacked_to = self.board.sacked_to(self.una);
        if lowest >= sacked_to {
            return;
        }
        let distance = (sacked_to - lowest).div_ceil(self.payload_bytes()) as u32;
        self.reordering = self.reordering.max(distance.min(REORDERING_MOST));
        self.has_seen_reordering = true;
    }
}

/// Whether an echoed stamp is older than an instant, in the milliseconds of stamps.
pub(crate) fn is_before(echo_ms: u64, at: Instant) -> bool {
    echo_ms > 0 && echo_ms < at.as_nanos() / 1_000_000
}
