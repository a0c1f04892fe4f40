//! Buffers and drop policies before a link and in a shaper: golden tables by hand, and oracles.

use std::collections::VecDeque;

use crosswind_engine::{
    BufferSpec, CodelSpec, DropReason, DropSpec, Duration, Ecn, ElementSpec, Engine, Limit, Outcome, Packet,
    PathId, Queueing, RedProfile, RedSpec, ShapeSpec, Share, Signal, WredSpec,
};
use proptest::prelude::*;

use crate::common::{
    at, departures, fates, finish, push_full, rate, scheduled_link, single, Fate, FULL_PACKET_A_MICROSECOND,
};

const FULL: Fate = Fate::Lost(DropReason::QueueFull);
const PUSHED_OUT: Fate = Fate::Lost(DropReason::PushedOut);
const BY_RED: Fate = Fate::Lost(DropReason::Red);
const BY_CODEL: Fate = Fate::Lost(DropReason::Codel);

/// A link of one full packet per microsecond, with a queue.
fn link(limit: Limit, drop: DropSpec, signal: Signal) -> (Engine, PathId) {
    let queueing = Queueing::fifo(BufferSpec { limit, drop, signal });
    single(scheduled_link(FULL_PACKET_A_MICROSECOND, 0, queueing))
}

fn codel(target_ns: u64, interval_ns: u64) -> DropSpec {
    let (target, interval) = (Duration::from_nanos(target_ns), Duration::from_nanos(interval_ns));
    DropSpec::Codel(CodelSpec { target, interval })
}

#[test]
fn a_limit_in_packets_counts_packets_whatever_their_sizes() {
    let (mut engine, path) = link(Limit::Packets(2), DropSpec::Tail, Signal::Drop);
    for (tag, ip_bytes) in [(0, 1500), (1, 1), (2, 1500), (3, 1)] {
        engine.push(at(0), path, Packet::real(tag, ip_bytes, 0));
    }
    // A packet of 1 B takes 84 B of wire: 84 / 1538 us = 54.6 ns.
    let expected = [(3, 0, FULL), (0, 1000, Fate::Left), (1, 1055, Fate::Left), (2, 2055, Fate::Left)];
    assert_eq!(fates(&mut engine), expected);
}

#[test]
fn a_limit_in_time_equals_the_bytes_that_the_link_sends_in_it() {
    // 2 us are two full packets, 1.999 us only one.
    for (nanos, waiting) in [(2000, 2), (1999, 1)] {
        let (mut engine, path) = link(Limit::Time(Duration::from_nanos(nanos)), DropSpec::Tail, Signal::Drop);
        push_full(&mut engine, path, &[0, 0, 0, 0]);
        assert_eq!(departures(&mut engine).len(), 1 + waiting, "{nanos} ns");
    }
}

#[test]
fn a_limit_in_time_follows_the_rate() {
    let spec = |bits| scheduled_link(bits, 0, Queueing::fifo(Limit::Time(Duration::from_nanos(2000))));
    let mut engine = Engine::new(7);
    let id = engine.add("it", spec(FULL_PACKET_A_MICROSECOND)).unwrap();
    let path = engine.path(&[id]);
    engine.reconfigure(at(0), id, spec(2 * FULL_PACKET_A_MICROSECOND)).unwrap();
    push_full(&mut engine, path, &[0; 9]);
    assert_eq!(departures(&mut engine).len(), 1 + 4, "twice the rate, twice the bytes");
}

#[test]
fn a_shaper_has_the_same_limits() {
    // 12 Mbit/s: a packet of 1500 IP bytes a millisecond. The burst passes one; 3 ms or 3 packets wait.
    for limit in [Limit::Time(Duration::from_millis(3)), Limit::Packets(3), Limit::Bytes(4500)] {
        let spec =
            ElementSpec::Shape(ShapeSpec { rate: rate(12_000_000), burst_bytes: 1500, buffer: limit.into() });
        let (mut engine, path) = single(spec);
        push_full(&mut engine, path, &[0; 9]);
        assert_eq!(departures(&mut engine).len(), 4, "{limit:?}");
    }
}

#[test]
fn head_drop_loses_the_oldest_and_not_the_one_in_transmission() {
    let (mut engine, path) = link(Limit::Packets(2), DropSpec::Head, Signal::Drop);
    push_full(&mut engine, path, &[0, 0, 0, 0, 500]);
    let expected = [
        (1, 0, PUSHED_OUT),
        (2, 500, PUSHED_OUT),
        (0, 1000, Fate::Left),
        (3, 2000, Fate::Left),
        (4, 3000, Fate::Left),
    ];
    assert_eq!(fates(&mut engine), expected);
}

#[test]
fn head_drop_refuses_a_packet_larger_than_the_buffer() {
    let (mut engine, path) = link(Limit::Bytes(1000), DropSpec::Head, Signal::Drop);
    for (tag, ip_bytes) in [(0, 1500), (1, 500), (2, 1500)] {
        engine.push(at(0), path, Packet::real(tag, ip_bytes, 0));
    }
    // 538 / 1538 us = 349.8 ns.
    assert_eq!(fates(&mut engine), [(2, 0, FULL), (0, 1000, Fate::Left), (1, 1350, Fate::Left)]);
}

#[test]
fn a_shaper_whose_next_packet_is_pushed_out_serves_the_following_one_in_time() {
    // 8 Mbit/s bring a byte a microsecond, the burst is 1500 B and spent at 0. Packet 1 (1500 B) would leave at 1500 us;
    // packet 2 pushes it out, and has its 500 B at 500 us.
    let buffer = BufferSpec { limit: Limit::Packets(1), drop: DropSpec::Head, signal: Signal::Drop };
    let (mut engine, path) =
        single(ElementSpec::Shape(ShapeSpec { rate: rate(8_000_000), burst_bytes: 1500, buffer }));
    for (tag, ip_bytes) in [(0, 1500), (1, 1500), (2, 500)] {
        engine.push(at(0), path, Packet::real(tag, ip_bytes, 0));
    }
    assert_eq!(fates(&mut engine), [(0, 0, Fate::Left), (1, 0, PUSHED_OUT), (2, 500_000, Fate::Left)]);
}

/// Target 2 us, interval 4 us, and 20 packets at once on a link of one a microsecond: packet n is taken from the queue at
/// n us, after n us of waiting.
///   n = 2 (2 us): at the target; "just went above": first_above_time = 2 + 4 = 6 us.
///   n = 6: ok to drop. 6 is dropped, 7 goes instead; count 1, next drop at 6 + 4 = 10 us.
///   at 7, 8, 9 us packets 8, 9, 10 leave;
///   at 10 us: 11 dropped, 12 goes; count 2, next drop at 10 + 4 / sqrt(2) = 12.829 us;
///   at 11, 12 us packets 13, 14; at 13 us: 15 dropped, 16 goes; count 3, 12.829 + 4 / sqrt(3) = 15.139 us;
///   at 14, 15 us: packets 17, 18; at 16 us packet 19 would be next to be dropped, but nothing is left behind it: it stays.
const DROPPED: [(u64, u64); 3] = [(6, 6000), (11, 10_000), (15, 13_000)];

#[test]
fn codel_drops_as_its_control_law_requires() {
    let (mut engine, path) = link(Limit::Unlimited, codel(2000, 4000), Signal::Drop);
    push_full(&mut engine, path, &[0; 20]);
    let fates = fates(&mut engine);
    let lost: Vec<_> = fates.iter().filter(|fate| fate.2 == BY_CODEL).map(|fate| (fate.0, fate.1)).collect();
    assert_eq!(lost, DROPPED);
    assert_eq!(fates.last(), Some(&(19, 17_000, Fate::Left)));
}

#[test]
fn codel_marks_instead_of_dropping_if_the_transport_reacts_to_marks() {
    // Nothing is dropped, so packet n leaves the queue at n us and the marks come a packet later each time.
    //   6 marked, next at 10: 10 marked, next at 12.829: 13 marked, next at 15.139: 16 marked, next at 17.139;
    //   at 18 us there is only one packet behind 18, a backlog that CoDel leaves alone.
    let (mut engine, path) = link(Limit::Unlimited, codel(2000, 4000), Signal::Mark);
    for tag in 0..20 {
        engine.push(at(0), path, Packet::real(tag, 1500, 0).with_ecn(Ecn::Ect0));
    }
    let outcomes = finish(&mut engine);
    let marked = |outcome: &Outcome| match outcome {
        Outcome::Departure { packet, .. } if packet.ecn == Ecn::Ce => Some(packet.tag),
        _ => None,
    };
    assert_eq!(outcomes.iter().filter_map(marked).collect::<Vec<_>>(), [6, 10, 13, 16]);
    assert_eq!(outcomes.len(), 20);
}

#[test]
fn new_marks_are_counted_and_existing_ones_are_not() {
    for (ecn, marked) in [(Ecn::Ect1, 1), (Ecn::Ce, 0)] {
        let mut engine = Engine::new(7);
        let buffer = BufferSpec { limit: Limit::Unlimited, drop: codel(2000, 4000), signal: Signal::Mark };
        let spec = scheduled_link(FULL_PACKET_A_MICROSECOND, 0, Queueing::fifo(buffer));
        let id = engine.add("it", spec).unwrap();
        let path = engine.path(&[id]);
        for tag in 0..9 {
            engine.push(at(0), path, Packet::real(tag, 1500, 0).with_ecn(ecn));
        }
        assert_eq!(departures(&mut engine).len(), 9);
        assert_eq!(engine.counters(id).real.marked.packets, marked, "{ecn:?}");
    }
}

#[test]
fn a_queue_that_marks_drops_a_packet_whose_transport_does_not_react() {
    let (mut engine, path) = link(Limit::Unlimited, codel(2000, 4000), Signal::Mark);
    push_full(&mut engine, path, &[0; 20]);
    let lost: Vec<_> = fates(&mut engine).into_iter().filter(|fate| fate.2 == BY_CODEL).collect();
    assert_eq!(lost.iter().map(|fate| (fate.0, fate.1)).collect::<Vec<_>>(), DROPPED);
}

/// Certain at the first byte above `min_bytes`, so that nothing is random.
fn step_at(min_bytes: u64) -> RedProfile {
    RedProfile { min_bytes, max_bytes: min_bytes + 1, probability: Share::WHOLE }
}

fn half() -> Share {
    Share::parts_per_billion(500_000_000).unwrap()
}

#[test]
fn red_follows_the_average_which_decays_while_the_queue_is_empty() {
    // An arrival counts one half; the step is at 2.5 packets (3845 B). Averages in packets at the arrivals of instant 0:
    //   0 and 1 find nothing waiting: 0; 2 finds 1: 0.5; 3 finds 2: 1.25; 4 finds 3: 2.125; 5 finds 4: 3.0625, lost;
    //   6 finds 4: 3.53, lost. Packet 4 leaves the queue at 4000. From then on a packet's time, 1000 ns, halves the average:
    //   at 4400 3.53 / 2^0.4 = 2.68, lost; at 4600 3.53 / 2^0.6 = 2.33.
    let red = DropSpec::Red(RedSpec { profile: step_at(3845), weight: half() });
    let (mut engine, path) = link(Limit::Unlimited, red, Signal::Drop);
    push_full(&mut engine, path, &[0, 0, 0, 0, 0, 0, 0, 4400, 4600]);
    let expected = [
        (5, 0, BY_RED),
        (6, 0, BY_RED),
        (0, 1000, Fate::Left),
        (1, 2000, Fate::Left),
        (2, 3000, Fate::Left),
        (3, 4000, Fate::Left),
        (7, 4400, BY_RED),
        (4, 5000, Fate::Left),
        (8, 6000, Fate::Left),
    ];
    assert_eq!(fates(&mut engine), expected);
}

#[test]
fn red_marks_up_to_twice_max_and_then_drops() {
    // Without memory the average is what waits: 1, 2, 3 wait at the arrivals of 2, 3, 4, and so on. The step is at two packets
    // (3076 B), twice max at 6154 B, which is just above four packets.
    let red = DropSpec::Red(RedSpec { profile: step_at(3076), weight: Share::WHOLE });
    let (mut engine, path) = link(Limit::Unlimited, red, Signal::Mark);
    for tag in 0..8 {
        engine.push(at(0), path, Packet::real(tag, 1500, 0).with_ecn(Ecn::Ect0));
    }
    let outcomes = finish(&mut engine);
    let marked: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Departure { packet, .. } => Some((packet.tag, packet.ecn == Ecn::Ce)),
            _ => None,
        })
        .collect();
    assert_eq!(marked, [(0, false), (1, false), (2, false), (3, false), (4, true), (5, true)]);
}

#[test]
fn red_in_a_full_buffer_is_tail_drop() {
    let red = DropSpec::Red(RedSpec { profile: step_at(100_000), weight: Share::WHOLE });
    let (mut engine, path) = link(Limit::Packets(1), red, Signal::Drop);
    push_full(&mut engine, path, &[0, 0, 0]);
    assert_eq!(fates(&mut engine), [(2, 0, FULL), (0, 1000, Fate::Left), (1, 2000, Fate::Left)]);
}

#[test]
fn wred_drops_the_worse_colours_first() {
    // Green may wait behind four packets, yellow behind two, red behind none; a packet without a colour counts as
    // green.
    let wred = WredSpec {
        green: step_at(4 * 1538),
        yellow: step_at(2 * 1538),
        red: step_at(1),
        weight: Share::WHOLE,
    };
    let (mut engine, path) = link(Limit::Unlimited, DropSpec::Wred(wred), Signal::Drop);
    let (af21, af22, af23, best_effort) = (18, 20, 22, 0);
    let arrivals = [af21, af23, af23, af22, af22, af22, af21, best_effort, af21, af23];
    for (tag, &dscp) in (0..).zip(&arrivals) {
        engine.push(at(0), path, Packet::real(tag, 1500, dscp));
    }
    // 0 is sent; 1 finds nothing waiting and waits; 2 is lost; 3 finds one, 4 two; 5 finds three and is lost; 6 finds three,
    // 7 four; 8 finds five and is lost, and so is 9.
    let lost: Vec<_> = fates(&mut engine).into_iter().filter(|fate| fate.2 == BY_RED).collect();
    assert_eq!(lost.iter().map(|fate| fate.0).collect::<Vec<_>>(), [2, 5, 8, 9]);
}

#[test]
fn a_packet_that_codel_takes_from_a_shaper_waits_for_the_rest_of_its_tokens() {
    // 8 Mbit/s bring a byte a microsecond; the burst of 1500 B is spent at 0. Target 1 us, interval 100 us.
    //   100 B at 100 us: has waited long enough to be above the target; first_above_time = 200 us.
    //   100 B at 200 us: dropped, and the packet of 400 B behind it has its tokens at 100 + 400 = 500 us.
    let buffer = BufferSpec { limit: Limit::Unlimited, drop: codel(1000, 100_000), signal: Signal::Drop };
    let (mut engine, path) =
        single(ElementSpec::Shape(ShapeSpec { rate: rate(8_000_000), burst_bytes: 1500, buffer }));
    for (tag, ip_bytes) in [(0, 1500), (1, 100), (2, 100), (3, 400), (4, 1500)] {
        engine.push(at(0), path, Packet::real(tag, ip_bytes, 0));
    }
    let fates = fates(&mut engine);
    let expected =
        [(0, 0, Fate::Left), (1, 100_000, Fate::Left), (2, 200_000, BY_CODEL), (3, 500_000, Fate::Left)];
    assert_eq!(fates[..4], expected);
    assert_eq!(fates[4], (4, 2_000_000, Fate::Left));
}

#[test]
fn an_unchanged_drop_policy_continues_and_a_changed_one_restarts() {
    let spec = |bits, drop| {
        let buffer = BufferSpec { limit: Limit::Unlimited, drop, signal: Signal::Drop };
        scheduled_link(bits, 0, Queueing::fifo(buffer))
    };
    for (drop, lost) in [(codel(2000, 4000), 3), (codel(2000, 4001), 2)] {
        let mut engine = Engine::new(7);
        let id = engine.add("it", spec(FULL_PACKET_A_MICROSECOND, codel(2000, 4000))).unwrap();
        let path = engine.path(&[id]);
        push_full(&mut engine, path, &[0; 20]);
        // After a restart, waits are above the target again from 7 us on: a drop at 12 us, the next at 16.001 us at
        // the earliest, when only one packet is left.
        engine.reconfigure(at(6500), id, spec(FULL_PACKET_A_MICROSECOND, drop)).unwrap();
        let count = fates(&mut engine).into_iter().filter(|fate| fate.2 == BY_CODEL).count();
        assert_eq!(count, lost, "{drop:?}");
    }
}

/// A single server at 1 Gbit/s, where a wire byte takes 8 ns, with a queue of (tag, arrival, wire bytes).
#[derive(Default)]
struct Server {
    waiting: VecDeque<(u64, u64, u64)>,
    free_at: u64,
    fates: Vec<(u64, u64, Fate)>,
}

impl Server {
    /// Takes packets whenever the transmitter becomes free, up to and including `now`.
    fn serve(&mut self, now: u64, mut take: impl FnMut(&mut Self, u64) -> Option<(u64, u64, u64)>) {
        while self.free_at <= now && !self.waiting.is_empty() {
            let start = self.free_at;
            if let Some(packet) = take(self, start) {
                self.send(packet, start);
            }
        }
    }

    fn send(&mut self, (tag, _, wire_bytes): (u64, u64, u64), start: u64) {
        self.free_at = start + wire_bytes * 8;
        self.fates.push((tag, self.free_at, Fate::Left));
    }

    fn waiting_bytes(&self) -> u64 {
        self.waiting.iter().map(|packet| packet.2).sum()
    }

    fn sorted(mut self) -> Vec<(u64, u64, Fate)> {
        self.fates.sort_by_key(|fate| (fate.0, fate.1));
        self.fates
    }
}

/// The pseudo-code of RFC 8289, section 5, with the square root in floating point.
#[derive(Default)]
struct Rfc8289 {
    target: u64,
    interval: u64,
    first_above_time: u64,
    drop_next: u64,
    count: u64,
    lastcount: u64,
    dropping: bool,
    largest: u64,
}

impl Rfc8289 {
    fn dodequeue(&mut self, server: &mut Server, now: u64) -> (Option<(u64, u64, u64)>, bool) {
        let Some(packet) = server.waiting.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        if now - packet.1 < self.target || server.waiting_bytes() <= self.largest {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            return (Some(packet), true);
        }
        (Some(packet), false)
    }

    fn control_law(&self, t: u64) -> u64 {
        t + (self.interval as f64 / (self.count as f64).sqrt()).ceil() as u64
    }

    fn dequeue(&mut self, server: &mut Server, now: u64) -> Option<(u64, u64, u64)> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(server, now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                server.fates.push((packet.unwrap().0, now, BY_CODEL));
                self.count += 1;
                (packet, ok_to_drop) = self.dodequeue(server, now);
                if !ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            server.fates.push((packet.unwrap().0, now, BY_CODEL));
            (packet, _) = self.dodequeue(server, now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now.saturating_sub(self.drop_next) < 16 * self.interval {
                self.count = delta;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        packet
    }
}

/// (arrival, IP bytes) in the order of arrival.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0u64..12_000, 1u32..=1500), 1..150).prop_map(|gaps_and_sizes| {
        let mut now = 0;
        let arrive = |(gap, size)| {
            now += gap;
            (now, size)
        };
        gaps_and_sizes.into_iter().map(arrive).collect()
    })
}

fn run(buffer: BufferSpec, traffic: &[(u64, u32)]) -> Vec<(u64, u64, Fate)> {
    let (mut engine, path) = single(scheduled_link(1_000_000_000, 0, Queueing::fifo(buffer)));
    for (tag, &(arrival, size)) in (0..).zip(traffic) {
        engine.push(at(arrival), path, Packet::real(tag, size, 0));
    }
    let mut fates = fates(&mut engine);
    fates.sort_by_key(|fate| (fate.0, fate.1));
    fates
}

proptest! {
    #[test]
    fn codel_agrees_with_its_oracle(
        traffic in traffic(),
        target in 1u64..30_000,
        more in 0u64..100_000,
    ) {
        let interval = target + more;
        let mut rfc = Rfc8289 { target, interval, ..Rfc8289::default() };
        let mut server = Server::default();
        for (tag, &(arrival, size)) in (0..).zip(&traffic) {
            let wire_bytes = u64::from(Packet::ghost(size).wire_bytes());
            server.serve(arrival, |server, now| rfc.dequeue(server, now));
            rfc.largest = rfc.largest.max(wire_bytes);
            server.waiting.push_back((tag, arrival, wire_bytes));
            if server.free_at <= arrival {
                server.free_at = arrival;
                server.serve(arrival, |server, now| rfc.dequeue(server, now));
            }
        }
        server.serve(u64::MAX, |server, now| rfc.dequeue(server, now));
        let buffer = BufferSpec { limit: Limit::Unlimited, drop: codel(target, interval), signal: Signal::Drop };
        prop_assert_eq!(run(buffer, &traffic), server.sorted());
    }

    #[test]
    fn tail_and_head_drop_agree_with_their_oracle(
        traffic in traffic(),
        by_head: bool,
        limit in prop_oneof![
            (0u64..8000).prop_map(Limit::Bytes),
            (0u64..6).prop_map(Limit::Packets),
            (0u64..50_000).prop_map(|nanos| Limit::Time(Duration::from_nanos(nanos))),
        ],
    ) {
        // At 1 Gbit/s a byte takes 8 ns.
        let (most_bytes, most_packets) = match limit {
            Limit::Bytes(bytes) => (bytes, usize::MAX),
            Limit::Packets(packets) => (u64::MAX, packets as usize),
            Limit::Time(time) => (time.as_nanos() / 8, usize::MAX),
            Limit::Unlimited => unreachable!("not drawn"),
        };
        let mut server = Server::default();
        for (tag, &(arrival, size)) in (0..).zip(&traffic) {
            let wire_bytes = u64::from(Packet::ghost(size).wire_bytes());
            let packet = (tag, arrival, wire_bytes);
            server.serve(arrival, |server, _| server.waiting.pop_front());
            if server.free_at <= arrival {
                server.send(packet, arrival);
                continue;
            }
            let fits = |server: &Server| {
                server.waiting_bytes() + wire_bytes <= most_bytes && server.waiting.len() < most_packets
            };
            while by_head && !fits(&server) && wire_bytes <= most_bytes && most_packets > 0 {
                let oldest = server.waiting.pop_front().unwrap();
                server.fates.push((oldest.0, arrival, PUSHED_OUT));
            }
            if fits(&server) {
                server.waiting.push_back(packet);
            } else {
                server.fates.push((tag, arrival, FULL));
            }
        }
        server.serve(u64::MAX, |server, _| server.waiting.pop_front());
        let drop = if by_head { DropSpec::Head } else { DropSpec::Tail };
        prop_assert_eq!(run(BufferSpec { limit, drop, signal: Signal::Drop }, &traffic), server.sorted());
    }
}
