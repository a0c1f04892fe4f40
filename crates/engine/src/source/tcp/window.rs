//! The congestion window of a connection, in packets: Reno and CUBIC.
//!
//! Both start with 10 packets (RFC 6928) and slow start: one more packet for each acknowledged one, until the first
//! loss or the threshold. The window grows only while it limits the sender (RFC 9438, 5.8; RFC 5681, 4.1).
//!
//! Reno (RFC 5681, 3.1 and 3.2): one more packet per round trip; a loss halves the window; a timeout reduces it to one
//! packet. CUBIC (RFC 9438, 4): after a loss 0.7 of the window, then a cubic function of time whose plateau is the
//! window at the loss; or Reno's window, where that is larger. Times when the sender had nothing to send do not count.
//!
//! Deviation: Linux ends its first slow start early when round trips grow (HyStart, RFC 9406); here it ends with a
//! loss. Floating point by software functions only: every machine computes the same window.

use super::super::CongestionControl;
use crate::units::{Duration, Instant};

/// RFC 6928, 2: "IW = min (10*MSS, max (2*MSS, 14600))".
const INITIAL_PACKETS: f64 = 10.0;
/// RFC 5681, 3.1, equation 4: "ssthresh = max (FlightSize / 2, 2*SMSS)".
const THRESHOLD_MIN_PACKETS: f64 = 2.0;
/// RFC 9438, 5: "C SHOULD be set to 0.4"; packets per cubed second.
const C: f64 = 0.4;
/// RFC 9438, 4.6: "The parameter beta_cubic SHOULD be set to 0.7."
const BETA_CUBIC: f64 = 0.7;
const BETA_RENO: f64 = 0.5;

pub(super) struct Window {
    control: CongestionControl,
    packets: f64,
    /// Slow start below it.
    threshold: f64,
    cubic: Cubic,
}

/// CUBIC's state.
#[derive(Default)]
struct Cubic {
    /// The plateau.
    w_max: f64,
    epoch: Option<Epoch>,
    /// Set for the first epoch after a timeout, which starts on its plateau.
    after_timeout: bool,
}

/// The time since congestion avoidance started.
struct Epoch {
    /// Seconds during which the window limited the sender.
    elapsed_s: f64,
    grown_at: Instant,
    /// Seconds to the plateau.
    k_s: f64,
    w_max: f64,
    /// Reno's window.
    w_est: f64,
    /// The window at the last loss.
    prior: f64,
}

impl Window {
    pub(super) fn new(control: CongestionControl) -> Window {
        Window { control, packets: INITIAL_PACKETS, threshold: f64::INFINITY, cubic: Cubic::default() }
    }

    /// Whole packets that may be in flight; at least 1.
    pub(super) fn packets(&self) -> u64 {
        self.packets as u64
    }

    /// Packets were acknowledged while the window limited the sender and no loss was being recovered.
    pub(super) fn grow(&mut self, acknowledged: u64, now: Instant, round_trip: Duration) {
        let acknowledged = acknowledged as f64;
        if self.packets < self.threshold {
            self.packets = (self.packets + acknowledged).min(self.threshold.max(self.packets));
            return;
        }
        match self.control {
            CongestionControl::Reno => self.packets += acknowledged / self.packets,
            CongestionControl::Cubic => {
                self.packets = self.cubic.grown(self.packets, acknowledged, now, round_trip);
            }
        }
    }

    /// A loss was detected: called once per round trip, whatever the number of packets.
    pub(super) fn reduce(&mut self) {
        self.remember_plateau();
        self.packets = self.threshold;
    }

    /// The timer expired. RFC 5681, 3.1: "cwnd MUST be set to no more than the loss window, LW, which equals 1
    /// full-sized segment".
    pub(super) fn collapse(&mut self) {
        self.remember_plateau();
        self.packets = 1.0;
        self.cubic.after_timeout = true;
    }

    /// Nothing was sent for longer than a timeout. RFC 5681, 4.1: "cwnd SHOULD be reduced to RW, which is min(IW, cwnd)".
    pub(super) fn restart(&mut self) {
        self.packets = self.packets.min(INITIAL_PACKETS);
        self.cubic.epoch = None;
    }

    fn remember_plateau(&mut self) {
        let beta = match self.control {
            CongestionControl::Reno => BETA_RENO,
            CongestionControl::Cubic => BETA_CUBIC,
        };
        self.cubic.lost_at(self.packets);
        self.threshold = (self.packets * beta).max(THRESHOLD_MIN_PACKETS);
    }
}

impl Cubic {
    /// RFC 9438, 4.7, fast convergence: "if cwnd < W_max and fast convergence is enabled, further reduce W_max:
    /// W_max = cwnd * (1 + beta_cubic) / 2; otherwise W_max = cwnd".
    fn lost_at(&mut self, packets: f64) {
        self.w_max = if packets < self.w_max { packets * (1.0 + BETA_CUBIC) / 2.0 } else { packets };
        self.epoch = None;
        self.after_timeout = false;
    }

    fn grown(&mut self, packets: f64, acknowledged: f64, now: Instant, round_trip: Duration) -> f64 {
        let (w_max, after_timeout) = (self.w_max, self.after_timeout);
        let epoch = self.epoch.get_or_insert_with(|| {
            // RFC 9438, 4.8, for the first congestion avoidance after a timeout: "K is set to 0, and W_max is set to
            // the congestion window size at the beginning of the current congestion avoidance stage". The same applies
            // if the window is already above the plateau.
            let above = after_timeout || packets >= w_max;
            let plateau = if above { packets } else { w_max };
            // 4.2: "K = cubic root of ((W_max - cwnd_epoch) / C)".
            let k_s = libm::cbrt((plateau - packets) / C);
            Epoch { elapsed_s: 0.0, grown_at: now, k_s, w_max: plateau, w_est: packets, prior: plateau }
        });
        let round_trip_s = round_trip.as_nanos() as f64 / 1e9;
        let since_s = (now - epoch.grown_at).as_nanos() as f64 / 1e9;
        epoch.elapsed_s += since_s.min(round_trip_s);
        epoch.grown_at = now;
        // 4.3: "alpha_cubic = 3 * (1 - beta_cubic) / (1 + beta_cubic)"; "once W_est reaches cwnd_prior, alpha_cubic SHOULD be
        // set to 1".
        let alpha =
            if epoch.w_est < epoch.prior { 3.0 * (1.0 - BETA_CUBIC) / (1.0 + BETA_CUBIC) } else { 1.0 };
        epoch.w_est += alpha * acknowledged / packets;
        // 4.2: "W_cubic(t) = C * (t - K)^3 + W_max".
        let cubic_at = |t_s: f64| {
            let from_plateau_s = t_s - epoch.k_s;
            C * from_plateau_s * from_plateau_s * from_plateau_s + epoch.w_max
        };
        if cubic_at(epoch.elapsed_s) < epoch.w_est {
            return packets.max(epoch.w_est);
        }
        // 4.4: "cwnd MUST be incremented by (target - cwnd) / cwnd for each received new ACK", with the target one round trip
        // ahead, in [cwnd, 1.5 * cwnd].
        let target = cubic_at(epoch.elapsed_s + round_trip_s).clamp(packets, 1.5 * packets);
        packets + (target - packets) / packets * acknowledged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: Duration = Duration::from_millis(100);

    /// The window after acknowledgements of whole windows, one every round trip.
    fn after_rounds(window: &mut Window, rounds: u64, from_ms: u64) -> f64 {
        for round in 0..rounds {
            let now = Instant::from_nanos((from_ms + (round + 1) * 100) * 1_000_000);
            // One acknowledgement per packet, as RFC 9438 counts.
            for _ in 0..window.packets() {
                window.grow(1, now, ROUND_TRIP);
            }
        }
        window.packets
    }

    #[test]
    fn slow_start_doubles_the_window_every_round_trip() {
        for control in [CongestionControl::Reno, CongestionControl::Cubic] {
            assert_eq!(after_rounds(&mut Window::new(control), 3, 0), 80.0);
        }
    }

    #[test]
    fn reno_halves_and_then_adds_a_packet_every_round_trip() {
        let mut window = Window::new(CongestionControl::Reno);
        after_rounds(&mut window, 3, 0);
        window.reduce();
        assert_eq!(window.packets, 40.0);
        let grown = after_rounds(&mut window, 10, 300);
        assert!((49.0..=50.0).contains(&grown), "{grown}");
    }

    #[test]
    fn cubic_returns_to_its_plateau_after_k() {
        let mut window = Window::new(CongestionControl::Cubic);
        window.packets = 1000.0;
        window.reduce();
        assert_eq!(window.packets, 700.0);
        // K = cbrt(300 / 0.4) = 9.086 s; halfway, 0.4 x (4.543)^3 = 37.5 packets are missing.
        let halfway = after_rounds(&mut window, 45, 0);
        assert!((halfway - 962.5).abs() < 10.0, "{halfway}");
        let plateau = after_rounds(&mut window, 46, 4_500);
        assert!((plateau - 1000.0).abs() < 2.0, "{plateau}");
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_slow_start_up_to_the_threshold() {
        let mut window = Window::new(CongestionControl::Cubic);
        window.packets = 100.0;
        window.collapse();
        assert_eq!(window.packets(), 1);
        // 1, 2, 4, ..., 64, and then the threshold, 0.7 x 100.
        assert_eq!(after_rounds(&mut window, 6, 0), 64.0);
        let next = after_rounds(&mut window, 1, 600);
        assert!((70.0..=71.0).contains(&next), "{next}");
    }
}
