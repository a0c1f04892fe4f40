//! Random networks and what is done to them: the material of the property tests in `promises`.

use core::num::NonZeroU64;

use crosswind_engine::{
    Arrivals, BufferSpec, Class, CodelSpec, ColourAction, ColourActions, ColourMode, CongestionControl,
    Counters, CreditLoopSpec, CreditSpec, DelayLaw, DelaySamples, Depth, DropSpec, Duration, Ecn, ElementId,
    ElementSpec, Engine, FourStateLaw, GilbertElliottLaw, Instant, Limit, LossLaw, LossPattern, MemoryId,
    MemoryShare, MonitorSpec, Order, Outcome, PaceSpec, Packet, PathId, ProcessId, ProcessSpec, Quantity,
    RandomDelay, Rate, RateLaw, Readings, RedProfile, RedSpec, Scheduling, Selection, Share, Sighting, Sigma,
    Signal, Sizes, SourceSpec, SrtcmSpec, Start, Totals, TrtcmSpec, WredSpec, ZeroMeans,
};
use proptest::prelude::*;

use crate::common::{at, queues, rate};
use crate::processes::process;

/// A network of three paths (forwards, backwards, and every second element), and the steps to take.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub elements: Vec<ElementSpec>,
    pub source: Option<SourceSpec>,
    /// Which element, where it is a link, is driven by what from the start.
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
    /// Stops the first process and starts another, where the element is a link that is free then.
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

/// Everything that can be seen of a run.
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
        let mut engine = Engine::new(7);
        engine.add_memory(12_000);
        let add = |(index, spec): (usize, &ElementSpec)| {
            engine.add(&format!("element {index}"), spec.clone()).expect("a valid element")
        };
        let elements: Vec<ElementId> = self.elements.iter().enumerate().map(add).collect();
        // Each monitor watches the element behind it.
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
            // What is no link, or is driven already, refuses it.
            let link = elements[element % elements.len()];
            let started =
                engine.start_process(&format!("process {number}"), spec.clone(), link, Instant::ZERO);
            process = process.or(started.ok());
        }
        Built { engine, elements, paths, process }
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

fn step() -> impl Strategy<Value = Step> {
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

/// Those that have queues of their own in `queues`, and two that have a colour.
fn dscp() -> impl Strategy<Value = u8> {
    prop_oneof![4 => 0u8..4, 1 => Just(12u8), 1 => Just(14u8)]
}

fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![1 => Just(Rate::Unlimited), 4 => (1_000_000_000u64..20_000_000_000).prop_map(rate)]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        (0u64..10_000).prop_map(Limit::Bytes),
        (0u64..8).prop_map(Limit::Packets),
        duration().prop_map(Limit::Time),
    ]
}

/// The memory that every scenario's engine has.
fn first_memory() -> MemoryId {
    Engine::new(0).add_memory(0)
}

/// Times as short as the scenario's, so that CoDel has something to drop.
pub fn buffer() -> impl Strategy<Value = BufferSpec> {
    let codel = (1u64..20, 0u64..20).prop_map(|(target, more)| {
        let interval = Duration::from_nanos((target + more) * 100);
        DropSpec::Codel(CodelSpec { target: Duration::from_nanos(target * 100), interval })
    });
    let profile = |least: u64| {
        (0u64..6000, 1u64..6000, 1u32..=1000).prop_map(move |(min, more, per_mille)| RedProfile {
            min_bytes: least + min,
            max_bytes: least + min + more,
            probability: Share::parts_per_billion(per_mille * 1_000_000).expect("at most the whole"),
        })
    };
    let weight = (1u32..=1000)
        .prop_map(|per_mille| Share::parts_per_billion(per_mille * 1_000_000).expect("at most the whole"));
    let red =
        (profile(1), weight.clone()).prop_map(|(profile, weight)| DropSpec::Red(RedSpec { profile, weight }));
    let wred = (profile(1000), profile(500), profile(1), weight)
        .prop_map(|(green, yellow, red, weight)| DropSpec::Wred(WredSpec { green, yellow, red, weight }));
    let drop = prop_oneof![Just(DropSpec::Tail), Just(DropSpec::Head), codel, red, wred];
    (limit(), drop, prop_oneof![Just(Signal::Drop), Just(Signal::Mark)]).prop_map(|(limit, drop, signal)| {
        let signal = if drop.signals_early() { signal } else { Signal::Drop };
        BufferSpec { limit, drop, signal }
    })
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(Duration::ZERO), (0u64..50).prop_map(|grid| Duration::from_nanos(grid * 100))]
}

fn share() -> impl Strategy<Value = Share> {
    (0u32..=10).prop_map(|tenths| Share::parts_per_billion(tenths * 100_000_000).expect("at most the whole"))
}

/// At most a half, so that two of them are at most the whole.
fn step_share() -> impl Strategy<Value = Share> {
    (0u32..=5).prop_map(|tenths| Share::parts_per_billion(tenths * 100_000_000).expect("at most a half"))
}

fn loss_law() -> impl Strategy<Value = LossLaw> {
    let four_state = (step_share(), step_share(), step_share(), share(), step_share());
    prop_oneof![
        share().prop_map(|share| LossLaw::Bernoulli { share }),
        (share(), share(), share(), share())
            .prop_map(|(p, r, h, k)| LossLaw::GilbertElliott(GilbertElliottLaw { p, r, h, k })),
        four_state.prop_map(|(p13, p31, p32, p23, p14)| {
            LossLaw::FourState(FourStateLaw { p13, p31, p32, p23, p14 })
        }),
        prop::collection::vec(any::<bool>(), 1..20)
            .prop_filter_map("one is received", |lost| LossPattern::new(&lost).map(LossLaw::Trace)),
    ]
}

fn bits() -> impl Strategy<Value = NonZeroU64> {
    (1_000_000_000u64..20_000_000_000).prop_map(|bits| NonZeroU64::new(bits).expect("not 0"))
}

fn credit() -> impl Strategy<Value = CreditSpec> {
    (10u64..200_000, 0u64..200_000, [bits(), bits(), bits()], buffer()).prop_map(
        |(budget_bits, initial_bits, mut rates, buffer)| {
            rates.sort_unstable();
            let [refill, low, high] = rates;
            let initial_bits = initial_bits.min(budget_bits);
            CreditSpec { budget_bits, initial_bits, high, low, refill, buffer }
        },
    )
}

fn mode() -> impl Strategy<Value = ColourMode> {
    prop_oneof![Just(ColourMode::Blind), Just(ColourMode::Aware)]
}

fn actions() -> impl Strategy<Value = ColourActions> {
    let action = prop_oneof![
        Just(ColourAction::Pass),
        Just(ColourAction::Drop),
        Just(ColourAction::Remark),
        dscp().prop_map(ColourAction::Dscp),
    ];
    [action.clone(), action.clone(), action].prop_map(|[green, yellow, red]| ColourActions {
        green,
        yellow,
        red,
    })
}

fn random_delay() -> impl Strategy<Value = RandomDelay> {
    let some = || (1u64..50).prop_map(|grid| Duration::from_nanos(grid * 20));
    let samples = prop::collection::vec(-500i64..2000, 1..9);
    let law = prop_oneof![
        some().prop_map(|jitter| DelayLaw::Uniform { jitter }),
        some().prop_map(|jitter| DelayLaw::Normal { jitter }),
        some().prop_map(|jitter| DelayLaw::Pareto { jitter }),
        some().prop_map(|jitter| DelayLaw::ParetoNormal { jitter }),
        (some(), 1u32..=4_000_000).prop_map(|(jitter, sigma)| DelayLaw::Lognormal {
            jitter,
            sigma: Sigma::millionths(sigma).expect("in range"),
        }),
        samples.prop_map(|samples| DelayLaw::Samples(DelaySamples::new(samples).expect("some"))),
    ];
    let depth = prop_oneof![
        Just(Depth::Exact),
        (1u32..9).prop_map(|n| Depth::Entries(n.try_into().expect("above 0"))),
    ];
    let order = prop_oneof![Just(Order::Keep), Just(Order::Free)];
    (duration(), law, depth, order, prop::option::of(some()))
        .prop_map(|(time, law, depth, order, half_life)| RandomDelay { time, law, depth, order, half_life })
}

fn element() -> impl Strategy<Value = ElementSpec> {
    let by = prop_oneof![
        Just(Scheduling::Strict),
        Just(Scheduling::Wrr),
        Just(Scheduling::Drr),
        Just(Scheduling::Stfq)
    ];
    let queueing = prop_oneof![
        buffer().prop_map(crosswind_engine::Queueing::fifo),
        (by, prop::collection::vec((1u32..4, buffer(), prop::option::of(1u64..4_000_000_000)), 1..4))
            .prop_map(|(by, list)| {
                let weights: Vec<u32> = list.iter().map(|&(weight, ..)| weight).collect();
                let mut queueing = queues(by, &weights);
                for (queue, (_, buffer, alpha_ppb)) in queueing.queues.iter_mut().zip(list) {
                    queue.buffer = buffer;
                    let can_share = buffer.drop != DropSpec::Head;
                    queue.share = alpha_ppb
                        .filter(|_| can_share)
                        .map(|alpha_ppb| MemoryShare { memory: first_memory(), alpha_ppb });
                }
                queueing
            }),
    ];
    prop_oneof![
        2 => (any_rate(), 100u64..6000)
            .prop_map(|(rate, burst_bytes)| ElementSpec::Police { rate, burst_bytes }),
        2 => (any_rate(), 100u64..6000, buffer())
            .prop_map(|(rate, burst_bytes, buffer)| ElementSpec::Shape { rate, burst_bytes, buffer }),
        1 => credit().prop_map(ElementSpec::Credit),
        1 => (credit(), 1u64..100, 0u64..10).prop_map(|(credit, grid, tenth)| {
            let interval = Duration::from_nanos(grid * 100);
            let reopen_bits = credit.budget_bits / 10 * tenth;
            ElementSpec::CreditLoop(CreditLoopSpec { credit, interval, reopen_bits })
        }),
        1 => (any_rate(), 1u64..100).prop_map(|(rate, grid)| {
            ElementSpec::Pace(PaceSpec { rate, horizon: Duration::from_nanos(grid * 100) })
        }),
        1 => (bits(), 0u64..6000, 1u64..6000, mode(), actions()).prop_map(
            |(cir, cbs_bytes, ebs_bytes, mode, actions)| ElementSpec::Srtcm(SrtcmSpec { cir, cbs_bytes, ebs_bytes, mode, actions })
        ),
        1 => (bits(), 1u64..6000, 0u64..5_000_000_000, 1u64..6000, mode(), actions()).prop_map(
            |(cir, cbs_bytes, more, pbs_bytes, mode, actions)| {
                let pir = cir.saturating_add(more);
                ElementSpec::Trtcm(TrtcmSpec { cir, cbs_bytes, pir, pbs_bytes, mode, actions })
            }
        ),
        1 => (0u8..4).prop_map(|dscp| ElementSpec::Mark { dscp }),
        1 => duration().prop_map(|time| ElementSpec::Delay { time }),
        2 => random_delay().prop_map(ElementSpec::RandomDelay),
        2 => loss_law().prop_map(ElementSpec::Lose),
        1 => share().prop_map(|share| ElementSpec::Duplicate { share }),
        1 => share().prop_map(|share| ElementSpec::Corrupt { share }),
        1 => (share(), duration()).prop_map(|(share, time)| ElementSpec::Reorder { share, time }),
        1 => monitor().prop_map(ElementSpec::Monitor),
        4 => (any_rate(), duration(), queueing)
            .prop_map(|(rate, delay, queueing)| ElementSpec::Link { rate, delay, queueing }),
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

fn source() -> impl Strategy<Value = SourceSpec> {
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
