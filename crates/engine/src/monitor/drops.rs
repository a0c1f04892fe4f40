//! Drops: selected packets that the elements after the monitor dropped, by reason, and their number in each window.
//!
//! Windows are counted as for `packet-rate`: logarithmic bins, those without a drop included.

use super::packet_rate::PerWindow;
use super::report::Readings;
use crate::outcome::DropReason;
use crate::packet::Packet;
use crate::units::{Duration, Instant};

#[derive(Clone)]
pub(crate) struct Drops {
    by_reason: [u64; DropReason::ALL.len()],
    per_window: PerWindow,
}

impl Drops {
    /// Starts at the origin of time.
    pub(crate) fn new(window: Duration) -> Drops {
        Drops { by_reason: [0; DropReason::ALL.len()], per_window: PerWindow::new(window) }
    }

    /// Starts at `start`, empty.
    pub(crate) fn start(&mut self, start: Instant) {
        self.per_window.start(start);
    }

    pub(crate) fn dropped(&mut self, packet: &Packet, reason: DropReason, at: Instant) {
        self.by_reason[reason as usize] += u64::from(packet.count);
        self.per_window.add(at, u64::from(packet.count));
    }

    pub(crate) fn report(&self, now: Instant, what: &'static str, readings: &mut Readings) {
        for (reason, &count) in DropReason::ALL.iter().zip(&self.by_reason) {
            if count > 0 {
                readings.count(what, reason.name(), count);
            }
        }
        self.per_window.report(now, what, readings);
    }
}
