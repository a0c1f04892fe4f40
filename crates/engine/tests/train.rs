//! A train pushed as one packet has the fate that its packets would have separately, on paths that treat them alike.

use crosswind_engine::{
    Duration, ElementId, ElementSpec, Engine, Instant, Limit, LinkSpec, MarkSpec, MonitorSpec, Outcome,
    Packet, PathId, PoliceSpec, Quantity, Queueing, Rate, Selection, Start,
};

fn engine() -> (Engine, PathId, PathId, ElementId) {
    let mut engine = Engine::new(1);
    let link = ElementSpec::Link(LinkSpec {
        rate: Rate::Unlimited,
        delay: Duration::from_micros(3),
        queueing: Queueing::fifo(Limit::Bytes(3000)),
    });
    let link = engine.add("link", link).unwrap();
    let mark = engine.add("mark", ElementSpec::Mark(MarkSpec { dscp: 10 })).unwrap();
    let police =
        ElementSpec::Police(PoliceSpec { rate: Rate::bits_per_second(8000).unwrap(), burst_bytes: 1500 });
    let police = engine.add("police", police).unwrap();
    let monitor = MonitorSpec {
        what: vec![Quantity::PacketRate, Quantity::PacketSize, Quantity::Interarrival, Quantity::Burst],
        window: Duration::from_micros(100),
        burst_gap: Duration::from_nanos(100),
        line_rate: Rate::Unlimited,
        select: Selection::ALL,
        start: Start::After(Duration::ZERO),
        reports_packets: false,
    };
    let monitor = engine.add("monitor", ElementSpec::Monitor(monitor)).unwrap();
    let alike = engine.path(&[link, mark, monitor]);
    let unlike = engine.path(&[link, police]);
    (engine, alike, unlike, monitor)
}

#[test]
fn only_paths_without_a_rate_treat_packets_alike() {
    let (engine, alike, unlike, _) = engine();
    assert!(engine.treats_alike(alike));
    assert!(!engine.treats_alike(unlike));
}

#[test]
fn a_train_leaves_when_its_packets_would_and_counts_as_their_number() {
    let run = |push: &dyn Fn(&mut Engine, PathId)| {
        let (mut engine, alike, _, monitor) = engine();
        push(&mut engine, alike);
        let inside = engine.real_inside();
        engine.advance(Instant::from_nanos(1_000_000));
        let mut departures = Vec::new();
        while let Some(outcome) = engine.pop() {
            let Outcome::Departure { due, packet, .. } = outcome else { panic!("nothing drops here") };
            departures.push((due, packet.dscp, packet.count));
        }
        (departures, inside, engine.totals(), engine.readings(monitor))
    };
    let (apart, inside_apart, totals_apart, seen_apart) = run(&|engine, path| {
        for index in 0..40 {
            engine.push(Instant::from_nanos(5), path, Packet::real(index, 1500, 0));
        }
    });
    let (together, inside_together, totals_together, seen_together) = run(&|engine, path| {
        let train = Packet::train(0, 40, 1500, 40 * 1500, 0);
        engine.push(Instant::from_nanos(5), path, train);
    });
    assert_eq!(together, vec![(Instant::from_nanos(3_005), 10, 40)]);
    assert!(apart.iter().all(|&(due, dscp, _)| (due, dscp) == (Instant::from_nanos(3_005), 10)));
    assert_eq!(apart.len(), 40);
    assert_eq!((inside_together, totals_together), (inside_apart, totals_apart));
    assert_eq!(seen_together, seen_apart);
}
