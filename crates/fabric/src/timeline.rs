//! The remaining steps of a condition's timeline. The emulator and the simulator carry them out with this.

use std::sync::Arc;

use crosswind_engine::Instant;

use crate::cuts::Cuts;
use crate::network::{Applied, Network, Spent};
use crate::plan::Plan;
use crate::spec::Places;

/// Planned steps in the order of their instants ([`crate::Planner::timeline`]).
#[derive(Debug, Default)]
pub struct Timeline {
    from_ns: u64,
    /// The state before the first step; `None` where there are no steps.
    start: Option<Plan>,
    /// As in [`Step`].
    spent: Option<Spent>,
    steps: Vec<Step>,
    done: usize,
}

#[derive(Debug)]
struct Step {
    at_ns: u64,
    plan: Option<Plan>,
    /// Objects that it replaced stay here, because dropping them takes longer than storing them.
    spent: Option<Spent>,
}

/// A step that was carried out.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// When it was due.
    pub due_ns: u64,
    /// When it took effect: later than it was due if the engine had already passed that instant.
    pub at_ns: u64,
    /// The places that it replaced.
    pub places: Arc<Places>,
    /// All cuts of the timeline from then on, where the step has some or they changed.
    pub cuts: Option<Arc<Cuts>>,
    /// All places in their new state, for a recording.
    pub json: String,
}

impl Timeline {
    pub(crate) fn new(start: Option<Plan>, steps: Vec<(u64, Plan)>) -> Self {
        let step = |(at_ns, plan)| Step { at_ns, plan: Some(plan), spent: None };
        Self { from_ns: 0, start, spent: None, steps: steps.into_iter().map(step).collect(), done: 0 }
    }

    /// The same steps with other plans.
    pub(crate) fn with_plans(&self, again: impl Fn(&Plan) -> Plan) -> Self {
        let steps = self.steps.iter();
        let steps = steps.filter_map(|step| Some((step.at_ns, again(step.plan.as_ref()?))));
        Self { from_ns: self.from_ns, ..Self::new(self.start.as_ref().map(&again), steps.collect()) }
    }

    /// The same timeline, counted from another instant.
    pub fn starting_at(self, from_ns: u64) -> Self {
        Self { from_ns, ..self }
    }

    /// Replaces another timeline of the same condition at `at`. If that one has begun, the state before the first step
    /// is restored.
    pub fn follow(&mut self, before: &Timeline, network: &mut Network, at_ns: u64) -> Option<Stepped> {
        let plan = self.start.take().filter(|_| before.done > 0)?;
        let (stepped, spent) = carry_out(plan, network, at_ns);
        self.spent = Some(spent);
        Some(stepped)
    }

    /// Makes the elements of the remaining steps, which will not be carried out. Another condition ends the timeline
    /// in every domain, and some domains may have carried out more steps than others. This gives elements the same
    /// numbers in all domains.
    pub fn make_elements(&mut self, network: &mut Network) {
        let plans = self.steps[self.done..].iter_mut().filter_map(|step| step.plan.as_mut());
        for plan in plans {
            network.make(plan, usize::MAX);
        }
    }

    /// When the next step is due.
    pub fn next_ns(&self) -> Option<u64> {
        self.steps.get(self.done).map(|step| self.from_ns.saturating_add(step.at_ns))
    }

    /// Carries out the next step, if it is due by `to_ns`.
    pub fn step(&mut self, network: &mut Network, to_ns: u64) -> Option<Stepped> {
        let due_ns = self.next_ns().filter(|&due_ns| due_ns <= to_ns)?;
        let step = &mut self.steps[self.done];
        let plan = step.plan.take()?;
        self.done += 1;
        let (stepped, spent) = carry_out(plan, network, due_ns);
        step.spent = Some(spent);
        Some(stepped)
    }

    /// Leaves out the next step, which was carried out otherwise.
    pub fn pass_over(&mut self) {
        if let Some(step) = self.steps.get_mut(self.done) {
            step.plan = None;
            self.done += 1;
        }
    }

    /// Carries out every step that is due by `to_ns`.
    pub fn advance(&mut self, network: &mut Network, to_ns: u64) {
        while self.step(network, to_ns).is_some() {}
    }
}

fn carry_out(mut plan: Plan, network: &mut Network, due_ns: u64) -> (Stepped, Spent) {
    let (places, json) = (Arc::clone(&plan.stated), std::mem::take(&mut plan.json));
    let Applied { at, cuts, spent } = network.apply(Instant::from_nanos(due_ns), plan);
    (Stepped { due_ns, at_ns: at.as_nanos(), places, cuts, json }, spent)
}
