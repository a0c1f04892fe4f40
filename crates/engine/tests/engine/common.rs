//! Short names that nearly every test uses.

use crosswind_engine::{
    DropReason, Duration, ElementSpec, Engine, Instant, Limit, LinkSpec, Outcome, Packet, PathId, QueueSpec,
    Queueing, Rate, Scheduling, Share,
};

/// At this rate a full packet (1500 IP bytes, 1538 wire bytes) takes exactly 1000 ns: 1538 x 8 / 12.304.
pub const FULL_PACKET_A_MICROSECOND: u64 = 12_304_000_000;

pub fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

pub fn rate(bits_per_second: u64) -> Rate {
    Rate::bits_per_second(bits_per_second).expect("not 0")
}

pub fn share(parts_per_billion: u32) -> Share {
    Share::parts_per_billion(parts_per_billion).expect("at most the whole")
}

pub fn fifo_link(bits_per_second: u64, delay_ns: u64, buffer: Limit) -> ElementSpec {
    scheduled_link(bits_per_second, delay_ns, Queueing::fifo(buffer))
}

pub fn scheduled_link(bits_per_second: u64, delay_ns: u64, queueing: Queueing) -> ElementSpec {
    ElementSpec::Link(LinkSpec {
        rate: rate(bits_per_second),
        delay: Duration::from_nanos(delay_ns),
        queueing,
    })
}

/// Queues without bounds: the first for DSCP 1, the second for DSCP 2 and so on; the last for all others.
pub fn queues(by: Scheduling, weights: &[u32]) -> Queueing {
    let last = weights.len() - 1;
    let queue = |(index, &weight): (usize, &u32)| QueueSpec {
        dscp: (index < last).then(|| vec![u8::try_from(index + 1).expect("few queues")]),
        weight,
        buffer: Limit::Unlimited.into(),
        share: None,
    };
    Queueing { by, queues: weights.iter().enumerate().map(queue).collect() }
}

/// An engine with one element, and the path through it.
pub fn single(spec: ElementSpec) -> (Engine, PathId) {
    let mut engine = Engine::new(7);
    let element = engine.add("it", spec).expect("a valid element");
    let path = engine.path(&[element]);
    (engine, path)
}

/// Pushes full packets with tags 0, 1, ... at the given instants.
pub fn push_full(engine: &mut Engine, path: PathId, instants: &[u64]) {
    for (tag, &nanos) in (0..).zip(instants) {
        engine.push(at(nanos), path, Packet::real(tag, 1500, 0));
    }
}

/// Runs until no real packet is inside and returns every outcome.
pub fn finish(engine: &mut Engine) -> Vec<Outcome> {
    while engine.real_inside() > 0 {
        let next = engine.next_event().expect("a packet inside has an event to come");
        engine.advance(next);
    }
    std::iter::from_fn(|| engine.pop()).collect()
}

/// The fate of a packet, in short form.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    Left,
    Lost(DropReason),
}

/// The end of every packet as (tag, instant, fate).
pub fn fates(engine: &mut Engine) -> Vec<(u64, u64, Fate)> {
    finish(engine)
        .into_iter()
        .filter_map(|outcome| match outcome {
            Outcome::Departure { due, packet, .. } => Some((packet.tag, due.as_nanos(), Fate::Left)),
            Outcome::Dropped { at, packet, reason, .. } => {
                Some((packet.tag, at.as_nanos(), Fate::Lost(reason)))
            }
            Outcome::Duplicated { .. } => None,
        })
        .collect()
}

/// (tag, instant) of every departure, in order.
pub fn departures(engine: &mut Engine) -> Vec<(u64, u64)> {
    let left = fates(engine).into_iter().filter(|&(_, _, fate)| fate == Fate::Left);
    left.map(|(tag, nanos, _)| (tag, nanos)).collect()
}
