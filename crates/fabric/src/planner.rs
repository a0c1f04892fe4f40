//! Makes plans of a condition, and of the steps of its timeline.
//!
//! All slow work is done here, on the caller's thread: checking, naming, comparing parameters with the earlier ones,
//! making elements. A network only compares and exchanges ([`Network::apply`]).

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crosswind_engine::{Engine, Instant};

use crate::border::Border;
use crate::check::FabricError;
use crate::compile::{Compiler, Wire};
use crate::cuts::{Cuts, NodeCut};
use crate::domains::Domains;
use crate::graph::Graph;
use crate::network::Network;
use crate::paths::Paths;
use crate::plan::{Fresh, Plan, Target, Wanted};
use crate::register::Register;
use crate::requested::Requested;
use crate::routes::Routes;
use crate::site::Site;
use crate::spec::{Condition, Fabric, Places, Step};
use crate::stands;
use crate::timeline::Timeline;

/// Makes plans for the networks of one fabric.
#[derive(Debug)]
pub struct Planner {
    fabric: Arc<Fabric>,
    graph: Arc<Graph>,
    routes: Routes,
    /// Sites of every stand except those of neighbours.
    sites: Vec<Site>,
    /// The host of each node.
    hosts: Arc<[usize]>,
    register: Register,
    requested: Requested,
    /// Present where several networks carry the fabric.
    domains: Option<Arc<Domains>>,
    /// Number of networks that carry out the plans.
    networks: u32,
}

impl Planner {
    /// A planner for a fabric; the fabric's condition is the first.
    ///
    /// # Errors
    /// All errors of the fabric.
    pub fn new(fabric: &Fabric) -> Result<Self, FabricError> {
        let (graph, routes) = fabric.checked()?;
        let host_of: HashMap<&str, usize> = fabric.hosts.iter().map(String::as_str).zip(0..).collect();
        let hosts: Arc<[usize]> = fabric.nodes.iter().map(|node| host_of[node.host.as_str()]).collect();
        let mut planner = Self {
            sites: stands::sites(fabric, &graph, &hosts),
            fabric: Arc::new(Fabric { condition: Condition::default(), ..fabric.clone() }),
            graph: Arc::new(graph),
            routes,
            hosts,
            register: Register::default(),
            requested: Requested::default(),
            domains: None,
            networks: 0,
        };
        planner.ask(&fabric.condition)?;
        Ok(planner)
    }

    /// The same planner, for several networks that carry a domain each ([`Planner::domain`]).
    pub fn divided(self, domains: Domains) -> Self {
        Self { domains: Some(Arc::new(domains)), ..self }
    }

    /// A network in the state of the latest plan; its interference starts at `start`.
    ///
    /// # Errors
    /// When the condition has parameters that the engine cannot carry out.
    pub fn network(&mut self, start: Instant) -> Result<Network, FabricError> {
        self.within(start, Border::default())
    }

    /// As [`Planner::network`], but only domain `which`. Packets enter it at nodes of this domain only;
    /// [`Network::next_out`] and [`Network::take_in`] exchange what crosses its border.
    ///
    /// # Errors
    /// As for [`Planner::network`].
    pub fn domain(&mut self, start: Instant, which: usize) -> Result<Network, FabricError> {
        let border = self.domains.as_ref().map_or_else(Border::default, |domains| Border::of(domains, which));
        self.within(start, border)
    }

    fn within(&mut self, start: Instant, border: Border) -> Result<Network, FabricError> {
        let (target, wires) = self.compiled()?;
        let (fabric, graph, hosts) =
            (Arc::clone(&self.fabric), Arc::clone(&self.graph), Arc::clone(&self.hosts));
        let mut network = Network::empty(fabric, graph, self.routes.clone(), hosts, wires, border);
        self.networks += 1;
        network.apply(start, self.plan(target, self.requested.places.clone(), false, String::new()));
        Ok(network)
    }

    /// The plan of another condition.
    ///
    /// # Errors
    /// All errors of the condition; then nothing has changed.
    pub fn condition(&mut self, condition: &Condition) -> Result<Plan, FabricError> {
        let before = self.requested.clone();
        let json = serde_json::to_string(condition).map_err(FabricError::of)?;
        let compiled = self.ask(condition).and_then(|()| self.compiled());
        match compiled {
            Ok((target, _)) => Ok(self.plan(target, condition.places.clone(), false, json)),
            Err(error) => {
                self.requested = before;
                Err(error)
            }
        }
    }

    /// The plan in which the named places are replaced and the others stay. `cuts` are the cuts of the timeline from
    /// then on; without them they stay too.
    ///
    /// # Errors
    /// When the engine cannot carry it out; then nothing has changed.
    pub fn step(&mut self, places: &Places, cuts: Option<&[NodeCut]>) -> Result<Plan, FabricError> {
        let merged = self.requested.places.replaced_by(places);
        let cuts_after = cuts
            .map_or_else(|| Arc::clone(&self.requested.cuts), |cuts| Arc::new(Cuts::of(cuts, &self.fabric)));
        let before = std::mem::replace(&mut self.requested.places, merged);
        let cuts_before = std::mem::replace(&mut self.requested.cuts, cuts_after);
        // Complete, so that it does not depend on earlier plans.
        let json = serde_json::to_string(&self.requested.places.written_out()).map_err(FabricError::of)?;
        match self.compiled() {
            Ok((target, _)) => Ok(self.plan(target, places.clone(), cuts.is_some(), json)),
            Err(error) => {
                (self.requested.places, self.requested.cuts) = (before, cuts_before);
                Err(error)
            }
        }
    }

    /// Cuts by hand ([`Network::cut`]), which belong to no condition.
    ///
    /// # Errors
    /// All errors of the cuts.
    pub fn cuts(&self, cuts: &[NodeCut]) -> Result<Arc<Cuts>, FabricError> {
        let mut wrong = Vec::new();
        self.fabric.check_cuts("cut", cuts, &mut wrong);
        FabricError::unless_empty(wrong)?;
        Ok(Arc::new(Cuts::of(cuts, &self.fabric)))
    }

    /// The timeline of the condition, counted from 0. Its first step starts from the condition itself.
    ///
    /// # Errors
    /// When the engine cannot carry out a step.
    pub fn timeline(&mut self) -> Result<Timeline, FabricError> {
        let mut steps = self.requested.condition.timeline.clone();
        if steps.is_empty() {
            return Ok(Timeline::default());
        }
        steps.sort_by_key(|step| step.at_ns);
        let start = self.requested.condition.places.written_out();
        let start = self.step(&start, Some(&[]))?;
        let plan = |Step { at_ns, places, cuts }: Step| Ok((at_ns, self.step(&places, cuts.as_deref())?));
        let planned = steps.into_iter().map(plan);
        let planned: Result<Vec<_>, FabricError> = planned.collect();
        planned.map(|steps| Timeline::new(Some(start), steps))
    }

    /// The same plan for another domain.
    pub fn again(&self, plan: &Plan) -> Plan {
        let Plan { target, stated, states_cuts, json, .. } = plan;
        self.plan_of(target, stated, *states_cuts, json.clone())
    }

    /// The same timeline for another domain, with no step carried out.
    pub fn timeline_again(&self, timeline: &Timeline) -> Timeline {
        timeline.with_plans(|plan| self.again(plan))
    }

    fn ask(&mut self, condition: &Condition) -> Result<(), FabricError> {
        self.fabric.check_condition(&self.graph, condition)?;
        if let Some(domains) = &self.domains {
            domains.check(&self.fabric, &self.graph, condition)?;
        }
        self.requested = self.requested.next(condition, &self.fabric, &self.graph)?;
        Ok(())
    }

    fn compiled(&mut self) -> Result<(Target, Arc<[Wire]>), FabricError> {
        let Self { fabric, graph, sites, requested, register, .. } = self;
        Compiler { fabric, graph, sites, requested, register }.compile().map_err(FabricError::of)
    }

    fn plan(&self, target: Target, stated: Places, states_cuts: bool, json: String) -> Plan {
        self.plan_of(&Arc::new(target), &Arc::new(stated), states_cuts, json)
    }

    fn plan_of(&self, target: &Arc<Target>, stated: &Arc<Places>, states_cuts: bool, json: String) -> Plan {
        let may_be_new = |wanted: &Wanted| wanted.about.made.load(Ordering::Acquire) < self.networks;
        let prepare = |(place, wanted): (usize, &Wanted)| {
            // Prepared elements that a step of the timeline makes in the meantime are not used.
            let Wanted { about, spec } = wanted;
            may_be_new(wanted).then(|| (place, Engine::prepare(self.fabric.seed, &about.name, spec)))
        };
        Plan {
            fresh: Fresh::new(target.elements.iter().enumerate().filter_map(prepare)),
            target: Arc::clone(target),
            paths: Paths::between(self.fabric.nodes.len()),
            stated: Arc::clone(stated),
            states_cuts,
            json,
        }
    }
}
