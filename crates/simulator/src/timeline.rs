//! The steps of a condition's timeline that are still to come, in virtual time.

use std::collections::VecDeque;

use crosswind_engine::Instant;
use crosswind_fabric::{FabricError, Network, Places};

/// Steps in the order of their instants.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    steps: VecDeque<(u64, Places)>,
}

impl Timeline {
    /// The timeline of the condition in force, counted from `from_ns`.
    pub(crate) fn of(network: &Network, from_ns: u64) -> Self {
        let mut steps: Vec<_> = network
            .fabric()
            .condition
            .timeline
            .iter()
            .map(|step| (from_ns.saturating_add(step.at_ns), step.places.clone()))
            .collect();
        steps.sort_by_key(|(at_ns, _)| *at_ns);
        Self { steps: steps.into() }
    }

    /// Carries out every step that is due by `to_ns`.
    pub(crate) fn advance(&mut self, network: &mut Network, to_ns: u64) -> Result<(), FabricError> {
        while self.steps.front().is_some_and(|(at_ns, _)| *at_ns <= to_ns) {
            if let Some((at_ns, places)) = self.steps.pop_front() {
                network.step(Instant::from_nanos(at_ns), &places)?;
            }
        }
        Ok(())
    }
}
