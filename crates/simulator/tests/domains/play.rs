//! Plays a scenario: in one network without domains, and in domains. Both report everything that can be seen.

use std::collections::{BTreeMap, VecDeque};

use crosswind_engine::{Capacity, Counters, Ecn, Instant, Outcome, Readings, Totals};
use std::convert::Infallible;
use std::sync::Arc;

use crosswind_fabric::{Domains, Facts, Frame, Levels, Network, Plan, Planner, Timeline};
use crosswind_simulator::domains::{place, Lane, Lanes};

use super::network::{Arrival, Scenario};

/// What became of a wire packet: when, which of which arrival, at which element (that of the exit is the last), and how it was then.
type Fate = (u64, (u32, u32), usize, String);

/// Everything that can be seen of a run, whichever domain it was in.
#[derive(PartialEq, Debug)]
pub struct Seen {
    pub fates: Vec<Fate>,
    counters: Vec<(String, Counters)>,
    readings: BTreeMap<String, Readings>,
    totals: [[u64; 5]; 2],
    draws: BTreeMap<Arc<str>, Vec<(Instant, u64)>>,
    changes: BTreeMap<Arc<str>, Vec<(Instant, Capacity)>>,
}

/// What is planned: the timeline, and when another condition comes with its own.
struct Plans {
    timeline: Timeline,
    change: Option<(u64, Plan, Timeline)>,
}

impl Plans {
    fn of(planner: &mut Planner, scenario: &Scenario) -> Self {
        let timeline = planner.timeline().expect("a sound timeline");
        let change = scenario.change.as_ref().map(|(at_ns, condition)| {
            let plan = planner.condition(condition).expect("a condition that fits");
            (*at_ns, plan, planner.timeline().expect("a sound timeline").starting_at(*at_ns))
        });
        Self { timeline, change }
    }

    fn again(&self, planner: &Planner) -> Self {
        let change = self.change.as_ref();
        Self {
            timeline: planner.timeline_again(&self.timeline),
            change: change.map(|(at_ns, plan, timeline)| {
                (*at_ns, planner.again(plan), planner.timeline_again(timeline))
            }),
        }
    }
}

/// One network, or one domain of it.
struct Player {
    network: Network,
    plans: Plans,
    arrivals: VecDeque<(u32, Arrival)>,
    outcomes: Vec<Outcome>,
}

impl Player {
    fn new(network: Network, plans: Plans, scenario: &Scenario, own: impl Fn(usize) -> bool) -> Self {
        let arrivals = (0..).zip(scenario.arrivals.iter().copied());
        Self {
            network,
            plans,
            arrivals: arrivals.filter(|(_, arrival)| own(arrival.from)).collect(),
            outcomes: Vec::new(),
        }
    }

    /// Does what was asked for up to `to_ns`: first the timeline, then the change, then packets.
    fn play(&mut self, to_ns: u64) {
        loop {
            let Plans { timeline, change } = &mut self.plans;
            let step_ns = timeline.next_ns().filter(|&at_ns| at_ns <= to_ns);
            let change_ns = change.as_ref().map(|change| change.0).filter(|&at_ns| at_ns <= to_ns);
            let packet_ns = self.arrivals.front().map(|(_, it)| it.at_ns).filter(|&at_ns| at_ns <= to_ns);
            let Some(first_ns) = [step_ns, change_ns, packet_ns].into_iter().flatten().min() else { break };
            if step_ns == Some(first_ns) {
                timeline.step(&mut self.network, to_ns);
            } else if change_ns == Some(first_ns) {
                let (at_ns, plan, next) = change.take().expect("it is due");
                self.network.apply(Instant::from_nanos(at_ns), plan);
                *timeline = next;
            } else {
                let (key, arrival) = self.arrivals.pop_front().expect("it is due");
                self.push(key, arrival);
            }
            self.settle();
        }
        self.network.engine().advance(Instant::from_nanos(to_ns));
        self.settle();
    }

    fn push(&mut self, key: u32, arrival: Arrival) {
        let Arrival { at_ns, from, to, count, ip_bytes, dscp, port } = arrival;
        let facts = Facts { from, to, protocol: 17, ports: Some((port, 0)) };
        let (flow, labels) = (self.network.flow(&facts), self.network.labels(&facts));
        let frame = Frame { key, count, ip_bytes, last_ip_bytes: ip_bytes, dscp, ecn: Ecn::Ect0 };
        self.network.push_labelled(Instant::from_nanos(at_ns), (from, to, flow), &frame, labels);
    }

    fn settle(&mut self) {
        while self.network.engine().pop_sighting().is_some() {}
        self.outcomes.extend(std::iter::from_fn(|| self.network.engine().pop()));
    }
}

impl Lane for Player {
    type Error = Infallible;

    fn network(&mut self) -> &mut Network {
        &mut self.network
    }

    fn next(&self) -> Option<Instant> {
        let change_ns = self.plans.change.as_ref().map(|change| change.0);
        let packet_ns = self.arrivals.front().map(|(_, arrival)| arrival.at_ns);
        let asked = [self.plans.timeline.next_ns(), change_ns, packet_ns].into_iter().flatten();
        asked.map(Instant::from_nanos).chain(self.network.engine_ref().next_event()).min()
    }

    fn advance(&mut self, to: Instant) -> Result<(), Infallible> {
        self.play(to.as_nanos());
        Ok(())
    }
}

/// Without domains, lanes and rounds: the oracle.
pub fn alone(scenario: &Scenario) -> Seen {
    let mut planner = Planner::new(&scenario.fabric).expect("a sound fabric");
    let network = planner.network(Instant::ZERO).expect("a sound fabric");
    let plans = Plans::of(&mut planner, scenario);
    let mut player = Player::new(network, plans, scenario, |_| true);
    player.play(scenario.end_ns);
    seen(&mut [player], |_| 0)
}

/// What was seen, and how many packets crossed.
pub fn divided(scenario: &Scenario, domains: &Domains) -> (Seen, u64) {
    let mut planner = Planner::new(&scenario.fabric).expect("a sound fabric").divided(domains.clone());
    let networks: Result<Vec<Network>, _> =
        (0..domains.count()).map(|domain| planner.domain(Instant::ZERO, domain)).collect();
    let plans = Plans::of(&mut planner, scenario);
    let player = |(domain, network)| {
        Player::new(network, plans.again(&planner), scenario, |node| domains.of_node(node) == domain)
    };
    let players = networks.expect("a sound fabric").into_iter().enumerate().map(player).collect();
    let mut lanes = Lanes::new(domains, players);
    for &(to_ns, here) in scenario.stops.iter().chain([&(scenario.end_ns, false)]) {
        let to = Instant::from_nanos(to_ns);
        let done = if here { lanes.advance_here(to) } else { lanes.advance(to) };
        let Ok(()) = done;
        assert!(lanes.each().iter().all(|player| player.network.engine_ref().now() == to));
    }
    let mut players = lanes.into_each();
    let crossed = players.iter().map(|player| player.network.engine_ref().totals().real.went).sum();
    (seen(&mut players, |element| domains.of_element(element)), crossed)
}

fn seen(players: &mut [Player], owner: impl Fn(&crosswind_fabric::ElementAt) -> usize) -> Seen {
    let mut outcomes: Vec<Outcome> =
        players.iter_mut().flat_map(|player| player.outcomes.drain(..)).collect();
    outcomes.sort_by_key(place);
    let mut fates: Vec<Fate> = outcomes.iter().flat_map(wire_packets).collect();
    // Stable: what became of one packet at one instant and element stays in the order in which it happened.
    fates.sort_by_key(|&(at_ns, which, element, _)| (at_ns, which, element));
    let networks: Vec<&Network> = players.iter().map(|player| &player.network).collect();
    let elements = networks[0].elements();
    for network in &networks {
        let names =
            |network: &Network| network.elements().iter().map(|it| it.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(network), names(networks[0]), "every domain has all elements");
    }
    let sum = |id| {
        let all = networks.iter().map(|network| *network.engine_ref().counters(id));
        all.fold(Counters::default(), std::ops::Add::add)
    };
    let reading = |element: &crosswind_fabric::ElementAt| {
        let readings = networks[owner(element)].engine_ref().readings(element.id)?;
        Some((element.name.clone(), readings))
    };
    let mut totals = [[0; 5]; 2];
    for network in &networks {
        let Totals { real, ghost } = network.engine_ref().totals();
        assert!(real.holds() && ghost.holds(), "{real:?} {ghost:?}");
        for (sum, it) in totals.iter_mut().zip([real, ghost]) {
            for (sum, it) in sum.iter_mut().zip([it.entered, it.duplicated, it.left, it.dropped, it.inside]) {
                *sum += it;
            }
        }
    }
    let mut draws = BTreeMap::new();
    let mut changes = BTreeMap::new();
    for network in &networks {
        for (name, source) in network.sources() {
            // Two interferences between the same hosts have sources of the same name.
            draws.entry(Arc::clone(name)).or_insert_with(Vec::new).extend(network.engine_ref().draws(source));
        }
        for Levels { link, changes: changed, .. } in network.levels() {
            assert_eq!(changes.insert(Arc::clone(&link), changed), None, "{link} is driven in one domain");
        }
    }
    Seen {
        fates,
        counters: elements.iter().map(|element| (element.name.clone(), sum(element.id))).collect(),
        readings: elements.iter().filter_map(reading).collect(),
        totals,
        draws,
        changes,
    }
}

/// The wire packets of an outcome: a train that is carried as one may be carried as many elsewhere.
fn wire_packets(outcome: &Outcome) -> Vec<Fate> {
    let packet = outcome.packet();
    let what = match outcome {
        Outcome::Departure { .. } => "left".to_owned(),
        Outcome::Duplicated { .. } => "duplicated".to_owned(),
        Outcome::Dropped { reason, .. } => reason.name().to_owned(),
    };
    let (at, _, element) = place(outcome);
    let (key, index) = (Frame::key_of(packet.tag), Frame::index_of(packet.tag));
    let (entered, dscp, ecn, damage) = (packet.entered, packet.dscp, packet.ecn, packet.damage);
    let indices = index.map_or(0..u32::from(packet.count), |index| index..index + 1);
    let how = format!("{what} entered {entered} {}B dscp {dscp} {ecn:?} {damage:?}", packet.segment_ip_bytes);
    indices.map(|index| (at.as_nanos(), (key, index), element, how.clone())).collect()
}
