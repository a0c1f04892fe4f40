//! Sends due frames: the part of handing over that needs a clock.

use crate::clock::Clock;
use crate::forwarder::{Forwarder, Handing};
use crate::port::Port;

/// Sends frames that are due up to `now`, frames that a receiver could not take before, and packets that cross to
/// other domains. Returns the number of the engine's outcomes.
pub fn send_due<P: Port>(forwarder: &mut Forwarder<P>, clock: &impl Clock, now: u64) -> usize {
    let before = forwarder.outcomes();
    forwarder.start_round();
    while let Some(Handing { port, cut, ask_ns, watched }) = forwarder.next(now) {
        let asked_ns = clock.reach(ask_ns);
        let sent = if watched { port.send_watched(&cut) } else { port.send(&cut).map(|()| None) };
        forwarder.handed_over(asked_ns, sent);
    }
    forwarder.send_crossings();
    forwarder.outcomes() - before
}
