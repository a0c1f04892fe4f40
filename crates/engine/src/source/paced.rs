//! Paced source. At every `pacing` it offers rate x pacing bits as a burst of equal ghost packets, as iperf3 does with
//! its pacing timer; at every `hold` it draws a new rate.
//!
//! Inside a burst, packets follow each other at the wire time of `peak` (the line rate of the sender's NIC). Bits that
//! do not make a whole packet are carried over to the next burst. A burst that does not fit its interval continues
//! without a gap. At most one interval's worth of unsent bits is carried over; the rest is discarded, so that no
//! backlog grows.
//!
//! Draws happen at start, start + hold, ...; bursts start at start, start + pacing, ...; at a common instant the draw
//! comes first. A draw of 0 means silence, or (`ZeroMeans::Unlimited`) packets at `peak` until the next draw. A source
//! that is stopped and restarted under its name draws the same rates again. It never backs off, whatever is dropped
//! (see `source/tcp` for that).
//!
//! Source: Hasenoot et al. 2023 (ICPE), section 3.2; iperf3's `--pacing-timer` (default 1 ms) and `iperf_check_throttle`.
//! Deviation: iperf3 sends while its average since the start is below the rate, and so catches up without bound.

use super::demand::Demand;
use super::sizes::Sizer;
use super::ZeroMeans;
use crate::link::Serialiser;
use crate::packet;
use crate::random::Stream;
use crate::units::{Duration, Instant, Rate, NANO};

pub(super) struct Paced {
    demand: Demand,
    sizes: Sizer,
    stream: Stream,
    pacing: Duration,
    zero: ZeroMeans,
    next_burst: Instant,
    /// Offered but not yet sent, in nano-bits (rate x pacing is a whole number of them).
    backlog_nano_bits: u128,
    /// The next packet, in nano-bits.
    next_nano_bits: u128,
    /// Spaces the packets of a burst.
    peak: Serialiser,
    /// Since when there has been something to send.
    ready_since: Option<Instant>,
}

impl Paced {
    /// The first burst is due at `start`.
    pub(super) fn new(
        demand: Demand,
        sizes: Sizer,
        stream: Stream,
        pacing: Duration,
        peak: Rate,
        zero: ZeroMeans,
        start: Instant,
    ) -> Paced {
        let mut paced = Paced {
            demand,
            sizes,
            stream,
            pacing,
            zero,
            next_burst: start,
            backlog_nano_bits: 0,
            next_nano_bits: 0,
            peak: Serialiser::new(peak),
            ready_since: None,
        };
        paced.look_at_next();
        paced
    }

    pub(super) fn draws(&self) -> &[(Instant, u64)] {
        self.demand.draws()
    }

    /// Does what is due now; returns the size of the packet that it sends.
    pub(super) fn wake(&mut self, now: Instant) -> Option<u32> {
        self.draw(now);
        if self.next_burst == now {
            self.offer(now);
        }
        self.send(now)
    }

    /// When to wake it next.
    pub(super) fn next_wake(&self) -> Instant {
        let next = self.demand.next_draw().min(self.next_burst);
        self.next_send().map_or(next, |send| send.min(next))
    }

    fn draw(&mut self, now: Instant) {
        let was_endless = self.is_endless();
        if !self.demand.drawn(now) {
            return;
        }
        if was_endless && !self.is_endless() {
            self.backlog_nano_bits = 0;
            self.ready_since = None;
        }
        self.note_readiness(now);
    }

    fn offer(&mut self, now: Instant) {
        let rate = self.demand.rate().unwrap_or(0);
        let offered = u128::from(rate) * u128::from(self.pacing.as_nanos());
        let carried = self.backlog_nano_bits.min(offered.max(self.next_nano_bits));
        self.backlog_nano_bits = carried + offered;
        self.next_burst = now.saturating_add(self.pacing);
        self.note_readiness(now);
    }

    fn send(&mut self, now: Instant) -> Option<u32> {
        let (since, due) = (self.ready_since?, self.next_send()?);
        if due > now {
            return None;
        }
        let ip_bytes = self.sizes.take(&mut self.stream);
        self.peak.send(packet::wire_bytes(ip_bytes), since);
        if !self.is_endless() {
            self.backlog_nano_bits -= self.next_nano_bits;
        }
        self.look_at_next();
        self.note_readiness(now);
        Some(ip_bytes)
    }

    /// The instant of the next packet of the present burst.
    fn next_send(&self) -> Option<Instant> {
        self.ready_since.map(|since| since.max(self.peak.free_at()))
    }

    /// Updates `ready_since`: sets it when something to send appears, clears it when there is nothing.
    fn note_readiness(&mut self, now: Instant) {
        let has_packet = self.is_endless() || self.backlog_nano_bits >= self.next_nano_bits;
        self.ready_since = if has_packet { self.ready_since.or(Some(now)) } else { None };
    }

    fn is_endless(&self) -> bool {
        self.zero == ZeroMeans::Unlimited && self.demand.rate() == Some(0)
    }

    fn look_at_next(&mut self) {
        self.next_nano_bits = u128::from(self.sizes.peek(&mut self.stream)) * 8 * u128::from(NANO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{RateLaw, Sizes};

    #[test]
    fn a_backlog_never_exceeds_two_intervals_worth() {
        // Offered: 20 Gbit/s; the peak passes 12 Gbit/s of IP bits. The rest of an interval is carried over once.
        let law = RateLaw::Constant { bits_per_second: 20_000_000_000 };
        let demand = Demand::new(law, Duration::from_secs(1), Stream::new(1, "rate"), Instant::ZERO);
        let mut source = Paced::new(
            demand,
            Sizer::new(Sizes::Fixed { ip_bytes: 1500 }),
            Stream::new(1, "packets"),
            Duration::from_micros(3),
            Rate::bits_per_second(12_304_000_000).unwrap(),
            ZeroMeans::Silence,
            Instant::ZERO,
        );
        let interval_nano_bits = 20_000_000_000 * 3_000;
        let mut most = 0;
        while source.next_wake() < Instant::from_nanos(1_000_000) {
            source.wake(source.next_wake());
            most = most.max(source.backlog_nano_bits);
        }
        // The packet that is due with the third burst leaves directly after the offer.
        let packet_nano_bits = source.next_nano_bits;
        assert!(
            (2 * interval_nano_bits - packet_nano_bits..=2 * interval_nano_bits).contains(&most),
            "{most}"
        );
    }
}
