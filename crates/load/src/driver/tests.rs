//! The loop in virtual time: every instant below is exact.

use std::cell::Cell;

use super::*;
use crate::arrivals::ArrivalProcess;
use crate::plan::{Pace, Quota, DRAIN_NS};

const MS: u64 = 1_000_000;
const START_NS: u64 = 7_000 * MS;

struct VirtualClock(Cell<u64>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
    fn sleep_until_ns(&self, instant_ns: u64) {
        self.0.set(self.0.get().max(instant_ns));
    }
}

/// A server whose n-th answer takes as long, and ends, as a function says.
struct Server<'a, F> {
    clock: &'a VirtualClock,
    answer: F,
    performed: usize,
}

impl<F: FnMut(usize) -> (u64, Result<(), Failure>)> Session for Server<'_, F> {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        unreachable!("the loop asks for no address")
    }
    fn choose(&mut self) -> Operation {
        Operation::Call
    }
    fn perform(&mut self) -> Result<(), Failure> {
        let (took_ns, result) = (self.answer)(self.performed);
        self.performed += 1;
        self.clock.0.set(self.clock.0.get() + took_ns);
        result
    }
}

struct Driven {
    rows: Vec<Sample>,
    lost: bool,
    first_failure: Option<(u64, String)>,
    left: Option<Schedule>,
}

fn driven(plan: &Plan, answer: impl FnMut(usize) -> (u64, Result<(), Failure>)) -> Driven {
    let clock = VirtualClock(Cell::new(START_NS));
    let (taken, stop) = (AtomicU64::new(0), Arc::new(Stop::new()));
    let mut turns = Turns::new(plan, 0, &taken, &stop);
    let mut samples = Samples::with_room_for(1_000_000);
    let mut server = Server { clock: &clock, answer, performed: 0 };
    let super::Driven { lost, first_failure, .. } =
        drive(&mut server, &clock, START_NS, &mut turns, &mut samples, None);
    Driven { rows: samples.iter().copied().collect(), lost, first_failure, left: turns.schedule }
}

fn plan(pace: Pace, warm_up_ns: u64, duration_ns: Option<u64>, operations: Option<u64>) -> Plan {
    let operations = operations.map(Quota::Together);
    Plan { connections: 1, pace, warm_up_ns, duration_ns, operations, connects_again: false }
}

const HUNDRED_PER_S: Pace = Pace::Open { rate_per_s: 100.0, process: ArrivalProcess::Even };

#[test]
fn in_a_closed_loop_each_operation_starts_when_the_last_one_ended() {
    let done = driven(&plan(Pace::Closed, 20 * MS, Some(30 * MS), None), |_| (10 * MS, Ok(())));
    let starts: Vec<u64> = done.rows.iter().map(|row| (row.started_ns - START_NS) / MS).collect();
    assert_eq!(starts, [0, 10, 20, 30, 40]);
    assert!(done.rows.iter().all(|row| row.intended_ns == row.started_ns));
    assert_eq!(done.rows.iter().filter(|row| row.measured).count(), 3);
}

/// A server whose operations have two parts of 10 and 5 ms, the second one with a row of its own.
struct TwoParts<'a> {
    clock: &'a VirtualClock,
    second_began_ns: u64,
}

impl Session for TwoParts<'_> {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        unreachable!("the loop asks for no address")
    }
    fn choose(&mut self) -> Operation {
        Operation::ReadModifyWrite
    }
    fn perform(&mut self) -> Result<(), Failure> {
        self.second_began_ns = self.clock.now_ns() + 10 * MS;
        self.clock.0.set(self.second_began_ns + 5 * MS);
        Ok(())
    }
    fn last_part(&self) -> Option<(Operation, u64)> {
        Some((Operation::UpdateAfterRead, self.second_began_ns))
    }
}

#[test]
fn a_part_has_a_row_of_its_own_that_takes_no_place_among_the_operations_asked_for() {
    let clock = VirtualClock(Cell::new(START_NS));
    let (taken, stop) = (AtomicU64::new(0), Arc::new(Stop::new()));
    let two = plan(Pace::Closed, 0, None, Some(2));
    let mut turns = Turns::new(&two, 0, &taken, &stop);
    let mut samples = Samples::with_room_for(1_000_000);
    let mut server = TwoParts { clock: &clock, second_began_ns: 0 };
    drive(&mut server, &clock, START_NS, &mut turns, &mut samples, None);
    let rows: Vec<_> = samples
        .iter()
        .map(|row| {
            (row.operation.is_part(), (row.started_ns - START_NS) / MS, (row.finished_ns - START_NS) / MS)
        })
        .collect();
    assert_eq!(rows, [(false, 0, 15), (true, 10, 15), (false, 15, 30), (true, 25, 30)]);
    assert!(samples.iter().all(|row| row.measured && row.ok));
}

#[test]
fn a_closed_loop_measures_exactly_the_operations_asked_for() {
    let done = driven(&plan(Pace::Closed, 25 * MS, None, Some(4)), |_| (10 * MS, Ok(())));
    // Warm-up takes those that start at 0, 10 and 20 ms.
    assert_eq!(done.rows.len(), 3 + 4);
    assert_eq!(done.rows.iter().filter(|row| row.measured).count(), 4);
}

#[test]
fn an_operation_that_hits_a_stall_delays_the_next_ones_and_their_latency_shows_it() {
    // One operation each 10 ms; the second takes 35 ms, all others 1 ms.
    let done = driven(&plan(HUNDRED_PER_S, 0, Some(60 * MS), None), |index| {
        (if index == 1 { 35 * MS } else { MS }, Ok(()))
    });
    let of = |instant: fn(&Sample) -> u64| -> Vec<u64> {
        done.rows.iter().map(|row| (instant(row) - START_NS) / MS).collect()
    };
    assert_eq!(of(|row| row.intended_ns), [0, 10, 20, 30, 40, 50]);
    assert_eq!(of(|row| row.started_ns), [0, 10, 45, 46, 47, 50]);
    assert_eq!(of(|row| row.finished_ns), [1, 45, 46, 47, 48, 51]);
}

#[test]
fn random_arrivals_are_those_of_the_plan_however_slow_the_server() {
    let random = Pace::Open { rate_per_s: 100.0, process: ArrivalProcess::Poisson { seed: 7 } };
    let intended = |answer_ns| -> Vec<u64> {
        let done = driven(&plan(random, 0, Some(1_000 * MS), None), |_| (answer_ns, Ok(())));
        assert!(done.rows.iter().all(|row| row.finished_ns - row.intended_ns >= answer_ns));
        done.rows.iter().map(|row| row.intended_ns).collect()
    };
    assert_eq!(intended(0), intended(30 * MS));
}

#[test]
fn operations_due_before_the_end_are_carried_out_after_it() {
    let done = driven(&plan(HUNDRED_PER_S, 0, Some(50 * MS), None), |_| (100 * MS, Ok(())));
    assert_eq!(done.rows.len(), 5);
    assert!(done.rows.iter().all(|row| row.measured));
}

#[test]
fn an_overload_ends_after_the_drain_and_says_what_was_not_started() {
    // Two seconds of load, each operation takes one second: 200 are due, and there are 2 s + the drain to start them.
    let done = driven(&plan(HUNDRED_PER_S, 0, Some(2_000 * MS), None), |_| (1_000 * MS, Ok(())));
    let started = 1 + (2_000 * MS + DRAIN_NS) / (1_000 * MS);
    assert_eq!(done.rows.len() as u64, started);
    assert_eq!(done.left.unwrap().due_before(u64::MAX), 200 - started);
}

#[test]
fn a_refusal_is_counted_and_the_connection_goes_on() {
    let done = driven(&plan(Pace::Closed, 0, None, Some(5)), |index| {
        (MS, if index % 2 == 1 { Err(Failure::Refused(format!("no {index}"))) } else { Ok(()) })
    });
    assert_eq!(done.rows.iter().map(|row| row.ok).collect::<Vec<_>>(), [true, false, true, false, true]);
    assert_eq!(done.first_failure, Some((START_NS + 2 * MS, "call: no 1".into())));
    assert!(!done.lost);
}

#[test]
fn a_lost_connection_is_one_error_and_the_end() {
    let done = driven(&plan(Pace::Closed, 0, None, Some(1_000)), |index| {
        (MS, if index == 3 { Err(Failure::Lost("closed".into())) } else { Ok(()) })
    });
    assert!(done.lost);
    assert_eq!(done.rows.len(), 4);
    assert!(!done.rows[3].ok);
}

#[test]
fn an_operation_cut_short_by_a_request_to_stop_is_no_result() {
    let done = driven(&plan(Pace::Closed, 0, None, Some(1_000)), |index| {
        (MS, if index == 3 { Err(Failure::Stopped) } else { Ok(()) })
    });
    assert_eq!(done.rows.len(), 3);
    assert!(done.first_failure.is_none() && !done.lost);
}

/// A server that is away from one instant to another: it closes its connection and then takes none.
struct Away<'a> {
    clock: &'a VirtualClock,
    from_ns: u64,
    to_ns: u64,
    connected: bool,
    tries_ns: Vec<u64>,
}

impl Session for Away<'_> {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        let address = SocketAddr::from(([10, 77, 0, 1], self.tries_ns.len() as u16));
        Ok((address, address))
    }
    fn choose(&mut self) -> Operation {
        Operation::Call
    }
    fn perform(&mut self) -> Result<(), Failure> {
        assert!(self.connected);
        self.clock.0.set(self.clock.0.get() + MS);
        self.connected = !(self.from_ns..self.to_ns).contains(&self.clock.0.get());
        if self.connected {
            Ok(())
        } else {
            Err(Failure::Lost("closed".into()))
        }
    }
    fn connect_again(&mut self) -> Result<(), String> {
        self.tries_ns.push(self.clock.0.get());
        self.clock.0.set(self.clock.0.get() + MS);
        self.connected = self.clock.0.get() >= self.to_ns;
        if self.connected {
            Ok(())
        } else {
            Err("refused".into())
        }
    }
}

/// One second of load on a server that is away from 305 to 655 ms.
fn outlived(pace: Pace) -> (Vec<Sample>, Vec<u64>, super::Driven) {
    let plan = Plan { connects_again: true, ..plan(pace, 0, Some(1_000 * MS), None) };
    let clock = VirtualClock(Cell::new(START_NS));
    let (taken, stop) = (AtomicU64::new(0), Arc::new(Stop::new()));
    let mut turns = Turns::new(&plan, 0, &taken, &stop);
    let mut samples = Samples::with_room_for(1_000_000);
    let mut server = Away {
        clock: &clock,
        from_ns: START_NS + 305 * MS,
        to_ns: START_NS + 655 * MS,
        connected: true,
        tries_ns: vec![],
    };
    let driven = drive(&mut server, &clock, START_NS, &mut turns, &mut samples, None);
    let tries_ms = server.tries_ns.iter().map(|at_ns| (at_ns - START_NS) / MS).collect();
    (samples.iter().copied().collect(), tries_ms, driven)
}

#[test]
fn an_open_loop_outlives_its_server_with_its_schedule() {
    let (rows, tries_ms, driven) = outlived(HUNDRED_PER_S);
    assert!(!driven.lost && driven.later.len() == 1);
    // 100 operations at their instants, those due while the server was away failed at once.
    assert!(rows
        .iter()
        .enumerate()
        .all(|(number, row)| row.intended_ns == START_NS + number as u64 * 10 * MS));
    assert_eq!(rows.len(), 100);
    let failed: Vec<usize> = (0..100).filter(|&number| !rows[number].ok).collect();
    assert_eq!(failed, (31..72).collect::<Vec<_>>());
    assert!(rows.iter().all(|row| row.finished_ns - row.intended_ns <= 2 * MS));
    assert_eq!(tries_ms, [320, 420, 520, 620, 720]);
    assert!(driven.first_failure.unwrap().1.contains("closed"));
}

#[test]
fn a_closed_loop_outlives_its_server_without_spinning() {
    let (rows, tries_ms, driven) = outlived(Pace::Closed);
    assert!(!driven.lost && driven.later.len() == 1);
    let failed = rows.iter().filter(|row| !row.ok).count();
    assert_eq!((failed, tries_ms), (5, vec![305, 405, 505, 605, 705]));
}
