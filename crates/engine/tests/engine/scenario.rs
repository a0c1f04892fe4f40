//! Random networks and what is done to them: the material of the property tests in `promises`.

use crosswind_engine::{
    Class, Counters, Duration, ElementId, ElementSpec, Engine, Instant, Limit, Outcome, Packet, PathId, Rate,
    RateLaw, Scheduling, SourceSpec, Totals, ZeroMeans,
};
use proptest::prelude::*;

use crate::common::{at, queues, rate};

/// A network of three paths (forwards, backwards, and every second element), and the steps to take.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub elements: Vec<ElementSpec>,
    pub source: Option<SourceSpec>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub enum Step {
    Push { at: u64, path: usize, ip_bytes: u32, dscp: u8, class: Class },
    Reconfigure { at: u64, element: usize, spec: ElementSpec },
    Advance { to: u64 },
}

impl Step {
    pub fn at(&self) -> u64 {
        match *self {
            Step::Push { at, .. } | Step::Reconfigure { at, .. } | Step::Advance { to: at } => at,
        }
    }
}

/// Everything that can be seen of a run.
#[derive(PartialEq, Debug)]
pub struct Seen {
    pub outcomes: Vec<Outcome>,
    pub counters: Vec<Counters>,
    pub totals: Totals,
}

/// A scenario's engine.
pub struct Built {
    pub engine: Engine,
    pub elements: Vec<ElementId>,
    pub paths: Vec<PathId>,
}

impl Scenario {
    pub fn build(&self) -> Built {
        let mut engine = Engine::new(7);
        let add = |(index, spec): (usize, &ElementSpec)| {
            engine.add(&format!("element {index}"), spec.clone()).expect("a valid element")
        };
        let elements: Vec<ElementId> = self.elements.iter().enumerate().map(add).collect();
        let backwards: Vec<ElementId> = elements.iter().rev().copied().collect();
        let every_second: Vec<ElementId> = elements.iter().step_by(2).copied().collect();
        let paths = [&elements, &backwards, &every_second].map(|hops| engine.path(hops)).to_vec();
        if let Some(source) = &self.source {
            engine
                .start_source("neighbour", source.clone(), paths[0], Instant::ZERO)
                .expect("a valid source");
        }
        Built { engine, elements, paths }
    }

    /// Takes all steps and lets 100 us more pass. Packets are tagged with their step.
    pub fn run(&self) -> Seen {
        let mut built = self.build();
        for (tag, step) in (0..).zip(&self.steps) {
            built.take(tag, step);
        }
        built.finish()
    }
}

impl Built {
    /// Takes one step and returns the instant used.
    pub fn take(&mut self, tag: u64, step: &Step) -> Instant {
        match step {
            &Step::Push { at: nanos, path, ip_bytes, dscp, class } => {
                let packet = match class {
                    Class::Real => Packet::real(tag, ip_bytes, dscp),
                    Class::Ghost => Packet::ghost(ip_bytes),
                };
                self.engine.push(at(nanos), self.paths[path % self.paths.len()], packet)
            }
            Step::Reconfigure { at: nanos, element, spec } => {
                let element = self.elements[element % self.elements.len()];
                // Another kind is refused and changes nothing; the step is then an advance.
                self.engine.reconfigure(at(*nanos), element, spec.clone()).unwrap_or_else(|_| {
                    self.engine.advance(at(*nanos));
                    self.engine.now()
                })
            }
            &Step::Advance { to } => {
                self.engine.advance(at(to));
                self.engine.now()
            }
        }
    }

    pub fn finish(mut self) -> Seen {
        let end = self.engine.now() + Duration::from_micros(100);
        self.engine.advance(end);
        Seen {
            outcomes: std::iter::from_fn(|| self.engine.pop()).collect(),
            counters: self.elements.iter().map(|&id| *self.engine.counters(id)).collect(),
            totals: self.engine.totals(),
        }
    }
}

/// Instants are drawn from 0 to 30 us on a grid of 100 ns, so that many coincide; they are not sorted.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let elements = prop::collection::vec(element(), 1..6);
    let steps = prop::collection::vec(step(), 1..60);
    (elements, prop::option::of(source()), steps).prop_map(|(elements, source, steps)| Scenario {
        elements,
        source,
        steps,
    })
}

fn instant() -> impl Strategy<Value = u64> {
    (0u64..300).prop_map(|grid| grid * 100)
}

fn step() -> impl Strategy<Value = Step> {
    let class = prop_oneof![Just(Class::Real), Just(Class::Ghost)];
    let push = (instant(), 0usize..3, prop_oneof![Just(1500u32), 1u32..=1500], 0u8..4, class)
        .prop_map(|(at, path, ip_bytes, dscp, class)| Step::Push { at, path, ip_bytes, dscp, class });
    let reconfigure = (instant(), 0usize..6, element()).prop_map(|(at, element, spec)| Step::Reconfigure {
        at,
        element,
        spec,
    });
    prop_oneof![8 => push, 1 => reconfigure, 1 => instant().prop_map(|to| Step::Advance { to })]
}

fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![1 => Just(Rate::Unlimited), 4 => (1_000_000_000u64..20_000_000_000).prop_map(rate)]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![Just(Limit::Unlimited), (0u64..10_000).prop_map(Limit::Bytes)]
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(Duration::ZERO), (0u64..50).prop_map(|grid| Duration::from_nanos(grid * 100))]
}

fn element() -> impl Strategy<Value = ElementSpec> {
    let by = prop_oneof![Just(Scheduling::Strict), Just(Scheduling::Wrr), Just(Scheduling::Drr)];
    let queueing = prop_oneof![
        limit().prop_map(crosswind_engine::Queueing::fifo),
        (by, prop::collection::vec(1u32..4, 1..4)).prop_map(|(by, weights)| queues(by, &weights)),
    ];
    prop_oneof![
        2 => (any_rate(), 100u64..6000)
            .prop_map(|(rate, burst_bytes)| ElementSpec::Police { rate, burst_bytes }),
        2 => (any_rate(), 100u64..6000, limit())
            .prop_map(|(rate, burst_bytes, buffer)| ElementSpec::Shape { rate, burst_bytes, buffer }),
        1 => (0u8..4).prop_map(|dscp| ElementSpec::Mark { dscp }),
        1 => duration().prop_map(|time| ElementSpec::Delay { time }),
        4 => (any_rate(), duration(), queueing)
            .prop_map(|(rate, delay, queueing)| ElementSpec::Link { rate, delay, queueing }),
    ]
}

fn source() -> impl Strategy<Value = SourceSpec> {
    let zero = prop_oneof![Just(ZeroMeans::Silence), Just(ZeroMeans::Unlimited)];
    (0u64..4_000_000_000, 0u64..4_000_000_000, 1u64..100, 1u64..50, 100u32..=1500, zero).prop_map(
        |(mean, sd, hold, pacing, packet_ip_bytes, zero)| SourceSpec {
            rate: RateLaw::Normal { mean, sd, low: 0, high: 5_000_000_000 },
            hold: Duration::from_nanos(hold * 100),
            pacing: Duration::from_nanos(pacing * 100),
            packet_ip_bytes,
            peak: rate(10_000_000_000),
            zero,
        },
    )
}
