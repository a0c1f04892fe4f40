//! Captures: whatever is captured, the blocks are whole words, say their length at both ends, and fill the file.

use crosswind_wire::pcapng::{interface, packet, section, statistics, Captured, Direction};

use crate::cursor::Cursor;

/// Names, comments and frames of any bytes.
pub fn pcapng(input: &[u8]) {
    let mut cursor = Cursor::new(input);
    let snap_bytes = u32::from(cursor.u16());
    let mut file = Vec::new();
    section(&mut file, &text(&mut cursor));
    interface(&mut file, &text(&mut cursor), snap_bytes);
    let mut blocks = 3;
    while !cursor.is_empty() {
        let comment = text(&mut cursor);
        let (at_ns, lengths) = (cursor.u64(), [usize::from(cursor.u16()), usize::from(cursor.u8())]);
        let frame = lengths.map(|length| cursor.bytes(length));
        let captured = Captured {
            interface: 0,
            at_ns,
            frame,
            snap_bytes,
            direction: Direction::Inbound,
            comment: &comment,
        };
        packet(&mut file, &captured);
        blocks += 1;
    }
    statistics(&mut file, 0, 0, 0, 0);
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize;
    let mut at = 0;
    while at < file.len() {
        let length = word(at + 4);
        assert!(length >= 12 && length % 4 == 0, "a block of {length} octets");
        assert_eq!(word(at + length - 4), length);
        at += length;
        blocks -= 1;
    }
    assert_eq!((at, blocks), (file.len(), 0));
}

fn text(cursor: &mut Cursor<'_>) -> String {
    let length = usize::from(cursor.u8());
    String::from_utf8_lossy(cursor.bytes(length)).into_owned()
}
