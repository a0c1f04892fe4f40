//! Reads the headers of an Ethernet frame: as far as they can be read, and no further.
//!
//! Ethernet with up to two VLAN tags (IEEE 802.1Q, 802.1ad), IPv4 (RFC 791), IPv6 (RFC 8200, fixed header only:
//! extension headers leave the transport unread), TCP (RFC 9293), UDP (RFC 768). Later fragments have no transport.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(crate) const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPE_VLAN: u16 = 0x8100;
const ETHERTYPE_QINQ: u16 = 0x88a8;
/// IANA protocol number of TCP.
pub(crate) const TCP: u8 = 6;
/// IANA protocol number of UDP.
pub(crate) const UDP: u8 = 17;

/// The headers of a frame, as far as they could be read. Offsets count bytes from the start of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// Where the network header starts (after VLAN tags).
    pub network_at: usize,
    /// Bytes from the network header to the end of the packet (without padding, where the header has a length).
    pub ip_bytes: u32,
    /// Differentiated services code point, 0 for what is not IP.
    pub dscp: u8,
    /// The two bits of explicit congestion notification (RFC 3168), 0 for what is not IP.
    pub ecn: u8,
    /// Source and destination address; `None` for what is not IP.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// IP protocol number; 0 for what is not IP.
    pub protocol: u8,
    /// TCP or UDP, when it could be read.
    pub transport: Option<Transport>,
}

/// The transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Where the transport header starts.
    pub at: usize,
    /// Where the payload starts.
    pub payload_at: usize,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Present for TCP.
    pub tcp: Option<Tcp>,
}

/// The parts of a TCP header that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number of the first payload byte.
    pub sequence: u32,
    /// The eight flag bits, FIN lowest.
    pub flags: u8,
    /// The next sequence number that is expected, where the ACK flag is set.
    pub acknowledgement: u32,
    /// The advertised window, not shifted.
    pub window: u16,
    /// The window scale option of a SYN, in [0, 14] (RFC 7323, section 2.3: larger ones count as 14).
    pub window_shift: Option<u8>,
    /// TSval and TSecr of the timestamps option.
    pub timestamps: Option<(u32, u32)>,
}

const OPTION_END: u8 = 0;
const OPTION_NOTHING: u8 = 1;
const OPTION_WINDOW_SCALE: u8 = 3;
const OPTION_TIMESTAMPS: u8 = 8;

impl Tcp {
    /// `header`: the whole TCP header, options included, at least 20 bytes.
    fn read(header: &[u8]) -> Self {
        let long =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let mut tcp = Self {
            sequence: long(4),
            flags: header[13],
            acknowledgement: long(8),
            window: u16::from_be_bytes([header[14], header[15]]),
            window_shift: None,
            timestamps: None,
        };
        let mut options = &header[20..];
        // Options that cannot be read end the reading; what came before them counts (RFC 9293, section 3.2).
        while let [kind, rest @ ..] = options {
            match *kind {
                OPTION_END => break,
                OPTION_NOTHING => options = rest,
                kind => {
                    let Some(&length) = rest.first() else { break };
                    let Some(value) = options.get(2..usize::from(length)) else { break };
                    match (kind, value) {
                        (OPTION_WINDOW_SCALE, &[shift]) => tcp.window_shift = Some(shift.min(14)),
                        (OPTION_TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                            let values = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                            tcp.timestamps = Some(values);
                        }
                        _ => {}
                    }
                    options = &options[usize::from(length)..];
                }
            }
        }
        tcp
    }
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?))
}

impl Headers {
    /// Reads a frame. `None` when it is shorter than an Ethernet header.
    #[inline]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let destination = frame.get(0..6)?.try_into().ok()?;
        Some(Self { destination, ..Self::behind(frame, 14, word(frame, 12)?, frame.len() as u32) })
    }

    /// Reads what stands behind a link's header that ends at `network_at` and names an Ethernet type; no destination is read.
    /// Where a capture has only the first bytes of the frame, `wire_bytes` is the length on the wire.
    #[inline]
    pub fn behind(frame: &[u8], mut network_at: usize, mut ethertype: u16, wire_bytes: u32) -> Self {
        for _ in 0..2 {
            if ethertype != ETHERTYPE_VLAN && ethertype != ETHERTYPE_QINQ {
                break;
            }
            let Some(inner) = word(frame, network_at + 2) else {
                break;
            };
            ethertype = inner;
            network_at += 4;
        }
        let rest = wire_bytes.saturating_sub(network_at as u32);
        let opaque = Self {
            destination: [0; 6],
            network_at,
            ip_bytes: rest,
            dscp: 0,
            ecn: 0,
            addresses: None,
            protocol: 0,
            transport: None,
        };
        let read = match ethertype {
            ETHERTYPE_IPV4 => opaque.ipv4(frame),
            ETHERTYPE_IPV6 => opaque.ipv6(frame),
            _ => None,
        };
        read.unwrap_or(opaque)
    }

    /// Where the payload of the network layer starts in the packet's own frame or in a cut of it.
    pub(crate) fn payload_of_ip_at(&self, frame: &[u8]) -> usize {
        let behind_ip = match self.addresses {
            Some((IpAddr::V4(_), _)) => {
                frame.get(self.network_at).map_or(0, |first| usize::from(first & 0x0f) * 4)
            }
            Some((IpAddr::V6(_), _)) => 40,
            None => 0,
        };
        self.network_at + behind_ip
    }

    fn ipv4(self, frame: &[u8]) -> Option<Self> {
        let ip = frame.get(self.network_at..)?;
        let header_len = usize::from(ip.first()? & 0x0f) * 4;
        if ip[0] >> 4 != 4 || header_len < 20 || ip.len() < header_len {
            return None;
        }
        // A super-packet over 64 KiB leaves the length at 0; padding of short frames is not part of the packet.
        let stated = u32::from(word(ip, 2)?);
        let ip_bytes = if stated >= header_len as u32 { stated.min(self.ip_bytes) } else { self.ip_bytes };
        let source: [u8; 4] = ip[12..16].try_into().ok()?;
        let destination: [u8; 4] = ip[16..20].try_into().ok()?;
        let first_fragment = word(ip, 6)? & 0x1fff == 0;
        let protocol = ip[9];
        let transport =
            if first_fragment { transport(frame, self.network_at + header_len, protocol) } else { None };
        Some(Self {
            ip_bytes,
            dscp: ip[1] >> 2,
            ecn: ip[1] & 0x03,
            addresses: Some((Ipv4Addr::from(source).into(), Ipv4Addr::from(destination).into())),
            protocol,
            transport,
            ..self
        })
    }

    fn ipv6(self, frame: &[u8]) -> Option<Self> {
        let ip = frame.get(self.network_at..)?;
        if ip.len() < 40 || ip[0] >> 4 != 6 {
            return None;
        }
        let payload = u32::from(word(ip, 4)?);
        let ip_bytes = if payload > 0 { (payload + 40).min(self.ip_bytes) } else { self.ip_bytes };
        let source: [u8; 16] = ip[8..24].try_into().ok()?;
        let destination: [u8; 16] = ip[24..40].try_into().ok()?;
        let protocol = ip[6];
        Some(Self {
            ip_bytes,
            dscp: (word(ip, 0)? >> 6) as u8 & 0x3f,
            ecn: (word(ip, 0)? >> 4) as u8 & 0x03,
            addresses: Some((Ipv6Addr::from(source).into(), Ipv6Addr::from(destination).into())),
            protocol,
            transport: transport(frame, self.network_at + 40, protocol),
            ..self
        })
    }

    /// Payload bytes behind the transport header; 0 when there is none.
    #[inline]
    pub fn payload_bytes(&self) -> u32 {
        self.transport.map_or(0, |transport| {
            (self.network_at as u32 + self.ip_bytes).saturating_sub(transport.payload_at as u32)
        })
    }
}

#[inline]
fn transport(frame: &[u8], at: usize, protocol: u8) -> Option<Transport> {
    let header = frame.get(at..)?;
    let (source_port, destination_port) = (word(header, 0)?, word(header, 2)?);
    match protocol {
        TCP => {
            let header_len = usize::from(header.get(12)? >> 4) * 4;
            if header_len < 20 || header.len() < header_len {
                return None;
            }
            let tcp = Some(Tcp::read(&header[..header_len]));
            Some(Transport { at, payload_at: at + header_len, source_port, destination_port, tcp })
        }
        UDP if header.len() >= 8 => {
            Some(Transport { at, payload_at: at + 8, source_port, destination_port, tcp: None })
        }
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A TCP/IPv4 frame between 10.77.0.1:5432 and 10.77.0.2:40000, sequence 1000, DSCP 10, flags PSH|ACK.
    pub(crate) fn tcp_frame(payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![2, 0x77, 0, 0, 0, 2, 2, 0x77, 0, 0, 0, 1, 8, 0];
        let total = (40 + payload.len()) as u16;
        frame.extend([0x45, 10 << 2]);
        frame.extend(total.to_be_bytes());
        frame.extend([0, 7, 0x40, 0, 64, TCP, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
        let check = crate::checksum::ipv4_header(&frame[14..34]);
        frame[24..26].copy_from_slice(&check.to_be_bytes());
        frame.extend(5432u16.to_be_bytes());
        frame.extend(40000u16.to_be_bytes());
        frame.extend(1000u32.to_be_bytes());
        frame.extend(0u32.to_be_bytes());
        frame.extend([0x50, 0x18, 1, 0, 0, 0, 0, 0]);
        frame.extend(payload);
        frame
    }

    #[test]
    fn a_tcp_packet_is_understood() {
        let headers = Headers::read(&tcp_frame(b"hello")).unwrap();
        assert_eq!(headers.ip_bytes, 45);
        assert_eq!(headers.dscp, 10);
        assert_eq!(headers.payload_bytes(), 5);
        let transport = headers.transport.unwrap();
        assert_eq!((transport.source_port, transport.destination_port), (5432, 40000));
        let tcp = transport.tcp.unwrap();
        assert_eq!((tcp.sequence, tcp.flags, tcp.window, tcp.timestamps), (1000, 0x18, 256, None));
    }

    #[test]
    fn the_traffic_class_of_either_version_is_code_point_and_congestion_bits() {
        let mut v4 = tcp_frame(b"");
        v4[15] = 46 << 2 | 0b10;
        let headers = Headers::read(&v4).unwrap();
        assert_eq!((headers.dscp, headers.ecn), (46, 0b10));
        // Version 6, traffic class 0b1011_1011 (DSCP 46, CE), flow label 0xabcde.
        let mut v6 = v4[..12].to_vec();
        v6.extend([0x86, 0xdd, 0x6b, 0xba, 0xbc, 0xde, 0, 0, 59, 64]);
        v6.extend([0; 32]);
        let headers = Headers::read(&v6).unwrap();
        assert_eq!((headers.dscp, headers.ecn), (46, 0b11));
    }

    #[test]
    fn timestamps_and_window_scale_are_found_among_other_options() {
        // A SYN of Linux: MSS, SACK permitted, timestamps, nothing, window scale 7.
        let mut header = [0; 40];
        header[20..24].copy_from_slice(&[2, 4, 5, 0xb4]);
        header[24..26].copy_from_slice(&[4, 2]);
        header[26..36].copy_from_slice(&[8, 10, 0, 0, 1, 0, 0, 0, 0, 9]);
        header[36..40].copy_from_slice(&[1, 3, 3, 7]);
        let tcp = Tcp::read(&header);
        assert_eq!((tcp.timestamps, tcp.window_shift), (Some((256, 9)), Some(7)));
        // An option of length 0 would never end.
        header[24..26].copy_from_slice(&[4, 0]);
        assert_eq!(Tcp::read(&header).timestamps, None);
    }

    #[test]
    fn padding_of_a_short_frame_is_not_part_of_the_packet() {
        let mut frame = tcp_frame(b"");
        frame.resize(60, 0);
        let headers = Headers::read(&frame).unwrap();
        assert_eq!((headers.ip_bytes, headers.payload_bytes()), (40, 0));
    }

    #[test]
    fn a_vlan_tag_is_stepped_over() {
        let plain = tcp_frame(b"x");
        let mut tagged = plain[..12].to_vec();
        tagged.extend([0x81, 0, 0, 5]);
        tagged.extend(&plain[12..]);
        let headers = Headers::read(&tagged).unwrap();
        assert_eq!((headers.network_at, headers.ip_bytes), (18, 41));
    }

    #[test]
    fn a_later_fragment_has_no_transport() {
        let mut frame = tcp_frame(b"x");
        frame[21] = 8;
        assert_eq!(Headers::read(&frame).unwrap().transport, None);
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(headers) = Headers::read(&bytes) {
                prop_assert!(headers.network_at as u32 + headers.ip_bytes <= bytes.len().max(headers.network_at) as u32);
                headers.payload_bytes();
            }
        }

        #[test]
        fn a_damaged_packet_never_panics(at in 0usize..60, value in any::<u8>(), keep in 0usize..80) {
            let mut frame = tcp_frame(b"some payload of a packet");
            let at = at % frame.len();
            frame[at] = value;
            frame.truncate(keep);
            if let Some(headers) = Headers::read(&frame) {
                headers.payload_bytes();
            }
        }
    }
}
