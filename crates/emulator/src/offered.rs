//! The rates that interference offered in a window, also that of a condition that was replaced in it.
//!
//! A condition starts sources of its own, and the next one stops them and starts others. In a measurement the sources
//! from one host to another are one, whatever condition they belong to: 0 stands for the times in which none has it.

use std::collections::HashMap;
use std::sync::Arc;

use crosswind_engine::Instant;
use crosswind_fabric::{Network, Offering, Zero};

use crate::measurement::{Draw, Offered};

/// What one source drew in the window, and before it the draw that was active when the window started.
#[derive(Clone, Debug)]
pub struct Draws {
    place: usize,
    name: Arc<str>,
    /// Rates; `None` is unlimited.
    draws: Vec<(Instant, Option<u64>)>,
    until: Option<Instant>,
}

/// What each source drew in a window that started at `started_ns`.
pub fn draws(network: &Network, started_ns: u64) -> Vec<Draws> {
    let of_the_window = |Offering { place, name, id, zero, until }| {
        let draws = network.engine_ref().draws(id);
        let first = draws.iter().rposition(|(at, _)| at.as_nanos() <= started_ns).unwrap_or(0);
        let rate = |bps| Some(bps).filter(|&bps| bps > 0 || zero == Zero::Silence);
        Draws { place, name, draws: draws[first..].iter().map(|&(at, bps)| (at, rate(bps))).collect(), until }
    };
    network.offerings().map(of_the_window).collect()
}

/// What was offered from each host to another. A condition may have several sources from the same one to the same
/// other: the first of them continues the first of the condition before, and so on.
pub fn joined(mut parts: Vec<Draws>, started_ns: u64) -> Vec<Offered> {
    parts.sort_by_key(|part| (part.until.is_none(), part.until, part.place));
    let (mut found, mut places) = (Vec::<Offered>::new(), HashMap::new());
    let mut same = HashMap::new();
    for part in parts {
        let number: &mut u32 = same.entry((hosts(&part.name), part.until)).or_default();
        let at = *places.entry((hosts(&part.name), *number)).or_insert_with(|| {
            found.push(Offered { source: part.name.to_string(), draws: Vec::new() });
            found.len() - 1
        });
        *number += 1;
        add(&mut found[at].draws, part, started_ns);
    }
    found
}

/// `FROM->TO` of a name such as `neighbour0:FROM->TO`, in which the number is that of the interference.
fn hosts(name: &str) -> String {
    name.split_once(':').map_or(name, |(_, hosts)| hosts).to_owned()
}

fn add(draws: &mut Vec<Draw>, part: Draws, started_ns: u64) {
    let silent = |at_ns| Draw { at_ns, rate_bps: Some(0) };
    let Some(begins_ns) = part.draws.first().map(|(at, _)| at.as_nanos()) else { return };
    match draws.last() {
        Some(last) if last.at_ns == begins_ns => drop(draws.pop()),
        None if begins_ns > started_ns => draws.push(silent(started_ns)),
        _ => {}
    }
    // A draw at the instant at which its source is stopped offers nothing.
    let offers = |(at, _): &&(Instant, Option<u64>)| part.until.is_none_or(|until| *at < until);
    let rates = part.draws.iter().filter(offers);
    draws.extend(rates.map(|&(at, rate_bps)| Draw { at_ns: at.as_nanos(), rate_bps }));
    draws.extend(part.until.map(|at| silent(at.as_nanos())));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, place: usize, draws: &[(u64, u64)], until: Option<u64>) -> Draws {
        Draws {
            place,
            name: name.into(),
            draws: draws.iter().map(|&(at, rate)| (Instant::from_nanos(at), Some(rate))).collect(),
            until: until.map(Instant::from_nanos),
        }
    }

    fn shown(parts: Vec<Draws>) -> Vec<(String, Vec<(u64, u64)>)> {
        let draws = |of: Vec<Draw>| of.into_iter().map(|draw| (draw.at_ns, draw.rate_bps.unwrap())).collect();
        joined(parts, 100).into_iter().map(|it| (it.source, draws(it.draws))).collect()
    }

    #[test]
    fn a_source_goes_on_under_the_next_condition_and_is_silent_where_none_has_it() {
        let found = shown(vec![
            part("neighbour0:a->b", 0, &[(90, 5), (150, 6), (200, 5)], Some(200)),
            part("c->d", 1, &[(90, 9)], Some(200)),
            part("neighbour2:a->b", 0, &[(200, 7)], None),
            part("e->f", 1, &[(200, 8)], None),
        ]);
        assert_eq!(
            found,
            [
                ("neighbour0:a->b".to_owned(), vec![(90, 5), (150, 6), (200, 7)]),
                ("c->d".to_owned(), vec![(90, 9), (200, 0)]),
                ("e->f".to_owned(), vec![(100, 0), (200, 8)]),
            ]
        );
    }

    #[test]
    fn one_that_comes_back_later_was_silent_between() {
        let parts =
            vec![part("a->b", 0, &[(90, 5)], Some(200)), part("a->b", 0, &[(300, 5), (400, 4)], Some(500))];
        assert_eq!(shown(parts)[0].1, [(90, 5), (200, 0), (300, 5), (400, 4), (500, 0)]);
    }

    #[test]
    fn two_of_the_same_name_stay_two_in_whatever_order_domains_give_them() {
        let mut parts = vec![
            part("a->b", 0, &[(90, 1)], Some(200)),
            part("a->b", 2, &[(90, 2)], Some(200)),
            part("a->b", 1, &[(200, 3)], None),
            part("a->b", 4, &[(200, 4)], None),
        ];
        let found = shown(parts.clone());
        assert_eq!(
            found.iter().map(|it| &*it.1).collect::<Vec<_>>(),
            [[(90, 1), (200, 3)], [(90, 2), (200, 4)]]
        );
        parts.reverse();
        assert_eq!(shown(parts), found);
    }

    #[test]
    fn a_recording_that_is_played_draws_nothing() {
        assert_eq!(shown(vec![part("a->b", 0, &[], None)]), [("a->b".to_owned(), vec![])]);
    }
}
