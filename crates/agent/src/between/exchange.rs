//! Datagrams both ways at once, each answered: the delay of each direction, round trips, losses, and the other clock.
//!
//! Both ends do the same. First they call each other until the other clock is known: each answer bounds it from both
//! sides (`crosswind_tunnel::clock`). Then each sends its probes, 0.5 to 1.5 of their mean distance apart, so that they
//! meet every phase of what is periodic on the way. They wait a second for late ones. Then they say that they are done,
//! and end when both are.
//!
//! Where the kernel says that the wall clock is synchronised (NTP, PTP), its largest error bounds the other clock too, and
//! may be tighter than half of a round trip.
//!
//! A probe has one delay: from the instant just before it is handed to the kernel to the kernel's stamp at the other
//! end. Instants are not translated here; `clocks` has what the translation needs.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use crosswind_tunnel::clock::PeerClock;
use crosswind_tunnel::ClockReport;
use nix::time::ClockId;
use serde::{Deserialize, Serialize};

use super::sealed::{monotonic_ns, nanoseconds, Kind, Sealed, Small};
use crate::failure::Failure;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// For the other end to begin, and to end.
const PATIENCE_NS: u64 = 10 * SECOND;
const CALLS_EVERY_NS: u64 = 10 * MS;
/// Exchanges before the first probe: the shortest round trip among them is close to the shortest of all.
const CALLS: u64 = 50;
const LATE_NS: u64 = SECOND;
const CLOCKS_EVERY_NS: u64 = 250 * MS;
const DONES_EVERY_NS: u64 = 20 * MS;
const DONES: u32 = 3;
/// The input's end is noticed within this time.
const LOOK_NS: u64 = 100 * MS;
/// Far more than a measurement needs; the answer to the request stays small.
const COUNT_MAX: u32 = 100_000;
const PER_S_MAX: u32 = 100_000;

/// How much is sent, and where to.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probing {
    pub to: SocketAddr,
    pub count: u32,
    pub per_s: u32,
}

/// What one end knows afterwards.
#[derive(Debug, Serialize)]
pub struct Exchanged {
    sent: u32,
    /// By how much the latest probe left too late.
    latest_ns: u64,
    /// The other end's probes in the order of arrival: number, sent (its clock), came (own clock).
    arrived: Vec<(u32, u64, u64)>,
    /// Own probes that were answered: number, sent, answer came (own clock).
    answered: Vec<(u32, u64, u64)>,
    clocks: Vec<Look>,
    wall: Wall,
    forged: u64,
}

/// The wall clock.
#[derive(Debug, Serialize)]
pub struct Wall {
    now_ns: u64,
    /// What it shows then.
    wall_ns: i64,
    /// By how much it is wrong at most, and this reading of it; null where nothing synchronises it.
    error_ns: Option<u64>,
}

impl Wall {
    /// The best of a few readings: the own clock is read before and after.
    pub fn read() -> Self {
        let readings = (0..5).map(|_| {
            let before = monotonic_ns();
            let wall_ns = nanoseconds(ClockId::CLOCK_REALTIME);
            (monotonic_ns() - before, before, wall_ns)
        });
        let (took, before, wall_ns) = readings.min().unwrap_or_default();
        let error_ns = largest_error_ns().map(|error| error + took);
        Self { now_ns: before + took / 2, wall_ns, error_ns }
    }
}

/// Of the wall clock; `None` where nothing synchronises it.
fn largest_error_ns() -> Option<u64> {
    // SAFETY: all-zero is a valid timex, which asks and changes nothing.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: it lives across the call.
    let known = unsafe { libc::adjtimex(&raw mut state) } != libc::TIME_ERROR;
    let synchronised = known && state.status & libc::STA_UNSYNC == 0;
    synchronised.then_some(u64::try_from(state.maxerror).ok()?.saturating_mul(1_000))
}

/// The other clock as it was known at an instant.
#[derive(Debug, Serialize)]
struct Look {
    now_ns: u64,
    #[serde(flatten)]
    clock: ClockReport,
}

struct Exchange<'a> {
    socket: &'a mut Sealed,
    ended: &'a AtomicBool,
    clock: PeerClock,
    exchanges: u64,
    has_arrived: Vec<bool>,
    has_answered: Vec<bool>,
    other_is_done: bool,
    next_look_ns: u64,
    found: Exchanged,
}

/// Carries one out.
pub fn exchange(socket: &mut Sealed, probing: &Probing, ended: &AtomicBool) -> Result<Exchanged, Failure> {
    let Probing { to, count, per_s } = *probing;
    if !(1..=COUNT_MAX).contains(&count) || !(1..=PER_S_MAX).contains(&per_s) {
        return Err(Failure::invalid(format!(
            "exchange: {count} probes, {per_s} a second: both must be from 1 to {COUNT_MAX}"
        )));
    }
    socket
        .connect(to)
        .map_err(|error| Failure::preflight(format!("exchange with {to}: {error}; is there a route?")))?;
    let forged = socket.forged;
    let mut exchange = Exchange {
        socket,
        ended,
        clock: PeerClock::default(),
        exchanges: 0,
        has_arrived: vec![false; count as usize],
        has_answered: vec![false; count as usize],
        other_is_done: false,
        next_look_ns: u64::MAX,
        found: Exchanged {
            sent: 0,
            latest_ns: 0,
            arrived: Vec::new(),
            answered: Vec::new(),
            clocks: Vec::new(),
            wall: Wall::read(),
            forged: 0,
        },
    };
    exchange.call(to)?;
    exchange.look();
    exchange.probe(count, SECOND / u64::from(per_s))?;
    exchange.wait_for_late(count as usize)?;
    exchange.say_done()?;
    exchange.look();
    exchange.found.forged = exchange.socket.forged - forged;
    Ok(exchange.found)
}

impl Exchange<'_> {
    fn call(&mut self, to: SocketAddr) -> Result<(), Failure> {
        let mut next = monotonic_ns();
        let (deadline, mut number) = (next + PATIENCE_NS, 0);
        while self.exchanges < CALLS {
            if monotonic_ns() >= deadline {
                return Err(Failure::preflight(format!(
                    "exchange with {to}: {} of {CALLS} calls were answered within {} s; let UDP pass between the machines, both ways",
                    self.exchanges,
                    PATIENCE_NS / SECOND
                )));
            }
            if monotonic_ns() >= next {
                self.send(Kind::Call, number);
                number += 1;
                next = monotonic_ns() + CALLS_EVERY_NS;
            }
            self.take_in(next.min(deadline))?;
        }
        Ok(())
    }

    fn probe(&mut self, count: u32, mean_ns: u64) -> Result<(), Failure> {
        let mut random = Gaps(0x9E37_79B9_7F4A_7C15);
        let mut due = monotonic_ns();
        for number in 0..count {
            due += mean_ns / 2 + random.below(mean_ns);
            while monotonic_ns() < due {
                self.take_in(due)?;
            }
            self.found.latest_ns = self.found.latest_ns.max(monotonic_ns() - due);
            self.send(Kind::Probe, number);
            self.found.sent += 1;
        }
        Ok(())
    }

    fn wait_for_late(&mut self, count: usize) -> Result<(), Failure> {
        let until = monotonic_ns() + LATE_NS;
        while monotonic_ns() < until
            && (self.found.arrived.len() < count || self.found.answered.len() < count)
        {
            self.take_in(until)?;
        }
        Ok(())
    }

    fn say_done(&mut self) -> Result<(), Failure> {
        let (mut next, mut said) = (monotonic_ns(), 0);
        let until = next + PATIENCE_NS;
        while monotonic_ns() < until && (said < DONES || !self.other_is_done) {
            if monotonic_ns() >= next {
                self.send(Kind::Done, 0);
                said += 1;
                next = monotonic_ns() + DONES_EVERY_NS;
            }
            self.take_in(next)?;
        }
        Ok(())
    }

    fn send(&self, kind: Kind, number: u32) {
        self.socket.send(&Small { kind, number, sent_ns: monotonic_ns(), came_ns: 0, answered_ns: 0 });
    }

    /// Stores what is known of the other clock.
    fn look(&mut self) {
        let now_ns = monotonic_ns();
        self.found.clocks.push(Look { now_ns, clock: self.clock.report(now_ns) });
        self.next_look_ns = now_ns + CLOCKS_EVERY_NS;
    }

    /// Waits for a datagram, at most until an instant, and handles all that have come.
    fn take_in(&mut self, until_ns: u64) -> Result<(), Failure> {
        self.socket.wait(until_ns.min(monotonic_ns() + LOOK_NS));
        if self.ended.load(Ordering::Relaxed) {
            return Err(Failure::internal("exchange: the input has ended"));
        }
        while let Some((small, at_ns)) = self.socket.receive() {
            self.handle(&small, at_ns);
        }
        if monotonic_ns() >= self.next_look_ns {
            self.look();
        }
        Ok(())
    }

    fn handle(&mut self, small: &Small, at_ns: u64) {
        match small.kind {
            Kind::Call => self.answer(Kind::CallAnswer, small, at_ns),
            Kind::Probe => {
                self.answer(Kind::ProbeAnswer, small, at_ns);
                if is_first(&mut self.has_arrived, small.number) {
                    self.found.arrived.push((small.number, small.sent_ns, at_ns));
                }
            }
            Kind::CallAnswer => self.note(small, at_ns),
            Kind::ProbeAnswer => {
                if is_first(&mut self.has_answered, small.number) {
                    self.note(small, at_ns);
                    self.found.answered.push((small.number, small.sent_ns, at_ns));
                }
            }
            Kind::Done => self.other_is_done = true,
        }
    }

    fn answer(&self, kind: Kind, asked: &Small, came_ns: u64) {
        self.socket.send(&Small { kind, came_ns, answered_ns: monotonic_ns(), ..*asked });
    }

    fn note(&mut self, answer: &Small, back_ns: u64) {
        self.clock.note(answer.sent_ns, answer.came_ns, answer.answered_ns, back_ns);
        self.exchanges += 1;
    }
}

/// Whether this number comes for the first time, and is one that was sent.
fn is_first(seen: &mut [bool], number: u32) -> bool {
    seen.get_mut(number as usize).is_some_and(|seen| !std::mem::replace(seen, true))
}

/// Marsaglia's xorshift: gaps need no better numbers.
struct Gaps(u64);

impl Gaps {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_once_and_one_that_was_not_sent_never() {
        let mut seen = [false; 2];
        assert_eq!(
            [0, 0, 1, 2, u32::MAX].map(|it| is_first(&mut seen, it)),
            [true, false, true, false, false]
        );
    }

    #[test]
    fn gaps_are_about_even() {
        let mut random = Gaps(0x9E37_79B9_7F4A_7C15);
        let gaps: Vec<_> = (0..1_000).map(|_| random.below(1_000)).collect();
        let mean = gaps.iter().sum::<u64>() / 1_000;
        // Uniform over 1000: the mean of 1000 has a deviation of 9.
        assert!((450..550).contains(&mean), "{mean}");
    }
}
