//! A captured packet, and its headers behind whatever link it was captured on.

use super::link::Link;
use crate::headers::{Headers, ETHERTYPE_IPV4, ETHERTYPE_IPV6, TCP};

/// Bytes of a TCP header without options, and with as many as there can be.
const TCP_FIXED: usize = 20;
const TCP_LONGEST: usize = 60;
/// Address and control of PPP in frames like those of HDLC (RFC 1662).
const HDLC: u16 = 0xff03;
/// Protocol numbers of PPP (RFC 1332, RFC 5072).
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;

/// A packet of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Place in [`super::CaptureFile::interfaces`].
    pub interface: usize,
    /// Nanoseconds since 1970, UTC.
    pub at_ns: u64,
    /// What stands before the network header.
    pub link: Link,
    /// The bytes that were captured.
    pub bytes: Vec<u8>,
    /// What it had.
    pub wire_bytes: u32,
    /// Its first comment; empty where it has none.
    pub comment: String,
}

impl Packet {
    /// Reads its headers; `None` where not even the link's was captured.
    pub fn headers(&self) -> Option<Headers> {
        let word = |at: usize| Some(u16::from_be_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?));
        let (network_at, ethertype) = match self.link {
            Link::Typed { bytes, type_at } => (bytes, word(type_at)?),
            Link::Raw(at) => match self.bytes.get(at)? >> 4 {
                6 => (at, ETHERTYPE_IPV6),
                _ => (at, ETHERTYPE_IPV4),
            },
            Link::Ppp(at) => {
                let at = if word(at)? == HDLC { at + 2 } else { at };
                match word(at)? {
                    PPP_IPV4 => (at + 2, ETHERTYPE_IPV4),
                    PPP_IPV6 => (at + 2, ETHERTYPE_IPV6),
                    _ => (at + 2, 0),
                }
            }
        };
        let headers = Headers::behind(&self.bytes, network_at, ethertype, self.wire_bytes);
        let tcp_at = headers.payload_of_ip_at(&self.bytes);
        if headers.transport.is_some() || headers.protocol != TCP || self.bytes.len() < tcp_at + TCP_FIXED {
            return Some(headers);
        }
        // Of a frame that was cut to its first bytes TCP's options may be missing: none of them counts.
        let mut longer = self.bytes.clone();
        longer.resize(tcp_at + TCP_LONGEST, 0);
        let mut headers = Headers::behind(&longer, network_at, ethertype, self.wire_bytes);
        if let Some(tcp) = headers.transport.as_mut().and_then(|transport| transport.tcp.as_mut()) {
            (tcp.timestamps, tcp.window_shift) = (None, None);
        }
        Some(headers)
    }
}
