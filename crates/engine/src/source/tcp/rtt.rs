//! Round trips measured by a sender, and the timeouts that follow from them.
//!
//! RFC 6298, 2: "SRTT <- R, RTTVAR <- R/2" with the first, then "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|,
//! SRTT <- (1 - alpha) * SRTT + alpha * R'", alpha 1/8 and beta 1/4. Before the first, the timeout is 1 s. Exception,
//! as in Linux: the timeout is SRTT + max(`rto_min`, 4 x RTTVAR), so a minimum of 200 ms becomes 200 ms plus a round
//! trip. Integer arithmetic, rounded down.

use crate::units::Duration;

const BEFORE_ANY_NS: u64 = 1_000_000_000;
/// RFC 6298, 2.5: "A maximum value MAY be placed on RTO provided it is at least 60 seconds"; Linux: 120 s.
const TIMEOUT_MAX_NS: u64 = 120_000_000_000;
/// Linux adds it to every probe timeout.
const PROBE_MARGIN_NS: u64 = 2_000_000;

pub(super) struct RoundTrip {
    timeout_min_ns: u64,
    smoothed_ns: Option<u64>,
    variation_ns: u64,
    /// The latest round trip.
    pub(super) latest_ns: u64,
    /// The shortest round trip.
    pub(super) shortest_ns: u64,
}

impl RoundTrip {
    pub(super) fn new(timeout_min: Duration) -> RoundTrip {
        RoundTrip {
            timeout_min_ns: timeout_min.as_nanos(),
            smoothed_ns: None,
            variation_ns: 0,
            latest_ns: 0,
            shortest_ns: u64::MAX,
        }
    }

    pub(super) fn measured(&mut self, round_trip: Duration) {
        let new_ns = round_trip.as_nanos();
        self.latest_ns = new_ns;
        self.shortest_ns = self.shortest_ns.min(new_ns);
        match self.smoothed_ns {
            None => {
                self.smoothed_ns = Some(new_ns);
                self.variation_ns = new_ns / 2;
            }
            Some(smoothed_ns) => {
                self.variation_ns = (3 * self.variation_ns + smoothed_ns.abs_diff(new_ns)) / 4;
                self.smoothed_ns = Some((7 * smoothed_ns + new_ns) / 8);
            }
        }
    }

    /// Smoothed; 0 before the first measurement.
    pub(super) fn smoothed(&self) -> Duration {
        Duration::from_nanos(self.smoothed_ns.unwrap_or(0))
    }

    /// The retransmission timeout after `backoff` consecutive timeouts: each doubles it.
    pub(super) fn timeout(&self, backoff: u32) -> Duration {
        let once_ns = self.smoothed_ns.map_or(BEFORE_ANY_NS, |smoothed_ns| {
            smoothed_ns + self.timeout_min_ns.max(4 * self.variation_ns)
        });
        Duration::from_nanos(once_ns.saturating_mul(1 << backoff.min(32)).min(TIMEOUT_MAX_NS))
    }

    /// The time to a tail loss probe, `None` before the first measurement of a round trip.
    ///
    /// RFC 8985, 7.2: "PTO = 2 * SRTT; If FlightSize is 1, PTO += WCDelAckT; [...] If PTO exceeds the time until RTO,
    /// use that". Linux uses `rto_min` as WCDelAckT.
    pub(super) fn probe(&self, in_flight: u64) -> Option<Duration> {
        let delayed_ack_ns = if in_flight == 1 { self.timeout_min_ns } else { PROBE_MARGIN_NS };
        let probe = Duration::from_nanos(2 * self.smoothed_ns? + delayed_ack_ns);
        Some(probe.min(self.timeout(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_smoothed_as_in_rfc_6298() {
        let mut rtt = RoundTrip::new(Duration::from_millis(200));
        assert_eq!(rtt.timeout(0), Duration::from_secs(1));
        rtt.measured(Duration::from_millis(100));
        // SRTT 100, RTTVAR 50, timeout 100 + max(200, 200).
        assert_eq!(rtt.timeout(0), Duration::from_millis(300));
        rtt.measured(Duration::from_millis(180));
        // RTTVAR (3 x 50 + 80) / 4 = 57.5, SRTT (700 + 180) / 8 = 110, timeout 110 + 230.
        assert_eq!(rtt.timeout(0), Duration::from_millis(340));
        assert_eq!(rtt.timeout(2), Duration::from_millis(1360));
        assert_eq!(rtt.probe(2), Some(Duration::from_millis(222)));
        assert_eq!(rtt.probe(1), Some(Duration::from_millis(340)), "420 ms, but no later than the timeout");
    }
}
