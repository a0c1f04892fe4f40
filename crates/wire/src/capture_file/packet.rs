//! A captured packet, and where its headers begin behind the kinds of links that captures have.
//!
//! Source: tcpdump.org/linktypes.html.

use crate::headers::{Headers, ETHERTYPE_IPV4, ETHERTYPE_IPV6, TCP};

/// Bytes of a TCP header without options, and with as many as there can be.
const TCP_FIXED: usize = 20;
const TCP_LONGEST: usize = 60;

/// What stands before the network header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// 14 bytes, type last.
    Ethernet,
    /// So many bytes, and the IP version says the type.
    Raw(usize),
    /// `-i any`: 16 bytes, type last.
    Cooked1,
    /// `-i any`: 20 bytes, type first.
    Cooked2,
}

impl Link {
    pub(super) fn of(number: u16) -> Option<Self> {
        Some(match number {
            1 => Self::Ethernet,
            12 | 14 | 101 | 228 | 229 => Self::Raw(0),
            0 | 108 => Self::Raw(4),
            113 => Self::Cooked1,
            276 => Self::Cooked2,
            _ => return None,
        })
    }
}

/// A packet of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Place in [`super::CaptureFile::interfaces`].
    pub interface: usize,
    /// Nanoseconds since 1970, UTC.
    pub at_ns: u64,
    /// What stands before the network header.
    pub link: Link,
    /// What was kept of it.
    pub bytes: Vec<u8>,
    /// What it had.
    pub wire_bytes: u32,
    /// Its first comment; empty where it has none.
    pub comment: String,
}

impl Packet {
    /// Reads its headers; `None` where not even the link's was kept.
    pub fn headers(&self) -> Option<Headers> {
        let word = |at: usize| Some(u16::from_be_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?));
        let (network_at, ethertype) = match self.link {
            Link::Ethernet => (14, word(12)?),
            Link::Raw(at) => match self.bytes.get(at)? >> 4 {
                6 => (at, ETHERTYPE_IPV6),
                _ => (at, ETHERTYPE_IPV4),
            },
            Link::Cooked1 => (16, word(14)?),
            Link::Cooked2 => (20, word(0)?),
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
