//! Detects delayed acknowledgements that cost time: the receiver held them back while the sender waited for them.
//!
//! A receiver without data to send delays its acknowledgement, by at least 40 ms on Linux. A sender waits for it if it
//! may have only one small segment in flight (Nagle's algorithm) or if its window is full. The fabric then sees a
//! segment with data, a pause, an acknowledgement of all data without data of its own, and at once new data. The hold
//! time is the time from the last data to the acknowledgement, minus the shortest such time of this flow, which is
//! that of the path. Queues of the path make this estimate too small, never too large. A receiver that merely computes
//! for a long time is not counted: no data follows its acknowledgement at once.
//!
//! Source: RFC 1122, section 4.2.3.2 (delayed acknowledgement); RFC 896 (Nagle).

use ahash::AHashMap;
use crosswind_wire::Flow;

/// Linux delays an acknowledgement by at least 40 ms (TCP_DELACK_MIN); a wait below half of that is not counted.
const HELD_MIN_NS: u64 = 20_000_000;
/// A sender that waited continues as soon as the acknowledgement arrives: after the path's delay, plus this allowance
/// for its CPU.
const AT_ONCE_NS: u64 = 10_000_000;

/// The relevant fields of a TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// When it entered.
    pub at_ns: u64,
    /// One past its last sequence number, or `None` without data (SYN and FIN count as data).
    pub end: Option<u32>,
    /// Its acknowledgement number.
    pub acknowledges: Option<u32>,
}

/// An acknowledgement that the receiver delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// When it entered.
    pub at_ns: u64,
    /// How long it was delayed, at least.
    pub held_ns: u64,
}

/// State of one direction's data.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// One past the last sequence number sent, and its time, while it is not acknowledged.
    waiting: Option<(u32, u64)>,
    /// The shortest time to an acknowledgement.
    least_ns: u64,
    /// A late acknowledgement that no data has followed yet.
    held: Option<Held>,
}

/// Flows with data, by direction.
#[derive(Debug, Default)]
pub struct Holds {
    directions: AHashMap<Flow, Direction>,
}

impl Holds {
    /// A segment enters; returns the acknowledgement in the other direction for which it had waited.
    ///
    /// Flows beyond `flows_max` are not followed.
    #[inline]
    pub fn entered(&mut self, flow: Flow, segment: Passing, flows_max: usize) -> Option<Held> {
        if let Some(acknowledged) = segment.acknowledges {
            self.acknowledged(flow, segment.at_ns, acknowledged, segment.end.is_some());
        }
        let end = segment.end?;
        if self.directions.len() >= flows_max && !self.directions.contains_key(&flow) {
            return None;
        }
        self.directions
            .entry(flow)
            .or_insert(Direction { waiting: None, least_ns: u64::MAX, held: None })
            .sent(end, segment.at_ns)
    }
}

impl Holds {
    /// A segment acknowledges data of the other direction.
    #[inline]
    pub fn acknowledged(&mut self, flow: Flow, at_ns: u64, acknowledged: u32, has_data: bool) {
        if let Some(other) = self.directions.get_mut(&flow.reversed()) {
            other.acknowledged(at_ns, acknowledged, has_data);
        }
    }
}

impl Direction {
    fn sent(&mut self, end: u32, at_ns: u64) -> Option<Held> {
        self.waiting = Some((end, at_ns));
        self.held
            .take()
            .filter(|held| at_ns.saturating_sub(held.at_ns) <= self.least_ns.saturating_add(AT_ONCE_NS))
    }

    fn acknowledged(&mut self, at_ns: u64, acknowledged: u32, has_data: bool) {
        self.held = None;
        let Some((_, sent_ns)) = self.waiting.filter(|(end, _)| *end == acknowledged) else { return };
        self.waiting = None;
        let took_ns = at_ns.saturating_sub(sent_ns);
        self.least_ns = self.least_ns.min(took_ns);
        let held_ns = took_ns - self.least_ns;
        if !has_data && held_ns >= HELD_MIN_NS {
            self.held = Some(Held { at_ns, held_ns });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn flow() -> Flow {
        Flow {
            source: "10.77.0.1:5000".parse().unwrap(),
            destination: "10.77.0.2:80".parse().unwrap(),
            protocol: 6,
        }
    }

    /// A connection whose handshake took 2 ms, and whose client has sent 100 bytes at 10 ms.
    fn begun() -> Holds {
        let mut holds = Holds::default();
        sends(&mut holds, flow(), 0, Some(1), None);
        sends(&mut holds, flow().reversed(), 2, Some(501), Some(1));
        sends(&mut holds, flow(), 10, Some(101), Some(501));
        holds
    }

    fn sends(
        holds: &mut Holds,
        flow: Flow,
        at_ms: u64,
        end: Option<u32>,
        acknowledges: Option<u32>,
    ) -> Option<Held> {
        holds.entered(flow, Passing { at_ns: at_ms * MS, end, acknowledges }, 100)
    }

    #[test]
    fn data_right_after_a_late_acknowledgement_shows_that_it_was_delayed() {
        let mut holds = begun();
        assert_eq!(sends(&mut holds, flow().reversed(), 52, None, Some(101)), None);
        let held = sends(&mut holds, flow(), 53, Some(201), Some(501));
        assert_eq!(held, Some(Held { at_ns: 52 * MS, held_ns: 40 * MS }), "42 ms minus the path's 2 ms");
    }

    #[test]
    fn a_server_that_computes_for_long_is_not_a_delayed_acknowledgement() {
        let mut holds = begun();
        sends(&mut holds, flow().reversed(), 52, None, Some(101));
        assert_eq!(sends(&mut holds, flow().reversed(), 110, Some(601), Some(101)), None);
        assert_eq!(sends(&mut holds, flow(), 111, Some(201), Some(601)), None, "58 ms later is not at once");
    }

    #[test]
    fn an_acknowledgement_with_data_is_not_a_delayed_acknowledgement() {
        let mut holds = begun();
        sends(&mut holds, flow().reversed(), 90, Some(601), Some(101));
        assert_eq!(sends(&mut holds, flow(), 91, Some(201), Some(601)), None);
    }

    #[test]
    fn a_long_path_is_not_a_delayed_acknowledgement() {
        let mut holds = Holds::default();
        sends(&mut holds, flow(), 0, Some(1), None);
        sends(&mut holds, flow().reversed(), 100, Some(501), Some(1));
        sends(&mut holds, flow(), 200, Some(101), Some(501));
        sends(&mut holds, flow().reversed(), 310, None, Some(101));
        assert_eq!(sends(&mut holds, flow(), 311, Some(201), Some(501)), None, "10 ms beyond the path's 100");
    }
}
