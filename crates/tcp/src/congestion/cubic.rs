//! CUBIC: after a loss 0.7 of the window, then a cubic function of time whose plateau is the window at the loss; or
//! Reno's window, where that is larger.
//!
//! As Linux computes it, in whole numbers: time in ticks, the growth as "one more packet for each N acknowledged ones",
//! at most once a tick, and never faster than one for two. Linux's Reno window grows by a packet for 15/8 windows, which
//! stands for the 3 (1 - beta) / (1 + beta) of the RFC.
//!
//! Source: RFC 9438, 4.2 to 4.7; Linux, net/ipv4/tcp_cubic.c.

use crosswind_engine::Instant;

use super::hystart::Hystart;
use super::{Measured, Window};
use crate::tick::Tick;

/// Units of time in a second.
const UNITS_PER_S: u64 = 1 << 10;
/// RFC 9438, 5: "C SHOULD be set to 0.4", in 1024ths of packets per cubed second; Linux's 410 / 1024.
const C_1024THS: u64 = 410;
/// RFC 9438, 4.6: "The parameter beta_cubic SHOULD be set to 0.7."
const BETA_1024THS: u64 = 717;
const BETA_UNIT: u64 = 1024;
/// Reno's window grows by a packet for this many eighths of a window.
const RENO_EIGHTHS: u64 = 8 * (BETA_UNIT + BETA_1024THS) / 3 / (BETA_UNIT - BETA_1024THS);

#[derive(Clone, Debug)]
pub(super) struct Cubic {
    /// W_max.
    plateau: u32,
    epoch: Option<Epoch>,
    /// Acknowledged packets for one more, as computed last.
    each: u32,
    computed_for: u32,
    computed_at_tick: u64,
    /// Packets acknowledged towards Reno's next packet.
    acknowledged: u64,
    shortest_us: Option<u64>,
    hystart: Hystart,
}

/// The time since the window started to grow after a loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start_tick: u64,
    /// Time to the plateau.
    k_units: u64,
    plateau: u32,
    reno: u32,
}

impl Cubic {
    pub(super) fn new() -> Self {
        Self {
            plateau: 0,
            epoch: None,
            each: 0,
            computed_for: 0,
            computed_at_tick: 0,
            acknowledged: 0,
            shortest_us: None,
            hystart: Hystart::default(),
        }
    }

    /// RFC 9438, 4.7, fast convergence: "if cwnd < W_max and fast convergence is enabled, further reduce W_max".
    pub(super) fn threshold_after_loss(&mut self, window: &Window) -> u32 {
        self.epoch = None;
        let packets = u64::from(window.packets);
        self.plateau = if window.packets < self.plateau {
            (packets * (BETA_UNIT + BETA_1024THS) / (2 * BETA_UNIT)) as u32
        } else {
            window.packets
        };
        ((packets * BETA_1024THS / BETA_UNIT) as u32).max(2)
    }

    pub(super) fn timed_out(&mut self, now: Instant, next: u64) {
        *self = Self::new();
        self.hystart.start_round(now, next);
    }

    pub(super) fn resumed(&mut self, idle_ticks: u64) {
        // Times when the sender had nothing to send do not count.
        if let Some(epoch) = &mut self.epoch {
            epoch.start_tick += idle_ticks;
        }
    }

    pub(super) fn measured(&mut self, window: &mut Window, measured: &Measured, tick: &Tick) {
        let now_tick = tick.at(measured.now);
        // Round trips soon after a recovery are not used.
        if self.epoch.is_some_and(|epoch| now_tick.saturating_sub(epoch.start_tick) < tick.per_second()) {
            return;
        }
        let us = measured.round_trip_us.max(1);
        let shortest_us = self.shortest_us.map_or(us, |shortest| shortest.min(us));
        self.shortest_us = Some(shortest_us);
        if window.is_in_slow_start() {
            self.hystart.measured(window, measured, us, shortest_us);
        }
    }

    /// How many packets must be acknowledged for the window to grow by one.
    pub(super) fn packets_for_one_more(
        &mut self,
        cwnd: u32,
        acknowledged: u32,
        now: Instant,
        tick: &Tick,
    ) -> u32 {
        self.acknowledged += u64::from(acknowledged);
        let now_tick = tick.at(now);
        let since_ticks = now_tick.saturating_sub(self.computed_at_tick);
        if self.computed_for == cwnd && since_ticks <= tick.per_second() / 32 {
            return self.each.max(2);
        }
        if self.epoch.is_none() || now_tick != self.computed_at_tick {
            (self.computed_for, self.computed_at_tick) = (cwnd, now_tick);
            self.each = self.by_time(cwnd, acknowledged, now_tick, tick);
        }
        self.no_slower_than_reno(cwnd);
        self.each = self.each.max(2);
        self.each
    }

    fn by_time(&mut self, cwnd: u32, acknowledged: u32, now_tick: u64, tick: &Tick) -> u32 {
        let plateau_at_loss = self.plateau;
        let start = || {
            // 4.2: "K = cubic root of ((W_max - cwnd_epoch) / C)". Above the plateau it starts at once.
            let below = plateau_at_loss.saturating_sub(cwnd);
            let k_s = libm::cbrt(f64::from(below) * 1024.0 / C_1024THS as f64);
            Epoch {
                start_tick: now_tick,
                k_units: (k_s * UNITS_PER_S as f64) as u64,
                plateau: cwnd.max(plateau_at_loss),
                reno: cwnd,
            }
        };
        if self.epoch.is_none() {
            self.acknowledged = acknowledged.into();
        }
        let epoch = *self.epoch.get_or_insert_with(start);
        // One round trip ahead.
        let ahead = tick.of_us(self.shortest_us.unwrap_or(0));
        let ticks = now_tick.saturating_sub(epoch.start_tick) + ahead;
        let units = ticks * UNITS_PER_S / tick.per_second();
        let from_plateau = units.abs_diff(epoch.k_units);
        // 4.2: "W_cubic(t) = C * (t - K)^3 + W_max".
        let cubed = (u128::from(from_plateau).pow(3) * u128::from(C_1024THS)) >> 40;
        let change = cubed.min(u128::from(u32::MAX / 2)) as u32;
        let target = if units < epoch.k_units {
            epoch.plateau.saturating_sub(change)
        } else {
            epoch.plateau.saturating_add(change)
        };
        let each = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        // Before any loss the plateau is unknown: at least 5 % per round trip.
        if self.plateau == 0 {
            each.min(20)
        } else {
            each
        }
    }

    /// RFC 9438, 4.3: "W_est" is the window that Reno would have.
    fn no_slower_than_reno(&mut self, cwnd: u32) {
        let Some(epoch) = &mut self.epoch else { return };
        let for_one = (u64::from(cwnd) * RENO_EIGHTHS) >> 3;
        while self.acknowledged > for_one {
            self.acknowledged -= for_one.max(1);
            epoch.reno += 1;
        }
        if epoch.reno > cwnd {
            self.each = self.each.min(cwnd / (epoch.reno - cwnd));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_engine::Duration;

    const ROUND_TRIP_MS: u64 = 100;

    struct Path {
        cubic: Cubic,
        window: Window,
        tick: Tick,
        at_ms: u64,
    }

    impl Path {
        fn new(packets: u32) -> Self {
            let window = Window { packets, threshold: packets, credit: 0 };
            let tick = Tick::new(Duration::from_millis(4), Duration::ZERO);
            Self { cubic: Cubic::new(), window, tick, at_ms: 0 }
        }

        /// Acknowledgements of whole windows, one every round trip, two packets at a time.
        fn rounds(&mut self, rounds: u64) -> u32 {
            for _ in 0..rounds {
                self.at_ms += ROUND_TRIP_MS;
                let now = Instant::from_nanos(self.at_ms * 1_000_000);
                for _ in 0..self.window.packets / 2 {
                    let each = self.cubic.packets_for_one_more(self.window.packets, 2, now, &self.tick);
                    self.window.grow_slowly(each, 2);
                }
            }
            self.window.packets
        }
    }

    #[test]
    fn the_window_returns_to_its_plateau_after_k() {
        let mut path = Path::new(1_000);
        path.window.packets = path.cubic.threshold_after_loss(&path.window);
        assert_eq!(path.window.packets, 700);
        // K = cbrt(300 / 0.4) = 9.09 s; halfway, 0.4 x 4.543^3 = 37.5 packets are missing.
        let halfway = path.rounds(45);
        assert!((950..=970).contains(&halfway), "{halfway}");
        let plateau = path.rounds(46);
        assert!((990..=1_002).contains(&plateau), "{plateau}");
    }

    #[test]
    fn a_small_window_grows_as_renos() {
        let mut path = Path::new(20);
        path.window.packets = path.cubic.threshold_after_loss(&path.window);
        assert_eq!(path.window.packets, 14);
        // Reno's part of CUBIC: a packet for 15/8 windows, so in 20 round trips 10.7 more.
        let grown = path.rounds(20);
        assert!((22..=25).contains(&grown), "{grown}");
    }

    #[test]
    fn a_second_loss_below_the_plateau_lowers_it() {
        let mut path = Path::new(1_000);
        path.window.packets = path.cubic.threshold_after_loss(&path.window);
        assert_eq!(path.cubic.threshold_after_loss(&path.window), 490);
        // 700 x (1 + 0.7) / 2.
        assert_eq!(path.cubic.plateau, 595);
    }
}
