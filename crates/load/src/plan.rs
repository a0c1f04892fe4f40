//! When operations are due and which of them count: pure arithmetic on instants.
//!
//! A run is a warm-up followed by a measured phase; both are parts of one unbroken load. The measured phase ends after
//! `duration` or after `operations`, whichever comes first.
//!
//! * **Closed loop**: each connection starts its next operation when the previous one ends. The intended instant is the
//!   actual one. The number of operations is shared by all connections, so all stay busy to the end, or is each one's.
//! * **Open loop**: operations are due at instants fixed in advance (`arrivals`), whatever the server does. An operation
//!   whose connection is still busy starts late, and the time from its intended instant shows it (no coordinated omission).
//!
//! In an open loop, operations that were due before the end are carried out even if the end has passed, for at most
//! [`DRAIN_NS`]; operations that have not started by then are counted. Cutting at the end instead would hide the slowest ones.

use crate::arrivals::{ArrivalProcess, Arrivals};
use crate::sample::SAMPLES_MAX;

/// How long a late open loop may go on after its end, in nanoseconds.
pub const DRAIN_NS: u64 = 5_000_000_000;

/// The longest time that a plan contains.
pub const SECONDS_MAX: f64 = 1e7; // four months; beyond it nanoseconds in 64 bits are still exact
/// The highest rate that a plan contains.
pub const RATE_MAX_PER_S: f64 = 1e7; // 100 ns apart, already less than one system call

/// How operations follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// The next when the previous has ended.
    Closed,
    /// At instants fixed in advance, this many per second in all.
    Open { rate_per_s: f64, process: ArrivalProcess },
}

/// How many operations end the measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// Of all connections together, so that all stay busy to the end.
    Together(u64),
    /// Of each connection, so that all do the same.
    Each(u64),
}

impl Quota {
    fn of_all(self, connections: usize) -> u64 {
        match self {
            Quota::Together(operations) => operations,
            Quota::Each(operations) => operations.saturating_mul(connections as u64),
        }
    }

    /// The share of one connection.
    fn of_one(self, connection: usize, connections: usize) -> u64 {
        let (connection, connections) = (connection as u64, connections as u64);
        match self {
            Quota::Together(operations) => {
                operations / connections + u64::from(connection < operations % connections)
            }
            Quota::Each(operations) => operations,
        }
    }
}

/// What a run does. Instants are relative to its start.
#[derive(Clone, Debug)]
pub struct Plan {
    /// At least 1.
    pub connections: usize,
    pub pace: Pace,
    pub warm_up_ns: u64,
    /// Of the measured phase; `None` is without limit.
    pub duration_ns: Option<u64>,
    /// Of the measured phase; `None` is without limit.
    pub operations: Option<Quota>,
    /// Whether a connection that is lost is made again; otherwise it ends.
    pub connects_again: bool,
}

impl Plan {
    /// End of the measured phase by the clock, if the clock ends it.
    pub fn end_ns(&self) -> Option<u64> {
        self.duration_ns.map(|duration_ns| self.warm_up_ns + duration_ns)
    }

    /// Whether an operation that is due (open) or starts (closed) at this instant counts.
    pub fn is_measured(&self, instant_ns: u64) -> bool {
        instant_ns >= self.warm_up_ns && self.end_ns().is_none_or(|end_ns| instant_ns < end_ns)
    }

    /// The schedule of one connection, if the loop is open.
    pub fn schedule(&self, connection: usize) -> Option<Schedule> {
        let Pace::Open { rate_per_s, process } = self.pace else {
            return None;
        };
        let arrivals = Arrivals::new(process, rate_per_s, connection, self.connections);
        let end_by_count_ns = self.operations.map(|quota| match &arrivals {
            // Operations go round the connections: the first of all of them count.
            Arrivals::Even(even) => {
                let first_measured = even.first_at_or_after(self.warm_up_ns);
                even.due_ns(first_measured.saturating_add(quota.of_all(self.connections)))
            }
            // No connection knows when the others have done theirs, and none does more than can be stored.
            Arrivals::Poisson(poisson) => {
                let share = quota.of_one(connection, self.connections);
                poisson.behind(share.min(SAMPLES_MAX as u64), self.warm_up_ns)
            }
        });
        let end_ns = end_by_count_ns.into_iter().chain(self.end_ns()).min().unwrap_or(u64::MAX);
        Some(Schedule { arrivals, end_ns })
    }
}

/// The instants, relative to the run's start, at which one connection's operations are due.
#[derive(Clone, Debug)]
pub struct Schedule {
    arrivals: Arrivals,
    end_ns: u64, // what is due then or later is not to be carried out
}

impl Schedule {
    /// When the next operation is due, unless there is none left.
    pub fn due_ns(&self) -> Option<u64> {
        Some(self.arrivals.due_ns()).filter(|&due_ns| due_ns < self.end_ns)
    }

    /// Takes the next operation off the schedule.
    pub fn advance(&mut self) {
        self.arrivals.advance();
    }

    /// Instant after which nothing is started any more, however late the connection is.
    pub fn drained_ns(&self) -> u64 {
        self.end_ns.saturating_add(DRAIN_NS)
    }

    /// How many of the operations that are left fall due before the instant.
    pub fn due_before(&self, instant_ns: u64) -> u64 {
        let (mut left, mut count) = (self.clone(), 0);
        while left.due_ns().is_some_and(|due_ns| due_ns < instant_ns) {
            left.advance();
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn open(connections: usize, rate_per_s: f64, duration_s: Option<u64>, operations: Option<u64>) -> Plan {
        Plan {
            connections,
            pace: Pace::Open { rate_per_s, process: ArrivalProcess::Even },
            warm_up_ns: SECOND_NS,
            duration_ns: duration_s.map(|seconds| seconds * SECOND_NS),
            operations: operations.map(Quota::Together),
            connects_again: false,
        }
    }

    fn at_random(plan: Plan) -> Plan {
        let Pace::Open { rate_per_s, .. } = plan.pace else { unreachable!("an open loop") };
        Plan { pace: Pace::Open { rate_per_s, process: ArrivalProcess::Poisson { seed: 7 } }, ..plan }
    }

    fn instants(schedule: &mut Schedule) -> impl Iterator<Item = u64> + '_ {
        std::iter::from_fn(|| schedule.due_ns().inspect(|_| schedule.advance()))
    }

    fn all_instants(plan: &Plan) -> Vec<u64> {
        let mut all = Vec::new();
        for connection in 0..plan.connections {
            all.extend(instants(&mut plan.schedule(connection).unwrap()));
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn connections_interleave_and_together_keep_the_rate() {
        let plan = open(3, 1000.0, Some(1), None);
        // 1 s of warm-up and 1 s measured at 1000/s: an operation each millisecond.
        assert_eq!(all_instants(&plan), (0..2000).map(|index| index * 1_000_000).collect::<Vec<_>>());
    }

    #[test]
    fn the_same_operations_are_due_however_many_connections_share_them() {
        let due = |connections| all_instants(&open(connections, 777.0, Some(1), None));
        assert_eq!(due(1), due(7));
    }

    #[test]
    fn exactly_the_requested_operations_are_measured() {
        let plan = open(4, 300.0, Some(100), Some(250));
        let measured = all_instants(&plan).into_iter().filter(|&instant_ns| plan.is_measured(instant_ns));
        assert_eq!(measured.count(), 250);
    }

    #[test]
    fn a_quota_of_each_connection_is_due_on_each() {
        for plan in [open(3, 300.0, None, None), at_random(open(3, 300.0, None, None))] {
            let plan = Plan { operations: Some(Quota::Each(5)), ..plan };
            for connection in 0..3 {
                let mut schedule = plan.schedule(connection).unwrap();
                let measured = instants(&mut schedule).filter(|&instant_ns| plan.is_measured(instant_ns));
                assert_eq!(measured.count(), 5);
            }
        }
    }

    #[test]
    fn random_arrivals_share_out_exactly_the_requested_operations() {
        let plan = at_random(open(4, 300.0, Some(100), Some(250)));
        let of = |connection| {
            let mut schedule = plan.schedule(connection).unwrap();
            instants(&mut schedule).filter(|&instant_ns| plan.is_measured(instant_ns)).count()
        };
        assert_eq!([of(0), of(1), of(2), of(3)], [63, 63, 62, 62]);
    }

    #[test]
    fn random_arrivals_end_with_the_clock() {
        let due = all_instants(&at_random(open(4, 10_000.0, Some(1), None)));
        // 20,000 of them in 2 s; standard deviation of a Poisson count: its root, 141; five of them.
        assert!(due.len().abs_diff(20_000) < 705 && *due.last().unwrap() < 2 * SECOND_NS, "{}", due.len());
    }

    #[test]
    fn rounding_of_the_period_does_not_add_up() {
        // A third of a microsecond does not fit into nanoseconds; after 3 million operations exactly 1 s has passed.
        let plan = open(1, 3e6, Some(1), None);
        assert_eq!(all_instants(&plan)[3_000_000], SECOND_NS);
    }

    #[test]
    fn what_is_left_of_a_schedule_can_be_counted() {
        let plan = open(2, 10.0, Some(1), None);
        let mut schedule = plan.schedule(1).unwrap(); // due at 0.1 s, 0.3 s, ... 1.9 s: ten of them
        assert_eq!(schedule.due_before(u64::MAX), 10);
        schedule.advance();
        assert_eq!(schedule.due_before(SECOND_NS), 4);
        assert_eq!(instants(&mut schedule).count(), 9);
        assert_eq!(schedule.due_before(u64::MAX), 0);
    }

    #[test]
    fn the_warm_up_and_the_end_do_not_count() {
        let plan = open(1, 10.0, Some(2), None);
        assert!(!plan.is_measured(SECOND_NS - 1) && plan.is_measured(SECOND_NS));
        assert!(plan.is_measured(3 * SECOND_NS - 1) && !plan.is_measured(3 * SECOND_NS));
    }
}
