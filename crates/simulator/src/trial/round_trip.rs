//! The smoothed round trip of a sender, averaged over the measured window.

use crosswind_engine::Instant;

/// A mean over time: each value stands for the time since the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    /// Where the window begins, and up to where the values stand.
    window: Option<(Instant, Instant)>,
    sum_us_ns: u128,
}

impl RoundTrip {
    /// The measured window begins.
    pub(super) fn begin(&mut self, now: Instant) {
        *self = Self { window: Some((now, now)), sum_us_ns: 0 };
    }

    /// Takes the value at this instant.
    pub(super) fn take(&mut self, now: Instant, us: u64) {
        let Some((_, until)) = &mut self.window else { return };
        if now > *until {
            self.sum_us_ns += u128::from(us) * u128::from(now.as_nanos() - until.as_nanos());
            *until = now;
        }
    }

    /// The mean; `None` where no value came in the window.
    pub(super) fn mean_us(&self) -> Option<u64> {
        let (begin, until) = self.window?;
        let span_ns = u128::from(until.as_nanos() - begin.as_nanos());
        (span_ns > 0).then(|| (self.sum_us_ns / span_ns) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_for_the_time_since_the_one_before() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut trip = RoundTrip::default();
        trip.take(at(5), 9_000); // in the warm-up
        assert_eq!(trip.mean_us(), None);
        trip.begin(at(10));
        assert_eq!(trip.mean_us(), None);
        trip.take(at(20), 100);
        trip.take(at(50), 500);
        // (10 ms * 100 us + 30 ms * 500 us) / 40 ms
        assert_eq!(trip.mean_us(), Some(400));
    }
}
