//! The virtual clock: drives the engine with recorded arrivals, as fast as the machine can.
//!
//! The emulator is the other clock over the same engine. It records the instant that the engine used for every packet;
//! those arrivals, run here on an equal engine, have identical outcomes. What it does not do: it reads no packets and no
//! files, and it changes no conditions while it runs.

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

/// Pushes every arrival, in the order given, and runs until no real packet is inside; returns all outcomes in order.
///
/// Ghosts may still be inside then, and sources go on if the engine is driven further.
pub fn run(engine: &mut Engine, arrivals: impl IntoIterator<Item = Arrival>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for Arrival { at, path, packet } in arrivals {
        engine.push(at, path, packet);
        collect(engine, &mut outcomes);
    }
    while engine.real_inside() > 0 {
        let next = engine.next_event().expect("a packet inside has an event to come");
        engine.advance(next);
    }
    collect(engine, &mut outcomes);
    outcomes
}

fn collect(engine: &mut Engine, outcomes: &mut Vec<Outcome>) {
    outcomes.extend(std::iter::from_fn(|| engine.pop()));
}
