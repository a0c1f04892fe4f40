//! Tests that every frame that a node can send crosses the fabric: IPv6, VLAN tags, fragments, frames that are not IP,
//! multicast; and that congestion marks arrive at the other end.
//!
//! Uses the emulator's forwarder, with ports in memory and instants chosen by the test.

use crosswind_emulator::clock::VirtualClock;
use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::port::MemoryPort;
use crosswind_emulator::send_due;
use crosswind_engine::Instant;
use crosswind_fabric::{star, Fabric, Network};
use crosswind_wire::{Headers, VnetHeader};

const START_NS: u64 = 1_000_000;

/// Three nodes on three hosts, and an uplink of 1 Gbit/s.
fn forwarder(places: &str) -> Forwarder<MemoryPort> {
    let links = star(&["h0", "h1", "h2"], Some(1_000_000_000), 1000, Some(1_000_000));
    let links = serde_json::to_string(&links).expect("links are JSON");
    let fabric: Fabric = serde_json::from_str(&format!(
        r#"{{"seed": 7, "hosts": ["h0", "h1", "h2"],
            "nodes": [{{"name": "a", "host": "h0"}}, {{"name": "b", "host": "h1"}}, {{"name": "c", "host": "h2"}}],
            "switches": ["switch"], "links": {links}, "mtu_bytes": 1500,
            "tcp": {{"congestion_control": "cubic", "rto_min_us": 200000}}, "merge_window_ns": 1000000,
            "condition": {{"name": "test", "places": {places}}}}}"#
    ))
    .expect("a fabric of this version");
    let network = Network::new(&fabric, Instant::ZERO).expect("a valid fabric");
    Forwarder::new(network, (0..3).map(|_| MemoryPort::default()).collect())
}

/// Sends frames from node a at one instant and returns what b and c received.
fn cross(forwarder: &mut Forwarder<MemoryPort>, frames: &[(VnetHeader, Vec<u8>)]) -> [Vec<Vec<u8>>; 2] {
    for (vnet, frame) in frames {
        forwarder.ports[0].arrive(START_NS, *vnet, frame.clone());
    }
    while forwarder.take_in(None, |stamp| stamp) > 0 {
        send_due(forwarder, &VirtualClock::new(START_NS), START_NS);
    }
    while let Some(due) = forwarder.next_due_ns() {
        forwarder.let_out(due);
        send_due(forwarder, &VirtualClock::new(due), due);
    }
    assert_eq!((forwarder.passed.lost, forwarder.passed.held_back), (0, 0));
    [1, 2].map(|port| forwarder.ports[port].sent.iter().map(|(_, frame)| frame.clone()).collect())
}

/// An Ethernet frame from node a to node b.
fn ethernet(ethertype: &[u8], payload: &[u8]) -> Vec<u8> {
    [&[2, 0x77, 0, 0, 0, 2, 2, 0x77, 0, 0, 0, 1], ethertype, payload].concat()
}

/// An IPv4 packet of UDP with the given flags and fragment offset, traffic class 0xb9 (EF, ECT(1)).
fn ipv4(fragment: u16, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0xb9];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 7]);
    packet.extend(fragment.to_be_bytes());
    packet.extend([64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    let sum: u32 = packet.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let check = !((sum & 0xffff) + (sum >> 16)) as u16;
    packet[10..12].copy_from_slice(&check.to_be_bytes());
    packet.extend(payload);
    packet
}

/// An IPv6 packet, traffic class 0x02 (ECT(0)), flow label 0xabcde.
fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0x2a, 0xbc, 0xde];
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next_header, 64]);
    packet.extend([0xfd; 16]);
    packet.extend([0xfe; 16]);
    packet.extend(payload);
    packet
}

fn whole(frame: Vec<u8>) -> (VnetHeader, Vec<u8>) {
    (VnetHeader::default(), frame)
}

/// UDP from port 5000 to 5001, without a checksum.
const UDP: [u8; 12] = [0x13, 0x88, 0x13, 0x89, 0, 12, 0, 0, 1, 2, 3, 4];

#[test]
fn frames_of_every_kind_arrive_unchanged_and_in_order() {
    let vlan = [&[0x81, 0, 0, 5], &[8, 0][..]].concat();
    let two_tags = [&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 5], &[0x86, 0xdd][..]].concat();
    let frames = [
        ethernet(&[8, 0], &ipv4(0, &UDP)),
        // More fragments; the last fragment; neither has a whole transport header.
        ethernet(&[8, 0], &ipv4(0x2000, &UDP[..8])),
        ethernet(&[8, 0], &ipv4(0x0001, &UDP[8..])),
        ethernet(&[0x86, 0xdd], &ipv6(17, &UDP)),
        // A hop-by-hop header before UDP, and a fragment header.
        ethernet(&[0x86, 0xdd], &ipv6(0, &[&[17, 0, 1, 4, 0, 0, 0, 0], &UDP[..]].concat())),
        ethernet(&[0x86, 0xdd], &ipv6(44, &[&[17, 0, 0, 1, 0, 0, 0, 9], &UDP[..]].concat())),
        ethernet(&vlan, &ipv4(0, &UDP)),
        ethernet(&two_tags, &ipv6(17, &UDP)),
        // ARP, an unknown type, and an empty frame.
        ethernet(&[8, 6], &[0, 1, 8, 0, 6, 4, 0, 1]),
        ethernet(&[0x88, 0xb5], &[9; 300]),
        ethernet(&[0x88, 0xb5], &[]),
        // Invalid IPv4: a header longer than the packet, and version 9.
        ethernet(&[8, 0], &[0x4f, 0, 0, 20]),
        ethernet(&[8, 0], &[0x95; 40]),
    ];
    let sent: Vec<_> = frames.iter().cloned().map(whole).collect();
    let [to_b, to_c] = cross(&mut forwarder("{}"), &sent);
    assert_eq!(to_b, frames);
    assert!(to_c.is_empty());
}

#[test]
fn multicast_and_broadcast_reach_all_other_nodes() {
    let frames = [[0xff; 6], [1, 0, 0x5e, 0, 0, 1], [0x33, 0x33, 0, 0, 0, 1]].map(|destination| {
        let mut frame = ethernet(&[0x86, 0xdd], &ipv6(17, &UDP));
        frame[..6].copy_from_slice(&destination);
        frame
    });
    let sent: Vec<_> = frames.iter().cloned().map(whole).collect();
    let mut forwarder = forwarder("{}");
    let [to_b, to_c] = cross(&mut forwarder, &sent);
    assert_eq!(to_b, frames);
    assert_eq!(to_c, frames);
    assert!(forwarder.ports[0].sent.is_empty(), "the sender gets none of it back");
}

#[test]
fn a_mark_changes_ip_of_either_version_and_nothing_else() {
    let sent = [
        ethernet(&[8, 0], &ipv4(0, &UDP)),
        ethernet(&[8, 0], &ipv4(0x0001, &UDP)),
        ethernet(&[0x81, 0, 0, 5, 0x86, 0xdd], &ipv6(17, &UDP)),
        ethernet(&[8, 6], &[0, 1, 8, 0, 6, 4, 0, 1]),
    ]
    .map(whole);
    let [to_b, _] = cross(&mut forwarder(r#"{"switch.ingress": [{"mark": {"dscp": 10}}]}"#), &sent);
    let read = |frame: &Vec<u8>| {
        let headers = Headers::read(frame).expect("an Ethernet frame");
        (headers.dscp, headers.ecn)
    };
    assert_eq!(to_b.iter().map(read).collect::<Vec<_>>(), [(10, 1), (10, 1), (10, 2), (0, 0)]);
    assert_eq!(to_b[3], sent[3].1);
    // The checksum of IPv4 headers: all words of a valid header add up to 0xffff.
    for frame in &to_b[..2] {
        let words = frame[14..34].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
        let sum: u32 = words.sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
    }
}

/// A super-packet of ten segments with the given ECN bits, TCP flags CWR and PSH and ACK.
fn super_packet(ecn: u8) -> (VnetHeader, Vec<u8>) {
    let payload = 14_600;
    let mut packet = vec![0x45, ecn];
    packet.extend((40 + payload as u16).to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    packet.extend([0x15, 0x38, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x98, 1, 0, 0, 0, 0, 0]);
    packet.resize(packet.len() + payload, 7);
    let vnet = VnetHeader {
        flags: VnetHeader::NEEDS_CSUM,
        gso_type: VnetHeader::GSO_TCPV4,
        header_len: 54,
        gso_size: 1460,
        csum_start: 34,
        csum_offset: 16,
    };
    (vnet, ethernet(&[8, 0], &packet))
}

#[test]
fn segments_with_different_marks_are_not_merged_and_stay_in_order() {
    // RED without memory: from three waiting packets on an increasing share is marked, and none is dropped.
    let places = r#"{"host.egress": [{"queue": {"buffer_bytes": 100000, "ecn": true, "drop": {"red":
        {"min_bytes": 4614, "max_bytes": 50000, "probability_ppb": 1000000000, "weight_ppb": 1000000000}}}}]}"#;
    let mut forwarder = forwarder(places);
    let [to_b, _] = cross(&mut forwarder, &[super_packet(0b10)]);
    let parts: Vec<_> = to_b
        .iter()
        .map(|frame| {
            let headers = Headers::read(frame).expect("an Ethernet frame");
            let tcp = headers.transport.and_then(|transport| transport.tcp).expect("TCP");
            (headers.ecn, tcp.sequence, headers.payload_bytes() / 1460, tcp.flags)
        })
        .collect();
    let segments: u32 = parts.iter().map(|part| part.2).sum();
    assert_eq!(segments, 10, "every segment arrives");
    let mut next = 1;
    for &(_, sequence, count, _) in &parts {
        assert_eq!(sequence, next);
        next += count * 1460;
    }
    assert_eq!(parts[0].0, 0b10, "the first segments find the queue short");
    assert!(parts.iter().any(|part| part.0 == 0b11), "later ones do not: {parts:?}");
    assert!(
        parts.windows(2).all(|pair| pair[0].0 != pair[1].0),
        "neighbours differ in their marks: {parts:?}"
    );
    // CWR belongs to the first segment and PSH to the last; a mark changes neither, and only the receiver sets ECE.
    let flags: Vec<u8> = parts.iter().map(|part| part.3).collect();
    let last = flags.len() - 1;
    for (index, flags) in flags.iter().enumerate() {
        let expected = 0x10 | if index == 0 { 0x80 } else { 0 } | if index == last { 0x08 } else { 0 };
        assert_eq!(*flags, expected);
    }
}

#[test]
fn a_queue_with_ecn_drops_packets_that_cannot_be_marked() {
    let places = r#"{"host.egress": [{"queue": {"buffer_bytes": 100000, "ecn": true, "drop": {"red":
        {"min_bytes": 4614, "max_bytes": 4615, "probability_ppb": 1000000000, "weight_ppb": 1000000000}}}}]}"#;
    for (ecn, expected) in [(0b00, 5), (0b01, 8), (0b10, 8)] {
        // One is in transmission, and four more find 0 to 3 packets waiting. Those that find 4 to 6 (twice max, 9230
        // B, is just above six) are marked or dropped; those that find 7 are dropped.
        let [to_b, _] = cross(&mut forwarder(places), &[super_packet(ecn)]);
        let segments: usize = to_b.iter().map(|frame| (frame.len() - 54) / 1460).sum();
        assert_eq!(segments, expected, "ECN {ecn:02b}");
    }
}
