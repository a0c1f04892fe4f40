//! Slower clocks of a fabric, and a wrong one of a node: what was requested, and what became of it.

use std::num::NonZeroU64;

use crosswind_dilation::{available, Anchor, Clocks, Report, FACTOR_MAX};
use crosswind_emulator::Pace;
use serde_json::{json, Value};

use super::machines::{check_instant, now_ns};
use super::{about, unreachable, Session, Step};
use crate::channel::{FromInit, ToInit};
use crate::failure::Failure;
use crate::protocol::{ClockChange, Dilation};

/// The clocks of the programs in all nodes.
#[derive(Clone, Copy)]
pub struct Slowing {
    factor: NonZeroU64,
    anchor: Anchor,
    pub clocks: Clocks,
}

impl Slowing {
    /// Checks the request; the anchor is this moment where none is given.
    pub fn new(requested: Dilation) -> Result<Self, Failure> {
        let factor = NonZeroU64::new(requested.factor).filter(|factor| factor.get() <= FACTOR_MAX);
        let factor = factor.ok_or_else(|| {
            Failure::invalid(format!(
                "up: dilation: factor {} is outside 1 to {FACTOR_MAX}; write a whole number between them",
                requested.factor
            ))
        })?;
        available().map_err(|why| Failure::preflight(format!("up: dilation: {why}")))?;
        let anchor = requested.anchor.unwrap_or_else(Anchor::now);
        Ok(Self { factor, anchor, clocks: Clocks::slow(anchor, factor) })
    }

    /// How many times slower they are.
    pub const fn factor(&self) -> u64 {
        self.factor.get()
    }

    /// The same for the emulator.
    pub fn pace(&self) -> Pace {
        let Anchor { monotonic_ns, realtime_ns } = self.anchor;
        let anchor = crosswind_emulator::Anchor {
            monotonic_ns: monotonic_ns.unsigned_abs(),
            realtime_ns: realtime_ns.unsigned_abs(),
        };
        Pace::slower(self.factor.get() as u32, anchor)
    }

    /// As the reply shows it, with what of the kernel's TCP is slower, too.
    pub fn shown(&self, handshake: bool, cubic: bool) -> Value {
        let tcp = [handshake.then_some("handshake"), cubic.then_some("cubic")];
        let tcp: Vec<_> = tcp.into_iter().flatten().collect();
        json!({"factor": self.factor, "anchor": self.anchor, "tcp": tcp})
    }
}

/// Checks that nodes can have clocks of their own, where that is requested.
pub(super) fn check_clocks(clocks: bool) -> Result<(), Failure> {
    if clocks {
        available().map_err(|why| Failure::preflight(format!("up: clocks: {why}")))?;
    }
    Ok(())
}

impl Session {
    /// The line between real time and the time that the caller names.
    pub(super) fn pace(&self) -> Pace {
        self.slowed.map_or(Pace::real_time(), |slowed| slowed.pace())
    }

    /// Changes the clocks of programs that nodes start from now on.
    pub(super) fn clock(&mut self, change: &ClockChange) -> Result<Value, Failure> {
        let positions = self.struck(&change.nodes).map_err(|failure| about("clock", failure))?;
        if let Some(wrong) = change.clock {
            wrong.check().map_err(|why| Failure::invalid(format!("clock: {why}")))?;
            available().map_err(|why| Failure::preflight(format!("clock: {why}")))?;
        }
        let at_ns = change.at_ns.map(|at_ns| self.pace().real_ns(at_ns));
        check_instant("clock", at_ns)?;
        let from = at_ns.map_or_else(Anchor::now, |at_ns| Anchor::at(at_ns as i64));
        let right = self.slowed.map_or_else(|| Clocks::slow(from, NonZeroU64::MIN), |slowed| slowed.clocks);
        let clocks = change.clock.map_or(right, |wrong| right.wrong(from, wrong));
        for position in positions {
            let node = &mut self.nodes[position];
            if change.clock.is_none() && !node.own_clock {
                continue;
            }
            node.own_clock = true;
            node.send(&ToInit::Clocks(clocks), &[]).map_err(|_| unreachable(&node.name))?;
            self.await_done(position).map_err(|failure| about(&self.nodes[position].name, failure))?;
        }
        Ok(json!({"done_ns": self.pace().perceived_ns(now_ns()?)}))
    }

    /// Requests the reports of all nodes at once; `None` for a node whose clocks are real or whose init has ended.
    pub(super) fn dilated(&mut self) -> Result<Vec<Option<Report>>, Failure> {
        let mut answers = vec![None; self.nodes.len()];
        if self.slowed.is_none() && !self.nodes.iter().any(|node| node.own_clock) {
            return Ok(answers);
        }
        let mut waiting = vec![true; self.nodes.len()];
        for node in &self.nodes {
            // A node that cannot receive has ended; that is noticed below.
            let _ = node.send(&ToInit::Dilated, &[]);
        }
        while self.nodes.iter().zip(&waiting).any(|(node, waiting)| *waiting && !node.lost) {
            if let Step::Answer(from, FromInit::Dilated(report)) = self.wait(None)? {
                answers[from] = report;
                waiting[from] = false;
            }
        }
        Ok(answers)
    }
}
