//! New parameters in operation: what changes from that instant on, and what stays.

use crosswind_engine::{
    DelaySpec, DropReason, Duration, ElementId, ElementSpec, Engine, Limit, LinkSpec, MarkSpec, Packet,
    PathId, PoliceSpec, QueueSpec, Rate, Scheduling, ShapeSpec,
};

use crate::common::{
    at, departures, fates, fifo_link, push_full, queues, rate, scheduled_link, Fate,
    FULL_PACKET_A_MICROSECOND,
};

fn engine_with(spec: ElementSpec) -> (Engine, ElementId, PathId) {
    let mut engine = Engine::new(7);
    let id = engine.add("it", spec).expect("a valid element");
    let path = engine.path(&[id]);
    (engine, id, path)
}

#[test]
fn tokens_are_cut_to_the_new_burst() {
    // 1 bit/s brings no token in this time. Of 6000 B of tokens 3000 B remain, then 1500 B after the cut: one packet.
    let police = |burst_bytes| ElementSpec::Police(PoliceSpec { rate: rate(1), burst_bytes });
    let (mut engine, id, path) = engine_with(police(6000));
    push_full(&mut engine, path, &[0, 0]);
    engine.reconfigure(at(1), id, police(1500)).unwrap();
    engine.reconfigure(at(2), id, police(6000)).unwrap();
    push_full(&mut engine, path, &[3, 3]);
    let no_tokens = Fate::Lost(DropReason::NoTokens);
    let expected = [(0, 0, Fate::Left), (1, 0, Fate::Left), (0, 3, Fate::Left), (1, 3, no_tokens)];
    assert_eq!(fates(&mut engine), expected);
}

#[test]
fn the_packet_on_the_transmitter_finishes_at_its_old_rate() {
    // Sent at one packet a microsecond until 1000; the second at half the rate until 3000.
    let (mut engine, id, path) = engine_with(fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Unlimited));
    push_full(&mut engine, path, &[0, 0]);
    let slower = fifo_link(FULL_PACKET_A_MICROSECOND / 2, 0, Limit::Unlimited);
    assert_eq!(engine.reconfigure(at(400), id, slower), Ok(at(400)));
    assert_eq!(departures(&mut engine), [(0, 1000), (1, 3000)]);
}

#[test]
fn a_link_that_becomes_unlimited_empties_its_queue_after_the_packet_in_transmission() {
    let (mut engine, id, path) = engine_with(fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Unlimited));
    push_full(&mut engine, path, &[0, 0, 0]);
    let unlimited = ElementSpec::Link(LinkSpec {
        rate: Rate::Unlimited,
        delay: Duration::ZERO,
        queueing: crosswind_engine::Queueing::fifo(Limit::Unlimited),
    });
    engine.reconfigure(at(400), id, unlimited).unwrap();
    engine.push(at(500), path, Packet::real(3, 1500, 0));
    engine.push(at(1001), path, Packet::real(4, 1500, 0));
    assert_eq!(departures(&mut engine), [(0, 1000), (1, 1000), (2, 1000), (3, 1000), (4, 1001)]);
}

#[test]
fn a_smaller_buffer_drops_no_waiting_packet_and_refuses_new_ones() {
    let (mut engine, id, path) = engine_with(fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Unlimited));
    push_full(&mut engine, path, &[0, 0, 0]);
    engine.reconfigure(at(0), id, fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Bytes(1538))).unwrap();
    engine.push(at(0), path, Packet::real(3, 1500, 0));
    let full = Fate::Lost(DropReason::QueueFull);
    let expected = [(3, 0, full), (0, 1000, Fate::Left), (1, 2000, Fate::Left), (2, 3000, Fate::Left)];
    assert_eq!(fates(&mut engine), expected);
}

#[test]
fn no_packet_overtakes_after_a_delay_becomes_shorter() {
    let (mut engine, id, path) =
        engine_with(ElementSpec::Delay(DelaySpec { time: Duration::from_nanos(1000), random: None }));
    push_full(&mut engine, path, &[0]);
    engine
        .reconfigure(at(10), id, ElementSpec::Delay(DelaySpec { time: Duration::ZERO, random: None }))
        .unwrap();
    engine.push(at(20), path, Packet::real(1, 1500, 0));
    engine.push(at(2000), path, Packet::real(2, 1500, 0));
    assert_eq!(departures(&mut engine), [(0, 1000), (1, 1000), (2, 2000)]);
}

#[test]
fn waiting_packets_of_a_shaper_get_new_instants() {
    // 12 Mbit/s: a packet of 1500 B per millisecond. After half of one there are 750 B of tokens; the other 750 B take
    // 50 us at 120 Mbit/s, and the next 1500 B 100 us.
    let shape = |mbit: u64, burst_bytes| {
        ElementSpec::Shape(ShapeSpec {
            rate: rate(mbit * 1_000_000),
            burst_bytes,
            buffer: Limit::Unlimited.into(),
        })
    };
    let (mut engine, id, path) = engine_with(shape(12, 1500));
    push_full(&mut engine, path, &[0, 0, 0]);
    engine.reconfigure(at(500_000), id, shape(120, 1500)).unwrap();
    assert_eq!(departures(&mut engine), [(0, 0), (1, 550_000), (2, 650_000)]);
}

#[test]
fn a_packet_larger_than_a_new_burst_is_dropped() {
    let shape = |burst_bytes| {
        ElementSpec::Shape(ShapeSpec { rate: rate(12_000_000), burst_bytes, buffer: Limit::Unlimited.into() })
    };
    let (mut engine, id, path) = engine_with(shape(1500));
    push_full(&mut engine, path, &[0, 0]);
    engine.push(at(0), path, Packet::real(2, 500, 0));
    engine.reconfigure(at(500_000), id, shape(750)).unwrap();
    let changed = Fate::Lost(DropReason::ConditionChanged);
    // The bucket is full with 750 B by then, so the small packet follows at once.
    let expected = [(0, 0, Fate::Left), (1, 500_000, changed), (2, 500_000, Fate::Left)];
    assert_eq!(fates(&mut engine), expected);
}

#[test]
fn waiting_packets_are_sorted_into_new_queues_in_order_of_arrival() {
    // First strict with DSCP 1 before the others; then DSCP 2 before the others, DSCP 1 among them.
    let strict = scheduled_link(FULL_PACKET_A_MICROSECOND, 0, queues(Scheduling::Strict, &[1, 1]));
    let (mut engine, id, path) = engine_with(strict);
    for (tag, dscp) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 1)] {
        engine.push(at(0), path, Packet::real(tag, 1500, dscp));
    }
    let mut others = queues(Scheduling::Strict, &[1, 1]);
    others.queues[0] = QueueSpec { dscp: Some(vec![2]), ..others.queues[0].clone() };
    engine.reconfigure(at(1), id, scheduled_link(FULL_PACKET_A_MICROSECOND, 0, others)).unwrap();
    let order: Vec<u64> = departures(&mut engine).into_iter().map(|(tag, _)| tag).collect();
    assert_eq!(order, [0, 3, 1, 2, 4]);
}

#[test]
fn a_new_rate_alone_does_not_change_the_schedulers_state() {
    // Weights 2 and 1: A A B A A B. The change comes after the first A; the second A of the round is still due.
    let wrr = |bits| scheduled_link(bits, 0, queues(Scheduling::Wrr, &[2, 1]));
    let (mut engine, id, path) = engine_with(wrr(FULL_PACKET_A_MICROSECOND));
    for (tag, dscp) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 0), (5, 0)] {
        engine.push(at(0), path, Packet::real(tag, 1500, dscp));
    }
    engine.reconfigure(at(1), id, wrr(FULL_PACKET_A_MICROSECOND / 2)).unwrap();
    let order: Vec<u64> = departures(&mut engine).into_iter().map(|(tag, _)| tag).collect();
    assert_eq!(order, [0, 1, 4, 2, 3, 5]);
}

#[test]
fn another_kind_is_refused_and_nothing_changes() {
    let (mut engine, id, path) =
        engine_with(ElementSpec::Delay(DelaySpec { time: Duration::from_nanos(10), random: None }));
    push_full(&mut engine, path, &[0]);
    let error = engine.reconfigure(at(500), id, ElementSpec::Mark(MarkSpec { dscp: 1 })).unwrap_err();
    assert!(error.to_string().contains("is a delay and cannot become a mark"), "{error}");
    assert_eq!(engine.now(), at(0));
    assert_eq!(departures(&mut engine), [(0, 10)]);
}

#[test]
fn a_late_packet_comes_after_events_that_a_change_has_made_due() {
    // Unlimited from 100 on, the shaper releases its waiting packet at 100. A packet for 50 counts as one of 100, and
    // finds the buffer, which holds only one, empty again.
    let shape =
        |rate| ElementSpec::Shape(ShapeSpec { rate, burst_bytes: 1500, buffer: Limit::Bytes(1500).into() });
    let (mut engine, id, path) = engine_with(shape(rate(12_000_000)));
    push_full(&mut engine, path, &[0, 0]);
    engine.reconfigure(at(100), id, shape(Rate::Unlimited)).unwrap();
    assert_eq!(engine.push(at(50), path, Packet::real(2, 1500, 0)), at(100));
    assert_eq!(departures(&mut engine), [(0, 0), (1, 100), (2, 100)]);
}

#[test]
fn a_change_in_the_past_happens_now() {
    let (mut engine, id, _) = engine_with(ElementSpec::Mark(MarkSpec { dscp: 0 }));
    engine.advance(at(100));
    assert_eq!(engine.reconfigure(at(40), id, ElementSpec::Mark(MarkSpec { dscp: 1 })), Ok(at(100)));
}
