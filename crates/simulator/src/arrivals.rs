//! Arrivals on any engine: the least that a virtual clock is.
//!
//! It reads no packets and no files, and it changes no conditions while it runs.

use crosswind_engine::{Engine, Instant, Outcome, Packet, PathId};

/// One packet that came.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The instant that [`Engine::push`] returned, or any other: an earlier one than the arrival before it counts as that.
    pub at: Instant,
    /// The path on which it came.
    pub path: PathId,
    /// The packet.
    pub packet: Packet,
}

/// Pushes every arrival, in the order given, and runs until no real packet is inside, or until nothing is going to happen to
/// those that are (they wait in an outage without end); returns all outcomes in order.
///
/// Ghosts may still be inside then, and sources go on if the engine is driven further.
pub fn run(engine: &mut Engine, arrivals: impl IntoIterator<Item = Arrival>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for Arrival { at, path, packet } in arrivals {
        engine.push(at, path, packet);
        collect(engine, &mut outcomes);
    }
    while engine.real_inside() > 0 {
        let Some(next) = engine.next_event() else { break };
        engine.advance(next);
    }
    collect(engine, &mut outcomes);
    outcomes
}

fn collect(engine: &mut Engine, outcomes: &mut Vec<Outcome>) {
    outcomes.extend(std::iter::from_fn(|| engine.pop()));
}
