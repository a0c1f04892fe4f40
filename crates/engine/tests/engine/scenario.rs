//! Random networks and operations on them, for the property tests in `promises`.

use crosswind_engine::{
    Arrivals, BufferSpec, Class, CongestionControl, Counters, DropSpec, Duration, Ecn, ElementId,
    ElementSpec, Engine, Instant, Limit, LinkSpec, MemoryId, MemoryShare, MonitorSpec, Outcome, Packet,
    Parameters, PathId, ProcessId, ProcessSpec, Quantity, Queueing, Rate, RateLaw, Readings, Sampler,
    Scheduling, Selection, Sighting, Sizes, SourceSpec, Start, Totals, Treatment, ZeroMeans,
};
use proptest::prelude::*;

use crate::common::{at, queues, rate};
use crate::processes::process;

/// A network of three paths (forwards, backwards, and every second element), and its steps.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub elements: Vec<ElementSpec>,
    pub source: Option<SourceSpec>,
    /// Processes that drive elements from the start, for elements that are links.
    pub drives: Vec<(usize, ProcessSpec)>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub enum Step {
    Push {
        at: u64,
        path: usize,
        ip_bytes: u32,
        dscp: u8,
        class: Class,
    },
    Reconfigure {
        at: u64,
        element: usize,
        spec: ElementSpec,
    },
    /// Stops the first process and starts another, if the element is a link that is free then.
    Drive {
        at: u64,
        element: usize,
        spec: ProcessSpec,
    },
    Advance {
        to: u64,
    },
}

impl Step {
    pub fn at(&self) -> u64 {
        match *self {
            Step::Push { at, .. }
            | Step::Reconfigure { at, .. }
            | Step::Drive { at, .. }
            | Step::Advance { to: at } => at,
        }
    }
}

/// Everything visible of a run.
#[derive(PartialEq, Debug)]
pub struct Seen {
    pub outcomes: Vec<Outcome>,
    pub counters: Vec<Counters>,
    pub totals: Totals,
    pub readings: Vec<Option<Readings>>,
    pub sightings: Vec<Sighting>,
}

/// A scenario's engine.
pub struct Built {
    pub engine: Engine,
    pub elements: Vec<ElementId>,
    pub paths: Vec<PathId>,
    process: Option<ProcessId>,
}

impl Scenario {
    pub fn build(&self) -> Built {
        self.build_cut(None)
    }

    /// As `build`, but packets from the element at `cut` leave for another engine.
    pub fn build_cut(&self, cut: Option<usize>) -> Built {
        let mut engine = Engine::new(7);
        engine.add_memory(12_000);
        let add = |(index, spec): (usize, &ElementSpec)| {
            engine.add(&format!("element {index}"), spec.clone()).expect("a valid element")
        };
        let elements: Vec<ElementId> = self.elements.iter().enumerate().map(add).collect();
        if let Some(cut) = cut {
            engine.cut(elements[cut]).expect("a link with a delay");
        }
        // Each monitor watches the element after it.
        for pair in elements.windows(2) {
            if engine.readings(pair[0]).is_some() {
                let queue = engine.has_queue(pair[1]).then_some(pair[1]);
                engine.watch(Instant::ZERO, pair[0], queue, &pair[1..]);
            }
        }
        let backwards: Vec<ElementId> = elements.iter().rev().copied().collect();
        let every_second: Vec<ElementId> = elements.iter().step_by(2).copied().collect();
        let paths = [&elements, &backwards, &every_second].map(|hops| engine.path(hops)).to_vec();
        if let Some(source) = &self.source {
            engine
                .start_source("neighbour", source.clone(), paths[0], Instant::ZERO)
                .expect("a valid source");
        }
        let mut process = None;
        for (number, (element, spec)) in self.drives.iter().enumerate() {
            // An element that is not a link, or is driven already, refuses the process.
            let link = elements[element % elements.len()];
            let started =
                engine.start_process(&format!("process {number}"), spec.clone(), link, Instant::ZERO);
            process = process.or(started.ok());
        }
        Built { engine, elements, paths, process }
    }

    /// Carries out all steps and then 100 us more. Packets are tagged with their step.
    pub fn run(&self) -> Seen {
        let mut built = self.build();
        for (tag, step) in (0..).zip(&self.steps) {
            built.take(tag, step);
        }
        built.finish()
    }
}

impl Built {
    /// Carries out one step and returns the instant used.
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
            Step::Drive { at: nanos, element, spec } => {
                if let Some(process) = self.process.take() {
                    self.engine.stop_process(at(*nanos), process);
                }
                self.engine.advance(at(*nanos));
                let link = self.elements[element % self.elements.len()];
                self.process = self.engine.start_process("another", spec.clone(), link, at(*nanos)).ok();
                self.engine.now()
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
            sightings: std::iter::from_fn(|| self.engine.pop_sighting()).collect(),
            totals: self.engine.totals(),
            readings: self.elements.iter().map(|&id| self.engine.readings(id)).collect(),
        }
    }
}

/// Instants are drawn from 0 to 30 us on a grid of 100 ns, so that many coincide; they are not sorted.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let elements = prop::collection::vec(element(), 1..6);
    let steps = prop::collection::vec(step(), 1..60);
    let drives = prop::collection::vec((0usize..6, process()), 0..3);
    (elements, prop::option::of(source()), drives, steps)
        .prop_map(|(elements, source, drives, steps)| Scenario { elements, source, drives, steps })
}

fn instant() -> impl Strategy<Value = u64> {
    (0u64..300).prop_map(|grid| grid * 100)
}

pub fn step() -> impl Strategy<Value = Step> {
    let class = prop_oneof![Just(Class::Real), Just(Class::Ghost)];
    let push = (instant(), 0usize..3, prop_oneof![Just(1500u32), 1u32..=1500], dscp(), class)
        .prop_map(|(at, path, ip_bytes, dscp, class)| Step::Push { at, path, ip_bytes, dscp, class });
    let reconfigure = (instant(), 0usize..6, element()).prop_map(|(at, element, spec)| Step::Reconfigure {
        at,
        element,
        spec,
    });
    let drive =
        (instant(), 0usize..6, process()).prop_map(|(at, element, spec)| Step::Drive { at, element, spec });
    prop_oneof![8 => push, 1 => reconfigure, 1 => drive, 1 => instant().prop_map(|to| Step::Advance { to })]
}

/// DSCPs with a queue of their own in `queues`, and two with a colour.
fn dscp() -> impl Strategy<Value = u8> {
    prop_oneof![4 => 0u8..4, 1 => Just(12u8), 1 => Just(14u8)]
}

/// The memory that every scenario's engine has.
fn first_memory() -> MemoryId {
    Engine::new(0).add_memory(0)
}

/// Times as short as the scenario's, so that packets are dropped.
pub fn buffer() -> impl Strategy<Value = BufferSpec> {
    any::<u64>().prop_map(|seed| BufferSpec::sample(&mut Sampler::of_microseconds(seed)))
}

pub fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![1 => Just(Rate::Unlimited), 4 => (1_000_000_000u64..20_000_000_000).prop_map(rate)]
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(Duration::ZERO), (0u64..50).prop_map(|grid| Duration::from_nanos(grid * 100))]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        (0u64..10_000).prop_map(Limit::Bytes),
        (0u64..8).prop_map(Limit::Packets),
        duration().prop_map(Limit::Time),
    ]
}

/// One queue, or those of a scheduler, each for a DSCP of its own.
pub fn queueing() -> impl Strategy<Value = Queueing> {
    let by = prop_oneof![
        Just(Scheduling::Strict),
        Just(Scheduling::Wrr),
        Just(Scheduling::Drr),
        Just(Scheduling::Stfq)
    ];
    let queue = (1u32..4, limit(), buffer(), prop::option::of(1u64..4_000_000_000));
    prop_oneof![
        buffer().prop_map(Queueing::fifo),
        (by, prop::collection::vec(queue, 1..4)).prop_map(|(by, list)| {
            let weights: Vec<u32> = list.iter().map(|&(weight, ..)| weight).collect();
            let mut queueing = queues(by, &weights);
            for (queue, (_, limit, buffer, alpha_ppb)) in queueing.queues.iter_mut().zip(list) {
                queue.buffer = BufferSpec { limit, ..buffer };
                let can_share = buffer.drop != DropSpec::Head;
                queue.share = alpha_ppb
                    .filter(|_| can_share)
                    .map(|alpha_ppb| MemoryShare { memory: first_memory(), alpha_ppb });
            }
            queueing
        }),
    ]
}

/// Every element with random parameters from its description; elements that conditions do not name are drawn here.
pub fn element() -> impl Strategy<Value = ElementSpec> {
    let described =
        (0..Treatment::KINDS.len(), any::<u64>()).prop_filter_map("is an element", |(kind, seed)| {
            Treatment::sample(Treatment::KINDS[kind], &mut Sampler::of_microseconds(seed))?.element()
        });
    prop_oneof![
        8 => described,
        1 => monitor().prop_map(ElementSpec::Monitor),
        2 => (any_rate(), duration(), queueing())
            .prop_map(|(rate, delay, queueing)| ElementSpec::Link(LinkSpec { rate, delay, queueing })),
    ]
}

fn monitor() -> impl Strategy<Value = MonitorSpec> {
    let class = prop_oneof![Just(None), Just(Some(Class::Real)), Just(Some(Class::Ghost))];
    let select = (class, prop_oneof![Just(u64::MAX), Just(0b0110)]).prop_map(|(class, dscps)| Selection {
        class,
        dscps,
        label: None,
    });
    let start = prop_oneof![duration().prop_map(Start::After), select.clone().prop_map(Start::FirstPacket),];
    (select, start, any::<bool>()).prop_map(|(select, start, reports_packets)| MonitorSpec {
        what: Quantity::ALL.to_vec(),
        window: MonitorSpec::WINDOW_MIN,
        burst_gap: Duration::from_nanos(100),
        line_rate: rate(10_000_000_000),
        select,
        start,
        reports_packets,
    })
}

pub fn source() -> impl Strategy<Value = SourceSpec> {
    let sizes = prop_oneof![3 => (100u32..=1500).prop_map(|ip_bytes| Sizes::Fixed { ip_bytes }), 1 => Just(Sizes::Imix)];
    (0u64..4_000_000_000, 0u64..4_000_000_000, 1u64..100, arrivals(), sizes, 0u8..4).prop_map(
        |(mean, sd, hold, arrivals, sizes, dscp)| {
            // The window of TCP counts packets of one size.
            let sizes = match arrivals {
                Arrivals::Responsive { .. } => Sizes::Fixed { ip_bytes: 1500 },
                _ => sizes,
            };
            let rate = RateLaw::Normal { mean, sd, low: 0, high: 5_000_000_000 };
            SourceSpec { rate, hold: Duration::from_nanos(hold * 100), arrivals, sizes, dscp }
        },
    )
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    let zero = prop_oneof![Just(ZeroMeans::Silence), Just(ZeroMeans::Unlimited)];
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0)];
    let control = prop_oneof![Just(CongestionControl::Reno), Just(CongestionControl::Cubic)];
    let some_time = || (1u64..50).prop_map(|grid| Duration::from_nanos(grid * 100));
    // Acknowledgements of the scenario's source take its second path: backwards.
    let acks = {
        let mut engine = Engine::new(7);
        engine.path(&[]);
        engine.path(&[])
    };
    prop_oneof![
        (some_time(), zero).prop_map(|(pacing, zero)| Arrivals::Paced {
            pacing,
            peak: rate(10_000_000_000),
            zero
        }),
        Just(Arrivals::Poisson),
        (some_time(), some_time(), prop::option::of(1_001u32..3_000))
            .prop_map(|(on, off, shape_thousandths)| Arrivals::OnOff { on, off, shape_thousandths }),
        (some_time(), 1u16..4, control, ecn, some_time()).prop_map(
            move |(pacing, flows, control, ecn, rto_min)| {
                Arrivals::Responsive { pacing, flows, control, ecn, rto_min, acks }
            }
        ),
    ]
}
