//! Writes captures as pcapng: blocks that Wireshark and every libpcap tool read.
//!
//! Section header, one interface description for each place of capture, enhanced packets with nanosecond stamps, and interface statistics at
//! the end. All numbers are little endian, which the section header says. It only writes; [`crate::capture_file`] reads.
//!
//! Source: IETF draft-ietf-opsawg-pcapng, sections 3.5 (options), 4.1 to 4.3 and 4.6 (blocks).

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const LINKTYPE_ETHERNET: u16 = 1;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;

/// The direction of a packet, as seen from the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the network to the interface.
    Inbound = 1,
    /// From the interface to the network.
    Outbound = 2,
}

/// A packet to be written.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Position of the interface, in the order in which they were described.
    pub interface: u32,
    /// Nanoseconds since 1970, UTC.
    pub at_ns: u64,
    /// The frame from its Ethernet header on, in two parts; cut to the first `snap_bytes`.
    pub frame: [&'a [u8]; 2],
    /// Bytes of the frame that are stored.
    pub snap_bytes: u32,
    /// Its direction.
    pub direction: Direction,
    /// Shown with the packet; none where empty.
    pub comment: &'a str,
}

/// Appends the header that begins a capture. `application` is shown as its author.
pub fn section(bytes: &mut Vec<u8>, application: &str) {
    block(bytes, SECTION_HEADER, |bytes| {
        bytes.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        bytes.extend([1, 0, 0, 0]);
        // The length of the section is not known in advance.
        bytes.extend(u64::MAX.to_le_bytes());
        option(bytes, SHB_USERAPPL, application.as_bytes());
        option(bytes, OPT_END, &[]);
    });
}

/// Appends the description of an Ethernet interface whose stamps are nanoseconds.
pub fn interface(bytes: &mut Vec<u8>, name: &str, snap_bytes: u32) {
    block(bytes, INTERFACE_DESCRIPTION, |bytes| {
        bytes.extend(LINKTYPE_ETHERNET.to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(snap_bytes.to_le_bytes());
        option(bytes, IF_NAME, name.as_bytes());
        // A negative power of ten: 10^-9 s.
        option(bytes, IF_TSRESOL, &[9]);
        option(bytes, OPT_END, &[]);
    });
}

/// Appends a packet.
pub fn packet(bytes: &mut Vec<u8>, packet: &Captured<'_>) {
    let [first, second] = packet.frame;
    let kept = (first.len() + second.len()).min(packet.snap_bytes as usize);
    let of_first = first.len().min(kept);
    block(bytes, ENHANCED_PACKET, |bytes| {
        bytes.extend(packet.interface.to_le_bytes());
        bytes.extend(stamp(packet.at_ns));
        bytes.extend((kept as u32).to_le_bytes());
        bytes.extend(((first.len() + second.len()) as u32).to_le_bytes());
        bytes.extend_from_slice(&first[..of_first]);
        bytes.extend_from_slice(&second[..kept - of_first]);
        pad(bytes, kept);
        option(bytes, EPB_FLAGS, &(packet.direction as u32).to_le_bytes());
        if !packet.comment.is_empty() {
            option(bytes, OPT_COMMENT, packet.comment.as_bytes());
        }
        option(bytes, OPT_END, &[]);
    });
}

/// Appends what an interface saw until `at_ns` (since 1970): packets, and how many of them are not in the file.
pub fn statistics(bytes: &mut Vec<u8>, interface: u32, at_ns: u64, received: u64, left_out: u64) {
    block(bytes, INTERFACE_STATISTICS, |bytes| {
        bytes.extend(interface.to_le_bytes());
        bytes.extend(stamp(at_ns));
        option(bytes, ISB_IFRECV, &received.to_le_bytes());
        option(bytes, ISB_IFDROP, &left_out.to_le_bytes());
        option(bytes, OPT_END, &[]);
    });
}

/// The upper half of a stamp comes first, each half in the byte order of the section.
fn stamp(at_ns: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&((at_ns >> 32) as u32).to_le_bytes());
    bytes[4..].copy_from_slice(&(at_ns as u32).to_le_bytes());
    bytes
}

/// A block says its length at both ends.
fn block(bytes: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend(kind.to_le_bytes());
    bytes.extend([0; 4]);
    body(bytes);
    let length = (bytes.len() - start + 4) as u32;
    bytes.extend(length.to_le_bytes());
    bytes[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
}

/// Values longer than their length can say are cut: a comment is no place for 64 KiB.
fn option(bytes: &mut Vec<u8>, code: u16, value: &[u8]) {
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    bytes.extend(code.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend_from_slice(&value[..usize::from(length)]);
    pad(bytes, usize::from(length));
}

/// Everything is padded to whole 32-bit words.
fn pad(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend(&[0; 3][..length.wrapping_neg() % 4]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_written_word_by_word_as_the_draft_says() {
        let mut bytes = Vec::new();
        let frame = [&[1u8, 2, 3][..], &[4, 5][..]];
        let at_ns = 0x0000_0001_0000_0002;
        let captured = Captured {
            interface: 1,
            at_ns,
            frame,
            snap_bytes: 4,
            direction: Direction::Inbound,
            comment: "why",
        };
        packet(&mut bytes, &captured);
        #[rustfmt::skip]
        let expected = [
            6, 0, 0, 0, /* length */ 56, 0, 0, 0, /* interface */ 1, 0, 0, 0,
            /* stamp, upper half first */ 1, 0, 0, 0, 2, 0, 0, 0,
            /* kept */ 4, 0, 0, 0, /* of */ 5, 0, 0, 0, 1, 2, 3, 4,
            /* flags */ 2, 0, 4, 0, 1, 0, 0, 0,
            /* comment, padded */ 1, 0, 3, 0, b'w', b'h', b'y', 0,
            /* end of options */ 0, 0, 0, 0, /* length */ 56, 0, 0, 0,
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn every_block_is_whole_words_and_says_its_length_twice() {
        let mut bytes = Vec::new();
        section(&mut bytes, "crosswind 0");
        interface(&mut bytes, "a sends", 128);
        for length in 0..9 {
            let frame = [&[7u8; 9][..length], &[][..]];
            let captured = Captured {
                interface: 0,
                at_ns: 1,
                frame,
                snap_bytes: 128,
                direction: Direction::Outbound,
                comment: &"x".repeat(length),
            };
            packet(&mut bytes, &captured);
        }
        statistics(&mut bytes, 0, 1, 9, 0);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (mut at, mut blocks) = (0, 0);
        while at < bytes.len() {
            let length = word(at + 4);
            assert_eq!(length % 4, 0);
            assert_eq!(word(at + length - 4), length);
            at += length;
            blocks += 1;
        }
        assert_eq!((at, blocks), (bytes.len(), 12));
    }
}
