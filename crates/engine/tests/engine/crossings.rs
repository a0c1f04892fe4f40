//! Cuts: compares two engines that carry one network with a single engine for all of it.

use crosswind_engine::{
    Arrivals, Class, ClassTotals, Counters, Duration, ElementId, ElementSpec, Engine, Instant, Limit,
    LinkSpec, MarkSpec, Outcome, Packet, PathId, Queueing, Rate, Readings,
};
use proptest::prelude::*;

use crate::common::{at, fifo_link, FULL_PACKET_A_MICROSECOND};
use crate::processes::process;
use crate::scenario::{any_rate, element, queueing, source, step, Built, Scenario, Step};

/// Every cut link has at least this delay.
const DELAY_MIN: Duration = Duration::from_nanos(100);

/// Two engines with the same elements. The first has the transmitter of the cut link, the second its far end.
struct Pair {
    near: Engine,
    far: Engine,
    /// Paths of the second engine, by the number of the first engine's onward path.
    paths: Vec<PathId>,
}

impl Pair {
    /// Hands crossing packets to the second engine; returns their number.
    fn exchange(&mut self) -> usize {
        let mut crossed = 0;
        while let Some(crossing) = self.near.pop_crossing() {
            crossed += 1;
            assert!(crossing.due > self.far.now(), "it comes in time");
            let number = crossing.onward.index();
            if number == self.paths.len() {
                self.paths.push(self.far.path(self.near.onward(crossing.onward)));
            }
            assert_eq!(self.far.cross(crossing, self.paths[number]), crossing.due);
        }
        crossed
    }

    /// Advances both to `to`, no further apart than the shortest delay allows.
    fn advance(&mut self, to: Instant) {
        loop {
            self.exchange();
            let next = [self.near.next_event(), self.far.next_event()].into_iter().flatten().min();
            let horizon =
                next.map_or(to, |next| Instant::from_nanos((next + DELAY_MIN).as_nanos() - 1).min(to));
            self.near.advance(horizon);
            self.far.advance(horizon);
            if horizon == to && self.exchange() == 0 {
                return;
            }
        }
    }
}

/// Two engines with these elements, the named one cut; each has a path through all of them.
fn cut_pair(elements: &[(&str, ElementSpec)], cut: &str) -> (Pair, Vec<ElementId>) {
    let build = || {
        let mut engine = Engine::new(7);
        let add =
            |(name, spec): &(&str, ElementSpec)| engine.add(name, spec.clone()).expect("a valid element");
        let ids: Vec<ElementId> = elements.iter().map(add).collect();
        (engine, ids)
    };
    let ((mut near, ids), (far, _)) = (build(), build());
    let place = elements.iter().position(|&(name, _)| name == cut).expect("the cut element is in the list");
    near.cut(ids[place]).expect("a link with a delay");
    (Pair { near, far, paths: Vec::new() }, ids)
}

/// A link to cut and a mark after it, and the path of the first engine through both.
fn link_and_mark(link: ElementSpec) -> (Pair, PathId) {
    let (mut pair, ids) =
        cut_pair(&[("cut", link), ("mark", ElementSpec::Mark(MarkSpec { dscp: 3 }))], "cut");
    let path = pair.near.path(&ids);
    (pair, path)
}

fn departures(engine: &mut Engine) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| engine.pop())
        .map(|outcome| match outcome {
            Outcome::Departure { due, packet, .. } => (packet.tag, due.as_nanos()),
            other => panic!("nothing is dropped here: {other:?}"),
        })
        .collect()
}

fn unlimited_link(delay_ns: u64) -> ElementSpec {
    ElementSpec::Link(LinkSpec {
        rate: Rate::Unlimited,
        delay: Duration::from_nanos(delay_ns),
        queueing: Queueing::fifo(Limit::Unlimited),
    })
}

#[test]
fn a_packet_crosses_when_its_last_bit_leaves_and_is_due_after_the_delay() {
    let (mut pair, path) = link_and_mark(fifo_link(FULL_PACKET_A_MICROSECOND, 500, Limit::Unlimited));
    for tag in 0..2 {
        pair.near.push(at(0), path, Packet::real(tag, 1500, 0));
    }
    pair.near.advance(at(999));
    assert_eq!(pair.near.pop_crossing(), None);
    assert_eq!(pair.near.lookahead(), Some(at(1000)), "a crossing counts as leaving");
    assert_eq!(pair.near.real_inside(), 2);
    pair.near.advance(at(2000));
    assert_eq!(pair.near.real_inside(), 0);
    assert_eq!(pair.near.next_event(), None, "the other end has no event");
    assert_eq!(pair.exchange(), 2);
    assert_eq!(pair.far.real_inside(), 2);
    pair.far.advance(at(10_000));
    assert_eq!(departures(&mut pair.far), [(0, 1500), (1, 2500)]);
    let (near, far) = (pair.near.totals().real, pair.far.totals().real);
    assert_eq!((near.entered, near.went, near.left), (2, 2, 0));
    assert_eq!((far.entered, far.came, far.left), (0, 2, 2));
    assert!(near.holds() && far.holds());
}

#[test]
fn packets_of_two_engines_reach_a_port_at_one_instant_in_the_order_of_their_links() {
    // Two links lead to a port that has room for one packet in addition to the one in transmission. Each carries a
    // packet that is due there at 1500. The one on the link that was added first takes the transmitter, the other
    // waits, and the packet pushed then is lost.
    let link = || fifo_link(FULL_PACKET_A_MICROSECOND, 500, Limit::Unlimited);
    let elements =
        [("a", link()), ("b", link()), ("port", fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Bytes(1538)))];
    let run = |cut: Option<&str>| {
        let (mut pair, ids) = cut_pair(&elements, cut.unwrap_or("a"));
        let paths = |engine: &mut Engine| [0, 1].map(|link| engine.path(&[ids[link], ids[2]]));
        let (near, far) = (paths(&mut pair.near), paths(&mut pair.far));
        // The packet on the second link is pushed first, so the order of arrival would be wrong.
        for (link, tag) in [(1, 1), (0, 0)] {
            if cut == Some(["a", "b"][link]) {
                pair.near.push(at(0), near[link], Packet::real(tag, 1500, 0));
            } else {
                pair.far.push(at(0), far[link], Packet::real(tag, 1500, 0));
            }
        }
        pair.advance(at(1500));
        let direct = pair.far.path(&ids[2..]);
        pair.far.push(at(1500), direct, Packet::real(2, 1500, 0));
        pair.advance(at(100_000));
        std::iter::from_fn(|| pair.far.pop())
            .map(|outcome| {
                (outcome.packet().tag, outcome.at().as_nanos(), matches!(outcome, Outcome::Dropped { .. }))
            })
            .collect::<Vec<_>>()
    };
    let expected = [(2, 1500, true), (0, 2500, false), (1, 3500, false)];
    for cut in [None, Some("a"), Some("b")] {
        assert_eq!(run(cut), expected, "{cut:?}");
    }
}

#[test]
fn a_packet_that_crosses_after_a_shorter_delay_does_not_overtake() {
    let (mut pair, path) = link_and_mark(unlimited_link(500));
    pair.near.push(at(0), path, Packet::real(0, 1500, 0));
    let cut = pair.near.pop_crossing().expect("an unlimited link hands out at once");
    assert_eq!(cut.due, at(500));
    pair.near.reconfigure(at(100), cut.link, unlimited_link(200)).unwrap();
    pair.near.push(at(100), path, Packet::real(1, 1500, 0));
    pair.near.push(at(400), path, Packet::real(2, 1500, 0));
    let due: Vec<_> = std::iter::from_fn(|| pair.near.pop_crossing()).map(|crossing| crossing.due).collect();
    assert_eq!(due, [at(500), at(600)]);
}

#[test]
fn a_packet_that_arrives_late_is_due_now() {
    let (mut pair, path) = link_and_mark(unlimited_link(500));
    pair.near.push(at(0), path, Packet::real(0, 1500, 0));
    let crossing = pair.near.pop_crossing().unwrap();
    pair.far.advance(at(700));
    let path = pair.far.path(pair.near.onward(crossing.onward));
    assert_eq!(pair.far.cross(crossing, path), at(700));
    pair.far.advance(at(700));
    assert_eq!(departures(&mut pair.far), [(0, 700)]);
}

#[test]
fn elements_that_cannot_be_cut_are_refused() {
    let mut engine = Engine::new(7);
    let mark = engine.add("mark", ElementSpec::Mark(MarkSpec { dscp: 3 })).unwrap();
    let near = engine.add("near", unlimited_link(0)).unwrap();
    let link = engine.add("link", unlimited_link(1)).unwrap();
    assert!(engine.cut(mark).unwrap_err().to_string().contains("mark: is not a link"));
    assert!(engine.cut(near).unwrap_err().to_string().contains("near: has no delay"));
    engine.cut(link).unwrap();
    let wrong = engine.reconfigure(at(0), link, unlimited_link(0)).unwrap_err();
    assert!(wrong.to_string().contains("link: has no delay"), "{wrong}");
}

/// A network with a link to cut: elements before it, the link, elements after it. Packets pass all of them, or those
/// of one side.
#[derive(Clone, Debug)]
struct Cuttable {
    whole: Scenario,
    cut: usize,
}

fn long_link() -> impl Strategy<Value = ElementSpec> {
    (any_rate(), 1u64..30, queueing()).prop_map(|(rate, grid, queueing)| {
        let delay = Duration::from_nanos(grid * DELAY_MIN.as_nanos());
        ElementSpec::Link(LinkSpec { rate, delay, queueing })
    })
}

/// A memory is shared on one side only.
fn without_memory(mut spec: ElementSpec) -> ElementSpec {
    if let ElementSpec::Link(link) = &mut spec {
        link.queueing.queues.iter_mut().for_each(|queue| queue.share = None);
    }
    spec
}

fn cuttable() -> impl Strategy<Value = Cuttable> {
    let side = || prop::collection::vec(element(), 0..4);
    let source = prop::option::of(source().prop_filter("has one end", |source| {
        // A responsive source has both of its ends in one engine.
        !matches!(source.arrivals, Arrivals::Responsive { .. })
    }));
    let drives = prop::collection::vec((0usize..8, process()), 0..3);
    let steps = prop::collection::vec((step(), long_link()), 1..60);
    (side(), long_link(), side(), source, drives, steps).prop_map(
        |(near, link, far, source, drives, steps)| {
            let cut = near.len();
            let far = far.into_iter().map(without_memory);
            let elements: Vec<ElementSpec> = near.into_iter().chain([link]).chain(far).collect();
            let fitting = |(step, link): (Step, ElementSpec)| match step {
                Step::Reconfigure { at, element, spec } => {
                    let element = element % elements.len();
                    let spec = if element == cut { link } else { spec };
                    let spec = if element > cut { without_memory(spec) } else { spec };
                    Step::Reconfigure { at, element, spec }
                }
                other => other,
            };
            let mut steps: Vec<Step> = steps.into_iter().map(fitting).collect();
            steps.sort_by_key(Step::at);
            Cuttable { whole: Scenario { elements, source, drives, steps }, cut }
        },
    )
}

/// Everything visible of a run, in whichever engine. Outcomes of one instant are sorted by their packets and elements;
/// those with equal keys are in order of occurrence.
#[derive(PartialEq, Debug)]
struct Seen {
    outcomes: Vec<(Instant, u64, Option<usize>, Outcome)>,
    counters: Vec<Counters>,
    readings: Vec<Option<Readings>>,
    left: [u64; 2],
    inside: [u64; 2],
}

fn seen(engines: &mut [&mut Engine], built: &[ElementId], cut: usize) -> Seen {
    let no_path = Engine::new(0).path(&[]);
    let without_path = |outcome| match outcome {
        Outcome::Departure { due, packet, .. } => (None, Outcome::Departure { due, path: no_path, packet }),
        Outcome::Duplicated { at, element, packet, .. } => {
            (Some(element.index()), Outcome::Duplicated { at, element, path: no_path, packet })
        }
        Outcome::Dropped { at, element, reason, packet, .. } => {
            (Some(element.index()), Outcome::Dropped { at, element, path: no_path, reason, packet })
        }
    };
    let mut outcomes = Vec::new();
    for engine in engines.iter_mut() {
        assert!(engine.totals().holds(), "{:?}", engine.totals());
        outcomes.extend(
            std::iter::from_fn(|| engine.pop())
                .map(without_path)
                .map(|(element, outcome)| (outcome.at(), outcome.packet().tag, element, outcome)),
        );
    }
    outcomes.sort_by_key(|&(at, tag, element, _)| (at, tag, element));
    let sum = |id| engines.iter().fold(Counters::default(), |sum, engine| sum + *engine.counters(id));
    let owner = |index: usize| &engines[usize::from(index > cut).min(engines.len() - 1)];
    let totals = |of: fn(&ClassTotals) -> u64| {
        let all = engines.iter().map(|engine| engine.totals());
        all.fold([0, 0], |[real, ghost], totals| [real + of(&totals.real), ghost + of(&totals.ghost)])
    };
    Seen {
        counters: built.iter().map(|&id| sum(id)).collect(),
        readings: built.iter().enumerate().map(|(index, &id)| owner(index).readings(id)).collect(),
        left: totals(|totals| totals.left),
        inside: totals(|totals| totals.inside),
        outcomes,
    }
}

impl Cuttable {
    fn paths(&self, built: &mut Built) -> [PathId; 3] {
        let ids = built.elements.clone();
        [&ids[..], &ids[..self.cut], &ids[self.cut + 1..]].map(|path| built.engine.path(path))
    }

    fn in_one(&self) -> Seen {
        let mut one = self.whole.build();
        one.paths = self.paths(&mut one).to_vec();
        for (tag, step) in (0..).zip(&self.whole.steps) {
            one.take(tag, step);
        }
        let end = one.engine.now() + Duration::from_micros(100);
        one.engine.advance(end);
        seen(&mut [&mut one.engine], &one.elements, self.cut)
    }

    fn in_two(&self) -> Seen {
        let mut near = self.whole.build_cut(Some(self.cut));
        let mut far = Scenario { source: None, ..self.whole.clone() }.build();
        near.paths = self.paths(&mut near).to_vec();
        far.paths = self.paths(&mut far).to_vec();
        let mut pair = Pair { near: near.engine, far: far.engine, paths: Vec::new() };
        for (tag, step) in (0..).zip(&self.whole.steps) {
            pair.advance(at(step.at()));
            (near.engine, far.engine) = (pair.near, pair.far);
            match step {
                Step::Push { path, .. } => {
                    if path % 3 == 2 {
                        far.take(tag, step);
                    } else {
                        near.take(tag, step);
                    }
                }
                _ => {
                    near.take(tag, step);
                    far.take(tag, step);
                }
            }
            (pair.near, pair.far) = (near.engine, far.engine);
        }
        let end = pair.near.now().max(pair.far.now()) + Duration::from_micros(100);
        pair.advance(end);
        seen(&mut [&mut pair.near, &mut pair.far], &near.elements, self.cut)
    }
}

proptest! {
    #[test]
    fn two_engines_decide_as_one(network in cuttable()) {
        prop_assert_eq!(network.in_two(), network.in_one());
    }

    #[test]
    fn no_packet_crosses_before_the_lookahead(network in cuttable()) {
        let mut near = network.whole.build_cut(Some(network.cut));
        near.paths = network.paths(&mut near).to_vec();
        for (tag, step) in (0..).zip(&network.whole.steps) {
            let leaves = near.engine.lookahead();
            if leaves.is_none_or(|leaves| leaves > near.engine.now()) {
                let before = leaves.map_or(u64::MAX, Instant::as_nanos) - 1;
                near.engine.advance(at(before.min(step.at())));
            }
            let crossed = std::iter::from_fn(|| near.engine.pop_crossing()).any(|it| it.packet.class == Class::Real);
            prop_assert!(!crossed);
            near.take(tag, step);
            while near.engine.pop_crossing().is_some() {}
        }
    }
}
