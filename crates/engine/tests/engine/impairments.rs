//! Duplication, corruption and reordering: golden tables, and shares in the long run.

use crosswind_engine::{
    CorruptSpec, DuplicateSpec, Duration, ElementSpec, Engine, Limit, Outcome, Packet, ReorderSpec, Share,
};

use crate::common::{at, departures, fifo_link, finish, push_full, share, single, FULL_PACKET_A_MICROSECOND};

#[test]
fn a_copy_follows_its_packet_through_the_rest_of_the_path() {
    // Both packets are duplicated before a link that takes 1000 ns per packet.
    let mut engine = Engine::new(7);
    let duplicate =
        engine.add("duplicate", ElementSpec::Duplicate(DuplicateSpec { share: Share::WHOLE })).unwrap();
    let link = engine.add("link", fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Unlimited)).unwrap();
    let path = engine.path(&[duplicate, link]);
    push_full(&mut engine, path, &[0, 0]);
    assert_eq!(departures(&mut engine), [(0, 1000), (0, 2000), (1, 3000), (1, 4000)]);
    let (totals, seen) = (engine.totals().real, engine.counters(duplicate).real);
    assert_eq!((totals.entered, totals.duplicated, totals.left), (2, 2, 4));
    assert!(totals.holds());
    assert_eq!((seen.arrived.packets, seen.duplicated.packets, seen.departed.packets), (2, 2, 4));
}

#[test]
fn a_duplication_is_reported_before_either_packet_ends() {
    let (mut engine, path) = single(ElementSpec::Duplicate(DuplicateSpec { share: Share::WHOLE }));
    engine.push(at(5), path, Packet::real(9, 100, 0));
    let outcomes = finish(&mut engine);
    assert!(
        matches!(outcomes[0], Outcome::Duplicated { at: now, packet, .. } if now == at(5) && packet.tag == 9)
    );
    assert!(outcomes[1..].iter().all(|outcome| matches!(outcome, Outcome::Departure { .. })));
    assert_eq!(outcomes.len(), 3);
}

#[test]
fn copies_of_ghosts_are_only_counted() {
    let (mut engine, path) = single(ElementSpec::Duplicate(DuplicateSpec { share: Share::WHOLE }));
    engine.push(at(0), path, Packet::ghost(1500));
    assert_eq!(engine.pop(), None);
    let ghost = engine.totals().ghost;
    assert_eq!((ghost.entered, ghost.duplicated, ghost.left), (1, 1, 2));
}

#[test]
fn the_share_of_packets_is_duplicated_in_the_long_run() {
    // 100 000 packets at 10 %: 10 000 with a standard deviation of 95; five standard deviations are allowed.
    let (mut engine, path) = single(ElementSpec::Duplicate(DuplicateSpec { share: share(100_000_000) }));
    for tag in 0..100_000 {
        engine.push(at(tag), path, Packet::real(tag, 1500, 0));
    }
    let duplicated = engine.totals().real.duplicated;
    assert!(duplicated.abs_diff(10_000) < 475, "{duplicated}");
}

#[test]
fn a_corrupt_packet_passes_with_its_damage_recorded_and_counted() {
    let (mut engine, path) = single(ElementSpec::Corrupt(CorruptSpec { share: share(250_000_000) }));
    for tag in 0..40_000 {
        engine.push(at(tag), path, Packet::real(tag, 1500, 0));
    }
    let outcomes = finish(&mut engine).into_iter();
    let bits: Vec<usize> = outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Departure { packet, .. } => packet.damage.map(|damage| damage.bit(8)),
            _ => panic!("nothing is dropped or duplicated here"),
        })
        .collect();
    // 10 000 with a standard deviation of 87; each of eight bits 1250 with 33: five standard deviations are allowed.
    assert!(bits.len().abs_diff(10_000) < 435, "{}", bits.len());
    assert!((0..8).all(|bit| bits.iter().filter(|&&flipped| flipped == bit).count().abs_diff(1250) < 165));
}

#[test]
fn corruption_of_ghosts_is_counted() {
    let mut engine = Engine::new(7);
    let corrupt = engine.add("corrupt", ElementSpec::Corrupt(CorruptSpec { share: Share::WHOLE })).unwrap();
    let path = engine.path(&[corrupt]);
    engine.push(at(0), path, Packet::ghost(1500));
    let seen = engine.counters(corrupt).ghost;
    assert_eq!((seen.corrupted.packets, seen.corrupted.bytes, seen.departed.packets), (1, 1500, 1));
}

#[test]
fn a_delayed_packet_is_overtaken_by_those_that_arrive_within_the_time() {
    // All packets are chosen until the share becomes one in a billion at 5: 0 and 1 are delayed by 1000 ns and stay in
    // order; 2 passes.
    let mut engine = Engine::new(7);
    let spec = |share| ElementSpec::Reorder(ReorderSpec { share, time: Duration::from_nanos(1000) });
    let reorder = engine.add("reorder", spec(Share::WHOLE)).unwrap();
    let path = engine.path(&[reorder]);
    push_full(&mut engine, path, &[0, 0]);
    engine.reconfigure(at(5), reorder, spec(share(1))).unwrap();
    engine.push(at(6), path, Packet::real(2, 1500, 0));
    engine.push(at(1000), path, Packet::real(3, 1500, 0));
    assert_eq!(departures(&mut engine), [(2, 6), (0, 1000), (1, 1000), (3, 1000)]);
}

#[test]
fn the_share_of_packets_is_delayed_in_the_long_run() {
    // 10 %, for 2.5 gaps: a delayed packet is overtaken by packets of the next two gaps that are not delayed.
    let time = Duration::from_nanos(250);
    let (mut engine, path) = single(ElementSpec::Reorder(ReorderSpec { share: share(100_000_000), time }));
    for tag in 0..100_000 {
        engine.push(at(tag * 100), path, Packet::real(tag, 1500, 0));
    }
    let left = departures(&mut engine);
    let late = left.iter().filter(|&&(tag, due)| due == tag * 100 + 250).count();
    assert!(late.abs_diff(10_000) < 475, "{late}");
    assert_eq!(left.iter().filter(|&&(tag, due)| due == tag * 100).count(), 100_000 - late);
}
