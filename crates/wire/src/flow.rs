//! A flow: one direction of a conversation, by its 5-tuple.

use core::net::SocketAddr;

use crate::headers::{Headers, TCP, UDP};

/// One direction of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Where it comes from; port 0 without a transport header.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// IP protocol number.
    pub protocol: u8,
}

impl Flow {
    /// The flow of a frame, where it is IP.
    #[inline]
    pub fn of(headers: &Headers) -> Option<Self> {
        let (source, destination) = headers.addresses?;
        let (from, to) =
            headers.transport.map_or((0, 0), |transport| (transport.source_port, transport.destination_port));
        Some(Self {
            source: SocketAddr::new(source, from),
            destination: SocketAddr::new(destination, to),
            protocol: headers.protocol,
        })
    }

    /// The other direction.
    pub fn reversed(&self) -> Self {
        Self { source: self.destination, destination: self.source, protocol: self.protocol }
    }

    /// `tcp`, `udp` or the number of the protocol.
    pub fn protocol_word(&self) -> String {
        match self.protocol {
            TCP => "tcp".to_owned(),
            UDP => "udp".to_owned(),
            other => other.to_string(),
        }
    }
}
