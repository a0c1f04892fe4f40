//! The definition itself, for tests: every subset of the unknown operations, and every order that keeps real time.

use proptest::prelude::*;

use crate::counterexample::smallest;
use crate::linearize::{linearize, Action, Answer, First, Held, Step};

fn has_an_order(steps: &[Step], held: Held, done: u32) -> bool {
    let is_open = |number: usize| done & (1 << number) == 0;
    if (0..steps.len()).all(|number| !is_open(number) || steps[number].ended.is_none()) {
        return true;
    }
    // The next one may be any whose beginning is not after the end of another one that is left.
    let first_end = (0..steps.len())
        .filter(|&number| is_open(number))
        .filter_map(|number| steps[number].ended)
        .min()
        .unwrap_or(usize::MAX);
    (0..steps.len()).filter(|&number| is_open(number) && steps[number].began < first_end).any(|number| {
        let next = match steps[number].action {
            Action::Read(saw) if saw == held || steps[number].ended.is_none() => held,
            Action::Cas(from, to) if held == Some(from) => Some(to),
            Action::Write(value) => Some(value),
            Action::Read(_) | Action::Cas(..) => return false,
        };
        has_an_order(steps, next, done | (1 << number))
    })
}

/// Up to eight operations of few values, so that many answers are right by accident.
fn histories() -> impl Strategy<Value = Vec<Step>> {
    let action = prop_oneof![
        prop_oneof![Just(None), (0..4i64).prop_map(Some)].prop_map(Action::Read),
        (0..4i64).prop_map(Action::Write),
        (0..4i64, 0..4i64).prop_map(|(from, to)| Action::Cas(from, to)),
    ];
    let step = (action, 0..1000usize, 1..400usize, 0..4u8);
    proptest::collection::vec(step, 1..9).prop_map(|drawn| {
        let mut steps: Vec<Step> = drawn
            .into_iter()
            .enumerate()
            .map(|(number, (action, began, length, unknown))| Step {
                action,
                // No two events have the same place.
                began: began * 16 + number,
                ended: (unknown > 0).then_some((began + length) * 16 + 8 + number % 8),
            })
            .collect();
        steps.sort_by_key(|step| step.began);
        steps.dedup_by_key(|step| step.ended);
        steps
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_search_agrees_with_the_definition(steps in histories()) {
        let expected = has_an_order(&steps, None, 0);
        let found = linearize(&steps, First::Held(None), &|| false);
        prop_assert_eq!(found == Answer::Linearizable, expected, "{:?}", found);
        let starts = (0..4).map(Some).chain([None]);
        let anything = starts.into_iter().any(|held| has_an_order(&steps, held, 0));
        prop_assert_eq!(linearize(&steps, First::Anything, &|| false) == Answer::Linearizable, anything);
    }

    #[test]
    fn what_is_shown_is_impossible_by_itself(steps in histories()) {
        if let Answer::Impossible { step: wrong, .. } = linearize(&steps, First::Held(None), &|| false) {
            let shown = smallest(&steps, wrong, &|| false);
            prop_assert!(shown.contains(&wrong) && shown.windows(2).all(|pair| pair[0] < pair[1]));
            let end = steps[wrong].ended.unwrap();
            let alone: Vec<Step> = shown
                .iter()
                .map(|&number| Step { ended: steps[number].ended.filter(|&ended| ended <= end), ..steps[number] })
                .collect();
            prop_assert!(!has_an_order(&alone, None, 0));
        }
    }
}
