//! Frames: any bytes behind any virtio-net header are read without panic, and cut into parts that add up.

use crosswind_wire::{Train, VnetHeader};

use crate::cursor::Cursor;

/// Wire packets looked at one by one.
const CUTS_MAX: u32 = 64;

/// Ten bytes of virtio-net header, two bytes of marks, then a frame.
pub fn headers(input: &[u8]) {
    let mut cursor = Cursor::new(input);
    let vnet = VnetHeader::read(&cursor.array());
    let (dscp, ecn) = (cursor.u8() & 63, cursor.u8() & 3);
    let frame = cursor.bytes(usize::MAX);
    let Some(train) = Train::read(vnet, frame) else {
        assert!(frame.len() < 14, "whatever has an Ethernet header is a frame");
        return;
    };
    let count = train.count();
    assert!(count >= 1);
    let last_of_few = count.min(CUTS_MAX) - 1;
    let mut scratch = Train::scratch();
    for index in 0..=last_of_few {
        let cut = train.cut(frame, index, index, dscp, ecn, &mut scratch);
        assert!(cut.headers.len() + cut.rest.len() <= frame.len(), "a part is no longer than the whole");
        train.ip_bytes(index);
        train.sequence(index);
    }
    let whole = train.cut(frame, 0, count - 1, dscp, ecn, &mut scratch);
    assert_eq!(whole.headers.len() + whole.rest.len(), frame.len(), "the whole has all bytes");
}
