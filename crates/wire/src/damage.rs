//! A wire packet with one bit flipped, as a line would have done it: after the sender's device wrote the checksum.

use crate::checksum;
use crate::train::{Cut, Train};
use crate::vnet::VnetHeader;

impl Train {
    /// A cut of a single wire packet of this train with one bit flipped, assembled in `bytes`.
    ///
    /// The transport checksum is written out first, where it was left to the device, so that the receiver's kernel computes
    /// it anew and finds out. `bit_of` chooses the bit, given how many there are behind the IP header (behind the Ethernet
    /// header, for what is not IP); a packet without any stays as it is.
    pub fn damage<'a>(
        &self,
        cut: &Cut<'_>,
        bit_of: impl FnOnce(usize) -> usize,
        bytes: &'a mut Vec<u8>,
    ) -> Cut<'a> {
        bytes.clear();
        bytes.extend_from_slice(cut.headers);
        bytes.extend_from_slice(cut.rest);
        let vnet = VnetHeader::read(&cut.vnet);
        if vnet.flags & VnetHeader::NEEDS_CSUM != 0 {
            let start = usize::from(vnet.csum_start);
            let field = start + usize::from(vnet.csum_offset);
            if field + 2 <= bytes.len() {
                let check = checksum::complete(&bytes[start..]);
                bytes[field..field + 2].copy_from_slice(&check.to_be_bytes());
            }
        }
        // Padding behind the packet is not part of it.
        let end = (self.headers.network_at + self.headers.ip_bytes as usize).min(bytes.len());
        let first = self.headers.payload_of_ip_at(bytes).min(end);
        let bits = (end - first) * 8;
        if bits > 0 {
            let bit = bit_of(bits);
            bytes[first + bit / 8] ^= 0x80 >> (bit % 8);
        }
        Cut { vnet: VnetHeader::default().bytes(), headers: &[], rest: bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::tests::tcp_frame;

    fn damaged(vnet: VnetHeader, frame: &[u8], index: u32, bit: usize) -> (VnetHeader, Vec<u8>) {
        let train = Train::read(vnet, frame).unwrap();
        let mut scratch = Train::scratch();
        let mut bytes = Vec::new();
        let cut = train.cut(frame, index, index, train.headers.dscp, train.headers.ecn, &mut scratch);
        let cut = train.damage(&cut, |_| bit, &mut bytes);
        (VnetHeader::read(&cut.vnet), cut.rest.to_vec())
    }

    /// What a receiver sums up: 0xffff where nothing was damaged (RFC 1071).
    fn receiver_sums(frame: &[u8]) -> u16 {
        let tcp = &frame[34..];
        let pseudo = checksum::pseudo_header(&frame[26..34], 6, tcp.len() as u32);
        let mut summed = pseudo.to_be_bytes().to_vec();
        summed.extend_from_slice(tcp);
        !checksum::ipv4_header(&summed)
    }

    fn left_to_the_device(mut frame: Vec<u8>) -> (VnetHeader, Vec<u8>) {
        let check = checksum::pseudo_header(&frame[26..34], 6, (frame.len() - 34) as u32);
        frame[50..52].copy_from_slice(&check.to_be_bytes());
        let vnet = VnetHeader {
            flags: VnetHeader::NEEDS_CSUM,
            csum_start: 34,
            csum_offset: 16,
            ..VnetHeader::default()
        };
        (vnet, frame)
    }

    #[test]
    fn the_receivers_checksum_finds_the_flipped_bit_and_would_have_been_right_without_it() {
        let (vnet, frame) = left_to_the_device(tcp_frame(b"payload"));
        for bit in 0..27 * 8 {
            let (sent_with, mut sent) = damaged(vnet, &frame, 0, bit);
            assert_eq!(sent_with, VnetHeader::default(), "nothing is left to the receiver's device");
            assert_ne!(receiver_sums(&sent), 0xffff, "bit {bit}");
            sent[34 + bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(receiver_sums(&sent), 0xffff, "bit {bit}");
        }
    }

    #[test]
    fn a_segment_of_a_super_packet_is_damaged_alone() {
        let payload: Vec<u8> = (0..3000).map(|n| n as u8).collect();
        let vnet = VnetHeader {
            flags: VnetHeader::NEEDS_CSUM,
            gso_type: VnetHeader::GSO_TCPV4,
            header_len: 54,
            gso_size: 1460,
            csum_start: 34,
            csum_offset: 16,
        };
        let (_, sent) = damaged(vnet, &tcp_frame(&payload), 1, 20 * 8);
        assert_eq!(sent.len(), 54 + 1460);
        assert_eq!(sent[54], payload[1460] ^ 0x80, "the first bit behind the TCP header");
        assert_eq!(sent[55..], payload[1461..2920]);
        assert_ne!(receiver_sums(&sent), 0xffff);
    }

    #[test]
    fn a_packet_without_anything_behind_its_headers_stays_as_it_is() {
        let frame = [0; 14];
        assert_eq!(damaged(VnetHeader::default(), &frame, 0, 0).1, frame);
    }
}
