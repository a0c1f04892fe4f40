//! Links: serialisation, propagation, tail drop; compares the FIFO with Lindley's recursion in rational numbers.

use crosswind_engine::{
    Class, DropReason, Duration, ElementSpec, Engine, Limit, LinkSpec, Packet, Queueing, Rate,
};
use proptest::prelude::*;

use crate::common::{at, departures, fates, fifo_link, push_full, single, Fate, FULL_PACKET_A_MICROSECOND};

#[test]
fn packets_are_serialised_one_after_the_other_and_then_propagate() {
    // 1538 B at 10 Gbit/s take 1230.4 ns; then 2000 ns of cable:
    //   came 0:    1230.4 -> 1231 + 2000
    //   came 0:    2460.8 -> 2461 + 2000
    //   came 0:    3691.2 -> 3692 + 2000
    //   came 5000: 6230.4 -> 6231 + 2000 (the link was idle)
    let (mut engine, path) = single(fifo_link(10_000_000_000, 2000, Limit::Unlimited));
    push_full(&mut engine, path, &[0, 0, 0, 5000]);
    assert_eq!(departures(&mut engine), [(0, 3231), (1, 4461), (2, 5692), (3, 8231)]);
}

#[test]
fn a_million_packets_do_not_drift() {
    // N x 1230.4 ns, rounded up.
    let (mut engine, path) = single(fifo_link(10_000_000_000, 0, Limit::Unlimited));
    let n = 1_000_000;
    for tag in 0..n {
        engine.push(at(0), path, Packet::real(tag, 1500, 0));
    }
    let departures = departures(&mut engine);
    for (count, (_, due)) in (1..=n).zip(departures) {
        assert_eq!(due, (count * 12_304).div_ceil(10));
    }
}

#[test]
fn a_short_packet_takes_the_wire_of_a_minimum_frame() {
    // 40 IP bytes are padded to a frame of 64 bytes: 84 bytes of wire, at 1 Gbit/s 672 ns.
    let (mut engine, path) = single(fifo_link(1_000_000_000, 0, Limit::Unlimited));
    engine.push(at(0), path, Packet::real(0, 40, 0));
    assert_eq!(departures(&mut engine), [(0, 672)]);
}

#[test]
fn the_buffer_counts_waiting_packets_and_not_the_one_in_transmission() {
    // Room for two: of five at once, one is sent, two wait, two are lost. At 1000 one of the waiting packets goes on
    // the transmitter, so one more fits and the next does not.
    let (mut engine, path) = single(fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Bytes(2 * 1538)));
    push_full(&mut engine, path, &[0, 0, 0, 0, 0, 1000, 1000]);
    let full = Fate::Lost(DropReason::QueueFull);
    assert_eq!(
        fates(&mut engine),
        [
            (3, 0, full),
            (4, 0, full),
            (0, 1000, Fate::Left),
            (6, 1000, full),
            (1, 2000, Fate::Left),
            (2, 3000, Fate::Left),
            (5, 4000, Fate::Left)
        ]
    );
}

#[test]
fn without_a_buffer_only_an_idle_link_takes_a_packet() {
    let (mut engine, path) = single(fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Bytes(0)));
    push_full(&mut engine, path, &[0, 999, 1000]);
    let full = Fate::Lost(DropReason::QueueFull);
    assert_eq!(fates(&mut engine), [(1, 999, full), (0, 1000, Fate::Left), (2, 2000, Fate::Left)]);
}

#[test]
fn an_unlimited_link_only_propagates() {
    let spec = ElementSpec::Link(LinkSpec {
        rate: Rate::Unlimited,
        delay: Duration::from_nanos(300),
        queueing: Queueing::fifo(Limit::Bytes(0)),
    });
    let (mut engine, path) = single(spec);
    push_full(&mut engine, path, &[5, 5]);
    assert_eq!(departures(&mut engine), [(0, 305), (1, 305)]);
}

#[test]
fn queued_bytes_are_the_ip_bytes_that_wait() {
    let mut engine = Engine::new(7);
    let spec = fifo_link(FULL_PACKET_A_MICROSECOND, 50, Limit::Unlimited);
    let link = engine.add("link", spec).expect("a valid link");
    let path = engine.path(&[link]);
    push_full(&mut engine, path, &[0, 0]);
    engine.push(at(0), path, Packet::ghost(100));
    assert_eq!(engine.queued_bytes(link), 1600);
    assert_eq!(engine.queued_bytes_of(link, Class::Ghost), 100);
    engine.advance(at(2000));
    assert_eq!(engine.queued_bytes(link), 0, "the ghost is on the transmitter");
}

/// Lindley's recursion with tail drop, in nano-bits: end = max(arrival, previous end) + size. At an arrival, the
/// waiting packets are those whose predecessor ends later.
fn lindley(arrivals: &[(u64, u32)], bits_per_second: u64, buffer_bytes: u64) -> Vec<Option<u64>> {
    let rate = u128::from(bits_per_second);
    let end_ns = |end: u128| u64::try_from(end.div_ceil(rate)).expect("a short test");
    let mut accepted: Vec<(u128, u64)> = Vec::new(); // exact end, wire bytes
    let mut fates = Vec::new();
    for &(arrival, ip_bytes) in arrivals {
        let wire_bytes = u64::from(Packet::ghost(ip_bytes).wire_bytes());
        let last_end = accepted.last().map_or(0, |&(end, _)| end);
        let waits = |pair: &&[(u128, u64)]| end_ns(pair[0].0) > arrival;
        let waiting: u64 = accepted.windows(2).filter(waits).map(|pair| pair[1].1).sum();
        if end_ns(last_end) > arrival && waiting + wire_bytes > buffer_bytes {
            fates.push(None);
            continue;
        }
        let end = last_end.max(u128::from(arrival) * rate) + u128::from(wire_bytes) * 8_000_000_000;
        accepted.push((end, wire_bytes));
        fates.push(Some(end_ns(end)));
    }
    fates
}

proptest! {
    #[test]
    fn a_fifo_link_is_lindleys_recursion_with_tail_drop(
        gaps_and_sizes in prop::collection::vec((0u64..3000, 1u32..=1500), 1..80),
        bits_per_second in 100_000_000u64..100_000_000_000,
        buffer_bytes in 0u64..20_000,
        delay in 0u64..5000,
    ) {
        let mut now = 0;
        let arrivals: Vec<_> = gaps_and_sizes.into_iter().map(|(gap, size)| { now += gap; (now, size) }).collect();
        let (mut engine, path) = single(fifo_link(bits_per_second, delay, Limit::Bytes(buffer_bytes)));
        for (tag, &(arrival, size)) in (0..).zip(&arrivals) {
            engine.push(at(arrival), path, Packet::real(tag, size, 0));
        }
        let expected = lindley(&arrivals, bits_per_second, buffer_bytes);
        let expected: Vec<_> =
            (0..).zip(expected).filter_map(|(tag, end)| Some((tag, end? + delay))).collect();
        prop_assert_eq!(departures(&mut engine), expected);
    }
}
