//! The steps of a condition's timeline that are still to come. The emulator and the simulator carry them out with this.

use std::collections::VecDeque;

use crosswind_engine::Instant;

use crate::check::FabricError;
use crate::network::Network;
use crate::spec::{Places, Step};

/// Steps in the order of their instants.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    from_ns: u64,
    steps: VecDeque<Step>,
}

/// A step that was carried out.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// When it was due.
    pub due_ns: u64,
    /// When it took effect: later, where the engine had done everything up to then already.
    pub at_ns: u64,
    /// The places that it replaced.
    pub places: Places,
}

impl Timeline {
    /// The timeline of the condition in force, counted from `from_ns`.
    pub fn of(network: &Network, from_ns: u64) -> Self {
        let mut steps = network.fabric().condition.timeline.clone();
        steps.sort_by_key(|step| step.at_ns);
        Self { from_ns, steps: steps.into() }
    }

    /// When the next step is due.
    pub fn next_ns(&self) -> Option<u64> {
        self.steps.front().map(|step| self.from_ns.saturating_add(step.at_ns))
    }

    /// Carries out the next step, if it is due by `to_ns`.
    ///
    /// # Errors
    /// Where the step does not fit the network, which a condition that was checked rules out.
    pub fn step(&mut self, network: &mut Network, to_ns: u64) -> Result<Option<Stepped>, FabricError> {
        let Some(due_ns) = self.next_ns().filter(|&due_ns| due_ns <= to_ns) else { return Ok(None) };
        let Some(Step { places, .. }) = self.steps.pop_front() else { return Ok(None) };
        let at_ns = network.step(Instant::from_nanos(due_ns), &places)?.as_nanos();
        Ok(Some(Stepped { due_ns, at_ns, places }))
    }

    /// Carries out every step that is due by `to_ns`.
    ///
    /// # Errors
    /// As [`Timeline::step`].
    pub fn advance(&mut self, network: &mut Network, to_ns: u64) -> Result<(), FabricError> {
        while self.step(network, to_ns)?.is_some() {}
        Ok(())
    }
}
