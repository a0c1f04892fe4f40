//! Two machines in virtual time, with a way between them that delays, loses, repeats and reorders.

use std::collections::VecDeque;

use crosswind_engine::{Crossing, Packet};
use crosswind_wire::{Train, VnetHeader};
use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;
const LIMIT: usize = 1_472;
const KEY: RunKey = [7; 32];
const GENERATION: u32 = 1;
/// What machine 1's clock shows when machine 0's shows 0.
const OFFSET_NS: u64 = 5_000 * MS;

/// One of two machines.
struct Machine {
    own: Membership,
    peer: Peer,
    generation: u32,
    limit: usize,
    messages: VecDeque<Message>,
    sent: Vec<Vec<u8>>,
}

impl Machine {
    fn new(domain: u16) -> Self {
        let own = Membership { domain, run: 9, key: KEY };
        let peer = Peer::new(&own, 1 - domain);
        Self { own, peer, generation: GENERATION, limit: LIMIT, messages: VecDeque::new(), sent: Vec::new() }
    }

    fn clock(&self, now_ns: u64) -> u64 {
        now_ns + u64::from(self.own.domain) * OFFSET_NS
    }

    /// What it sends now.
    fn flush(&mut self, now_ns: u64) -> Vec<Vec<u8>> {
        let at_ns = self.clock(now_ns);
        let now = Now { at_ns, generation: self.generation, nodes: 4 };
        self.peer.take_in_early(&now, &mut self.messages);
        self.peer.tick(at_ns, self.limit);
        let sent = &mut self.sent;
        self.peer.flush(&self.own, self.generation, at_ns, |bytes, each| {
            sent.extend(bytes.chunks(each).map(<[u8]>::to_vec));
        });
        std::mem::take(&mut self.sent)
    }

    fn take_in(&mut self, now_ns: u64, bytes: &[u8]) -> bool {
        let now = Now { at_ns: self.clock(now_ns), generation: self.generation, nodes: 4 };
        self.peer.take_in(&self.own, bytes, &now, &mut self.messages)
    }

    fn report(&self) -> PeerReport {
        self.peer.report(self.clock(0))
    }
}

/// Both, and what they exchange until `until_ns` with 0.1 ms each way.
struct Pair {
    machines: [Machine; 2],
    now_ns: u64,
}

const WAY_NS: u64 = 100_000;

impl Pair {
    fn new() -> Self {
        Self { machines: [Machine::new(0), Machine::new(1)], now_ns: 1_000 * MS }
    }

    fn run(&mut self, for_ns: u64) {
        for _ in 0..for_ns / WAY_NS {
            let [one, other] = self.machines.each_mut().map(|machine| machine.flush(self.now_ns));
            self.now_ns += WAY_NS;
            one.iter().for_each(|it| assert!(self.machines[1].take_in(self.now_ns, it)));
            other.iter().for_each(|it| assert!(self.machines[0].take_in(self.now_ns, it)));
        }
    }
}

fn frame(number: u64, length: usize) -> Arc<Passage> {
    let bytes: Box<[u8]> = (0..length as u64).map(|it| (it * 7 + number) as u8).collect();
    let train = Train::read(VnetHeader::default(), &bytes).unwrap();
    Arc::new(Passage { name: (0, number), train, bytes, from: 1, to: 3 })
}

const ONWARD: Onward = Onward::from_index(0);
const LINK: ElementId = ElementId::from_index(40);

fn way() -> Crosses {
    Crosses::Way(ONWARD, [LINK, ElementId::from_index(41)].into())
}

fn packet(due_ns: u64, tag: u64) -> Crosses {
    let mut packet = Packet::real(tag, 1_500, 0);
    packet.entered = Instant::from_nanos(due_ns - MS);
    Crosses::Packet(Crossing { due: Instant::from_nanos(due_ns), link: LINK, onward: ONWARD, packet })
}

fn taken(machine: &mut Machine) -> Vec<(Crossing, Arc<Passage>)> {
    let packet = |message: Message| match message.crosses {
        Crosses::Packet(crossing) => Some((crossing, message.passage.unwrap())),
        _ => None,
    };
    machine.messages.drain(..).filter_map(packet).collect()
}

#[test]
fn a_super_packet_crosses_whole_and_its_packets_are_due_on_the_other_clock() {
    let mut pair = Pair::new();
    pair.run(500 * MS);
    let (frame, due_ns) = (frame(0, 65_000), pair.now_ns + 10 * MS);
    pair.machines[0].peer.send(&way(), None, LIMIT);
    for index in 0..45 {
        pair.machines[0].peer.send(&packet(due_ns + index, index), Some(&frame), LIMIT);
    }
    pair.run(MS);
    let taken = taken(&mut pair.machines[1]);
    assert_eq!(taken.len(), 45);
    for ((crossing, passage), index) in taken.iter().zip(0..) {
        assert_eq!(crossing.packet.tag, index);
        assert_eq!(passage.bytes, frame.bytes);
        assert_eq!((passage.name, passage.from, passage.to), (frame.name, frame.from, frame.to));
        // The ways are equally long, so the estimate has no error but rounding.
        let due = due_ns + index + OFFSET_NS;
        assert!(crossing.due.as_nanos().abs_diff(due) < 100, "{} {due}", crossing.due.as_nanos());
        assert!(crossing.packet.entered.as_nanos().abs_diff(due - MS) < 100);
    }
    let report = pair.machines[1].report();
    assert_eq!((report.lost_datagrams, report.reordered_datagrams, report.refused_records), (0, 0, 0));
    assert_eq!(report.received_datagrams, pair.machines[0].report().sent_datagrams);
}

#[test]
fn a_window_is_complete_when_the_peer_has_sent_something_after_its_end() {
    let mut pair = Pair::new();
    pair.run(500 * MS);
    let end_ns = pair.now_ns;
    let until = |pair: &Pair| pair.machines[0].report().complete_until_ns.unwrap();
    assert!(until(&pair) < end_ns);
    pair.run(100 * MS);
    assert!(until(&pair) >= end_ns && until(&pair) <= pair.now_ns);
}

#[test]
fn a_way_whose_announcement_was_lost_is_announced_again() {
    let mut pair = Pair::new();
    pair.run(500 * MS);
    pair.machines[0].peer.send(&way(), None, LIMIT);
    pair.machines[0].peer.send(&packet(pair.now_ns, 0), Some(&frame(0, 60)), LIMIT);
    let lost = pair.machines[0].flush(pair.now_ns).len();
    pair.run(100 * MS);
    pair.machines[0].peer.send(&packet(pair.now_ns, 1), Some(&frame(1, 60)), LIMIT);
    pair.run(100 * MS);
    assert_eq!(taken(&mut pair.machines[1]).len(), 1);
    let report = pair.machines[1].report();
    assert_eq!((report.lost_datagrams, report.refused_records), (lost as u64, 0));
}

#[test]
fn what_was_not_announced_is_refused_and_counted() {
    let mut pair = Pair::new();
    pair.run(500 * MS);
    pair.machines[0].peer.send(&packet(pair.now_ns, 0), Some(&frame(0, 60)), LIMIT);
    pair.run(MS);
    assert_eq!(pair.machines[1].report().refused_records, 1);
    // A packet on a way that begins with another link.
    pair.machines[0].peer.send(&Crosses::Way(ONWARD, [ElementId::from_index(2)].into()), None, LIMIT);
    pair.machines[0].peer.send(&packet(pair.now_ns, 0), Some(&frame(0, 60)), LIMIT);
    pair.run(MS);
    assert_eq!(pair.machines[1].report().refused_records, 2);
    assert_eq!(taken(&mut pair.machines[1]).len(), 0);
}

#[test]
fn a_frame_is_forgotten_when_its_sender_has_no_more_packets_of_it() {
    let mut pair = Pair::new();
    pair.machines[0].peer.send(&way(), None, LIMIT);
    let frame = frame(0, 3_000);
    pair.machines[0].peer.send(&packet(pair.now_ns, 0), Some(&frame), LIMIT);
    pair.run(100 * MS);
    assert!(pair.machines[1].peer.frames_in.get(frame.name).is_some());
    drop(frame);
    pair.run(100 * MS);
    assert!(pair.machines[1].peer.frames_in.get((0, 0)).is_none());
}

#[test]
fn what_is_forged_reflected_or_of_another_run_is_not_taken() {
    let mut pair = Pair::new();
    let datagram = pair.machines[0].flush(pair.now_ns).remove(0);
    assert!(!pair.machines[0].take_in(pair.now_ns, &datagram), "reflected");
    let mut forged = datagram.clone();
    *forged.last_mut().unwrap() ^= 1;
    assert!(!pair.machines[1].take_in(pair.now_ns, &forged));
    let mut other = Machine::new(0);
    other.own.run += 1;
    let of_another_run = other.flush(pair.now_ns).remove(0);
    assert!(!pair.machines[1].take_in(pair.now_ns, &of_another_run));
    assert!(pair.machines[1].take_in(pair.now_ns, &datagram));
    assert!(pair.machines[1].take_in(pair.now_ns, &datagram));
    let report = pair.machines[1].report();
    assert_eq!((report.received_datagrams, report.duplicate_datagrams), (1, 1), "replayed");
}

/// How far off machine 0's estimate is after `seconds`, ns. Each way takes 0.1 to 0.3 ms, and each machine sends a packet
/// every millisecond if there is traffic.
fn clock_error_ns(seconds: u64, traffic: bool, mut random: u64) -> u64 {
    let mut pair = Pair::new();
    let ends_ns = pair.now_ns + seconds * 1_000 * MS;
    // By the instant at which they come: to which machine.
    let mut under_way = std::collections::BTreeMap::<(u64, u64), (usize, Vec<u8>)>::new();
    let mut number = 0;
    for machine in &mut pair.machines {
        machine.peer.send(&way(), None, LIMIT);
    }
    while pair.now_ns < ends_ns {
        for from in 0..2 {
            let machine = &mut pair.machines[from];
            if traffic {
                machine.peer.send(&packet(machine.clock(pair.now_ns), 0), Some(&frame(number, 60)), LIMIT);
            }
            for datagram in machine.flush(pair.now_ns) {
                // Marsaglia's xorshift.
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                number += 1;
                under_way
                    .insert((pair.now_ns + WAY_NS + random % (2 * WAY_NS), number), (1 - from, datagram));
            }
        }
        let next_ns = pair.now_ns + MS;
        while let Some(entry) = under_way.first_entry().filter(|entry| entry.key().0 < next_ns) {
            let ((at_ns, _), (to, datagram)) = entry.remove_entry();
            assert!(pair.machines[to].take_in(at_ns, &datagram));
            pair.machines[to].messages.clear();
        }
        pair.now_ns = next_ns;
    }
    let report = pair.machines[0].peer.clock(pair.now_ns);
    assert!(report.bound_ns.unwrap() < 2 * WAY_NS, "{report:?}");
    report.offset_ns.unwrap().abs_diff(OFFSET_NS as i64)
}

#[test]
fn traffic_makes_the_estimate_of_the_clock_better() {
    let errors = |traffic| {
        let mut errors: Vec<u64> = (1..=9).map(|seed| clock_error_ns(6, traffic, seed * 7_919)).collect();
        errors.sort_unstable();
        errors
    };
    let (without, with) = (errors(false), errors(true));
    println!("without traffic {without:?} ns, with {with:?} ns");
    // The median of nine: 100 packets for each exchange, of which the quickest counts.
    assert!(with[4] * 4 < without[4], "{without:?} {with:?}");
}

#[test]
fn packets_of_another_fabric_are_left_out() {
    let mut pair = Pair::new();
    pair.machines[0].generation += 1;
    pair.machines[0].peer.send(&way(), None, LIMIT);
    pair.machines[0].peer.send(&packet(pair.now_ns, 0), Some(&frame(0, 60)), LIMIT);
    pair.run(20 * MS);
    assert_eq!(pair.machines[1].messages.len(), 0);
    assert_eq!(pair.machines[1].report().refused_records, 0);
    // When the fabric is up here too, the way is announced again.
    pair.machines[1].generation += 1;
    pair.machines[1].peer.start_generation();
    pair.run(100 * MS);
    pair.machines[0].peer.send(&packet(pair.now_ns, 1), Some(&frame(1, 60)), LIMIT);
    pair.run(MS);
    assert_eq!(taken(&mut pair.machines[1]).len(), 1);
}

/// What the way does with a datagram.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Comes,
    Lost,
    Twice,
    /// Is overtaken by the next.
    Late,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        20 => Just(Fate::Comes), 1 => Just(Fate::Lost), 1 => Just(Fate::Twice), 1 => Just(Fate::Late),
    ]
}

proptest! {
    #[test]
    fn on_a_way_without_faults_everything_comes_once_in_sequence_and_whole(
        lengths in proptest::collection::vec(1usize..70_000, 1..12), limit in 1_180usize..9_000
    ) {
        let mut pair = Pair::new();
        pair.machines[0].limit = limit;
        pair.machines[0].peer.send(&way(), None, limit);
        let frames: Vec<_> =
            (0..).zip(&lengths).map(|(number, &length)| frame(number, length.clamp(14, 65_535))).collect();
        for (frame, tag) in frames.iter().zip(0..) {
            pair.machines[0].peer.send(&packet(pair.now_ns, tag), Some(frame), limit);
        }
        let datagrams = pair.machines[0].flush(pair.now_ns);
        prop_assert!(datagrams.iter().all(|datagram| datagram.len() <= limit));
        for datagram in &datagrams {
            prop_assert!(pair.machines[1].take_in(pair.now_ns, datagram));
        }
        let taken = taken(&mut pair.machines[1]);
        prop_assert_eq!(taken.len(), frames.len());
        for ((crossing, passage), (frame, tag)) in taken.iter().zip(frames.iter().zip(0..)) {
            prop_assert_eq!(crossing.packet.tag, tag);
            prop_assert_eq!(&passage.bytes, &frame.bytes);
        }
    }

    #[test]
    fn what_is_overtaken_for_a_moment_is_not_lost(delays in proptest::collection::vec(0usize..30, 200..600)) {
        let mut pair = Pair::new();
        pair.run(500 * MS);
        pair.machines[0].peer.send(&way(), None, LIMIT);
        let frames: Vec<_> = (0..40).map(|number| frame(number, 200 + 130 * number as usize)).collect();
        for (frame, tag) in frames.iter().zip(0..) {
            pair.machines[0].peer.send(&packet(pair.now_ns, tag), Some(frame), LIMIT);
        }
        let mut datagrams: Vec<_> = pair.machines[0].flush(pair.now_ns).into_iter().zip(delays).enumerate().collect();
        datagrams.sort_by_key(|(place, (_, delay))| place + delay);
        for (_, (datagram, _)) in datagrams {
            pair.machines[1].take_in(pair.now_ns, &datagram);
        }
        let tags: Vec<u64> =
            taken(&mut pair.machines[1]).iter().map(|(crossing, _)| crossing.packet.tag).collect();
        prop_assert_eq!(tags, (0..40).collect::<Vec<u64>>());
        let report = pair.machines[1].report();
        prop_assert_eq!((report.lost_datagrams, report.refused_records), (0, 0));
    }

    #[test]
    fn whatever_the_way_does_a_packet_comes_with_its_own_frame_or_not_at_all(
        fates in proptest::collection::vec(fate(), 1..200)
    ) {
        let mut pair = Pair::new();
        pair.machines[0].peer.send(&way(), None, LIMIT);
        let frames: Vec<_> = (0..40).map(|number| frame(number, 200 + 130 * number as usize)).collect();
        let (mut lost, mut twice) = (0, 0);
        let mut fates = fates.into_iter().chain(std::iter::repeat(Fate::Comes));
        let mut sent = 0;
        for (frame, tag) in frames.iter().zip(0..) {
            pair.machines[0].peer.send(&packet(pair.now_ns, tag), Some(frame), LIMIT);
            let datagrams = pair.machines[0].flush(pair.now_ns);
            sent += datagrams.len() as u64;
            pair.now_ns += 20 * MS;
            let mut late = None;
            for datagram in datagrams {
                let fate = fates.next().unwrap();
                if let Fate::Late = fate {
                    if let Some(before) = late.replace(datagram) {
                        pair.machines[1].take_in(pair.now_ns, &before);
                    }
                    continue;
                }
                for _ in 0..match fate { Fate::Lost => 0, Fate::Twice => 2, _ => 1 } {
                    pair.machines[1].take_in(pair.now_ns, &datagram);
                }
                lost += u64::from(matches!(fate, Fate::Lost));
                twice += u64::from(matches!(fate, Fate::Twice));
                late.take().into_iter().for_each(|it| {
                    pair.machines[1].take_in(pair.now_ns, &it);
                });
            }
            late.into_iter().for_each(|it| {
                pair.machines[1].take_in(pair.now_ns, &it);
            });
            // Acknowledges.
            for datagram in pair.machines[1].flush(pair.now_ns) {
                pair.machines[0].take_in(pair.now_ns, &datagram);
            }
        }
        // One that certainly comes shows what was lost at the end.
        pair.run(100 * MS);
        let report = pair.machines[1].report();
        prop_assert_eq!((report.lost_datagrams, report.duplicate_datagrams), (lost, twice));
        prop_assert!(report.received_datagrams >= sent - lost);
        for (crossing, passage) in taken(&mut pair.machines[1]) {
            let frame = &frames[crossing.packet.tag as usize];
            prop_assert_eq!(passage.name, frame.name);
            prop_assert_eq!(&passage.bytes, &frame.bytes);
        }
        // And the way holds.
        let last = frame(1_000, 500);
        pair.machines[0].peer.send(&packet(pair.now_ns, 0), Some(&last), LIMIT);
        pair.run(MS);
        prop_assert_eq!(taken(&mut pair.machines[1]).len(), 1);
    }
}
