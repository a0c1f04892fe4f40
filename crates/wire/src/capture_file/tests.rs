//! Captures of every kind, whole, cut off and damaged.

use super::*;
use crate::pcapng;

/// A capture of `frames` as pcap: in microseconds or nanoseconds, in either byte order.
fn pcap(magic: u32, big_endian: bool, link: u32, frames: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let long = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut bytes = Vec::new();
    for word in [magic, 0x0002_0004, 0, 0, 65535, link] {
        bytes.extend(long(word));
    }
    for (seconds, ticks, frame) in frames {
        for word in [*seconds, *ticks, frame.len() as u32, 1500] {
            bytes.extend(long(word));
        }
        bytes.extend_from_slice(frame);
    }
    bytes
}

fn all(bytes: &[u8]) -> (Vec<Packet>, Option<CaptureError>) {
    let mut file = CaptureFile::open(bytes).expect("a capture");
    let mut packets = Vec::new();
    loop {
        match file.read() {
            Ok(Some(packet)) => packets.push(packet),
            Ok(None) => return (packets, None),
            Err(error) => return (packets, Some(error)),
        }
    }
}

#[test]
fn pcap_is_read_in_both_resolutions_and_byte_orders() {
    for big_endian in [false, true] {
        for (magic, at_ns) in [(PCAP_MICROSECONDS, 7_000_009_000), (PCAP_NANOSECONDS, 7_000_000_009)] {
            let (packets, error) = all(&pcap(magic, big_endian, 101, &[(7, 9, b"abc")]));
            assert!(error.is_none());
            assert_eq!((packets[0].at_ns, packets[0].wire_bytes), (at_ns, 1500));
            assert_eq!((packets[0].bytes.as_slice(), packets[0].link), (b"abc".as_slice(), Link::Raw(0)));
        }
    }
}

const ETHERNET: Link = Link::Typed { bytes: 14, type_at: 12 };
const COOKED_2: Link = Link::Typed { bytes: 20, type_at: 0 };

/// A pcapng with interfaces of these link types, and a packet on each of `packets`.
fn interfaces(links: &[u16], packets: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    pcapng::section(&mut bytes, "another");
    for link in links {
        let words = [INTERFACE_DESCRIPTION, 20, u32::from(*link), 0, 20];
        bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
    }
    for interface in packets {
        let words = [ENHANCED_PACKET, 36, *interface, 0, 512, 3, 60, 0x0063_6261, 36];
        bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
    }
    bytes
}

fn own() -> Vec<u8> {
    let mut bytes = Vec::new();
    pcapng::section(&mut bytes, "crosswind 0");
    pcapng::interface(&mut bytes, "a sends", 100);
    pcapng::interface(&mut bytes, "a loses", 100);
    for (interface, at_ns, comment) in [(0, 1_700_000_000_123_456_789, ""), (1, 5, "policed")] {
        let frame: [&[u8]; 2] = [b"frame", b"!"];
        let direction = pcapng::Direction::Inbound;
        pcapng::packet(
            &mut bytes,
            &pcapng::Captured { interface, at_ns, frame, snap_bytes: 100, direction, comment },
        );
    }
    pcapng::statistics(&mut bytes, 0, 9, 1, 0);
    bytes
}

#[test]
fn what_crosswind_writes_comes_back() {
    let bytes = own();
    let mut file = CaptureFile::open(bytes.as_slice()).expect("a capture");
    let first = file.read().unwrap().unwrap();
    assert_eq!((first.at_ns, first.bytes.as_slice()), (1_700_000_000_123_456_789, b"frame!".as_slice()));
    let second = file.read().unwrap().unwrap();
    assert_eq!((second.interface, second.comment.as_str()), (1, "policed"));
    assert!(file.read().unwrap().is_none());
    assert_eq!(file.interfaces()[1].name, "a loses");
    assert_eq!(file.interfaces()[1].application, "crosswind 0");
}

#[test]
fn a_second_section_has_interfaces_of_its_own_and_another_byte_order() {
    let mut bytes = own();
    let long = |value: u32| value.to_be_bytes();
    // Section header; interface: cooked 2, stamps in 2^-10 s from 1000 s on; a packet at tick 512.
    for word in [SECTION_HEADER, 28, BYTE_ORDER_MAGIC, 0x0001_0000, u32::MAX, u32::MAX, 28] {
        bytes.extend(long(word));
    }
    for word in [INTERFACE_DESCRIPTION, 44, 276 << 16, 0] {
        bytes.extend(long(word));
    }
    bytes.extend([0, 9, 0, 1, 0x8a, 0, 0, 0, 0, 14, 0, 8, 0, 0, 0, 0, 0, 0, 0x03, 0xe8, 0, 0, 0, 0]);
    bytes.extend(long(44));
    for word in [ENHANCED_PACKET, 36, 0, 0, 512, 3, 60, 0x61626300, 36] {
        bytes.extend(long(word));
    }
    let (packets, error) = all(&bytes);
    assert!(error.is_none(), "{error:?}");
    let last = packets.last().unwrap();
    assert_eq!((last.interface, last.at_ns, last.link), (2, 1_000_500_000_000, COOKED_2));
    assert_eq!(last.bytes, b"abc");
}

#[test]
fn headers_are_found_behind_every_link_and_in_frames_that_were_cut() {
    let mut ethernet = crate::headers::tests::tcp_frame(b"hello");
    // 12 bytes of options, so that a cut can leave the fixed header alone.
    ethernet[17] += 12;
    ethernet[46] = 0x80;
    ethernet.splice(54..54, [1, 1, 8, 10, 0, 0, 1, 0, 0, 0, 0, 9]);
    let ip = &ethernet[14..];
    let behind = |head: &[u8]| [head, ip].concat();
    let tagged = |tags: &[u8]| [&ethernet[..12], tags, &ethernet[12..]].concat();
    let cooked1 = [&[0; 14], [8, 0].as_slice()].concat();
    let cooked2 = [[8, 0].as_slice(), &[0; 18]].concat();
    for (number, bytes) in [
        (1, ethernet.clone()),
        (1, tagged(&[0x81, 0, 0, 5])),
        (1, tagged(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6])),
        (12, behind(&[])),
        (14, behind(&[])),
        (101, behind(&[])),
        (228, behind(&[])),
        (0, behind(&[2, 0, 0, 0])),
        (0, behind(&[0, 0, 0, 2])),
        (108, behind(&[0, 0, 0, 2])),
        (113, behind(&cooked1)),
        (276, behind(&cooked2)),
        (8, behind(&[0; 16])),
        (9, behind(&[0xff, 3, 0, 0x21])),
        (9, behind(&[0, 0x21])),
        (50, behind(&[0xff, 3, 0, 0x21])),
        (51, behind(&[0x11, 0, 0, 1, 0, 42, 0, 0x21])),
        (104, behind(&[0x0f, 0, 8, 0])),
        (109, behind(&[0; 12])),
        (138, behind(&[&[0; 16], [8, 0].as_slice()].concat())),
        (242, behind(&[&[0; 40], [8, 0, 0, 0].as_slice()].concat())),
    ] {
        let (name, link) = link_type(number).unwrap();
        let link = link.unwrap_or_else(|| panic!("{name} is read"));
        let wire_bytes = bytes.len() as u32;
        let packet = |bytes: Vec<u8>| Packet {
            interface: 0,
            at_ns: 0,
            link,
            bytes,
            wire_bytes,
            comment: String::new(),
        };
        let whole = packet(bytes.clone()).headers().unwrap();
        let tcp = whole.transport.unwrap().tcp.unwrap();
        assert_eq!((whole.payload_bytes(), tcp.sequence, tcp.timestamps), (5, 1000, Some((256, 9))));
        // Without the payload and half of the options, and without all of them; then the header itself is cut.
        for cut in [11, 17] {
            let headers = packet(bytes[..bytes.len() - cut].to_vec()).headers().unwrap();
            let tcp = headers.transport.unwrap().tcp.unwrap();
            assert_eq!((headers.payload_bytes(), tcp.sequence, tcp.timestamps), (5, 1000, None));
        }
        assert_eq!(packet(bytes[..bytes.len() - 18].to_vec()).headers().unwrap().transport, None);
    }
}

#[test]
fn wherever_a_capture_is_cut_off_what_came_before_stands() {
    for bytes in [own(), pcap(PCAP_NANOSECONDS, false, 1, &[(1, 2, b"abc"), (3, 4, b"defg")])] {
        let whole = all(&bytes).0;
        for end in 4..bytes.len() {
            let Ok(mut file) = CaptureFile::open(&bytes[..end]) else { continue };
            let mut read = Vec::new();
            let error = loop {
                match file.read() {
                    Ok(Some(packet)) => read.push(packet),
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            assert_eq!(read, whole[..read.len()]);
            if let Some(error) = error {
                let said = error.to_string();
                assert!(said.contains(&format!("behind packet {}", read.len())), "{said}");
            }
        }
    }
}

#[test]
fn what_is_no_capture_is_refused_with_what_would_be() {
    for bytes in [b"".as_slice(), b"ms\n1\n2\n"] {
        let refused = CaptureFile::open(bytes).unwrap_err();
        assert!(refused.to_string().starts_with("is neither pcap nor pcapng"));
    }
}

#[test]
fn a_link_that_is_not_read_is_refused_by_number_and_name() {
    for (number, words) in [(127, "127 (IEEE802_11_RADIOTAP)"), (65_000, "65000 (of no known name)")] {
        let refused = CaptureFile::open(pcap(PCAP_NANOSECONDS, false, number, &[]).as_slice()).unwrap_err();
        assert!(refused.to_string().starts_with(&format!("has packets of link type {words}, which is not")));
        let (packets, error) = all(&interfaces(&[number as u16], &[0]));
        assert_eq!((packets, error.unwrap().to_string()), (Vec::new(), refused.to_string()));
    }
}

#[test]
fn packets_of_a_link_that_is_not_read_are_left_out_and_counted() {
    let bytes = interfaces(&[187, 101], &[0, 1, 0]);
    let mut file = CaptureFile::open(bytes.as_slice()).expect("a capture");
    let packet = file.read().unwrap().unwrap();
    assert_eq!((packet.interface, packet.link), (1, Link::Raw(0)));
    assert!(file.read().unwrap().is_none());
    assert_eq!(file.link_not_read, 2);
    // An interface that is described and has no packet does no harm.
    assert!(all(&interfaces(&[187, 101], &[1])).1.is_none());
    assert!(all(&interfaces(&[187], &[])).1.is_none());
}

#[test]
fn a_checksum_behind_frames_does_not_change_their_link() {
    // Four bytes of it (the upper four bits, in half words), which the next bit marks as present.
    let bytes = pcap(PCAP_MICROSECONDS, true, 0x2400_0001, &[(7, 9, b"abc")]);
    assert_eq!(all(&bytes).0[0].link, ETHERNET);
}

#[test]
fn link_types_stand_in_the_order_of_their_numbers() {
    assert!(link::LINK_TYPES.windows(2).all(|pair| pair[0].0 < pair[1].0));
}
