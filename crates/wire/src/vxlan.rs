//! VXLAN: a frame inside a UDP datagram between two ends of an overlay.
//!
//! Source: RFC 7348, section 5.

use crate::checksum;
use crate::headers::{Headers, UDP};
use crate::reset::{DONT_FRAGMENT, ETHERNET_BYTES, HOPS};

/// Assigned by IANA.
const PORT: u16 = 4789;
const HEADER_BYTES: usize = 8;
const UDP_BYTES: usize = 8;
/// In the first byte of the header: the network has a number.
const HAS_NUMBER: u8 = 0x08;

/// The frame inside a frame; `None` where that is no VXLAN over IPv4. `headers` were read from `frame`.
pub(crate) fn inside<'a>(headers: &Headers, frame: &'a [u8]) -> Option<&'a [u8]> {
    let at = headers.transport.filter(|it| it.tcp.is_none() && it.destination_port == PORT)?.payload_at;
    let is_v4 = frame.get(headers.network_at)? >> 4 == 4;
    let has_number = frame.get(at)? & HAS_NUMBER != 0;
    (is_v4 && has_number).then(|| frame.get(at + HEADER_BYTES..)).flatten()
}

/// A frame in the same overlay as `frame`, in the other direction, with `inner` inside.
pub(crate) fn back(headers: &Headers, frame: &[u8], inner: &[u8]) -> Option<Vec<u8>> {
    let transport = headers.transport?;
    let ip = frame.get(headers.network_at..)?;
    let datagram_bytes = UDP_BYTES + HEADER_BYTES + inner.len();
    let mut answer = Vec::with_capacity(ETHERNET_BYTES + 20 + datagram_bytes);
    answer.extend_from_slice(frame.get(6..12)?);
    answer.extend_from_slice(frame.get(..6)?);
    answer.extend([0x08, 0x00, 0x45, 0]);
    answer.extend(u16::try_from(20 + datagram_bytes).ok()?.to_be_bytes());
    answer.extend([0, 0, DONT_FRAGMENT, 0, HOPS, UDP, 0, 0]);
    answer.extend_from_slice(ip.get(16..20)?);
    answer.extend_from_slice(ip.get(12..16)?);
    let check = checksum::ipv4_header(&answer[ETHERNET_BYTES..]);
    answer[ETHERNET_BYTES + 10..ETHERNET_BYTES + 12].copy_from_slice(&check.to_be_bytes());
    answer.extend(transport.source_port.to_be_bytes());
    answer.extend(PORT.to_be_bytes());
    answer.extend((datagram_bytes as u16).to_be_bytes());
    // No checksum, as RFC 7348 advises.
    answer.extend([0, 0]);
    answer.extend_from_slice(frame.get(transport.payload_at..transport.payload_at + HEADER_BYTES)?);
    answer.extend_from_slice(inner);
    Some(answer)
}
