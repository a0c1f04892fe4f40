//! Tests the promises of the crate's documentation on random networks.

use crosswind_engine::{
    Class, Duration, ElementSpec, Instant, MonitorSpec, Outcome, Quantity, Rate, Selection, Start,
};
use proptest::prelude::*;

use crate::common::at;
use crate::scenario::{scenario, Scenario, Step};

fn monitor_of_all() -> MonitorSpec {
    MonitorSpec {
        what: Quantity::ALL.to_vec(),
        window: Duration::from_millis(1),
        burst_gap: Duration::from_nanos(100),
        line_rate: Rate::bits_per_second(1_000_000_000).expect("not 0"),
        select: Selection::ALL,
        start: Start::After(Duration::ZERO),
        reports_packets: false,
    }
}

proptest! {
    #[test]
    fn every_packet_is_accounted_for_at_every_instant(scenario in scenario()) {
        let mut built = scenario.build();
        for (tag, step) in (0..).zip(&scenario.steps) {
            while let Some(next) = built.engine.next_event().filter(|&next| next < at(step.at())) {
                built.engine.advance(next);
                prop_assert!(built.engine.totals().holds(), "{:?}", built.engine.totals());
            }
            built.take(tag, step);
            prop_assert!(built.engine.totals().holds(), "{:?}", built.engine.totals());
            if tag == 20 {
                built.engine.reset_counters();
                prop_assert!(built.engine.totals().holds(), "after the reset: {:?}", built.engine.totals());
            }
        }
    }

    #[test]
    fn a_packet_that_reaches_an_element_leaves_it_or_is_dropped_or_is_inside(scenario in scenario()) {
        let seen = scenario.run();
        for class in [Class::Real, Class::Ghost] {
            let inside: u64 = seen.counters.iter().map(|counters| {
                let counters = counters.of(class);
                counters.arrived.packets + counters.duplicated.packets
                    - counters.departed.packets - counters.dropped_for_any_reason().packets
            }).sum();
            let totals = match class { Class::Real => seen.totals.real, Class::Ghost => seen.totals.ghost };
            prop_assert_eq!(inside, totals.inside);
        }
    }

    #[test]
    fn splitting_an_advance_changes_nothing(
        scenario in scenario(),
        extra in prop::collection::vec(prop::option::of(0u64..400), 60),
    ) {
        let mut split = scenario.build();
        for ((tag, step), extra) in (0..).zip(&scenario.steps).zip(extra) {
            // An advance up to the next step is a part of the one that the step implies.
            if let Some(grid) = extra {
                let end = split.engine.now().as_nanos().max(step.at());
                split.engine.advance(at((grid * 73).min(end)));
            }
            split.take(tag, step);
        }
        prop_assert_eq!(split.finish(), scenario.run());
    }

    #[test]
    fn unchanged_parameters_change_nothing(
        scenario in scenario(),
        again in prop::collection::vec(prop::option::of(0usize..6), 60),
    ) {
        let mut specs = scenario.elements.clone();
        let mut repeated = scenario.build();
        for ((tag, step), again) in (0..).zip(&scenario.steps).zip(again) {
            if let Some(element) = again.map(|element| element % specs.len()) {
                let (now, id) = (repeated.engine.now(), repeated.elements[element]);
                repeated.engine.reconfigure(now, id, specs[element].clone()).unwrap();
            }
            repeated.take(tag, step);
            if let Step::Reconfigure { element, spec, .. } = step {
                let element = element % specs.len();
                if specs[element].kind() == spec.kind() {
                    specs[element] = spec.clone();
                }
            }
        }
        prop_assert_eq!(repeated.finish(), scenario.run());
    }

    #[test]
    fn no_real_packet_leaves_before_the_lookahead(scenario in scenario()) {
        let mut built = scenario.build();
        for (tag, step) in (0..).zip(&scenario.steps) {
            // The effects of a step were not foreseen.
            let leaves = built.engine.lookahead();
            prop_assert!(leaves.is_none_or(|leaves| built.engine.next_event().is_some_and(|next| next <= leaves)));
            // An event may be due already.
            if leaves.is_none_or(|leaves| leaves > built.engine.now()) {
                let before = leaves.map_or(u64::MAX, Instant::as_nanos) - 1;
                built.engine.advance(at(before.min(step.at())));
            }
            let left = |outcome: Outcome| matches!(outcome, Outcome::Departure { .. });
            prop_assert!(!std::iter::from_fn(|| built.engine.pop()).any(left));
            built.take(tag, step);
            while built.engine.pop().is_some() {}
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_decisions(scenario in scenario()) {
        prop_assert_eq!(scenario.run(), scenario.run());
    }

    #[test]
    fn a_run_replayed_from_the_instants_returned_is_identical(scenario in scenario()) {
        let mut first = scenario.build();
        let mut recorded = Vec::new();
        for (tag, step) in (0..).zip(&scenario.steps) {
            let used = first.take(tag, step).as_nanos();
            recorded.push(match step.clone() {
                Step::Push { path, ip_bytes, dscp, class, .. } => {
                    Step::Push { at: used, path, ip_bytes, dscp, class }
                }
                Step::Reconfigure { element, spec, .. } => Step::Reconfigure { at: used, element, spec },
                Step::Drive { element, spec, .. } => Step::Drive { at: used, element, spec },
                Step::Advance { .. } => Step::Advance { to: used },
            });
        }
        prop_assert!(recorded.is_sorted_by_key(Step::at), "returned instants never decrease");
        let replay = Scenario { steps: recorded, ..scenario };
        prop_assert_eq!(replay.run(), first.finish());
    }

    #[test]
    fn a_ghost_in_the_place_of_a_real_packet_has_the_same_effect_on_others(scenario in scenario()) {
        // Ghosts have DSCP 0, so the packets that change class have it too.
        let with = |class| {
            let steps = scenario.steps.iter().map(|step| match step.clone() {
                Step::Push { at, path, ip_bytes, dscp: 0, .. } => Step::Push { at, path, ip_bytes, dscp: 0, class },
                Step::Push { at, path, ip_bytes, dscp, .. } => {
                    Step::Push { at, path, ip_bytes, dscp, class: Class::Real }
                }
                other => other,
            });
            Scenario { steps: steps.collect(), ..scenario.clone() }
        };
        let becomes_ghost = |outcome: &Outcome| {
            matches!(scenario.steps[outcome.packet().tag as usize], Step::Push { dscp: 0, .. })
        };
        let mut all_real = with(Class::Real).run().outcomes;
        all_real.retain(|outcome| !becomes_ghost(outcome));
        prop_assert_eq!(with(Class::Ghost).run().outcomes, all_real);
    }

    // A link without a watch has no event for each departure.
    #[test]
    fn watching_a_queue_changes_nothing(scenario in scenario()) {
        let mut watched = scenario.build();
        for &element in &watched.elements {
            if watched.engine.has_queue(element) {
                let name = format!("monitor of {}", watched.engine.element_name(element));
                let monitor = watched.engine.add(&name, ElementSpec::Monitor(monitor_of_all())).expect("a valid monitor");
                watched.engine.watch(at(0), monitor, Some(element), &[element]);
            }
        }
        for (tag, step) in (0..).zip(&scenario.steps) {
            watched.take(tag, step);
        }
        prop_assert_eq!(watched.finish(), scenario.run());
    }

    #[test]
    fn outcomes_come_in_the_order_of_their_instants(scenario in scenario()) {
        let outcomes = scenario.run().outcomes;
        let instants: Vec<_> = outcomes.iter().map(|outcome| (outcome.at(), outcome.packet().entered)).collect();
        prop_assert!(instants.is_sorted_by_key(|&(ended, _)| ended));
        prop_assert!(instants.iter().all(|(ended, entered)| entered <= ended));
    }
}
