//! A run driven late, as a wall clock drives it, and its replay in virtual time.

use crosswind_engine::{
    Arrivals, DelaySpec, Duration, ElementSpec, Engine, Instant, Limit, LinkSpec, Packet, PathId, PoliceSpec,
    Queueing, Rate, RateLaw, Sizes, SourceSpec, ZeroMeans,
};
use crosswind_simulator::{run, Arrival};
use proptest::prelude::*;

/// A policer, a link and a delay, with a neighbour on the link.
fn network() -> (Engine, PathId) {
    let rate = |bits| Rate::bits_per_second(bits).expect("not 0");
    let mut engine = Engine::new(7);
    let mut add = |name: &str, spec| engine.add(name, spec).expect("a valid element");
    let police =
        add("police", ElementSpec::Police(PoliceSpec { rate: rate(4_000_000_000), burst_bytes: 6_000 }));
    let link = add(
        "link",
        ElementSpec::Link(LinkSpec {
            rate: rate(10_000_000_000),
            delay: Duration::from_micros(2),
            queueing: Queueing::fifo(Limit::Bytes(8_000)),
        }),
    );
    let delay = add("delay", ElementSpec::Delay(DelaySpec { time: Duration::from_micros(10), random: None }));
    let path = engine.path(&[police, link, delay]);
    let neighbour = engine.path(&[link]);
    let source = SourceSpec {
        rate: RateLaw::Normal { mean: 5_000_000_000, sd: 2_000_000_000, low: 0, high: 10_000_000_000 },
        hold: Duration::from_micros(50),
        arrivals: Arrivals::Paced {
            pacing: Duration::from_micros(10),
            peak: rate(10_000_000_000),
            zero: ZeroMeans::Silence,
        },
        sizes: Sizes::Fixed { ip_bytes: 1500 },
        dscp: 0,
    };
    engine.start_source("neighbour", source, neighbour, Instant::ZERO).expect("a valid source");
    (engine, path)
}

proptest! {
    #[test]
    fn a_run_pushed_late_and_replayed_from_the_returned_instants_is_identical(
        stamps in prop::collection::vec((0u64..3_000, 0u64..8_000, 40u32..=1500), 1..200),
    ) {
        // The live run wakes up `late` after each stamp, does everything due by then, and only then finds the packet.
        let (mut live, path) = network();
        let mut recorded = Vec::new();
        let mut outcomes = Vec::new();
        let mut stamp = 0;
        for (tag, (gap, late, ip_bytes)) in (0..).zip(stamps) {
            stamp += gap;
            live.advance(Instant::from_nanos(stamp + late));
            let packet = Packet::real(tag, ip_bytes, 0);
            let at = live.push(Instant::from_nanos(stamp), path, packet);
            recorded.push(Arrival { at, path, packet });
            outcomes.extend(std::iter::from_fn(|| live.pop()));
        }
        outcomes.extend(run(&mut live, []));

        let (mut replay, _) = network();
        prop_assert_eq!(run(&mut replay, recorded), outcomes);
    }
}

#[test]
fn every_arrival_has_exactly_one_outcome() {
    let (mut engine, path) = network();
    let arrivals = (0..1000).map(|tag| Arrival {
        at: Instant::from_nanos(tag * 700),
        path,
        packet: Packet::real(tag, 1500, 0),
    });
    let mut tags: Vec<u64> = run(&mut engine, arrivals).iter().map(|outcome| outcome.packet().tag).collect();
    tags.sort_unstable();
    assert_eq!(tags, (0..1000).collect::<Vec<_>>());
}
