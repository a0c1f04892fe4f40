//! The application of calls: a client that asks and a server that answers, one call at a time on each connection.

use crosswind_engine::Instant;
use rand_pcg::Pcg64;

use super::plan::{exponential, Arrivals, Calls};

/// How long an open loop that is late may go on after its end (`crosswind-load`).
const DRAIN_NS: u64 = 5_000_000_000;

/// A call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// When it was due.
    pub(super) intended_ns: u64,
    /// When the client sent it.
    pub(super) started_ns: u64,
    /// When the client had the whole response.
    pub(super) finished_ns: u64,
    /// Whether it belongs to the measured phase.
    pub(super) measured: bool,
}

/// When calls of one connection are due in an open loop, since the begin.
#[derive(Clone, Debug)]
struct Schedule {
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    Even { period_ns: f64, index: u64, step: u64 },
    Poisson { random: Pcg64, mean_gap_ns: f64, due_ns: f64 },
}

impl Schedule {
    fn new(calls: &Calls, rate_per_s: f64, connection: u32, seed: u64) -> Self {
        let period_ns = 1e9 / rate_per_s;
        let process = match calls.arrivals {
            Arrivals::Even => {
                Process::Even { period_ns, index: connection.into(), step: calls.connections.into() }
            }
            Arrivals::Poisson => Process::Poisson {
                random: Pcg64::new(seed.into(), u128::from(connection) + 1),
                mean_gap_ns: period_ns * f64::from(calls.connections),
                due_ns: 0.0,
            },
        };
        let mut schedule = Self { process };
        if matches!(schedule.process, Process::Poisson { .. }) {
            schedule.advance();
        }
        schedule
    }

    fn due_ns(&self) -> u64 {
        match &self.process {
            Process::Even { period_ns, index, .. } => (*index as f64 * period_ns) as u64,
            Process::Poisson { due_ns, .. } => *due_ns as u64,
        }
    }

    fn advance(&mut self) {
        match &mut self.process {
            Process::Even { index, step, .. } => *index += *step,
            Process::Poisson { random, mean_gap_ns, due_ns } => {
                *due_ns += *mean_gap_ns * exponential(random);
            }
        }
    }
}

/// The client's side of a connection.
#[derive(Clone, Debug)]
pub(super) struct Client {
    request_bytes: u64,
    response_bytes: u64,
    schedule: Option<Schedule>,
    warm_up_ns: u64,
    end_ns: u64,
    began: Instant,
    current: Option<Current>,
    /// Bytes of the response that have come.
    received: u64,
    /// Of the request, not written yet.
    unwritten: u64,
}

#[derive(Clone, Copy, Debug)]
struct Current {
    intended_ns: u64,
    started_ns: u64,
}

/// What a client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It writes this number of bytes.
    Write(u64),
    /// It waits until then.
    Until(Instant),
    /// It waits for a response, or has ended.
    Nothing,
}

impl Client {
    pub(super) fn new(calls: &Calls, connection: u32, seed: u64, warm_up_ns: u64, duration_ns: u64) -> Self {
        Self {
            request_bytes: calls.request_bytes.into(),
            response_bytes: calls.response_bytes.into(),
            schedule: calls.rate_per_s.map(|rate| Schedule::new(calls, rate, connection, seed)),
            warm_up_ns,
            end_ns: warm_up_ns + duration_ns,
            began: Instant::ZERO,
            current: None,
            received: 0,
            unwritten: 0,
        }
    }

    pub(super) fn begin(&mut self, now: Instant) {
        self.began = now;
    }

    /// Bytes have come; returns the call that they end.
    pub(super) fn received(&mut self, now: Instant, bytes: u64) -> Option<Call> {
        self.received += bytes;
        let current = self.current.filter(|_| self.received >= self.response_bytes)?;
        self.received -= self.response_bytes;
        self.current = None;
        let due_ns = current.intended_ns - self.began.as_nanos();
        Some(Call {
            intended_ns: current.intended_ns,
            started_ns: current.started_ns,
            finished_ns: now.as_nanos(),
            measured: due_ns >= self.warm_up_ns && due_ns < self.end_ns,
        })
    }

    /// What to do now.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        if self.unwritten > 0 {
            return Next::Write(self.unwritten);
        }
        if self.current.is_some() {
            return Next::Nothing;
        }
        let since_ns = now.as_nanos() - self.began.as_nanos();
        let mut intended_ns = since_ns;
        if let Some(schedule) = &mut self.schedule {
            let due_ns = schedule.due_ns();
            if due_ns >= self.end_ns || since_ns > self.end_ns + DRAIN_NS {
                return Next::Nothing;
            }
            if due_ns > since_ns {
                return Next::Until(Instant::from_nanos(self.began.as_nanos() + due_ns));
            }
            intended_ns = due_ns;
            schedule.advance();
        } else if since_ns >= self.end_ns {
            return Next::Nothing;
        }
        let intended_ns = self.began.as_nanos() + intended_ns;
        self.current = Some(Current { intended_ns, started_ns: now.as_nanos() });
        self.unwritten = self.request_bytes;
        Next::Write(self.unwritten)
    }

    pub(super) fn wrote(&mut self, bytes: u64) {
        self.unwritten -= bytes;
    }

    /// Whether a call is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Calls that were due by an instant and never started.
    pub(super) fn not_started(&self, now: Instant) -> u64 {
        let Some(schedule) = &self.schedule else { return 0 };
        let (mut left, mut count) = (schedule.clone(), 0);
        let end_ns = self.end_ns.min(now.as_nanos() - self.began.as_nanos());
        while left.due_ns() < end_ns {
            left.advance();
            count += 1;
        }
        count
    }
}

/// The server's side of a connection.
#[derive(Clone, Debug)]
pub(super) struct Server {
    request_bytes: u64,
    response_bytes: u64,
    received: u64,
    pub(super) unwritten: u64,
}

impl Server {
    pub(super) fn new(calls: &Calls) -> Self {
        Self {
            request_bytes: calls.request_bytes.into(),
            response_bytes: calls.response_bytes.into(),
            received: 0,
            unwritten: 0,
        }
    }

    pub(super) fn received(&mut self, bytes: u64) {
        self.received += bytes;
        while self.received >= self.request_bytes {
            self.received -= self.request_bytes;
            self.unwritten += self.response_bytes;
        }
    }
}
