//! The virtio-net header that AF_PACKET sockets with `PACKET_VNET_HDR` put in front of every frame.
//!
//! It says how a super-packet is to be segmented and whether its transport checksum was left to the device. Legacy
//! layout of 10 bytes in the machine's byte order. Source: Virtual I/O Device 1.2, section 5.1.6; linux/virtio_net.h.

/// Ten bytes in front of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader {
    /// Bit 0: the checksum is partial and must be completed from `csum_start`.
    pub flags: u8,
    /// 0 none, 1 TCP over IPv4, 4 TCP over IPv6, 5 UDP datagrams; bit 7: ECN.
    pub gso_type: u8,
    /// Length of the headers that every segment repeats, bytes (a hint: it may be 0).
    pub header_len: u16,
    /// Payload bytes of every segment but the last.
    pub gso_size: u16,
    /// Where checksumming starts, bytes from the start of the frame.
    pub csum_start: u16,
    /// Where the checksum goes, bytes from `csum_start`.
    pub csum_offset: u16,
}

impl VnetHeader {
    /// Bytes it occupies.
    pub const LEN: usize = 10;
    /// `flags`: the transport checksum is partial.
    pub const NEEDS_CSUM: u8 = 1;
    /// `gso_type` of a single packet.
    pub const GSO_NONE: u8 = 0;
    /// `gso_type` of TCP over IPv4.
    pub const GSO_TCPV4: u8 = 1;
    /// `gso_type` of TCP over IPv6.
    pub const GSO_TCPV6: u8 = 4;
    /// `gso_type` of UDP datagrams of equal size.
    pub const GSO_UDP_L4: u8 = 5;
    /// Bit of `gso_type`: the packet carries congestion-experienced marks.
    pub const GSO_ECN: u8 = 0x80;

    /// Reads the header from its ten bytes.
    pub fn read(bytes: &[u8; Self::LEN]) -> Self {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            header_len: word(2),
            gso_size: word(4),
            csum_start: word(6),
            csum_offset: word(8),
        }
    }

    /// The ten bytes of the header.
    pub fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0] = self.flags;
        bytes[1] = self.gso_type;
        bytes[2..4].copy_from_slice(&self.header_len.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.gso_size.to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.csum_start.to_ne_bytes());
        bytes[8..10].copy_from_slice(&self.csum_offset.to_ne_bytes());
        bytes
    }

    /// Whether the frame behind it stands for several wire packets.
    pub fn is_super_packet(&self) -> bool {
        self.gso_type & !Self::GSO_ECN != Self::GSO_NONE && self.gso_size > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let header = VnetHeader {
            flags: 1,
            gso_type: 1,
            header_len: 66,
            gso_size: 1448,
            csum_start: 34,
            csum_offset: 16,
        };
        assert_eq!(VnetHeader::read(&header.bytes()), header);
    }
}
