//! The one loop, for every workload: choose an operation, wait for its turn, perform it, record three instants.
//!
//! One thread per connection. Threads share nothing while they run but the count of operations and the request to stop.
//! A connection that is lost ends its thread; when all are lost the run is over, whatever its plan says. Where the plan
//! says so, a lost connection is made again instead: what fails meanwhile is counted, and the schedule goes on.

use std::net::SocketAddr;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::clock::{monotonic_ns, Clock, WallClock};
use crate::exit;
use crate::failure::Failure;
use crate::live::{Counts, Live};
use crate::plan::{Plan, Quota, Schedule};
use crate::sample::{Operation, Sample, Samples, SAMPLES_MAX};
use crate::stop::{Stop, StopReason};
use crate::together::start_together;

/// Least time from one attempt to connect again to the next.
const CONNECT_AGAIN_NS: u64 = 100_000_000;

/// One connection to a server, and the stream of operations on it.
pub trait Session {
    /// Our address and the server's.
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)>;
    /// Chooses the next operation and prepares it. Not timed.
    fn choose(&mut self) -> Operation;
    /// Performs what was chosen, from the first byte sent to the last byte received.
    fn perform(&mut self) -> Result<(), Failure>;
    /// Replaces a lost connection; the stream of operations goes on. Asked only where the plan connects again.
    fn connect_again(&mut self) -> Result<(), String> {
        Err("this load does not connect again".into())
    }
    /// Payload of the last operation, if it succeeded; 0 for workloads that do not count it.
    fn payload_bytes(&self) -> u32 {
        0
    }
    /// The last part of the last operation and the instant at which it began, if it succeeded; `None` where an
    /// operation is one request.
    fn last_part(&self) -> Option<(Operation, u64)> {
        None
    }
}

/// What ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// Its plan: all operations done, or the time is over.
    Plan,
    /// All connections were lost.
    ConnectionsLost,
    /// A request to stop.
    Stop(StopReason),
}

/// One connection's part of the result.
pub struct Connection {
    pub local: SocketAddr,
    /// Our addresses after it was lost and made again.
    pub later: Vec<SocketAddr>,
    pub remote: SocketAddr,
    pub lost: bool,
    pub samples: Samples,
}

/// The result of a run.
pub struct Outcome {
    pub connections: Vec<Connection>,
    /// Start of the measured phase.
    pub started_ns: u64,
    /// When the last connection ended.
    pub finished_ns: u64,
    /// Measured operations, failed ones included.
    pub operations: u64,
    /// Measured operations that failed.
    pub errors: u64,
    /// Payload of measured operations that succeeded.
    pub payload_bytes: u64,
    /// Of the whole run, warm-up included.
    pub first_error: Option<String>,
    /// Operations of an open loop that were due, but never started.
    pub not_started: u64,
    pub ended_by: EndedBy,
}

impl Outcome {
    /// A sentence about what is wrong with the run; `None` if nothing is.
    pub fn complaint(&self, error_share_max: f64) -> Option<String> {
        let first = self.first_error.as_deref().unwrap_or("none");
        match self.ended_by {
            EndedBy::Stop(StopReason::Signal(number)) => {
                Some(format!("stopped by signal {number}; results up to then are written"))
            }
            EndedBy::ConnectionsLost => Some(format!("all connections were lost; first error: {first}")),
            _ if self.operations == 0 => {
                Some(format!("no operation was measured; first error: {first}; give a longer --duration"))
            }
            _ if self.has_too_many_errors(error_share_max) => Some(format!(
                "{} of {} operations failed, more than the share of {error_share_max}; first error: {first}",
                self.errors, self.operations
            )),
            EndedBy::Stop(StopReason::SamplesFull) => Some(format!(
                "ended early: at most {SAMPLES_MAX} samples are stored; give a shorter --duration or a lower --rate"
            )),
            EndedBy::Plan if self.not_started > 0 => Some(format!(
                "{} operations were due and never started: the server and the network cannot sustain this --rate",
                self.not_started
            )),
            EndedBy::Plan => None,
        }
    }

    /// The exit status: 0, 4, or 128 plus the number of the signal.
    pub fn exit_code(&self, error_share_max: f64) -> ExitCode {
        match self.ended_by {
            EndedBy::Stop(StopReason::Signal(number)) => ExitCode::from(exit::after_signal(number)),
            EndedBy::ConnectionsLost => ExitCode::from(exit::TOO_MANY_ERRORS),
            _ if self.operations == 0 || self.has_too_many_errors(error_share_max) => {
                ExitCode::from(exit::TOO_MANY_ERRORS)
            }
            _ => ExitCode::SUCCESS,
        }
    }

    fn has_too_many_errors(&self, error_share_max: f64) -> bool {
        self.errors as f64 > error_share_max * self.operations as f64
    }
}

/// Connects all, starts all at one instant, and returns when the last has ended.
///
/// `live` counts what is done while it is done.
///
/// # Errors
/// When any connection cannot be made: a run with fewer connections would be another experiment.
pub fn run<S: Session>(
    plan: &Plan,
    stop: &Arc<Stop>,
    live: Option<&Live>,
    connect: impl Fn(usize, &Arc<Stop>) -> Result<S, String> + Sync,
) -> Result<Outcome, String> {
    /// Time for every thread to receive the starting instant before it comes.
    const HEAD_START_NS: u64 = 5_000_000;

    run_some(plan, 0..plan.connections, stop, live, connect, || Ok(monotonic_ns() + HEAD_START_NS))
}

/// Like [`run`], for some of the plan's connections (others run elsewhere), from an instant that others agree on.
///
/// # Errors
/// When any connection cannot be made, and the errors of `agree`.
pub fn run_some<S: Session>(
    plan: &Plan,
    numbers: Range<usize>,
    stop: &Arc<Stop>,
    live: Option<&Live>,
    connect: impl Fn(usize, &Arc<Stop>) -> Result<S, String> + Sync,
    agree: impl FnOnce() -> Result<u64, String>,
) -> Result<Outcome, String> {
    let together = AtomicU64::new(0);
    let connected = |number| {
        let session = connect(number, stop)?;
        match session.addresses() {
            Ok(addresses) => Ok((session, addresses)),
            Err(error) => Err(format!("a connection was lost as soon as it was made: {error}")),
        }
    };
    let (start_ns, ended) =
        start_together(numbers, connected, agree, |number, (session, addresses), start_ns| {
            let alone = AtomicU64::new(0);
            let taken = match plan.operations {
                Some(Quota::Each(_)) => &alone,
                Some(Quota::Together(_)) | None => &together,
            };
            let counts = live.map(|live| live.of(number));
            run_connection(session, addresses, start_ns, Turns::new(plan, number, taken, stop), counts)
        })?;
    Ok(summarise(plan, start_ns, monotonic_ns(), stop, ended))
}

/// The result of one thread.
struct Ended {
    connection: Connection,
    schedule: Option<Schedule>,
    first_failure: Option<(u64, String)>,
}

fn run_connection<S: Session>(
    mut session: S,
    (local, remote): (SocketAddr, SocketAddr),
    start_ns: u64,
    mut turns: Turns,
    live: Option<&Counts>,
) -> Ended {
    let clock = WallClock::for_this_thread(turns.stop);
    let mut samples = Samples::with_room_for(SAMPLES_MAX / turns.plan.connections);
    clock.sleep_until_ns(start_ns);
    let driven = drive(&mut session, &clock, start_ns, &mut turns, &mut samples, live);
    let connection = Connection { local, later: driven.later, remote, lost: driven.lost, samples };
    Ended { connection, schedule: turns.schedule, first_failure: driven.first_failure }
}

/// What became of a connection.
#[derive(Default)]
struct Driven {
    /// It was lost, and that ended its thread.
    lost: bool,
    /// Our addresses after it was made again.
    later: Vec<SocketAddr>,
    /// With its instant.
    first_failure: Option<(u64, String)>,
}

/// The loop.
fn drive(
    session: &mut impl Session,
    clock: &impl Clock,
    start_ns: u64,
    turns: &mut Turns,
    samples: &mut Samples,
    live: Option<&Counts>,
) -> Driven {
    let mut driven = Driven::default();
    // The last attempt to connect again; and whether there is no connection.
    let (mut tried_ns, mut away) = (0, false);
    loop {
        let operation = session.choose();
        if away && turns.schedule.is_none() {
            // In a closed loop nothing is due: the next operation begins when it can be tried.
            clock.sleep_until_ns(tried_ns + CONNECT_AGAIN_NS);
        }
        let Some(turn) = turns.next(clock, start_ns) else {
            return driven;
        };
        let result = if !away {
            session.perform()
        } else if turn.started_ns < tried_ns + CONNECT_AGAIN_NS {
            Err(Failure::Lost("there is no connection".into()))
        } else {
            tried_ns = turn.started_ns;
            session.connect_again().map_err(Failure::Lost).and_then(|()| {
                driven.later.extend(session.addresses().map(|(local, _)| local).ok());
                session.perform()
            })
        };
        let finished_ns = clock.now_ns();
        if result == Err(Failure::Stopped) {
            return driven;
        }
        let sample = Sample {
            operation,
            intended_ns: turn.intended_ns,
            started_ns: turn.started_ns,
            finished_ns,
            payload_bytes: if result.is_ok() { session.payload_bytes() } else { 0 },
            ok: result.is_ok(),
            measured: turn.measured,
        };
        let mut has_room = samples.add(sample);
        if let Some(live) = live {
            live.count(finished_ns - turn.intended_ns, result.is_ok());
        }
        if let (Ok(()), Some((part, began_ns))) = (&result, session.last_part()) {
            let of_part = Sample { operation: part, intended_ns: began_ns, started_ns: began_ns, ..sample };
            has_room = samples.add(Sample { payload_bytes: 0, ..of_part });
        }
        if let Err(Failure::Refused(message) | Failure::Lost(message)) = &result {
            let first = || (finished_ns, format!("{}: {message}", operation.name()));
            driven.first_failure.get_or_insert_with(first);
        }
        away = matches!(result, Err(Failure::Lost(_)));
        if away && !turns.plan.connects_again {
            driven.lost = true;
            return driven;
        }
        if !has_room {
            turns.stop.request(StopReason::SamplesFull);
        }
    }
}

/// A permission to perform one operation now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    intended_ns: u64,
    started_ns: u64,
    measured: bool,
}

/// Decides when one connection may perform its next operation, and when it has to end.
struct Turns<'a> {
    plan: &'a Plan,
    schedule: Option<Schedule>,
    taken: &'a AtomicU64, // measured operations of a closed loop so far, of those that share the quota
    stop: &'a Arc<Stop>,
}

impl<'a> Turns<'a> {
    fn new(plan: &'a Plan, connection: usize, taken: &'a AtomicU64, stop: &'a Arc<Stop>) -> Self {
        Turns { plan, schedule: plan.schedule(connection), taken, stop }
    }

    fn next(&mut self, clock: &impl Clock, start_ns: u64) -> Option<Turn> {
        let turn = match &mut self.schedule {
            Some(schedule) => {
                let due_ns = schedule.due_ns()?;
                clock.sleep_until_ns(start_ns + due_ns);
                let started_ns = clock.now_ns();
                if self.stop.reason().is_some() || started_ns - start_ns > schedule.drained_ns() {
                    return None;
                }
                schedule.advance();
                Turn { intended_ns: start_ns + due_ns, started_ns, measured: self.plan.is_measured(due_ns) }
            }
            None => {
                let started_ns = clock.now_ns();
                let since_start_ns = started_ns - start_ns;
                let measured = self.plan.is_measured(since_start_ns);
                let is_over = self.plan.end_ns().is_some_and(|end_ns| since_start_ns >= end_ns);
                if is_over || self.stop.reason().is_some() || (measured && !self.take()) {
                    return None;
                }
                Turn { intended_ns: started_ns, started_ns, measured }
            }
        };
        Some(turn)
    }

    fn take(&self) -> bool {
        let Some(Quota::Together(quota) | Quota::Each(quota)) = self.plan.operations else {
            return true;
        };
        self.taken.fetch_add(1, Ordering::Relaxed) < quota
    }
}

fn summarise(plan: &Plan, start_ns: u64, finished_ns: u64, stop: &Stop, ended: Vec<Ended>) -> Outcome {
    let measured = || {
        let samples = ended.iter().flat_map(|one| one.connection.samples.iter());
        samples.filter(|sample| sample.measured && !sample.operation.is_part())
    };
    let since_start_ns = finished_ns.saturating_sub(start_ns);
    let ended_by = match stop.reason() {
        Some(reason) => EndedBy::Stop(reason),
        None if ended.iter().all(|one| one.connection.lost) => EndedBy::ConnectionsLost,
        None => EndedBy::Plan,
    };
    let first_error = ended
        .iter()
        .enumerate()
        .filter_map(|(connection, one)| {
            one.first_failure.as_ref().map(|(at_ns, text)| (at_ns, connection, text))
        })
        .min()
        .map(|(_, connection, text)| format!("connection {connection}: {text}"));
    Outcome {
        started_ns: start_ns + plan.warm_up_ns,
        finished_ns,
        operations: measured().count() as u64,
        errors: measured().filter(|sample| !sample.ok).count() as u64,
        payload_bytes: measured().map(|sample| u64::from(sample.payload_bytes)).sum(),
        first_error,
        not_started: ended
            .iter()
            .filter_map(|one| one.schedule.as_ref())
            .map(|schedule| schedule.due_before(since_start_ns))
            .sum(),
        ended_by,
        connections: ended.into_iter().map(|one| one.connection).collect(),
    }
}

#[cfg(test)]
mod tests;
