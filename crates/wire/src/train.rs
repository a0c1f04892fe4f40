//! A frame as a train of wire packets: how many there are, how long each is, and how to send a part of the train on.
//!
//! A super-packet (generic segmentation offload) crosses the machine as one frame but stands for many wire packets. Every
//! decision is made per wire packet; afterwards the survivors that leave together are cut out of the frame again
//! as one smaller super-packet. A cut has its own headers: lengths, IPv4 identification, sequence number, flags and
//! checksums are as if the sender's device had made those packets (RFC 791, RFC 9293; FIN and PSH belong to the last
//! segment of a super-packet, CWR to the first).

use crate::checksum;
use crate::headers::{Headers, TCP, UDP};
use crate::vnet::VnetHeader;

const TCP_FIN_PSH: u8 = 0x09;
const TCP_CWR: u8 = 0x80;

/// The wire packets that one frame stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// Headers of the whole frame.
    pub headers: Headers,
    vnet: VnetHeader,
    /// Headers that each segment repeats, bytes from the start of the frame.
    header_len: usize,
    /// Payload of each segment but the last; 0 for a single packet.
    segment: usize,
    payload: usize,
    count: u32,
}

/// A part of a train, ready to be sent: the three pieces in order.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    /// Goes first.
    pub vnet: [u8; VnetHeader::LEN],
    /// The changed headers, empty when the frame goes out as it came.
    pub headers: &'a [u8],
    /// The rest of the frame.
    pub rest: &'a [u8],
}

/// Headers up to here are rewritten in place; longer ones (not seen in TCP or UDP over IP) travel unsegmented.
const HEADERS_MAX: usize = 192;

/// RFC 791: the total length has 16 bits.
const IP_BYTES_MAX: u32 = 65_535;
/// More wire packets than any device makes of one super-packet; a frame that claims more travels unsegmented.
const COUNT_MAX: usize = 65_535;

/// Where a cut's headers are assembled.
pub type Scratch = [u8; HEADERS_MAX];

impl Train {
    /// Reads a frame and its virtio-net header. `None` when it is no Ethernet frame.
    #[inline]
    pub fn read(vnet: VnetHeader, frame: &[u8]) -> Option<Self> {
        let headers = Headers::read(frame)?;
        let whole = Self { headers, vnet, header_len: frame.len(), segment: 0, payload: 0, count: 1 };
        let Some(transport) = headers.transport else {
            return Some(whole);
        };
        let kind = vnet.gso_type & !VnetHeader::GSO_ECN;
        let fits = match kind {
            VnetHeader::GSO_TCPV4 | VnetHeader::GSO_TCPV6 => headers.protocol == TCP,
            VnetHeader::GSO_UDP_L4 => headers.protocol == UDP,
            _ => false,
        };
        let payload = frame.len().saturating_sub(transport.payload_at);
        let segment = usize::from(vnet.gso_size);
        let count = payload.div_ceil(segment.max(1));
        if !fits || segment == 0 || !(2..=COUNT_MAX).contains(&count) || transport.payload_at > HEADERS_MAX {
            return Some(whole);
        }
        Some(Self { header_len: transport.payload_at, segment, payload, count: count as u32, ..whole })
    }

    /// An empty scratch area for [`Train::cut`].
    pub fn scratch() -> Scratch {
        [0; HEADERS_MAX]
    }

    /// The header from which the train was read.
    pub fn vnet(&self) -> VnetHeader {
        self.vnet
    }

    /// Wire packets in the train, at least 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// IP bytes of wire packet `index`, in 1..=65 535: a frame without payload still takes its time on a wire, and one that is
    /// longer than an IP packet can say counts as the longest.
    #[inline]
    pub fn ip_bytes(&self, index: u32) -> u32 {
        let bytes = if self.segment == 0 {
            self.headers.ip_bytes
        } else {
            let from = index as usize * self.segment;
            (self.header_len - self.headers.network_at + self.segment.min(self.payload - from)) as u32
        };
        bytes.clamp(1, IP_BYTES_MAX)
    }

    /// TCP sequence number of wire packet `index`, where it is TCP.
    pub fn sequence(&self, index: u32) -> Option<u32> {
        let tcp = self.headers.transport?.tcp?;
        Some(tcp.sequence.wrapping_add(index.wrapping_mul(self.segment as u32)))
    }

    /// Wire packets `first..=last` with the given DSCP and ECN bits, as the device of the receiver should be given them.
    ///
    /// `frame` is the frame the train was read from.
    pub fn cut<'a>(
        &self,
        frame: &'a [u8],
        first: u32,
        last: u32,
        dscp: u8,
        ecn: u8,
        scratch: &'a mut Scratch,
    ) -> Cut<'a> {
        let whole = first == 0 && last + 1 == self.count;
        if whole && (dscp, ecn) == (self.headers.dscp, self.headers.ecn) {
            if frame[..6] == self.headers.destination {
                return Cut { vnet: self.vnet.bytes(), headers: &[], rest: frame };
            }
            scratch[..6].copy_from_slice(&self.headers.destination);
            return Cut { vnet: self.vnet.bytes(), headers: &scratch[..6], rest: &frame[6..] };
        }
        let kept = self.header_len.min(HEADERS_MAX).min(frame.len());
        scratch[..kept].copy_from_slice(&frame[..kept]);
        scratch[..6].copy_from_slice(&self.headers.destination);
        let header = &mut scratch[..kept];
        let mut vnet = self.vnet;
        let mut rest = &frame[kept..];
        if !whole {
            let from = first as usize * self.segment;
            let to = (last as usize + 1).saturating_mul(self.segment).min(self.payload);
            rest = &frame[self.header_len + from..self.header_len + to];
            self.renumber(header, first, last, to - from);
            // A node that forwards announces more bytes in one piece than the headers, and the kernel
            // refuses a frame that is shorter than the length given here.
            vnet.header_len = self.header_len as u16;
            if first == last {
                vnet.gso_type = VnetHeader::GSO_NONE;
                vnet.gso_size = 0;
            }
        }
        self.remark(header, dscp, ecn);
        Cut { vnet: vnet.bytes(), headers: header, rest }
    }

    /// Lengths, identification, sequence number, flags and partial checksum of a part with `payload` bytes.
    fn renumber(&self, header: &mut [u8], first: u32, last: u32, payload: usize) {
        let Some(transport) = self.headers.transport else {
            return;
        };
        let ip = self.headers.network_at;
        let transport_bytes = (self.header_len - transport.at + payload) as u32;
        let v4 = header[ip] >> 4 == 4;
        if v4 {
            let total = (self.header_len - ip + payload) as u16;
            header[ip + 2..ip + 4].copy_from_slice(&total.to_be_bytes());
            let id = u16::from_be_bytes([header[ip + 4], header[ip + 5]]).wrapping_add(first as u16);
            header[ip + 4..ip + 6].copy_from_slice(&id.to_be_bytes());
        } else {
            let length = (self.header_len - ip - 40 + payload) as u16;
            header[ip + 4..ip + 6].copy_from_slice(&length.to_be_bytes());
        }
        let check_at = if let Some(tcp) = transport.tcp {
            let sequence = tcp.sequence.wrapping_add(first.wrapping_mul(self.segment as u32));
            header[transport.at + 4..transport.at + 8].copy_from_slice(&sequence.to_be_bytes());
            if last + 1 < self.count {
                header[transport.at + 13] &= !TCP_FIN_PSH;
            }
            if first > 0 {
                header[transport.at + 13] &= !TCP_CWR;
            }
            transport.at + 16
        } else {
            header[transport.at + 4..transport.at + 6]
                .copy_from_slice(&(transport_bytes as u16).to_be_bytes());
            transport.at + 6
        };
        // Segmentation offload implies that the transport checksum is left to the device.
        let addresses = if v4 { ip + 12..ip + 20 } else { ip + 8..ip + 40 };
        let check = checksum::pseudo_header(&header[addresses], self.headers.protocol, transport_bytes);
        header[check_at..check_at + 2].copy_from_slice(&check.to_be_bytes());
        self.seal(header);
    }

    /// Code point and congestion bits: the second octet of an IPv4 header, the traffic class of an IPv6 header (RFC 2474,
    /// RFC 3168). A congestion mark is the IP header's alone: TCP's ECE and CWR are the ends' to set.
    fn remark(&self, header: &mut [u8], dscp: u8, ecn: u8) {
        let ip = self.headers.network_at;
        if (dscp, ecn) == (self.headers.dscp, self.headers.ecn) || self.headers.addresses.is_none() {
            return;
        }
        let class = dscp << 2 | ecn;
        if header[ip] >> 4 == 4 {
            header[ip + 1] = class;
            self.seal(header);
        } else {
            header[ip] = (header[ip] & 0xf0) | (class >> 4);
            header[ip + 1] = (header[ip + 1] & 0x0f) | (class << 4);
        }
    }

    /// The IPv4 header checksum, which no device completes.
    fn seal(&self, header: &mut [u8]) {
        let ip = self.headers.network_at;
        if header[ip] >> 4 != 4 {
            return;
        }
        let end = ip + usize::from(header[ip] & 0x0f) * 4;
        if end > header.len() {
            return;
        }
        header[ip + 10..ip + 12].fill(0);
        let check = checksum::ipv4_header(&header[ip..end]);
        header[ip + 10..ip + 12].copy_from_slice(&check.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::tests::tcp_frame;
    use proptest::prelude::*;

    fn super_packet(payload: usize, segment: u16) -> (VnetHeader, Vec<u8>) {
        let bytes: Vec<u8> = (0..payload).map(|i| i as u8).collect();
        let vnet = VnetHeader {
            flags: VnetHeader::NEEDS_CSUM,
            gso_type: VnetHeader::GSO_TCPV4,
            header_len: 54,
            gso_size: segment,
            csum_start: 34,
            csum_offset: 16,
        };
        (vnet, tcp_frame(&bytes))
    }

    #[test]
    fn a_super_packet_is_a_train_of_wire_packets() {
        let (vnet, frame) = super_packet(3000, 1460);
        let train = Train::read(vnet, &frame).unwrap();
        assert_eq!(train.count(), 3);
        assert_eq!((train.ip_bytes(0), train.ip_bytes(1), train.ip_bytes(2)), (1500, 1500, 120));
        assert_eq!((train.sequence(0), train.sequence(2)), (Some(1000), Some(3920)));
    }

    #[test]
    fn every_wire_packet_has_a_size_that_an_ip_packet_can_have() {
        // An Ethernet header and nothing else, and a frame longer than the total length can say.
        let empty = Train::read(VnetHeader::default(), &[0; 14]).unwrap();
        assert_eq!(empty.ip_bytes(0), 1);
        let endless = Train::read(VnetHeader::default(), &vec![0; 14 + 70_000]).unwrap();
        assert_eq!(endless.ip_bytes(0), 65_535);
    }

    #[test]
    fn a_part_never_claims_more_headers_than_it_has() {
        let (mut vnet, frame) = super_packet(3000, 1460);
        vnet.header_len = 2_048; // As a node says that forwards.
        let train = Train::read(vnet, &frame).unwrap();
        let mut scratch = Train::scratch();
        let cut = train.cut(&frame, 2, 2, 0, 0, &mut scratch);
        assert_eq!(VnetHeader::read(&cut.vnet).header_len, 54);
        assert_eq!(cut.headers.len(), 54);
    }

    #[test]
    fn an_untouched_train_goes_out_as_it_came() {
        let (vnet, frame) = super_packet(3000, 1460);
        let train = Train::read(vnet, &frame).unwrap();
        let mut scratch = Train::scratch();
        let cut = train.cut(&frame, 0, 2, 10, 0, &mut scratch);
        assert!(cut.headers.is_empty());
        assert_eq!(cut.rest, &frame[..]);
        assert_eq!(cut.vnet, vnet.bytes());
    }

    #[test]
    fn the_middle_of_a_train_is_a_packet_of_its_own() {
        let (vnet, frame) = super_packet(3000, 1460);
        let train = Train::read(vnet, &frame).unwrap();
        let mut scratch = Train::scratch();
        let cut = train.cut(&frame, 1, 1, 10, 0, &mut scratch);
        let out = [cut.headers, cut.rest].concat();
        let headers = Headers::read(&out).unwrap();
        assert_eq!(headers.ip_bytes, 1500);
        let tcp = headers.transport.unwrap().tcp.unwrap();
        assert_eq!((tcp.sequence, tcp.flags), (2460, 0x10), "PSH belongs to the last segment");
        assert_eq!(cut.rest, &frame[54 + 1460..54 + 2920]);
        assert_eq!(VnetHeader::read(&cut.vnet).gso_type, VnetHeader::GSO_NONE);
        assert_eq!(u16::from_be_bytes([out[18], out[19]]), 8, "identification counts on");
    }

    #[test]
    fn marks_change_code_point_and_congestion_bits_and_keep_the_checksum_right() {
        let (_, frame) = super_packet(10, 0);
        let train = Train::read(VnetHeader::default(), &frame).unwrap();
        let mut scratch = Train::scratch();
        let cut = train.cut(&frame, 0, 0, 46, 0b11, &mut scratch);
        let out = [cut.headers, cut.rest].concat();
        let headers = Headers::read(&out).unwrap();
        assert_eq!((headers.dscp, headers.ecn), (46, 0b11));
        assert_eq!(headers.transport, train.headers.transport, "TCP's own flags are the ends'");
        let mut header = out[14..34].to_vec();
        let stored = u16::from_be_bytes([header[10], header[11]]);
        header[10..12].fill(0);
        assert_eq!(checksum::ipv4_header(&header), stored);
        assert_eq!(out.len(), frame.len());
    }

    #[test]
    fn a_mark_on_ipv6_changes_nothing_but_the_traffic_class() {
        let mut frame = tcp_frame(b"")[..12].to_vec();
        frame.extend([0x86, 0xdd, 0x60, 0x2a, 0xbc, 0xde, 0, 0, 59, 64]);
        frame.extend([7; 32]);
        let train = Train::read(VnetHeader::default(), &frame).unwrap();
        let mut scratch = Train::scratch();
        let cut = train.cut(&frame, 0, 0, 0, 0b11, &mut scratch);
        let out = [cut.headers, cut.rest].concat();
        let mut expected = frame.clone();
        // Traffic class 0000_0010 (ECT(0)) becomes 0000_0011; the flow label stays 0xabcde.
        expected[15] = 0x3a;
        assert_eq!(out, expected);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_train_carry_its_payload_exactly_once(payload in 1usize..6000, segment in 1u16..1500, split in 0u32..50) {
            let (vnet, frame) = super_packet(payload, segment);
            let train = Train::read(vnet, &frame).unwrap();
            let split = split % train.count();
            let mut scratch = Train::scratch();
            let mut carried: Vec<u8> = Vec::new();
            let mut parts = vec![(0, split)];
            if split + 1 < train.count() { parts.push((split + 1, train.count() - 1)); }
            for (first, last) in parts {
                let cut = train.cut(&frame, first, last, 10, 0, &mut scratch);
                let out = [cut.headers, cut.rest].concat();
                let headers = Headers::read(&out).unwrap();
                prop_assert_eq!(headers.transport.unwrap().tcp.unwrap().sequence, train.sequence(first).unwrap());
                carried.extend(&out[54..]);
            }
            prop_assert_eq!(&carried[..], &frame[54..]);
            let lengths: u32 = (0..train.count()).map(|i| train.ip_bytes(i) - 40).sum();
            prop_assert_eq!(lengths as usize, payload);
        }

        #[test]
        fn hostile_frames_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), head in any::<[u8; 10]>(), dscp in 0u8..64, ecn in 0u8..4) {
            if let Some(train) = Train::read(VnetHeader::read(&head), &bytes) {
                let mut scratch = Train::scratch();
                for index in 0..train.count().min(40) {
                    train.ip_bytes(index);
                    train.cut(&bytes, index, index, dscp, ecn, &mut scratch);
                }
            }
        }
    }
}
