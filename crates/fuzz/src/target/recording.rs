//! Recordings: damage is an error with a place; what is read all the same is replayed without panic.

use std::io::sink;

use crosswind_recording::{Reader, Record};
use crosswind_simulator::{replay, PacketFile};

/// Longer than any recording of the corpus: sources would send for as long as a damaged instant lies ahead.
const HORIZON_NS: u64 = 1_000_000_000;

/// Any file.
pub fn recording(input: &[u8]) {
    let Ok(mut reader) = Reader::open(input) else { return };
    let built_ns = reader.header().built_ns;
    loop {
        match reader.read() {
            Ok(Some(record)) if record.at_ns().abs_diff(built_ns) > HORIZON_NS => return,
            Ok(Some(Record::Condition { json, .. })) if json.contains("interference") => return,
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return;
            }
        }
    }
    if !Reader::open(input).is_ok_and(|reader| reader.header().fabric.condition.interference.is_empty()) {
        return;
    }
    let reader = Reader::open(input).expect("it was read a moment ago");
    let packets = PacketFile::new(sink()).expect("a sink takes everything");
    // A damaged recording may well be refused, or differ from what its header makes of it.
    let _ = replay(reader, None, Some(packets));
}
