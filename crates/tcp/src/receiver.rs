//! The receiving half of an end: takes data, and says what goes into the headers of whatever leaves.
//!
//! Source: Linux, `tcp_data_queue`, `tcp_rcv_established`, `tcp_select_window`.

use crosswind_engine::Instant;

use crate::delayed_ack::{Decision, DelayedAck, QUICK_MOST};
use crate::reassembly::{Fell, Reassembly};
use crate::receive_buffer::ReceiveBuffer;
use crate::segment::{Blocks, Range, Segment};
use crate::settings::Settings;

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    ecn: bool,
    pub(crate) data: Reassembly,
    pub(crate) ack: DelayedAck,
    buffer: ReceiveBuffer,
    /// What the latest packet acknowledged and offered.
    acknowledged: u64,
    offered: u64,
    /// What the application has read.
    pub(crate) read: u64,
    /// The stamp to echo.
    echo_ms: u64,
    /// Marks are echoed until the sender says that it has reacted.
    echoes_mark: bool,
    has_seen_markable: bool,
}

/// What a packet that leaves now says of what has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) acknowledged: u64,
    pub(crate) window: u64,
    pub(crate) duplicate: Option<Range>,
    pub(crate) blocks: Blocks,
    pub(crate) echo_ms: u64,
    pub(crate) echoes_mark: bool,
}

/// What the sender of the same end knows, which some decisions use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) smoothed_us: Option<u64>,
    pub(crate) timeout_ticks: u64,
}

impl Receiver {
    pub(crate) fn new(settings: &Settings, now: Instant) -> Self {
        let buffer = ReceiveBuffer::new(settings, now);
        Self {
            ecn: settings.ecn,
            data: Reassembly::default(),
            ack: DelayedAck::new(settings),
            acknowledged: 0,
            offered: buffer.first_window(),
            buffer,
            read: 0,
            echo_ms: 0,
            echoes_mark: false,
            has_seen_markable: false,
        }
    }

    fn unread(&self) -> u64 {
        self.data.next - self.read
    }

    fn held(&self) -> u64 {
        self.unread() + self.data.beyond_bytes()
    }

    /// What may still come of the offered window.
    fn left(&self) -> u64 {
        (self.acknowledged + self.offered).saturating_sub(self.data.next)
    }

    /// The stamp of a segment, before anything else of it.
    pub(crate) fn take_stamp(&mut self, segment: &Segment) {
        if segment.sequence <= self.acknowledged && segment.stamp_ms >= self.echo_ms {
            self.echo_ms = segment.stamp_ms;
        }
    }

    /// Takes the data of a segment; returns whether the application can read more.
    pub(crate) fn take(&mut self, now: Instant, segment: &Segment, known: Known) -> bool {
        if segment.has_reduced && segment.bytes > 0 {
            self.echoes_mark = false;
            self.ack.is_urgent();
        }
        if segment.bytes == 0 {
            if segment.sequence < self.data.next {
                // A probe of a closed window wants an answer.
                self.ack.owed = true;
                self.ack.is_urgent();
            }
            return false;
        }
        let range = Range { from: segment.sequence, to: segment.end() };
        if range.from >= self.data.next + self.left() && range.to > self.data.next {
            self.ack.hurry(QUICK_MOST, self.offered);
            self.ack.owed = true;
            return false;
        }
        match self.data.take(range) {
            Fell::Again => {
                self.ack.hurry(QUICK_MOST, self.offered);
                self.ack.owed = true;
                false
            }
            Fell::Beyond { block } => {
                self.ack.owed = true;
                self.take_mark(segment);
                self.grow(segment);
                self.buffer.enlarge_beyond_gap(self.data.beyond_bytes());
                if block >= 2 && self.ack.is_compressing() {
                    // The news would fall out of the blocks.
                    self.ack.is_urgent();
                }
                false
            }
            Fell::InOrder { closes } => {
                let packet = segment.packet_bytes.min(segment.bytes).into();
                if packet >= self.ack.packet_bytes() {
                    self.buffer.measure_packet(segment.bytes.into());
                }
                self.ack.received(now, packet, segment.push, self.offered, known.timeout_ticks);
                self.buffer.measure_by_window(now, self.data.next, self.offered);
                self.take_mark(segment);
                self.grow(segment);
                let full = u64::from(segment.bytes) >= self.ack.packet_bytes();
                self.buffer.measure_by_stamp(now, segment.echo_ms, full);
                if closes {
                    self.ack.is_urgent();
                }
                true
            }
        }
    }

    fn grow(&mut self, segment: &Segment) {
        if self.buffer.grow(segment.bytes.into(), self.held()) {
            self.ack.quicken_once();
        }
    }

    /// RFC 3168, 6.1.3: echoes a mark until the sender answers.
    fn take_mark(&mut self, segment: &Segment) {
        if !self.ecn {
            return;
        }
        if segment.marked {
            if !self.echoes_mark {
                self.ack.hurry(2, self.offered);
            }
            self.echoes_mark = true;
            self.has_seen_markable = true;
        } else if segment.markable {
            self.has_seen_markable = true;
        } else if self.has_seen_markable {
            // Probably sent again.
            self.ack.hurry(2, self.offered);
        }
    }

    /// Whether to acknowledge now what has come.
    pub(crate) fn decide(&mut self, now: Instant, known: Known) -> Decision {
        if !self.ack.owed {
            return Decision::Later;
        }
        if self.buffer.is_half_full(self.held()) {
            self.ack.calm();
        }
        let moves = self.unread() == 0 || self.buffer.window(self.held()) >= self.offered;
        let gap_at = self.data.has_gap().then_some(self.data.next);
        let unacknowledged = self.data.next - self.acknowledged;
        let round_trip_us = self.buffer.round_trip_us();
        self.ack.decide(now, unacknowledged, moves, gap_at, round_trip_us, known.smoothed_us)
    }

    /// The application reads everything; returns how much, and whether that is worth an acknowledgement.
    pub(crate) fn read_all(&mut self, now: Instant) -> (u64, bool) {
        let bytes = self.unread();
        if bytes == 0 {
            return (0, false);
        }
        self.read = self.data.next;
        self.buffer.adapt(now, self.read, self.data.next, self.data.beyond_bytes());
        let unacknowledged = self.data.next - self.acknowledged;
        let left = self.left();
        let opens = 2 * left <= self.buffer.clamp() && self.buffer.window(self.held()) >= (2 * left).max(1);
        (bytes, self.ack.after_reading(unacknowledged) || opens)
    }

    /// The header of a packet that leaves now.
    pub(crate) fn header(&mut self) -> Header {
        // A window that was offered is not taken back.
        let window = self.buffer.window(self.held()).max(self.left());
        (self.acknowledged, self.offered) = (self.data.next, window);
        let (duplicate, blocks) = self.data.report();
        self.ack.sent();
        Header {
            acknowledged: self.acknowledged,
            window,
            duplicate,
            blocks,
            echo_ms: self.echo_ms,
            echoes_mark: self.ecn && self.echoes_mark,
        }
    }
}
