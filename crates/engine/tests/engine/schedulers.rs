//! Schedulers: golden orders on a link of one full packet per microsecond, and comparison of each with a small oracle.

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
    // Packet 0 found the link idle and is not interrupted; then the high ones in order; then the low one.
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
fn start_time_fair_queueing_serves_bytes_by_weight() {
    // Weights 2 and 1. A's packets have 1538, B's 769 (731 + 38) wire bytes; both are 769 tags long. Packet 0 of A started at
    // 0, is alone and ends at 769; B, busy since, starts at virtual time 0. Start tags of A: 769, 1538, ...; of B: 0, 769, ...;
    // of equal ones A goes first.
    let small = (0, 731);
    let packets = [HIGH, HIGH, HIGH, HIGH, small, small, small, small];
    assert_eq!(order(Scheduling::Stfq, &[2, 1], &packets), [0, 4, 1, 5, 2, 6, 3, 7]);
}

#[test]
fn an_idle_queue_collects_no_credit() {
    // A sends ten packets alone (tags up to 15380), then B and A have three each at once: B starts at A's start tag
    // and does not catch up for its idle time.
    let spec = scheduled_link(FULL_PACKET_A_MICROSECOND, 0, queues(Scheduling::Stfq, &[1, 1]));
    let (mut engine, path) = single(spec);
    for tag in 0..10 {
        engine.push(at(tag * 1000), path, Packet::real(tag, 1500, 1));
    }
    for (tag, dscp) in [(10, 1), (11, 1), (12, 1), (13, 0), (14, 0), (15, 0)] {
        engine.push(at(9500), path, Packet::real(tag, 1500, dscp));
    }
    let order: Vec<u64> = departures(&mut engine).into_iter().map(|(tag, _)| tag).skip(10).collect();
    assert_eq!(order, [13, 10, 14, 11, 15, 12]);
}

#[test]
fn each_queue_has_its_own_buffer() {
    // The low queue holds one packet, the high one three: of four low ones at once, one is sent, one waits, two are lost.
    let mut queueing = queues(Scheduling::Strict, &[1, 1]);
    queueing.queues[0].buffer = Limit::Bytes(3 * 1538).into();
    queueing.queues[1].buffer = Limit::Bytes(1538).into();
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

/// At 1 Gbit/s a wire byte takes 8 ns exactly. When the link becomes free, packets that arrived before that instant
/// compete; if there are none, the next one is sent on arrival. `choose` picks a queue (of DSCP 1, 2, 3, 0) among
/// those that have a packet; a queue sends its oldest.
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
        free = free.max(arrival) + u64::from(Packet::ghost(size).wire_bytes()) * 8;
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
        // A round as a list of turns, repeated without end; a queue that is empty at its turn loses the rest of its
        // turns.
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
    fn under_every_scheduler_the_link_is_busy_and_each_queue_is_in_order(
        traffic in traffic(),
        weights in prop::array::uniform4(1u32..6),
    ) {
        let (mut fifo, path) = single(fifo_link(1_000_000_000, 0, Limit::Unlimited));
        for &(arrival, dscp, size) in &traffic {
            fifo.push(at(arrival), path, Packet::real(0, size, dscp));
        }
        let last = departures(&mut fifo).last().map(|&(_, due)| due);
        for by in [Scheduling::Strict, Scheduling::Wrr, Scheduling::Drr, Scheduling::Stfq] {
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
        // The first packet makes all others wait; every queue then holds ten rounds, whatever the sizes of its
        // packets.
        let mut packets = vec![(0, 1500)];
        for (dscp, weight) in [1, 2, 0].into_iter().zip(weights) {
            packets.extend((0..10 * weight).map(|n| (dscp, 100 + n * 20)));
        }
        let order = order(Scheduling::Wrr, &weights, &packets);
        let round = weights.iter().sum::<u32>() as usize;
        // The first packet used part of the last queue's turn and so completes no round by itself: rounds start again
        // once that turn is over.
        let skip = weights[2] as usize;
        for served in order[skip..].chunks_exact(round).take(9) {
            let of = |dscp| served.iter().filter(|&&tag| packets[tag as usize].0 == dscp).count() as u32;
            prop_assert_eq!([of(1), of(2), of(0)], weights);
        }
    }

    #[test]
    fn start_time_fair_queueing_agrees_with_its_oracle(
        traffic in traffic(),
        weights in prop::array::uniform4(1u32..6),
    ) {
        // Every packet gets its tags on arrival, in rationals with the common denominator 60, as in the source.
        let (mut finish, mut latest, mut virtual_time, mut free) = ([0u64; 4], 0, 0, 0);
        let queue = |dscp: u8| if dscp == 0 { 3 } else { usize::from(dscp) - 1 };
        let (mut waiting, mut expected, mut coming) = (Vec::new(), Vec::new(), (0u64..).zip(&traffic).peekable());
        while coming.peek().is_some() || !waiting.is_empty() {
            let next_arrival = coming.peek().map_or(u64::MAX, |(_, &(arrival, ..))| arrival);
            if next_arrival < free || waiting.is_empty() {
                let (tag, &(arrival, dscp, size)) = coming.next().unwrap();
                if arrival >= free {
                    virtual_time = virtual_time.max(latest);
                }
                let (flow, bytes) = (queue(dscp), u64::from(Packet::ghost(size).wire_bytes()));
                let start = virtual_time.max(finish[flow]);
                finish[flow] = start + bytes * 60 / u64::from(weights[flow]);
                waiting.push((start, flow, tag, arrival, bytes, finish[flow]));
                if arrival < free {
                    continue;
                }
                free = arrival;
            }
            let first = waiting.iter().enumerate().min_by_key(|(_, packet)| (packet.0, packet.1, packet.2)).unwrap().0;
            let (start, _, tag, arrival, bytes, end) = waiting.remove(first);
            (virtual_time, latest) = (start, latest.max(end));
            free = free.max(arrival) + bytes * 8;
            expected.push((tag, free));
        }
        prop_assert_eq!(run(Scheduling::Stfq, &weights, &traffic), expected);
    }

    #[test]
    fn start_time_fair_queueing_is_within_its_fairness_bound_over_every_interval(
        weights in prop::array::uniform2(1u32..8),
        sizes in prop::collection::vec((1u32..=1500, 1u32..=1500), 100..=100),
    ) {
        let mut packets = vec![(0, 1500)];
        packets.extend(sizes.iter().map(|&(size, _)| (1, size)));
        packets.extend(sizes.iter().map(|&(_, size)| (0, size)));
        let order = order(Scheduling::Stfq, &weights, &packets);
        let (mut ahead, mut lowest, mut highest, mut left) = (0.0f64, 0.0f64, 0.0f64, [100; 2]);
        for &tag in &order[1..] {
            let (dscp, size) = packets[tag as usize];
            let queue = if dscp == 1 { 0 } else { 1 };
            let share = f64::from(Packet::ghost(size).wire_bytes()) / f64::from(weights[queue]);
            ahead += if queue == 0 { share } else { -share };
            left[queue] -= 1;
            if left.contains(&0) {
                break;
            }
            (lowest, highest) = (lowest.min(ahead), highest.max(ahead));
        }
        // Theorem 1 holds for every interval in which both are busy, so for the whole range of the difference.
        let bound = 1538.0 / f64::from(weights[0]) + 1538.0 / f64::from(weights[1]);
        prop_assert!(highest - lowest <= bound + 1e-6, "{} above {bound}", highest - lowest);
    }

    #[test]
    fn drr_is_within_its_fairness_bound(
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
            sent[queue] += f64::from(Packet::ghost(size).wire_bytes()) / f64::from(weights[queue]);
            left[queue] -= 1;
            if left.contains(&0) {
                break;
            }
            // Shreedhar and Varghese, theorem 2: smallest quantum + 2 x largest packet, per weight.
            prop_assert!((sent[0] - sent[1]).abs() <= 1538.0 + 2.0 * 1538.0, "{sent:?}");
        }
    }
}
