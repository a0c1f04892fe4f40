//! Tests of the forwarder between ports in memory, in virtual time.

use std::sync::Arc;

use super::handing::SEND_PATIENCE_NS;
use super::*;
use crate::clock::VirtualClock;
use crate::monitor_report::{self, Monitored};
use crate::names::Names;
use crate::port::MemoryPort;
use crate::records::DropRow;
use crate::sending::send_due;
use crosswind_engine::Instant;
use crosswind_fabric::{star, Fabric};

fn forwarder(condition: &str, merge_window_ns: u64, rate_bps: &str) -> Forwarder<MemoryPort> {
    let rate_bps = serde_json::from_str(rate_bps).unwrap();
    let links = serde_json::to_string(&star(&["h0", "h1"], rate_bps, 1000, Some(1_000_000))).unwrap();
    let fabric: Fabric = serde_json::from_str(&format!(
        r#"{{"seed": 7, "hosts": ["h0", "h1"], "nodes": [{{"name": "a", "host": "h0"}}, {{"name": "b", "host": "h1"}}],
            "switches": ["switch"], "links": {links}, "mtu_bytes": 1500,
            "tcp": {{"congestion_control": "cubic", "rto_min_us": 200000}}, "merge_window_ns": {merge_window_ns},
            "condition": {{"name": "test", "places": {condition}}}}}"#
    ))
    .unwrap();
    let network = Network::new(&fabric, Instant::ZERO).unwrap();
    Forwarder::new(network, vec![MemoryPort::default(), MemoryPort::default()])
}

fn super_packet(payload: usize) -> (VnetHeader, Vec<u8>) {
    let mut frame = vec![2, 0x77, 0, 0, 0, 2, 2, 0x77, 0, 0, 0, 1, 8, 0];
    frame.extend([0x45, 0]);
    frame.extend(((40 + payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    frame.extend([0x15, 0x38, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    frame.extend((0..payload).map(|i| i as u8));
    let gso_size = if payload > 1460 { 1460 } else { 0 };
    let gso_type = if payload > 1460 { VnetHeader::GSO_TCPV4 } else { VnetHeader::GSO_NONE };
    (VnetHeader { flags: 1, gso_type, header_len: 54, gso_size, csum_start: 34, csum_offset: 16 }, frame)
}

const NOW_NS: u64 = 1_000_000;

/// Reads frames that have arrived, and sends those that are due.
fn take_in(forwarder: &mut Forwarder<MemoryPort>, now: u64) -> usize {
    let taken = forwarder.take_in(None, |stamp| stamp);
    send_due(forwarder, &VirtualClock::new(now), now);
    forwarder.give_back(Need::Room);
    taken
}

/// Sends frames that are due at an instant; returns the number of outcomes.
fn let_out(forwarder: &mut Forwarder<MemoryPort>, now: u64) -> usize {
    forwarder.let_out(now);
    send_due(forwarder, &VirtualClock::new(now), now)
}

/// Runs until no packet is inside, and returns the instant of the last departure.
fn let_all_out(forwarder: &mut Forwarder<MemoryPort>) -> u64 {
    let mut now = NOW_NS;
    while let Some(due) = forwarder.next_due_ns() {
        now = due;
        let_out(forwarder, due);
    }
    now
}

/// Delivers one frame and runs until no packet is inside; returns the instant of the last departure.
fn run(forwarder: &mut Forwarder<MemoryPort>, now: u64, payload: usize) -> u64 {
    let (vnet, frame) = super_packet(payload);
    forwarder.ports[0].arrive(now, vnet, frame);
    take_in(forwarder, now);
    let_all_out(forwarder)
}

fn drops(forwarder: &Forwarder<MemoryPort>) -> Vec<DropRow> {
    forwarder.records.incidents.drops.rows.iter().copied().collect()
}

#[test]
fn an_unlimited_link_hands_a_super_packet_over_whole() {
    let mut forwarder = forwarder("{}", 20_000, "null");
    run(&mut forwarder, NOW_NS, 30_000);
    let sent = &forwarder.ports[1].sent;
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1, super_packet(30_000).1);
    assert_eq!(forwarder.passed.out, 21);
    assert_eq!(forwarder.ledger.report().early, 0);
}

#[test]
fn a_frame_to_the_switch_goes_to_the_node_with_its_ip_address() {
    let mut forwarder = forwarder("{}", 20_000, "null");
    let (vnet, mut frame) = super_packet(3_000);
    frame[..6].copy_from_slice(&SWITCH_MAC);
    forwarder.ports[0].arrive(NOW_NS, vnet, frame.clone());
    // No node has the address of the network itself, and a frame that is not IPv4 must have its receiver's Ethernet
    // address.
    let mut nobody = frame.clone();
    nobody[32..34].copy_from_slice(&[0, 0]);
    forwarder.ports[0].arrive(NOW_NS, vnet, nobody);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    forwarder.ports[0].arrive(NOW_NS, vnet, frame);
    take_in(&mut forwarder, NOW_NS);
    let_out(&mut forwarder, NOW_NS + 1_000_000);
    let sent = &forwarder.ports[1].sent;
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1, super_packet(3_000).1, "as if it had been sent to the node itself");
    assert_eq!((forwarder.passed.out, drops(&forwarder).len()), (3, 4));
    assert_eq!(drops(&forwarder)[0].cause, LossCause::Emulator("no-route"));
}

#[test]
fn without_a_merge_window_every_wire_packet_leaves_separately() {
    let mut forwarder = forwarder("{}", 0, "1000000000");
    run(&mut forwarder, NOW_NS, 14_600);
    assert_eq!(forwarder.ports[1].sent.len(), 10);
    assert_eq!(forwarder.ledger.report().early, 0);
}

#[test]
fn wire_packets_that_are_late_leave_together() {
    // Ten packets of 12 us each, processed when all of them are due.
    let mut forwarder = forwarder("{}", 20_000, "1000000000");
    let (vnet, frame) = super_packet(14_600);
    forwarder.ports[0].arrive(NOW_NS, vnet, frame);
    take_in(&mut forwarder, NOW_NS);
    let_out(&mut forwarder, NOW_NS + 1_000_000);
    assert_eq!(forwarder.ports[1].sent.len(), 1);
    assert_eq!(forwarder.passed.out, 10);
    assert!(forwarder.ledger.report().error_ns.max >= Some(850_000), "each packet has its own lateness");
}

#[test]
fn a_policer_cuts_the_end_off_a_super_packet() {
    let mut forwarder = forwarder(
        r#"{"switch.ingress": [{"police": {"rate_bps": 8000, "burst_bytes": 4500}}]}"#,
        20_000,
        "null",
    );
    run(&mut forwarder, NOW_NS, 14_600);
    let payload: usize = forwarder.ports[1].sent.iter().map(|(_, frame)| frame.len() - 54).sum();
    assert_eq!(payload, 3 * 1460, "4500 bytes of tokens pass three packets of 1500");
    assert_eq!(drops(&forwarder).len(), 7);
    assert_eq!(forwarder.passed.out, 3);
    assert_eq!(forwarder.passed.held_back, 0);
    assert_eq!(drops(&forwarder)[0].tcp.unwrap().0, 1 + 3 * 1460);
}

#[test]
fn a_duplicate_is_handed_over_after_its_packet_and_counted() {
    let mut forwarder =
        forwarder(r#"{"link": [{"duplicate": {"share_ppb": 1000000000, "on": ["h0"]}}]}"#, 20_000, "null");
    run(&mut forwarder, NOW_NS, 2 * 1460);
    // Each of two segments is duplicated on its way up, and not on its way down, where `on` names another host.
    let sent: Vec<u8> = forwarder.ports[1].sent.iter().flat_map(|(_, frame)| frame[54..].to_vec()).collect();
    let (_, original) = super_packet(2 * 1460);
    let (first, second) = original[54..].split_at(1460);
    assert_eq!(sent, [first, first, second, second].concat());
    assert_eq!((forwarder.passed.entered, forwarder.passed.out, forwarder.passed.held_back), (2, 4, 0));
    assert_eq!(forwarder.network.engine_ref().totals().real.duplicated, 2);
}

#[test]
fn reordered_segments_arrive_once_each() {
    let delay = r#"{"link": [{"delay": {"time_ns": 100000, "random": {"law": {"uniform": {"jitter_ns": 90000}},
        "depth": null, "order": "free", "half_life_ns": null}}}]}"#;
    let mut forwarder = forwarder(delay, 20_000, "null");
    run(&mut forwarder, NOW_NS, 10 * 1460);
    // Sequence number and payload of every frame handed over: together they are the original, out of order.
    let frames = &forwarder.ports[1].sent;
    let mut sent: Vec<(u32, &[u8])> = frames
        .iter()
        .map(|(_, frame)| (u32::from_be_bytes(frame[38..42].try_into().unwrap()), &frame[54..]))
        .collect();
    assert!(!sent.is_sorted(), "something overtakes");
    sent.sort_unstable();
    let payload: Vec<u8> = sent.iter().flat_map(|(_, payload)| payload.to_vec()).collect();
    assert_eq!(payload, super_packet(10 * 1460).1[54..]);
    assert_eq!((forwarder.passed.out, forwarder.passed.held_back), (10, 0));
}

#[test]
fn a_corrupt_packet_is_handed_over_alone_with_one_bit_flipped_and_no_offload() {
    let mut forwarder =
        forwarder(r#"{"switch.ingress": [{"corrupt": {"share_ppb": 1000000000}}]}"#, 20_000, "null");
    run(&mut forwarder, NOW_NS, 3 * 1460);
    let (_, original) = super_packet(3 * 1460);
    let sent = &forwarder.ports[1].sent;
    assert_eq!(sent.len(), 3);
    for (index, (vnet, frame)) in sent.iter().enumerate() {
        assert_eq!(*vnet, VnetHeader::default());
        let payload = &original[54 + index * 1460..][..1460];
        let flipped: u32 = frame[54..].iter().zip(payload).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert!(flipped <= 1, "the bit may lie in the TCP header");
    }
}

#[test]
fn frames_are_copied_out_when_a_port_needs_slots_and_arrive_unchanged() {
    let mut forwarder = forwarder(r#"{"link": [{"delay": {"time_ns": 300000}}]}"#, 0, "null");
    for _ in 0..20 {
        let (vnet, frame) = super_packet(700);
        forwarder.ports[0].arrive(NOW_NS, vnet, frame);
    }
    while take_in(&mut forwarder, NOW_NS) > 0 {}
    assert!(forwarder.ports[0].pressed(Need::Room).is_none());
    assert!(forwarder.ports[0].pressed(Need::Rest).is_some());
    forwarder.give_back(Need::Rest);
    assert!(forwarder.ports[0].pressed(Need::Rest).is_none());
    let_all_out(&mut forwarder);
    assert_eq!(forwarder.ports[1].sent.len(), 20);
    assert!(forwarder.ports[1].sent.iter().all(|(_, frame)| *frame == super_packet(700).1));
}

#[test]
fn a_sleeping_thread_is_woken_for_departures() {
    let mut forwarder = forwarder(r#"{"link": [{"delay": {"time_ns": 300000}}]}"#, 0, "null");
    assert_eq!(forwarder.next_departure_ns(), None);
    let (vnet, frame) = super_packet(700);
    forwarder.ports[0].arrive(NOW_NS, vnet, frame);
    take_in(&mut forwarder, NOW_NS);
    let departure = forwarder.next_departure_ns().unwrap();
    assert!(departure > forwarder.next_due_ns().unwrap() + 300_000, "it enters the second cable before");
    assert_eq!(let_out(&mut forwarder, departure - 1), 0);
    assert_eq!(let_out(&mut forwarder, departure), 1);
}

#[test]
fn monitors_read_the_headers_of_packets_and_of_trains() {
    let monitor = r#"{"monitor": {"what": ["flow-size", "retransmissions", "rtt"], "window_ns": 1000000, "burst_gap_ns": 100,
        "match": {"from": "a"}, "start": {"after_ns": 0}}}"#;
    for rate_bps in ["null", "10000000000"] {
        let mut forwarder = forwarder(&format!(r#"{{"link": [{monitor}]}}"#), 20_000, rate_bps);
        let left = run(&mut forwarder, NOW_NS, 14_600);
        // The same bytes again, at least a millisecond later.
        run(&mut forwarder, left + 1_000_000, 14_600);
        let names = Names::of(&forwarder.network, &Arc::default());
        let looks = monitor_report::look(&forwarder.network, &mut forwarder.sightings);
        let read: Vec<_> = looks.into_iter().map(|look| Monitored::new(look, &names)).collect();
        let up = read.iter().find(|monitor| monitor.element == "h0/link.up/0:monitor").unwrap();
        let of = |what| up.histograms.iter().find(|histogram| histogram.what == what).unwrap();
        // Twice ten packets of 1500 B.
        assert_eq!((of("flow-packets").max, of("flow-bytes").max), (Some(20), Some(30_000)));
        assert!(of("retransmission-delay").min.unwrap() >= 1_000_000);
        assert!(up.counts["retransmissions"]["seen-before"] >= 1);
    }
}

#[test]
fn a_frame_without_a_receiver_is_a_drop_with_a_reason() {
    let mut forwarder = forwarder("{}", 0, "null");
    let (vnet, mut frame) = super_packet(10);
    frame[5] = 9;
    forwarder.ports[0].arrive(0, vnet, frame);
    take_in(&mut forwarder, NOW_NS);
    assert_eq!(drops(&forwarder)[0].cause, LossCause::Emulator("no-route"));
    assert_eq!(forwarder.next_due_ns(), None);
}

#[test]
fn a_node_that_takes_nothing_delays_no_other_node_and_loses_its_frames_after_a_timeout() {
    let mut forwarder = forwarder("{}", 0, "null");
    let (vnet, frame) = super_packet(700);
    let mut back = frame.clone();
    // From b to a.
    (back[5], back[11], back[29], back[33]) = (1, 2, 2, 1);
    forwarder.ports[1].room = 1;
    for _ in 0..3 {
        forwarder.ports[0].arrive(NOW_NS, vnet, frame.clone());
    }
    forwarder.ports[1].arrive(NOW_NS, vnet, back);
    take_in(&mut forwarder, NOW_NS);
    let left = let_all_out(&mut forwarder);
    let sent = |forwarder: &Forwarder<MemoryPort>| [0, 1].map(|port| forwarder.ports[port].sent.len());
    assert_eq!(sent(&forwarder), [1, 1], "a gets its frame, although b has room for only one of three");
    assert!(forwarder.waits_for_a_receiver());
    assert_eq!((forwarder.passed.held_back, forwarder.passed.lost), (2, 0));
    // It has room for one more, later: that frame counts with its actual lateness.
    forwarder.ports[1].room = 1;
    let_out(&mut forwarder, left + 1_000_000);
    assert_eq!(sent(&forwarder), [1, 2]);
    assert!(forwarder.ledger.report().error_ns.max >= Some(1_000_000));
    let_out(&mut forwarder, left + SEND_PATIENCE_NS - 1_000);
    assert!(forwarder.waits_for_a_receiver());
    let_out(&mut forwarder, left + SEND_PATIENCE_NS + 1_000);
    assert!(!forwarder.waits_for_a_receiver());
    assert_eq!((forwarder.passed.held_back, forwarder.passed.out, forwarder.passed.lost), (0, 3, 1));
    assert_eq!(drops(&forwarder)[0].cause, LossCause::Emulator("send-failed"));
}
