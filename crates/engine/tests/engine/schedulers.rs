//! Schedulers: golden orders on a link of one full packet a microsecond, and each against a small oracle.

use crosswind_engine::{Limit, Packet, Scheduling};
use proptest::prelude::*;

use crate::common::{at, departures, fifo_link, queues, scheduled_link, single, FULL_PACKET_A_MICROSECOND};

/// Pushes packets of (DSCP, IP bytes) at instant 0, tags 0, 1, ..., and returns the tags in the order of departure.
fn order(by: Scheduling, weights: &[u32], packets: &[(u8, u32)]) -> Vec<u64> {
    let spec = scheduled_link(FULL_PACKET_A_MICROSECOND, 0, queues(by, weights));
    let (mut engine, path) = single(spec);
    for (tag, &(dscp, ip_bytes)) in (0..).zip(packets) {
        engine.push(at(0), path, Packet::real(tag, ip_bytes, dscp));
    }
    departures(&mut engine).into_iter().map(|(tag, _)| tag).collect()
}

const HIGH: (u8, u32) = (1, 1500);
const LOW: (u8, u32) = (0, 1500);

#[test]
fn strict_priority_serves_the_first_queue_that_has_a_packet() {
    // Packet 0 found the link idle and is not interrupted; then the high ones in their order; then the low one.
    assert_eq!(order(Scheduling::Strict, &[1, 1], &[LOW, LOW, HIGH, HIGH]), [0, 2, 3, 1]);
}

#[test]
fn weighted_round_robin_serves_weight_packets_of_each_queue_in_turn() {
    // Weights 2 and 1, A = tags 0 to 3, B = tags 4 to 6: A A B, A A B, B.
    let packets = [HIGH, HIGH, HIGH, HIGH, LOW, LOW, LOW];
    assert_eq!(order(Scheduling::Wrr, &[2, 1], &packets), [0, 1, 4, 2, 3, 5, 6]);
}

#[test]
fn deficit_round_robin_serves_bytes_by_weight() {
    // Weights 2 and 1: quanta of 3076 and 1538 wire bytes. A's packets have 1538, B's 769 (731 + 38) wire bytes.
    //   0: A found the link idle and was alone, so its deficit was lost;
    //   B's turn, 1538: tags 5 and 6; A's turn, 3076: tags 1 and 2; B: 7, 8; A: 3, 4 (then empty); B: 9.
    let small = (0, 731);
    let packets = [HIGH, HIGH, HIGH, HIGH, HIGH, small, small, small, small, small];
    assert_eq!(order(Scheduling::Drr, &[2, 1], &packets), [0, 5, 6, 1, 2, 7, 8, 3, 4, 9]);
}

#[test]
fn each_queue_has_its_own_buffer() {
    // The low queue holds one packet, the high one three: of four low ones at once, one is sent, one waits, two are lost.
    let mut queueing = queues(Scheduling::Strict, &[1, 1]);
    queueing.queues[0].buffer = Limit::Bytes(3 * 1538);
    queueing.queues[1].buffer = Limit::Bytes(1538);
    let (mut engine, path) = single(scheduled_link(FULL_PACKET_A_MICROSECOND, 0, queueing));
    for (tag, dscp) in [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1), (5, 1), (6, 1), (7, 1)] {
        engine.push(at(0), path, Packet::real(tag, 1500, dscp));
    }
    assert_eq!(departures(&mut engine), [(0, 1000), (4, 2000), (5, 3000), (6, 4000), (1, 5000)]);
}

/// Packets of (arrival, DSCP, IP bytes), in the order of arrival.
fn traffic() -> impl Strategy<Value = Vec<(u64, u8, u32)>> {
    prop::collection::vec((0u64..1500, 0u8..4, 1u32..=1500), 1..60).prop_map(|packets| {
        let mut now = 0;
        let arrive = |(gap, dscp, size)| {
            now += gap;
            (now, dscp, size)
        };
        packets.into_iter().map(arrive).collect()
    })
}

fn run(by: Scheduling, weights: &[u32], traffic: &[(u64, u8, u32)]) -> Vec<(u64, u64)> {
    let (mut engine, path) = single(scheduled_link(1_000_000_000, 0, queues(by, weights)));
    for (tag, &(arrival, dscp, size)) in (0..).zip(traffic) {
        engine.push(at(arrival), path, Packet::real(tag, size, dscp));
    }
    departures(&mut engine)
}

/// At 1 Gbit/s a wire byte takes 8 ns exactly. When the link becomes free, what came before that instant competes; when
/// nothing has, the next to come is sent as it comes. `choose` picks a queue (of DSCP 1, 2, 3, 0) among those that have a
/// packet; a queue gives its oldest.
fn oracle(traffic: &[(u64, u8, u32)], mut choose: impl FnMut([bool; 4]) -> usize) -> Vec<(u64, u64)> {
    let queue = |dscp: u8| if dscp == 0 { 3 } else { usize::from(dscp) - 1 };
    let mut left: Vec<_> = (0u64..).zip(traffic.iter().copied()).collect();
    let mut free = 0;
    let mut departures = Vec::new();
    while !left.is_empty() {
        let competing = left.iter().filter(|(_, (arrival, ..))| *arrival < free).count().max(1);
        let mut busy = [false; 4];
        for (_, (_, dscp, _)) in &left[..competing] {
            busy[queue(*dscp)] = true;
        }
        let chosen = choose(busy);
        let next = left.iter().position(|(_, (_, dscp, _))| queue(*dscp) == chosen).unwrap();
        let (tag, (arrival, _, size)) = left.remove(next);
        free = free.max(arrival) + u64::from(Packet::ghost(size).wire_bytes) * 8;
        departures.push((tag, free));
    }
    departures
}

proptest! {
    #[test]
    fn strict_priority_agrees_with_its_oracle(traffic in traffic()) {
        let first = |busy: [bool; 4]| busy.iter().position(|&has| has).unwrap();
        prop_assert_eq!(run(Scheduling::Strict, &[1, 1, 1, 1], &traffic), oracle(&traffic, first));
    }

    #[test]
    fn weighted_round_robin_agrees_with_its_oracle(
        traffic in traffic(),
        weights in prop::array::uniform4(1u32..6),
    ) {
        // A round as a list of turns, walked for ever; a queue that is empty at its turn loses the rest of its turns.
        let turns: Vec<usize> = (0..4).flat_map(|queue| vec![queue; weights[queue] as usize]).collect();
        let mut turn = 0;
        let next_turn = |busy: [bool; 4]| loop {
            let queue = turns[turn];
            if busy[queue] {
                turn = (turn + 1) % turns.len();
                return queue;
            }
            while turns[turn] == queue {
                turn = (turn + 1) % turns.len();
            }
        };
        prop_assert_eq!(run(Scheduling::Wrr, &weights, &traffic), oracle(&traffic, next_turn));
    }

    #[test]
    fn every_scheduler_keeps_the_link_busy_and_each_queue_in_order(
        traffic in traffic(),
        weights in prop::array::uniform4(1u32..6),
    ) {
        let (mut fifo, path) = single(fifo_link(1_000_000_000, 0, Limit::Unlimited));
        for &(arrival, dscp, size) in &traffic {
            fifo.push(at(arrival), path, Packet::real(0, size, dscp));
        }
        let last = departures(&mut fifo).last().map(|&(_, due)| due);
        for by in [Scheduling::Strict, Scheduling::Wrr, Scheduling::Drr] {
            let departures = run(by, &weights, &traffic);
            prop_assert_eq!(departures.len(), traffic.len());
            prop_assert_eq!(departures.last().map(|&(_, due)| due), last, "{:?} idles", by);
            for dscp in 0..4 {
                let of_queue = departures.iter().map(|&(tag, _)| tag);
                let tags: Vec<_> = of_queue.filter(|&tag| traffic[tag as usize].1 == dscp).collect();
                prop_assert!(tags.is_sorted(), "{:?} reorders DSCP {}", by, dscp);
            }
        }
    }

    #[test]
    fn wrr_gives_each_busy_queue_its_weight_in_every_round(weights in prop::array::uniform3(1u32..6)) {
        // The filler makes everything wait; all queues then hold ten rounds, whatever the sizes of their packets.
        let mut packets = vec![(0, 1500)];
        for (dscp, weight) in [1, 2, 0].into_iter().zip(weights) {
            packets.extend((0..10 * weight).map(|n| (dscp, 100 + n * 20)));
        }
        let order = order(Scheduling::Wrr, &weights, &packets);
        let round = weights.iter().sum::<u32>() as usize;
        // The filler took a place of the last queue's turn and so completes no round of its own: rounds begin anew once
        // that turn is over.
        let skip = weights[2] as usize;
        for served in order[skip..].chunks_exact(round).take(9) {
            let of = |dscp| served.iter().filter(|&&tag| packets[tag as usize].0 == dscp).count() as u32;
            prop_assert_eq!([of(1), of(2), of(0)], weights);
        }
    }

    #[test]
    fn drr_keeps_within_its_fairness_bound(
        weights in prop::array::uniform2(1u32..8),
        sizes in prop::collection::vec((1u32..=1500, 1u32..=1500), 200..=200),
    ) {
        let mut packets = vec![(0, 1500)];
        packets.extend(sizes.iter().map(|&(size, _)| (1, size)));
        packets.extend(sizes.iter().map(|&(_, size)| (0, size)));
        let order = order(Scheduling::Drr, &weights, &packets);
        let mut sent = [0.0; 2];
        let mut left = [200; 2];
        for &tag in &order[1..] {
            let (dscp, size) = packets[tag as usize];
            let queue = if dscp == 1 { 0 } else { 1 };
            sent[queue] += f64::from(Packet::ghost(size).wire_bytes) / f64::from(weights[queue]);
            left[queue] -= 1;
            if left.contains(&0) {
                break;
            }
            // Shreedhar and Varghese, theorem 2: smallest quantum + 2 x largest packet, per weight.
            prop_assert!((sent[0] - sent[1]).abs() <= 1538.0 + 2.0 * 1538.0, "{sent:?}");
        }
    }
}
