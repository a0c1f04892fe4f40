//! Flows by hand: one small conversation, segment by segment, with the values that follow from it.

use std::net::{Ipv4Addr, SocketAddr};

use crosswind_wire::{Flow, Tcp};
use proptest::prelude::*;

use crate::{Conversations, Direction, Finding, Point, Quantity, Segment, Side, Timeout};

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const FIN: u8 = 0x01;

fn flow(from: u8, to: u8) -> Flow {
    let address = |host: u8| SocketAddr::new(Ipv4Addr::new(10, 77, 0, host).into(), 1000 + u16::from(host));
    Flow { source: address(from), destination: address(to), protocol: 6 }
}

/// A segment at `at_us` from host 1 to host 2 (forward) or back.
#[derive(Clone, Copy)]
struct Sent {
    at_us: u64,
    side: Side,
    flags: u8,
    sequence: u32,
    payload: u32,
    acknowledgement: u32,
    timestamps: Option<(u32, u32)>,
}

const NOTHING: Sent = Sent {
    at_us: 0,
    side: Side::Forward,
    flags: ACK,
    sequence: 0,
    payload: 0,
    acknowledgement: 0,
    timestamps: None,
};

fn segment(sent: Sent) -> Segment {
    let flow = if sent.side == Side::Forward { flow(1, 2) } else { flow(2, 1) };
    let tcp = Tcp {
        sequence: sent.sequence,
        flags: sent.flags,
        acknowledgement: sent.acknowledgement,
        window: 1000,
        window_shift: (sent.flags & SYN != 0).then_some(7),
        timestamps: sent.timestamps,
    };
    Segment {
        at_ns: sent.at_us * 1_000,
        flow,
        packets: 1,
        ip_bytes: 52 + sent.payload,
        order: sent.at_us,
        tcp: Some((sent.sequence, sent.payload, tcp)),
    }
}

fn pass(point: &mut Point, sent: Sent) {
    point.passed(sent.side, &segment(sent));
}

/// What all of a conversation that passes one place says of its first direction.
fn conversation(rto_ms: u64, all: &[Sent]) -> Direction {
    let mut conversations = Conversations::new(rto_ms * 1_000_000);
    for &sent in all {
        conversations.answered(&segment(sent));
        conversations.sent(&segment(sent));
    }
    conversations.into_directions().swap_remove(0)
}

fn values(finding: &Finding, what: &str) -> (u64, u128) {
    let (.., histogram) = finding.histograms.iter().find(|(name, ..)| *name == what).expect("measured");
    (histogram.count(), histogram.sum())
}

#[test]
fn a_handshake_gives_the_time_to_each_end() {
    // The SYN passes at 0, its answer 300 us later (the far end), and the acknowledgement after 20 us (the near end).
    let mut point = Point::new(&[Quantity::Rtt]);
    pass(&mut point, Sent { flags: SYN, sequence: 99, ..NOTHING });
    let accepted =
        Sent { side: Side::Backward, flags: SYN | ACK, sequence: 499, acknowledgement: 100, ..NOTHING };
    pass(&mut point, Sent { at_us: 300, ..accepted });
    pass(&mut point, Sent { at_us: 320, sequence: 100, acknowledgement: 500, ..NOTHING });
    pass(&mut point, Sent { at_us: 900, sequence: 100, acknowledgement: 500, ..NOTHING });
    assert_eq!(values(&point.finding(Side::Forward), "rtt-handshake"), (1, 300_000));
    assert_eq!(values(&point.finding(Side::Backward), "rtt-handshake"), (1, 20_000));
}

#[test]
fn a_syn_that_was_sent_twice_has_no_time() {
    let mut point = Point::new(&[Quantity::Rtt]);
    for at_us in [0, 1_000_000] {
        pass(&mut point, Sent { at_us, flags: SYN, sequence: 99, ..NOTHING });
    }
    let accepted = Sent { side: Side::Backward, flags: SYN | ACK, acknowledgement: 100, ..NOTHING };
    pass(&mut point, Sent { at_us: 1_000_300, ..accepted });
    assert_eq!(values(&point.finding(Side::Forward), "rtt-handshake"), (0, 0));
}

#[test]
fn a_timestamp_is_timed_from_its_first_segment_with_data_to_its_first_echo() {
    let mut point = Point::new(&[Quantity::Rtt]);
    let data = |at_us, value| Sent { at_us, payload: 100, timestamps: Some((value, 0)), ..NOTHING };
    let echo = |at_us, value| Sent { at_us, side: Side::Backward, timestamps: Some((7, value)), ..NOTHING };
    // A value without data is no probe: no answer is needed.
    pass(&mut point, Sent { timestamps: Some((1, 0)), ..NOTHING });
    for sent in
        [echo(40, 1), data(100, 2), data(150, 2), data(200, 3), echo(600, 2), echo(650, 2), echo(900, 3)]
    {
        pass(&mut point, sent);
    }
    assert_eq!(values(&point.finding(Side::Forward), "rtt-timestamps"), (2, 500_000 + 700_000));
}

#[test]
fn bytes_that_pass_again_are_retransmissions_since_the_first_time() {
    let mut point = Point::new(&[Quantity::Retransmissions]);
    let data = |at_us, sequence| Sent { at_us, sequence, payload: 100, ..NOTHING };
    // 100 passes twice; 200 was lost before the monitor and passes after 300: it has not been seen before.
    for sent in [data(0, 0), data(10, 100), data(20, 300), data(200_010, 100), data(200_020, 200)] {
        pass(&mut point, sent);
    }
    pass(&mut point, Sent { at_us: 300_000, sequence: 0, ..NOTHING });
    let finding = point.finding(Side::Forward);
    assert_eq!(values(&finding, "retransmission-delay"), (1, 200_000_000));
    let counts = &finding.counts["retransmissions"];
    assert_eq!((counts["seen-before"], counts["not-seen-before"]), (1, 1));
}

#[test]
fn data_is_timed_to_the_acknowledgement_of_its_last_byte_unless_it_was_sent_twice() {
    let data = |at_us, sequence| Sent { at_us, sequence, payload: 100, ..NOTHING };
    let answer = |at_us, acknowledgement| Sent { at_us, side: Side::Backward, acknowledgement, ..NOTHING };
    let found = conversation(
        200,
        &[
            data(0, 0),
            data(10, 100),
            data(20, 200),
            answer(500, 100),
            answer(520, 250), // Inside a segment: the one before it has no time of its own either.
            answer(600, 300),
            // 300 is sent again, so neither it nor 400, which waited behind it, has a time; 500 has.
            data(1_000, 300),
            data(1_010, 400),
            data(3_000, 300),
            data(3_010, 500),
            answer(3_400, 500),
            answer(3_450, 600),
        ],
    );
    assert_eq!(found.acknowledgements_ns, [500_000, 580_000, 440_000]);
    assert_eq!((found.packets, found.retransmissions, found.timeouts.len()), (7, 1, 0));
}

#[test]
fn what_is_sent_again_after_silence_is_a_timeout_and_what_follows_it_is_not() {
    let data = |at_us, sequence| Sent { at_us, sequence, payload: 100, ..NOTHING };
    let answer = |at_us, acknowledgement| Sent { at_us, side: Side::Backward, acknowledgement, ..NOTHING };
    // The round trip is 1 ms, so a timer of 200 ms runs for 201 ms. Its first expiry repairs two segments, the next one doubles.
    let mut all = vec![data(0, 0), answer(1_000, 100), data(2_000, 100), data(2_010, 200)];
    all.extend([data(203_010, 100), data(204_000, 200), data(605_000, 200)]);
    let found = conversation(200, &all);
    let timeout = |at_us: u64, sequence, silence_us: u64| Timeout {
        at_ns: at_us * 1_000,
        sequence,
        silence_ns: silence_us * 1_000,
    };
    assert_eq!(found.timeouts, [timeout(203_010, 100, 201_000), timeout(605_000, 200, 401_000)]);
    assert_eq!(found.retransmissions, 3);
    // A microsecond earlier no timer of 200 ms can have run out; new data after silence is none whatever it was.
    all[4].at_us -= 1;
    all.push(data(2_000_000, 300));
    assert_eq!(conversation(200, &all).timeouts.len(), 1);
}

#[test]
fn windows_are_shifted_as_the_syn_announced() {
    let mut point = Point::new(&[Quantity::TcpWindow]);
    pass(&mut point, Sent { flags: SYN, ..NOTHING });
    pass(&mut point, NOTHING);
    pass(&mut point, Sent { side: Side::Backward, ..NOTHING });
    // 1000 in the SYN itself, 1000 x 128 afterwards.
    assert_eq!(values(&point.finding(Side::Forward), "tcp-window"), (2, 1_000 + 128_000));
    let unknown = point.finding(Side::Backward);
    assert_eq!((values(&unknown, "tcp-window").0, unknown.counts["tcp-window"]["unknown-scale"]), (0, 1));
}

#[test]
fn a_flow_counts_when_it_ends_or_as_it_is() {
    let mut point = Point::new(&[Quantity::FlowSize]);
    pass(&mut point, Sent { payload: 48, ..NOTHING });
    pass(&mut point, Sent { flags: FIN | ACK, payload: 48, ..NOTHING });
    pass(&mut point, Sent { side: Side::Backward, payload: 148, ..NOTHING });
    assert_eq!(values(&point.finding(Side::Forward), "flow-bytes"), (1, 200));
    assert_eq!(values(&point.finding(Side::Backward), "flow-bytes"), (1, 200));
    assert_eq!(values(&point.finding(Side::Forward), "flow-packets"), (1, 2));
    point.start_window();
    assert_eq!(values(&point.finding(Side::Backward), "flow-bytes"), (0, 0));
}

/// RFC 4737, 4.2.1, written down as it stands: i - j for the earliest j before i that was sent later.
fn extents(orders: &[u64]) -> Vec<u64> {
    let later =
        |(i, order): (usize, &u64)| Some((i - orders[..i].iter().position(|other| other > order)?) as u64);
    orders.iter().enumerate().filter_map(later).collect()
}

proptest! {
    #[test]
    fn extents_are_those_of_the_rfc(orders in Just((0u64..30).collect::<Vec<_>>()).prop_shuffle()) {
        let mut point = Point::new(&[Quantity::Reordering]);
        for &order in &orders {
            let segment = Segment { at_ns: 0, flow: flow(1, 2), packets: 1, ip_bytes: 100, order, tcp: None };
            point.passed(Side::Forward, &segment);
        }
        let finding = point.finding(Side::Forward);
        let expected = extents(&orders);
        prop_assert_eq!(
            values(&finding, "reordering-extent"),
            (expected.len() as u64, expected.iter().map(|&extent| u128::from(extent)).sum())
        );
        prop_assert_eq!(finding.counts["reordering"]["in-order"], 30 - expected.len() as u64);
    }

    #[test]
    fn no_sequence_of_segments_panics(
        steps in prop::collection::vec((any::<bool>(), any::<u8>(), any::<u32>(), any::<u32>(), 0u32..3000), 0..60)
    ) {
        let mut point = Point::new(&[
            Quantity::FlowSize, Quantity::TcpWindow, Quantity::Rtt, Quantity::Retransmissions, Quantity::Reordering,
        ]);
        let mut conversations = Conversations::new(10);
        for (at_us, (forward, flags, sequence, acknowledgement, payload)) in (0..).zip(steps) {
            let side = if forward { Side::Forward } else { Side::Backward };
            let timestamps = Some((sequence, acknowledgement));
            let sent = Sent { at_us, side, flags, sequence, payload, acknowledgement, timestamps };
            pass(&mut point, sent);
            conversations.answered(&segment(sent));
            conversations.sent(&segment(sent));
        }
        point.finding(Side::Forward);
        point.finding(Side::Backward);
        conversations.into_directions();
    }
}
