//! The engine's description of its elements, and random parameters of each: for readers of conditions in other languages, and their tests.

use crosswind_engine::{Json, Sampler, Treatment};
use serde_json::{json, Map};

/// The descriptions of all elements.
pub fn descriptions() -> Json {
    Treatment::descriptions()
}

/// This number of parameter sets for each element, drawn at random, as resolved conditions have them.
pub fn samples(number: u64, seed: u64) -> Json {
    let mut sampler = Sampler::of_networks(seed);
    let all = Treatment::KINDS.iter().map(|kind| {
        let of_kind = (0..number).map(|_| {
            let sample = Treatment::sample(kind, &mut sampler).expect("a kind of its own");
            sample.to_json()
        });
        ((*kind).to_owned(), of_kind.collect::<Vec<_>>().into())
    });
    json!({"seed": seed, "samples": all.collect::<Map<_, _>>()})
}
