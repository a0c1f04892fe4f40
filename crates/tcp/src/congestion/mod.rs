//! Congestion control: how the window of a sender grows, and what a loss leaves of it.
//!
//! The window counts packets. When it is reduced, and how the reduction spreads over a round trip, is decided in
//! `recovery` and `reduction`, the same for every algorithm.

mod cubic;
mod hystart;
mod reno;

use crosswind_engine::Instant;

use crate::settings::Algorithm;
use crate::tick::Tick;
use cubic::Cubic;

/// RFC 6928, 2: "IW = min (10*MSS, max (2*MSS, 14600))".
pub(crate) const INITIAL_PACKETS: u32 = 10;
/// No threshold yet.
const NO_THRESHOLD: u32 = u32::MAX / 2;

/// A congestion window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Packets that may be in flight.
    pub(crate) packets: u32,
    /// Slow start below it.
    pub(crate) threshold: u32,
    /// Packets acknowledged towards the next increase.
    credit: u32,
}

impl Window {
    fn new() -> Self {
        Self { packets: INITIAL_PACKETS, threshold: NO_THRESHOLD, credit: 0 }
    }

    pub(crate) fn is_in_slow_start(&self) -> bool {
        self.packets < self.threshold
    }

    /// Whether it was reduced before, so that the threshold means something.
    pub(crate) fn has_threshold(&self) -> bool {
        self.threshold < NO_THRESHOLD
    }

    /// Forgets packets counted towards the next increase.
    pub(crate) fn restart_credit(&mut self) {
        self.credit = 0;
    }

    /// One more for each acknowledged packet, up to the threshold; returns how many were beyond it.
    fn slow_start(&mut self, acknowledged: u32) -> u32 {
        let grown = (self.packets + acknowledged).min(self.threshold);
        let left = acknowledged - (grown - self.packets);
        self.packets = grown;
        left
    }

    /// One more for every `each` acknowledged packets.
    fn grow_slowly(&mut self, each: u32, acknowledged: u32) {
        // Credit from a time of slower growth gives one packet, not several at once.
        if self.credit >= each {
            self.credit = 0;
            self.packets += 1;
        }
        self.credit += acknowledged;
        self.packets += self.credit / each;
        self.credit %= each;
    }
}

/// What a sender measures of an acknowledgement, for the algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) now: Instant,
    pub(crate) round_trip_us: u64,
    /// The first byte that is not acknowledged.
    pub(crate) acknowledged: u64,
    /// The next byte to be sent.
    pub(crate) next: u64,
    /// Bytes per second.
    pub(crate) pacing_rate: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Reno,
    Cubic(Cubic),
}

/// A congestion window and its algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    pub(crate) window: Window,
    kind: Kind,
    tick: Tick,
}

impl Congestion {
    pub(crate) fn new(algorithm: Algorithm, tick: Tick) -> Self {
        let kind = match algorithm {
            Algorithm::Reno => Kind::Reno,
            Algorithm::Cubic => Kind::Cubic(Cubic::new()),
        };
        Self { window: Window::new(), kind, tick }
    }

    /// The threshold after a loss now; the window itself does not change.
    pub(crate) fn threshold_after_loss(&mut self) -> u32 {
        match &mut self.kind {
            Kind::Reno => reno::threshold_after_loss(&self.window),
            Kind::Cubic(cubic) => cubic.threshold_after_loss(&self.window),
        }
    }

    /// Packets were acknowledged while the window limited the sender.
    pub(crate) fn grow(&mut self, acknowledged: u32, now: Instant) {
        let mut left = acknowledged;
        if self.window.is_in_slow_start() {
            left = self.window.slow_start(acknowledged);
            if left == 0 {
                return;
            }
        }
        let each = match &mut self.kind {
            Kind::Reno => self.window.packets,
            Kind::Cubic(cubic) => cubic.packets_for_one_more(self.window.packets, left, now, &self.tick),
        };
        self.window.grow_slowly(each, left);
    }

    /// A round trip was measured.
    pub(crate) fn measured(&mut self, measured: &Measured) {
        if let Kind::Cubic(cubic) = &mut self.kind {
            cubic.measured(&mut self.window, measured, &self.tick);
        }
    }

    /// A timeout.
    pub(crate) fn timed_out(&mut self, now: Instant, next: u64) {
        if let Kind::Cubic(cubic) = &mut self.kind {
            cubic.timed_out(now, next);
        }
    }

    /// Sending starts again after a time with nothing in flight.
    pub(crate) fn resumed(&mut self, idle_ticks: u64) {
        if let Kind::Cubic(cubic) = &mut self.kind {
            cubic.resumed(idle_ticks);
        }
    }
}
