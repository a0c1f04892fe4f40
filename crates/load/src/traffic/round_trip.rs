//! The smoothed round-trip time of a connection, averaged over the measured window.
//!
//! The kernel has only the present value. It is read a hundred times a second, and each reading stands for the time since the
//! one before. A single reading at the end would be up to 100 ms late where the sender waits, and one value for a whole window.

use std::net::TcpStream;

use super::meter::Window;
use super::tcp;

const EVERY_NS: u64 = 10_000_000;

/// A mean over time.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    window: Window,
    /// Up to where the readings stand, and the sum of each times its span.
    until_ns: u64,
    sum_us_ns: u128,
}

impl RoundTrip {
    /// Nothing read yet.
    pub fn new(window: Window) -> RoundTrip {
        RoundTrip { window, until_ns: window.from_ns, sum_us_ns: 0 }
    }

    /// Reads it if it is time. Call it often: it costs a comparison.
    pub fn look(&mut self, now_ns: u64, connection: &TcpStream) {
        if now_ns < self.until_ns.saturating_add(EVERY_NS) || self.window.is_over(now_ns) {
            return;
        }
        if let Ok(info) = tcp::info(connection) {
            self.add(now_ns, info.rtt_us);
        }
    }

    /// The mean, or the present value where the window was too short for one; `None` where the kernel does not say.
    pub fn mean_us(&self, connection: &TcpStream) -> Option<u32> {
        self.mean().or_else(|| tcp::info(connection).ok().map(|info| info.rtt_us))
    }

    fn add(&mut self, now_ns: u64, rtt_us: u32) {
        self.sum_us_ns += u128::from(rtt_us) * u128::from(now_ns - self.until_ns);
        self.until_ns = now_ns;
    }

    fn mean(&self) -> Option<u32> {
        let span_ns = u128::from(self.until_ns - self.window.from_ns);
        (span_ns > 0).then(|| (self.sum_us_ns / span_ns) as u32) // no more than the greatest reading
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const WINDOW: Window = Window { start_ns: 0, from_ns: 1_000_000_000, to_ns: Some(2_000_000_000) };

    #[test]
    fn a_reading_stands_for_the_time_since_the_one_before() {
        let mut trip = RoundTrip::new(WINDOW);
        assert_eq!(trip.mean(), None);
        trip.add(1_010_000_000, 100);
        trip.add(1_040_000_000, 500);
        // (10 ms * 100 us + 30 ms * 500 us) / 40 ms
        assert_eq!(trip.mean(), Some(400));
    }

    #[test]
    fn only_the_window_is_read_and_a_hundred_times_a_second() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut trip = RoundTrip::new(WINDOW);
        for before_or_after_ns in [0, 1_009_999_999, 2_000_000_000] {
            trip.look(before_or_after_ns, &connection);
            assert_eq!(trip.mean(), None);
        }
        assert!((1..1_000_000).contains(&trip.mean_us(&connection).unwrap()));
        trip.look(1_010_000_000, &connection);
        assert!((1..1_000_000).contains(&trip.mean().unwrap()));
        trip.look(1_019_999_999, &connection);
        assert_eq!(trip.until_ns, 1_010_000_000);
    }
}
