//! One or several consecutive wire packets of a train, as they pass a monitor together.

use crosswind_wire::{Flow, Headers, Tcp, Train};

const TCP_FIN: u8 = 0x01;
const TCP_SYN: u8 = 0x02;
const TCP_RST: u8 = 0x04;
const TCP_ACK: u8 = 0x10;

/// What passes.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// When.
    pub at_ns: u64,
    /// Whose.
    pub flow: Flow,
    /// Wire packets.
    pub packets: u32,
    /// IP bytes of all of them.
    pub ip_bytes: u32,
    /// Grows with the order in which packets were sent; equal for none of a flow.
    pub order: u64,
    /// Sequence number of the first payload byte, payload bytes, and the header; for TCP.
    pub tcp: Option<(u32, u32, Tcp)>,
}

impl Segment {
    /// Wire packets `first..=last` of the `number`-th train that was sent; `None` for what is not IP.
    pub fn of(train: &Train, (first, last): (u32, u32), at_ns: u64, number: u64) -> Option<Self> {
        let flow = Flow::of(&train.headers)?;
        let header_bytes = train.headers.ip_bytes - train.headers.payload_bytes().min(train.headers.ip_bytes);
        let packets = last - first + 1;
        let ip_bytes = (first..=last).map(|index| train.ip_bytes(index)).sum::<u32>();
        let tcp = train.headers.transport.and_then(|transport| transport.tcp).map(|mut tcp| {
            if last + 1 < train.count() {
                tcp.flags &= !TCP_FIN;
            }
            let sequence = train.sequence(first).unwrap_or(tcp.sequence);
            (sequence, ip_bytes.saturating_sub(packets * header_bytes), tcp)
        });
        // A train has at most 65 535 packets.
        let order = number << 16 | u64::from(first);
        Some(Self { at_ns, flow, packets, ip_bytes, order, tcp })
    }

    /// A packet of a capture, the `number`-th; `None` for what is not IP.
    pub fn captured(headers: &Headers, at_ns: u64, number: u64) -> Option<Self> {
        let flow = Flow::of(headers)?;
        let tcp = headers.transport.and_then(|transport| transport.tcp);
        let tcp = tcp.map(|tcp| (tcp.sequence, headers.payload_bytes(), tcp));
        Some(Self { at_ns, flow, packets: 1, ip_bytes: headers.ip_bytes, order: number, tcp })
    }

    /// Whether it opens a connection; with an acknowledgement it accepts one.
    pub(crate) fn is_syn(&self) -> bool {
        self.has(TCP_SYN)
    }

    pub(crate) fn acknowledges(&self) -> bool {
        self.has(TCP_ACK)
    }

    pub(crate) fn ends_flow(&self) -> bool {
        self.has(TCP_FIN) || self.has(TCP_RST)
    }

    /// Sequence numbers that it takes: payload, SYN and FIN.
    pub(crate) fn length(&self) -> u32 {
        let payload = self.tcp.map_or(0, |(_, payload, _)| payload);
        payload + u32::from(self.has(TCP_SYN)) + u32::from(self.has(TCP_FIN))
    }

    fn has(&self, flag: u8) -> bool {
        self.tcp.is_some_and(|(_, _, tcp)| tcp.flags & flag != 0)
    }
}
