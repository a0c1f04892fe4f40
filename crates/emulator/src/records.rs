//! The packet record: every dropped real packet, every retransmission and every delayed acknowledgement, with its
//! flow.
//!
//! `crosswind_monitor` detects retransmissions; the record has the time since the bytes were first sent, so that a
//! timeout is visible. Records and flows are bounded; those that did not fit are counted.

use ahash::AHashMap;
use crosswind_engine::{DropReason, ElementId};
use crosswind_monitor::{Again, Sent};
use crosswind_wire::{Flow, Tcp, Train};

use crate::held::{Held, Holds, Passing};
use crate::log::Log;

/// Records stored per window; at 100 bytes each this is at most 20 MB.
const ROWS_MAX: usize = 200_000;
/// Flows followed at the same time.
const FLOWS_MAX: usize = 65_536;

const TCP_SYN: u8 = 0x02;
const TCP_FIN: u8 = 0x01;
const TCP_ACK: u8 = 0x10;

/// Why a packet did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// An element of the engine dropped it.
    Element(ElementId, DropReason),
    /// The emulator itself could not forward it, for this reason.
    Emulator(&'static str),
}

/// One dropped packet.
#[derive(Clone, Copy, Debug)]
pub struct DropRow {
    /// When.
    pub at_ns: u64,
    /// Where and why.
    pub cause: LossCause,
    /// Its addresses, with ports where they could be read.
    pub flow: Option<Flow>,
    /// IP bytes of the wire packet.
    pub ip_bytes: u32,
    /// Bytes after the transport header.
    pub payload_bytes: u32,
    /// TCP sequence number and flags.
    pub tcp: Option<(u32, u8)>,
}

/// One retransmitted wire packet, recorded when it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Retransmission {
    /// When it entered.
    pub at_ns: u64,
    /// Index of the sending node.
    pub node: usize,
    /// The connection, as the sender sees it.
    pub flow: Flow,
    /// First sequence number.
    pub tcp_seq: u32,
    /// Length.
    pub payload_bytes: u32,
    /// Time since the same bytes were first sent; `None` if that is no longer stored.
    pub since_first_ns: Option<u64>,
}

/// One acknowledgement that was delayed while its sender waited.
#[derive(Clone, Copy, Debug)]
pub struct HeldRow {
    /// When it entered, and how long it was delayed.
    pub held: Held,
    /// Index of the node that delayed it.
    pub node: usize,
    /// The connection, as that node sees it.
    pub flow: Flow,
}

/// Rows of one kind, at most [`ROWS_MAX`] per window.
#[derive(Clone, Debug)]
pub struct Bounded<T> {
    /// Rows that fitted.
    pub rows: Log<T>,
    /// Number of rows that did not fit.
    pub lost: u64,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { rows: Log::default(), lost: 0 }
    }
}

impl<T> Bounded<T> {
    /// Adds a row if it fits.
    pub fn push(&mut self, row: T) {
        if self.is_full() {
            self.lost += 1;
        } else {
            self.rows.push(row);
        }
    }

    fn is_full(&self) -> bool {
        self.rows.len() == ROWS_MAX
    }
}

/// Events of packets in a window.
#[derive(Clone, Debug, Default)]
pub struct Incidents {
    /// Dropped real packets.
    pub drops: Bounded<DropRow>,
    /// Retransmissions; flows that did not fit count as lost rows.
    pub retransmissions: Bounded<Retransmission>,
    /// Delayed acknowledgements.
    pub held: Bounded<HeldRow>,
}

/// The records of a window.
#[derive(Debug, Default)]
pub struct Records {
    /// Events of packets.
    pub incidents: Incidents,
    holds: Holds,
    flows: AHashMap<Flow, Sent>,
}

impl Records {
    /// Removes the rows; flows are still followed, so that a retransmission across the border of windows is
    /// recognised.
    pub fn start_window(&mut self) {
        self.incidents = Incidents::default();
    }

    /// Notes a dropped wire packet of a train.
    pub fn dropped(&mut self, at_ns: u64, cause: LossCause, train: &Train, index: u32) {
        if self.incidents.drops.is_full() {
            self.incidents.drops.lost += 1;
            return;
        }
        self.incidents.drops.push(DropRow {
            at_ns,
            cause,
            flow: Flow::of(&train.headers),
            ip_bytes: train.ip_bytes(index),
            payload_bytes: payload_bytes(train, index),
            tcp: train
                .sequence(index)
                .zip(train.headers.transport.and_then(|transport| transport.tcp).map(|tcp| tcp.flags)),
        });
    }

    /// Processes a frame from another domain, where it entered at `at_ns`: it may acknowledge data for which a node
    /// here waited.
    pub fn came(&mut self, at_ns: u64, train: &Train) {
        let Some(tcp) = train.headers.transport.and_then(|transport| transport.tcp) else { return };
        let (Some(flow), Some(acknowledged)) = (Flow::of(&train.headers), acknowledged(&tcp)) else { return };
        let has_data = train.headers.payload_bytes() > 0 || tcp.flags & (TCP_SYN | TCP_FIN) != 0;
        self.holds.acknowledged(flow, at_ns, acknowledged, has_data);
    }

    /// Processes a frame between two nodes as it enters: it may be a retransmission, or data that waited for an
    /// acknowledgement.
    #[inline]
    pub fn entered(&mut self, at_ns: u64, (node, to): (usize, usize), train: &Train) {
        let Some(tcp) = train.headers.transport.and_then(|transport| transport.tcp) else {
            return;
        };
        let length = train.headers.payload_bytes()
            + u32::from(tcp.flags & TCP_SYN != 0)
            + u32::from(tcp.flags & TCP_FIN != 0);
        let Some(flow) = Flow::of(&train.headers) else { return };
        let passing = Passing {
            at_ns,
            end: (length > 0).then(|| tcp.sequence.wrapping_add(length)),
            acknowledges: acknowledged(&tcp),
        };
        if let Some(held) = self.holds.entered(flow, passing, FLOWS_MAX) {
            self.incidents.held.push(HeldRow { held, node: to, flow: flow.reversed() });
        }
        if length == 0 {
            return;
        }
        if self.flows.len() >= FLOWS_MAX && !self.flows.contains_key(&flow) {
            self.incidents.retransmissions.lost += 1;
            return;
        }
        let sent = self.flows.entry(flow).or_insert_with(|| Sent::new(tcp.sequence));
        if !sent.is_behind(tcp.sequence) {
            sent.passes(tcp.sequence, length, tcp.flags, at_ns);
            return;
        }
        // Consecutive lost packets are retransmitted as one super-packet. Each wire packet counts, as for drops and as
        // in the kernel.
        for index in 0..train.count() {
            let tcp_seq = train.sequence(index).unwrap_or(tcp.sequence);
            let payload_bytes = payload_bytes(train, index);
            let length = if train.count() > 1 { payload_bytes } else { length };
            let since_first_ns = match sent.passes(tcp_seq, length, tcp.flags, at_ns) {
                Some(Again::Since(since_ns)) => Some(since_ns),
                Some(Again::Forgotten) => None,
                // Two CPUs of the sender feed the emulator, and one may overtake the other. No packet has been lost
                // before the emulator.
                Some(Again::Missed) | None => continue,
            };
            self.incidents.retransmissions.push(Retransmission {
                at_ns,
                node,
                flow,
                tcp_seq,
                payload_bytes,
                since_first_ns,
            });
        }
    }
}

fn acknowledged(tcp: &Tcp) -> Option<u32> {
    (tcp.flags & TCP_ACK != 0).then_some(tcp.acknowledgement)
}

/// Bytes after the transport header of a wire packet of a train.
fn payload_bytes(train: &Train, index: u32) -> u32 {
    let header_bytes = train.headers.ip_bytes - train.headers.payload_bytes().min(train.headers.ip_bytes);
    train.ip_bytes(index).saturating_sub(header_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_wire::VnetHeader;

    fn retransmissions(records: &Records) -> Vec<Retransmission> {
        records.incidents.retransmissions.rows.iter().copied().collect()
    }

    fn frame(sequence: u32, flags: u8, payload: usize) -> Train {
        Train::read(VnetHeader::default(), &frame_bytes(sequence, flags, payload)).unwrap()
    }

    fn frame_bytes(sequence: u32, flags: u8, payload: usize) -> Vec<u8> {
        let mut frame = vec![2, 0x77, 0, 0, 0, 2, 2, 0x77, 0, 0, 0, 1, 8, 0];
        frame.extend([0x45, 0]);
        frame.extend(((40 + payload) as u16).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
        frame.extend([0x15, 0x38, 0x9c, 0x40]);
        frame.extend(sequence.to_be_bytes());
        frame.extend([0, 0, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0]);
        frame.resize(54 + payload, 0);
        frame
    }

    #[test]
    fn retransmitted_bytes_have_the_time_since_they_were_first_sent() {
        let mut records = Records::default();
        records.entered(10, (0, 1), &frame(100, 0x18, 50));
        records.entered(20, (0, 1), &frame(150, 0x18, 50));
        records.entered(204_000_020, (0, 1), &frame(150, 0x18, 50));
        assert_eq!(retransmissions(&records).len(), 1);
        assert_eq!(retransmissions(&records)[0].since_first_ns, Some(204_000_000));
    }

    #[test]
    fn a_retransmitted_super_packet_counts_for_each_wire_packet() {
        let mut records = Records::default();
        records.entered(10, (0, 1), &frame(0, 0x18, 1000));
        records.entered(20, (0, 1), &frame(1000, 0x18, 1500));
        // 2500 bytes in packets of 1000: two were first sent at 10 and 20 ns, and the last one with the second.
        let again = frame_bytes(0, 0x18, 2500);
        let vnet = VnetHeader { gso_type: VnetHeader::GSO_TCPV4, gso_size: 1000, ..VnetHeader::default() };
        records.entered(1020, (0, 1), &Train::read(vnet, &again).unwrap());
        let rows: Vec<_> = retransmissions(&records)
            .iter()
            .map(|row| (row.tcp_seq, row.payload_bytes, row.since_first_ns))
            .collect();
        assert_eq!(rows, [(0, 1000, Some(1010)), (1000, 1000, Some(1000)), (2000, 500, Some(1000))]);
    }

    #[test]
    fn an_overtaken_super_packet_is_not_a_retransmission() {
        let vnet = VnetHeader { gso_type: VnetHeader::GSO_TCPV4, gso_size: 1000, ..VnetHeader::default() };
        let two = |sequence| Train::read(vnet, &frame_bytes(sequence, 0x18, 2000)).unwrap();
        let mut records = Records::default();
        records.entered(10, (0, 1), &two(0));
        records.entered(20, (0, 1), &two(4000));
        records.entered(30, (0, 1), &two(2000));
        assert!(retransmissions(&records).is_empty());
        records.entered(1030, (0, 1), &two(3000));
        let rows: Vec<_> =
            retransmissions(&records).iter().map(|row| (row.tcp_seq, row.since_first_ns)).collect();
        assert_eq!(rows, [(3000, Some(1000)), (4000, Some(1010))]);
    }

    #[test]
    fn acknowledgements_and_new_connections_are_not_retransmissions() {
        let mut records = Records::default();
        records.entered(10, (0, 1), &frame(100, 0x18, 50));
        records.entered(20, (0, 1), &frame(100, 0x10, 0));
        records.entered(30, (0, 1), &frame(5, TCP_SYN, 0));
        records.entered(40, (0, 1), &frame(6, 0x18, 10));
        assert!(retransmissions(&records).is_empty());
    }

    #[test]
    fn a_lost_syn_is_recognised_when_it_is_retransmitted() {
        let mut records = Records::default();
        records.entered(10, (0, 1), &frame(5, TCP_SYN, 0));
        records.entered(1_000_000_010, (0, 1), &frame(5, TCP_SYN, 0));
        assert_eq!(retransmissions(&records)[0].since_first_ns, Some(1_000_000_000));
    }

    #[test]
    fn sequence_numbers_wrap() {
        let mut records = Records::default();
        records.entered(10, (0, 1), &frame(u32::MAX - 9, 0x18, 20));
        records.entered(20, (0, 1), &frame(10, 0x18, 20));
        assert!(retransmissions(&records).is_empty());
    }
}
