//! The answer of a network that rejects TCP: a segment with RST, in the name of the receiver. A segment inside VXLAN is
//! answered inside it.
//!
//! Source: RFC 9293, section 3.5.2 (reset generation): a segment with ACK is answered at the sequence number that it
//! acknowledges; any other one at 0, with an acknowledgement of everything in it. RFC 5961, section 3.2: only a reset at exactly the
//! next expected number ends a connection, which is the number that the sender has acknowledged last.

use crate::checksum;
use crate::headers::{Headers, TCP};
use crate::vxlan;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

pub(crate) const ETHERNET_BYTES: usize = 14;
const TCP_BYTES: usize = 20;
/// As Linux sends it.
pub(crate) const HOPS: u8 = 64;
pub(crate) const DONT_FRAGMENT: u8 = 0x40;

/// The frame that answers a TCP segment with a reset; `None` where the frame is none, or is a reset itself. `headers`
/// were read from `frame`.
pub fn reset(headers: &Headers, frame: &[u8]) -> Option<Vec<u8>> {
    let Some(inner) = vxlan::inside(headers, frame) else { return of_segment(headers, frame) };
    vxlan::back(headers, frame, &of_segment(&Headers::read(inner)?, inner)?)
}

fn of_segment(headers: &Headers, frame: &[u8]) -> Option<Vec<u8>> {
    let transport = headers.transport?;
    let tcp = transport.tcp.filter(|tcp| tcp.flags & RST == 0)?;
    let ip = frame.get(headers.network_at..)?;
    let is_v4 = ip.first()? >> 4 == 4;
    let (sequence, acknowledgement, flags) = if tcp.flags & ACK != 0 {
        (tcp.acknowledgement, 0, RST)
    } else {
        let marks = u32::from(tcp.flags & SYN != 0) + u32::from(tcp.flags & FIN != 0);
        (0, tcp.sequence.wrapping_add(headers.payload_bytes()).wrapping_add(marks), RST | ACK)
    };
    let mut answer = Vec::with_capacity(ETHERNET_BYTES + 40 + TCP_BYTES);
    answer.extend_from_slice(frame.get(6..12)?);
    answer.extend_from_slice(frame.get(..6)?);
    if is_v4 {
        answer.extend([
            0x08,
            0x00,
            0x45,
            0,
            0,
            20 + TCP_BYTES as u8,
            0,
            0,
            DONT_FRAGMENT,
            0,
            HOPS,
            TCP,
            0,
            0,
        ]);
        answer.extend_from_slice(ip.get(16..20)?);
        answer.extend_from_slice(ip.get(12..16)?);
        let check = checksum::ipv4_header(&answer[ETHERNET_BYTES..]);
        answer[ETHERNET_BYTES + 10..ETHERNET_BYTES + 12].copy_from_slice(&check.to_be_bytes());
    } else {
        answer.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, TCP_BYTES as u8, TCP, HOPS]);
        answer.extend_from_slice(ip.get(24..40)?);
        answer.extend_from_slice(ip.get(8..24)?);
    }
    let addresses_at = ETHERNET_BYTES + if is_v4 { 12 } else { 8 };
    let check = checksum::pseudo_header(&answer[addresses_at..], TCP, TCP_BYTES as u32);
    let tcp_at = answer.len();
    answer.extend(transport.destination_port.to_be_bytes());
    answer.extend(transport.source_port.to_be_bytes());
    answer.extend(sequence.to_be_bytes());
    answer.extend(acknowledgement.to_be_bytes());
    answer.extend([(TCP_BYTES as u8 / 4) << 4, flags, 0, 0]);
    answer.extend(check.to_be_bytes());
    answer.extend([0, 0]);
    let check = checksum::complete(&answer[tcp_at..]);
    answer[tcp_at + 16..tcp_at + 18].copy_from_slice(&check.to_be_bytes());
    Some(answer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A segment from 10.77.0.1:5432 to 10.77.0.2:40000 with 100 bytes of payload.
    fn segment(sequence: u32, acknowledgement: u32, flags: u8) -> Vec<u8> {
        let mut frame = vec![2, 0x77, 0, 0, 0, 0, 2, 0x77, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 140];
        frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2, 0x15, 0x38, 0x9c, 0x40]);
        frame.extend(sequence.to_be_bytes());
        frame.extend(acknowledgement.to_be_bytes());
        frame.extend([0x50, flags, 1, 0, 0, 0, 0, 0]);
        frame.resize(154, 0);
        frame
    }

    fn answer(frame: &[u8]) -> Option<Vec<u8>> {
        reset(&Headers::read(frame).unwrap(), frame)
    }

    #[test]
    fn a_segment_is_answered_as_its_receiver_would() {
        for (sequence, acknowledgement, flags, expected) in [
            // It acknowledges up to 7, so the next expected number is 7.
            (1, 7, ACK, (7, 0, RST)),
            // SYN and FIN have a number each, and 100 bytes have one each.
            (u32::MAX, 0, SYN, (0, 100, RST | ACK)),
            (1, 0, FIN, (0, 102, RST | ACK)),
        ] {
            let bytes = answer(&segment(sequence, acknowledgement, flags)).unwrap();
            let read = Headers::read(&bytes).unwrap();
            assert_eq!(
                (read.destination, &bytes[6..12]),
                ([2, 0x77, 0, 0, 0, 1], &[2, 0x77, 0, 0, 0, 0][..])
            );
            let (from, to) = read.addresses.unwrap();
            assert_eq!((from.to_string(), to.to_string()), ("10.77.0.2".into(), "10.77.0.1".into()));
            let transport = read.transport.unwrap();
            assert_eq!((transport.source_port, transport.destination_port), (40_000, 5432));
            let tcp = transport.tcp.unwrap();
            assert_eq!((tcp.sequence, tcp.acknowledgement, tcp.flags), expected);
            // A right checksum makes a sum of all ones.
            assert_eq!(checksum::ipv4_header(&bytes[14..34]), 0);
            let pseudo = checksum::pseudo_header(&bytes[26..34], TCP, 20);
            let whole = [&pseudo.to_be_bytes()[..], &bytes[34..]].concat();
            assert_eq!(checksum::ipv4_header(&whole), 0);
        }
        assert_eq!(answer(&segment(1, 7, RST | ACK)), None, "a reset has no answer");
        let mut udp = segment(1, 7, ACK);
        udp[23] = 17;
        assert_eq!(answer(&udp), None);
    }

    /// A frame in network 77 of an overlay, from 10.77.0.1 to 10.77.0.2.
    fn overlaid(inner: &[u8]) -> Vec<u8> {
        let length = |headers: usize| ((headers + 8 + inner.len()) as u16).to_be_bytes();
        let mut frame = vec![2, 0x77, 0, 0, 0, 0, 2, 0x77, 0, 0, 0, 1, 8, 0, 0x45, 0];
        frame.extend(length(28));
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2, 0xc0, 0x01, 0x12, 0xb5]);
        frame.extend(length(8));
        frame.extend([0, 0, 8, 0, 0, 0, 0, 0, 77, 0]);
        frame.extend_from_slice(inner);
        frame
    }

    #[test]
    fn a_segment_in_an_overlay_is_answered_inside_it() {
        let inner = segment(1, 7, ACK);
        let bytes = answer(&overlaid(&inner)).unwrap();
        let read = Headers::read(&bytes).unwrap();
        assert_eq!((read.destination, &bytes[6..12]), ([2, 0x77, 0, 0, 0, 1], &[2, 0x77, 0, 0, 0, 0][..]));
        let (from, to) = read.addresses.unwrap();
        assert_eq!((from.to_string(), to.to_string()), ("10.77.0.2".into(), "10.77.0.1".into()));
        assert_eq!(checksum::ipv4_header(&bytes[14..34]), 0);
        let transport = read.transport.unwrap();
        assert_eq!(transport.destination_port, 4789);
        assert_eq!(read.ip_bytes as usize, bytes.len() - 14);
        assert_eq!(bytes[42..50], [8, 0, 0, 0, 0, 0, 77, 0], "the network has the same number");
        assert_eq!(bytes[50..], answer(&inner).unwrap());
        // A reset inside, another port, and a frame that ends in its headers have no answer.
        assert_eq!(answer(&overlaid(&segment(1, 7, RST))), None);
        let mut other = overlaid(&inner);
        other[37] ^= 1;
        assert_eq!(answer(&other), None);
        assert_eq!(answer(&overlaid(&inner[..40])), None);
    }

    proptest! {
        #[test]
        fn no_bytes_can_end_it(frame: Vec<u8>) {
            if let Some(headers) = Headers::read(&frame) {
                let _ = reset(&headers, &frame);
            }
        }

        #[test]
        fn no_damage_to_a_segment_can_end_it(at in 0usize..154, byte: u8, length in 0usize..=154) {
            for mut frame in [segment(1, 7, ACK), overlaid(&segment(1, 7, ACK))] {
                frame[at] = byte;
                if let Some(headers) = Headers::read(&frame[..length]) {
                    let _ = reset(&headers, &frame[..length]);
                }
            }
        }
    }
}
