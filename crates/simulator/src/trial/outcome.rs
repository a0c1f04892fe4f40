//! The result of a trial in virtual time.

use serde::Serialize;

use super::calls::Call;

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Name of the condition.
    pub condition: String,
    /// The measured window, in virtual time.
    pub started_ns: u64,
    /// Its end.
    pub ended_ns: u64,
    /// Null for streams.
    pub calls: Option<CallsMeasured>,
    /// A row for each stream's connection; empty for calls.
    pub streams: Vec<StreamMeasured>,
    /// TCP of all connections, from the handshake to the end.
    pub tcp: TcpCounts,
}

/// Calls of the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallsMeasured {
    /// That ended.
    pub operations: u64,
    /// Operations per second, from the first start to the last end.
    pub per_s: f64,
    /// From start to end; null where none ended.
    pub latency_ns: Option<Quantiles>,
    /// From when they were due; null in a closed loop.
    pub response_ns: Option<Quantiles>,
    /// Those that took longer than the least timeout of TCP and the fastest call together.
    pub timeouts: u64,
    /// Due, but never started.
    pub not_started: u64,
}

/// Quantiles, interpolated, as results of live trials have them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Quantiles {
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
    pub mean: f64,
}

/// One connection of a stream in the measured window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamMeasured {
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// Payload that the receiving application got.
    pub bytes: u64,
    /// Packets sent again, in the whole life of the connection.
    pub retransmits: u64,
    /// Smoothed round trip, averaged over the measured window; null where none was measured.
    pub rtt_us: Option<u64>,
}

/// Sums over all ends of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcpCounts {
    /// Packets with data, sent for the first time.
    pub sent: u64,
    /// Packets that were sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// Reductions of the window that were taken back.
    pub undone: u64,
    /// Packets that entered the network, acknowledgements included.
    pub packets: u64,
    /// Those that it dropped.
    pub dropped: u64,
}

impl Quantiles {
    /// Of values in ascending order; `None` where there are none.
    fn of(sorted: &[u64]) -> Option<Self> {
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            let part = place - place.floor();
            sorted[below] as f64 * (1.0 - part) + sorted[above] as f64 * part
        };
        let sum: f64 = sorted.iter().map(|&value| value as f64).sum();
        Some(Self {
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: sorted[last] as f64,
            mean: sum / sorted.len() as f64,
        })
    }
}

impl CallsMeasured {
    /// Of all calls; those of the warm-up are left out. `rto_min_ns` is the least timeout of TCP.
    pub(super) fn of(calls: &[Call], open: bool, rto_min_ns: u64, not_started: u64) -> Self {
        let measured: Vec<&Call> = calls.iter().filter(|call| call.measured).collect();
        let sorted = |from: fn(&Call) -> u64| {
            let mut times: Vec<u64> = measured.iter().map(|call| call.finished_ns - from(call)).collect();
            times.sort_unstable();
            times
        };
        let latencies = sorted(|call| call.started_ns);
        let longest_ns = latencies.first().map_or(0, |fastest| fastest + rto_min_ns);
        let started = measured.iter().map(|call| call.started_ns).min().unwrap_or(0);
        let finished = measured.iter().map(|call| call.finished_ns).max().unwrap_or(0);
        let span_s = (finished - started) as f64 / 1e9;
        Self {
            operations: measured.len() as u64,
            per_s: if span_s > 0.0 { measured.len() as f64 / span_s } else { 0.0 },
            latency_ns: Quantiles::of(&latencies),
            response_ns: if open { Quantiles::of(&sorted(|call| call.intended_ns)) } else { None },
            timeouts: (latencies.len() - latencies.partition_point(|&ns| ns <= longest_ns)) as u64,
            not_started,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        let quantiles = Quantiles::of(&[10, 20, 30, 40]).unwrap();
        assert_eq!((quantiles.p50, quantiles.max, quantiles.mean), (25.0, 40.0, 25.0));
        assert!((quantiles.p90 - 37.0).abs() < 1e-9);
        assert_eq!(Quantiles::of(&[]), None);
    }

    #[test]
    fn a_call_that_waits_for_a_timeout_is_counted() {
        let call = |ms: u64| Call {
            intended_ns: 1_000_000_000,
            started_ns: 1_000_000_000,
            finished_ns: 1_000_000_000 + ms * 1_000_000,
            measured: true,
        };
        let calls = [call(20), call(219), call(225), call(700)];
        assert_eq!(CallsMeasured::of(&calls, false, 200_000_000, 0).timeouts, 2);
    }
}
