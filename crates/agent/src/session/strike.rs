//! Pauses, resumes and kills nodes at an instant: the inits do it, each when its own clock says so.

use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::machines::{check_instant, now_ns};
use super::switch::SWITCH;
use super::{about, unreachable, Session, Step};
use crate::channel::{FromInit, ToInit};
use crate::failure::Failure;
use crate::protocol::{Limit, Struck};

/// The inits learn of it so long before: long compared with a message to each, and with the stalls of a busy machine.
const HANDED_ON: Duration = Duration::from_millis(100);

impl Session {
    /// Sends a signal to every process of nodes; the instant at which the last of them had it is the answer.
    pub(super) fn strike(
        &mut self,
        request: &str,
        signal: i32,
        Struck { nodes, at_ns }: &Struck,
    ) -> Result<Value, Failure> {
        let at_ns = at_ns.map(|at_ns| self.pace().real_ns(at_ns));
        let positions = self.struck(nodes).map_err(|failure| about(request, failure))?;
        self.wait_until_shortly_before(request, at_ns)?;
        for &position in &positions {
            let node = &self.nodes[position];
            node.send(&ToInit::Strike { signal, at_ns }, &[]).map_err(|_| unreachable(&node.name))?;
        }
        let mut done_ns = 0;
        let mut refused = None;
        let mut waiting = positions;
        while !waiting.is_empty() {
            match self.wait(None)? {
                Step::Answer(from, FromInit::Struck { done_ns: of_one_ns }) => {
                    waiting.retain(|&position| position != from);
                    done_ns = done_ns.max(of_one_ns);
                }
                Step::Answer(from, FromInit::Refused(failure)) => {
                    waiting.retain(|&position| position != from);
                    refused = Some(about(&format!("{request} {}", self.nodes[from].name), failure));
                }
                _ => {}
            }
            if let Some(lost) = waiting.iter().find(|&&position| self.nodes[position].lost) {
                return Err(unreachable(&self.nodes[*lost].name));
            }
        }
        match refused {
            Some(failure) => Err(failure),
            None => Ok(json!({"done_ns": self.pace().perceived_ns(done_ns)})),
        }
    }

    /// The positions of the nodes, each once.
    pub(super) fn struck(&self, names: &[String]) -> Result<Vec<usize>, Failure> {
        if names.is_empty() {
            return Err(Failure::invalid("nodes is empty; name at least one node"));
        }
        let mut positions = Vec::with_capacity(names.len());
        for name in names {
            let position = self.node(name).map_err(|failure| about(name, failure))?;
            if name == SWITCH {
                return Err(Failure::invalid(format!(
                    "{name} carries the network and is no node; name a node"
                )));
            }
            if positions.contains(&position) {
                return Err(Failure::invalid(format!("nodes has {name} twice; name it once")));
            }
            if self.nodes[position].lost {
                return Err(unreachable(name));
            }
            positions.push(position);
        }
        Ok(positions)
    }

    pub(super) fn wait_until_shortly_before(
        &mut self,
        request: &str,
        at_ns: Option<u64>,
    ) -> Result<(), Failure> {
        check_instant(request, at_ns)?;
        let at_ns = at_ns.unwrap_or_default();
        let ahead = Duration::from_nanos(at_ns.saturating_sub(now_ns()?)).saturating_sub(HANDED_ON);
        let deadline = Instant::now() + ahead;
        while Instant::now() < deadline && !self.ending() {
            self.wait(Some(deadline))?;
        }
        if self.ending() {
            return Err(Failure::internal(format!("{request}: the agent ends, and its nodes with it")));
        }
        Ok(())
    }

    /// Changes the limits of nodes.
    pub(super) fn limit(&mut self, Limit { nodes, at_ns, limits }: &Limit) -> Result<Value, Failure> {
        let positions = self.struck(nodes).map_err(|failure| about("limit", failure))?;
        for (name, limits) in nodes.iter().zip(limits.iter().cycle()) {
            limits.check(name, self.slower())?;
        }
        let at_ns = at_ns.map(|at_ns| self.pace().real_ns(at_ns));
        self.wait_until_shortly_before("limit", at_ns)?;
        let ahead = Duration::from_nanos(at_ns.unwrap_or_default().saturating_sub(now_ns()?));
        std::thread::sleep(ahead);
        for position in positions {
            let node = &self.nodes[position];
            node.kept
                .change(*limits)
                .map_err(|why| Failure::preflight(format!("limit {}: {why}", node.name)))?;
        }
        Ok(json!({"done_ns": self.pace().perceived_ns(now_ns()?)}))
    }
}
