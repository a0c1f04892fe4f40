//! Paced source. Every `pacing` it offers rate x pacing bits as a burst of equal ghost packets, as iperf3 does with its
//! pacing timer; every `hold` it draws a new rate.
//!
//! Inside a burst, packets follow each other at the wire time of `peak` (the line rate of the sender's NIC). Bits that do
//! not make a whole packet are carried to the next burst. A burst that does not fit its interval runs on without a gap,
//! and at most one interval's worth of what was not sent is carried; the rest is forgotten, so that no backlog grows.
//!
//! Draws happen at start, start + hold, ...; bursts begin at start, start + pacing, ...; at a common instant the draw comes
//! first. A draw of 0 means silence, or (`ZeroMeans::Unlimited`) packets at `peak` until the next draw.
//! A source that is stopped and started again under its name draws the same rates again.
//!
//! Source: Hasenoot et al. 2023 (ICPE), section 3.2; iperf3's `--pacing-timer` (default 1 ms) and `iperf_check_throttle`.
//! Deviation: iperf3 sends while its average since the start is below the rate, and so catches up without bound.

use alloc::vec::Vec;

use super::{SourceSpec, ZeroMeans};
use crate::link::Serialiser;
use crate::packet;
use crate::path::PathId;
use crate::random::Stream;
use crate::units::{Instant, NANO};

pub(crate) struct Paced {
    spec: SourceSpec,
    path: PathId,
    stream: Stream,
    /// Every draw so far: when, and IP bits per second.
    draws: Vec<(Instant, u64)>,
    next_draw: Instant,
    next_burst: Instant,
    /// Offered but not yet sent, in nano-bits (rate x pacing is a whole number of them).
    backlog_nano_bits: u128,
    /// Spaces the packets of a burst.
    peak: Serialiser,
    /// Since when there has been something to send.
    ready_since: Option<Instant>,
}

impl Paced {
    /// `spec` has been checked. The first wake-up is due at `start`.
    pub(crate) fn new(spec: SourceSpec, path: PathId, stream: Stream, start: Instant) -> Paced {
        Paced {
            peak: Serialiser::new(spec.peak),
            spec,
            path,
            stream,
            draws: Vec::new(),
            next_draw: start,
            next_burst: start,
            backlog_nano_bits: 0,
            ready_since: None,
        }
    }

    /// Sends along another path from now on.
    pub(crate) fn redirect(&mut self, path: PathId) {
        self.path = path;
    }

    pub(crate) fn path(&self) -> PathId {
        self.path
    }

    pub(crate) fn packet_ip_bytes(&self) -> u32 {
        self.spec.packet_ip_bytes
    }

    pub(crate) fn draws(&self) -> &[(Instant, u64)] {
        &self.draws
    }

    /// Does what is due now; returns whether that includes sending one packet.
    pub(crate) fn wake(&mut self, now: Instant) -> bool {
        if self.next_draw == now {
            self.draw(now);
        }
        if self.next_burst == now {
            self.offer(now);
        }
        self.send(now)
    }

    /// When to wake it next.
    pub(crate) fn next_wake(&self) -> Instant {
        let next = self.next_draw.min(self.next_burst);
        self.next_send().map_or(next, |send| send.min(next))
    }

    fn draw(&mut self, now: Instant) {
        let was_endless = self.is_endless();
        let rate = self.spec.rate.draw(&mut self.stream);
        self.draws.push((now, rate));
        self.next_draw = now.saturating_add(self.spec.hold);
        if was_endless && !self.is_endless() {
            self.backlog_nano_bits = 0;
            self.ready_since = None;
        }
        self.note_readiness(now);
    }

    fn offer(&mut self, now: Instant) {
        let offered = u128::from(self.rate()) * u128::from(self.spec.pacing.as_nanos());
        let carried = self.backlog_nano_bits.min(offered.max(self.packet_nano_bits()));
        self.backlog_nano_bits = carried + offered;
        self.next_burst = now.saturating_add(self.spec.pacing);
        self.note_readiness(now);
    }

    fn send(&mut self, now: Instant) -> bool {
        let (Some(since), Some(due)) = (self.ready_since, self.next_send()) else {
            return false;
        };
        if due > now {
            return false;
        }
        self.peak.send(packet::wire_bytes(self.spec.packet_ip_bytes), since);
        if !self.is_endless() {
            self.backlog_nano_bits -= self.packet_nano_bits();
        }
        self.note_readiness(now);
        true
    }

    /// The instant of the next packet of the burst under way.
    fn next_send(&self) -> Option<Instant> {
        self.ready_since.map(|since| since.max(self.peak.free_at()))
    }

    /// Keeps `ready_since` true: set when something to send appears, cleared when it is gone.
    fn note_readiness(&mut self, now: Instant) {
        let has_packet = self.is_endless() || self.backlog_nano_bits >= self.packet_nano_bits();
        self.ready_since = if has_packet { self.ready_since.or(Some(now)) } else { None };
    }

    /// The rate in force; 0 before the first draw.
    fn rate(&self) -> u64 {
        self.draws.last().map_or(0, |&(_, rate)| rate)
    }

    fn is_endless(&self) -> bool {
        self.spec.zero == ZeroMeans::Unlimited && matches!(self.draws.last(), Some((_, 0)))
    }

    fn packet_nano_bits(&self) -> u128 {
        u128::from(self.spec.packet_ip_bytes) * 8 * u128::from(NANO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::RateLaw;
    use crate::units::{Duration, Rate};

    #[test]
    fn a_backlog_never_exceeds_two_intervals_worth() {
        // Offered: 20 Gbit/s; the peak lets 12 Gbit/s of IP bits through. What is left of an interval is carried once.
        let mut engine = crate::Engine::new(1);
        let spec = SourceSpec {
            rate: RateLaw::Constant { bits_per_second: 20_000_000_000 },
            hold: Duration::from_secs(1),
            pacing: Duration::from_micros(3),
            packet_ip_bytes: 1500,
            peak: Rate::bits_per_second(12_304_000_000).unwrap(),
            zero: ZeroMeans::Silence,
        };
        let interval_nano_bits = 20_000_000_000 * 3_000;
        let mut source = Paced::new(spec, engine.path(&[]), Stream::new(1, "s"), Instant::ZERO);
        let mut most = 0;
        while source.next_wake() < Instant::from_nanos(1_000_000) {
            source.wake(source.next_wake());
            most = most.max(source.backlog_nano_bits);
        }
        // The packet that is due with the third burst leaves right after the offer.
        let packet_nano_bits = source.packet_nano_bits();
        assert!(
            (2 * interval_nano_bits - packet_nano_bits..=2 * interval_nano_bits).contains(&most),
            "{most}"
        );
    }
}
