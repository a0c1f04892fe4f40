//! What one end sends to the other: a packet, or a train of packets that leave together (Linux: a super-packet, TSO).
//!
//! Sequence numbers count bytes from 0 in 64 bits, so they never wrap; SYN has none. Timestamps are milliseconds, as
//! Linux sends them.
//!
//! Source: RFC 9293, 3.1; RFC 2018 (selective acknowledgements); RFC 2883 (duplicates); RFC 7323 (timestamps, windows);
//! RFC 3168 (congestion notification).

/// A range of sequence numbers; not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Range {
    /// The first.
    pub from: u64,
    /// One more than the last.
    pub to: u64,
}

/// Selective acknowledgements of one packet, the latest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    ranges: [Range; Blocks::MOST],
    count: u8,
}

impl Blocks {
    /// As many as fit beside timestamps.
    pub const MOST: usize = 3;

    /// Adds a block, if there is room.
    pub fn push(&mut self, range: Range) {
        if let Some(free) = self.ranges.get_mut(usize::from(self.count)) {
            *free = range;
            self.count += 1;
        }
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[Range] {
        &self.ranges[..usize::from(self.count)]
    }
}

/// The part of a segment in the making of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The client asks.
    Syn,
    /// The server answers.
    SynAck,
    /// All others.
    Established,
}

/// A packet, or a train of packets with consecutive data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is for.
    pub kind: Kind,
    /// The number of its first byte.
    pub sequence: u64,
    /// Payload of all its packets.
    pub bytes: u32,
    /// Payload of each packet except the last.
    pub packet_bytes: u32,
    /// Whether its last packet ends what the application wrote (PSH).
    pub push: bool,
    /// The next byte that is expected (ACK).
    pub acknowledged: u64,
    /// Bytes from there that may be sent.
    pub window: u64,
    /// Data that came a second time (D-SACK); on the wire it is the first block.
    pub duplicate: Option<Range>,
    /// Data beyond a gap (SACK).
    pub blocks: Blocks,
    /// When it was sent (TSval).
    pub stamp_ms: u64,
    /// The stamp that is echoed (TSecr); 0 for none.
    pub echo_ms: u64,
    /// Whether its packets may be marked (ECT).
    pub markable: bool,
    /// Whether a queue on the way has marked it (CE).
    pub marked: bool,
    /// The receiver has seen marks (ECE).
    pub echoes_mark: bool,
    /// The sender has reacted to a mark (CWR).
    pub has_reduced: bool,
}

impl Segment {
    /// Number of packets, at least 1.
    pub fn packets(&self) -> u32 {
        self.bytes.div_ceil(self.packet_bytes.max(1)).max(1)
    }

    /// IP bytes of a packet.
    pub fn ip_bytes(&self, index: u32) -> u32 {
        let behind = index * self.packet_bytes;
        self.header_bytes() + self.packet_bytes.min(self.bytes - behind.min(self.bytes))
    }

    /// Headers of each packet: 20 bytes of IP, 20 of TCP, and options.
    fn header_bytes(&self) -> u32 {
        match self.kind {
            // MSS, window scale, SACK permitted, timestamps.
            Kind::Syn | Kind::SynAck => 60,
            Kind::Established => super::settings::HEADER_BYTES + self.block_bytes(),
        }
    }

    /// Option bytes of selective acknowledgements, padded.
    fn block_bytes(&self) -> u32 {
        let blocks = self.blocks.as_slice().len() + usize::from(self.duplicate.is_some());
        match blocks.min(Blocks::MOST) as u32 {
            0 => 0,
            blocks => 4 + 8 * blocks,
        }
    }

    /// Packets `first..=last` of a train, as the device of the receiver is given them.
    #[must_use]
    pub fn part(&self, first: u32, last: u32) -> Segment {
        let from = first * self.packet_bytes;
        let to = ((last + 1) * self.packet_bytes).min(self.bytes);
        Segment {
            sequence: self.sequence + u64::from(from),
            bytes: to.saturating_sub(from),
            push: self.push && last + 1 == self.packets(),
            has_reduced: self.has_reduced && first == 0,
            ..*self
        }
    }

    /// One more than the number of its last byte.
    pub fn end(&self) -> u64 {
        self.sequence + u64::from(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn train(bytes: u32) -> Segment {
        Segment {
            kind: Kind::Established,
            sequence: 5_000,
            bytes,
            packet_bytes: 1_448,
            push: true,
            acknowledged: 0,
            window: 65_536,
            duplicate: None,
            blocks: Blocks::default(),
            stamp_ms: 1,
            echo_ms: 1,
            markable: false,
            marked: false,
            echoes_mark: false,
            has_reduced: true,
        }
    }

    #[test]
    fn packets_of_a_train_have_its_bytes() {
        let train = train(3_000);
        assert_eq!(train.packets(), 3);
        assert_eq!([0, 1, 2].map(|index| train.ip_bytes(index)), [1_500, 1_500, 156]);
        let part = train.part(1, 2);
        assert_eq!((part.sequence, part.bytes, part.push, part.has_reduced), (6_448, 1_552, true, false));
        assert_eq!((train.part(0, 0).push, train.part(0, 0).has_reduced), (false, true));
    }

    #[test]
    fn selective_acknowledgements_take_room_for_three() {
        let mut ack = train(0);
        assert_eq!(ack.ip_bytes(0), 52);
        for number in 0..5 {
            ack.blocks.push(Range { from: number * 10, to: number * 10 + 5 });
        }
        ack.duplicate = Some(Range { from: 0, to: 5 });
        assert_eq!(ack.ip_bytes(0), 52 + 28);
    }
}
