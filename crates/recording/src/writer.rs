//! The writing end of a recording.

use std::io::{self, Write};

use crate::background::{Background, Block, Written};
use crate::header::{Header, MAGIC};
use crate::record::Record;

/// Writes a recording. From the first lost record on nothing but the end is written, and the end counts what was lost.
#[derive(Debug)]
pub struct Recorder {
    file: Background,
    before_ns: u64,
    /// `before_ns` when the block was begun.
    block_began_ns: u64,
}

impl Recorder {
    /// Starts a recording: writes the header to `output` and starts the thread.
    pub fn start<W: Write + Send + 'static>(mut output: W, header: &Header) -> io::Result<Self> {
        let text = serde_json::to_string(header)?;
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        output.write_all(MAGIC)?;
        output.write_all(&length.to_le_bytes())?;
        output.write_all(text.as_bytes())?;
        Ok(Self { file: Background::start("recorder", output)?, before_ns: 0, block_began_ns: 0 })
    }

    /// Takes a record; never waits.
    pub fn write(&mut self, record: &Record) {
        if self.file.lost() > 0 {
            return self.file.lose();
        }
        let block = self.file.item(|bytes| record.put(bytes, self.before_ns));
        self.before_ns = record.at_ns();
        match block {
            Block::Open => {}
            Block::Handed => self.block_began_ns = self.before_ns,
            // The end follows the last record that is in the file.
            Block::Lost => self.before_ns = self.block_began_ns,
        }
    }

    /// Records lost so far.
    pub fn lost(&self) -> u64 {
        self.file.lost()
    }

    /// Writes the end and waits for the disk. `at_ns` is the instant up to which the engine has done everything.
    pub fn finish(self, at_ns: u64) -> Written {
        let end = Record::End { at_ns, lost: self.file.lost() };
        self.file.finish(|bytes| end.put(bytes, self.before_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{Reader, RecordingError};
    use crate::record::{Decision, Fate};
    use crosswind_engine::{Class, Crossing, Damage, Ecn, ElementId, Instant, Onward, Packet};
    use crosswind_fabric::{Fabric, Frame};
    use std::sync::mpsc::{channel, Receiver};
    use std::sync::{Arc, Mutex};

    fn header() -> Header {
        let fabric: Fabric = serde_json::from_str(
            r#"{"seed": 7, "hosts": ["h0"], "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h0"}],
                "switches": ["switch"], "mtu_bytes": 1500, "links": [
                    {"from": "h0", "to": "switch", "rate_bps": null, "delay_ns": 0, "buffer_bytes": null},
                    {"from": "switch", "to": "h0", "rate_bps": null, "delay_ns": 0, "buffer_bytes": null}],
                "tcp": {"congestion_control": "cubic", "rto_min_us": 200000}, "merge_window_ns": 0,
                "condition": {"name": "none"}}"#,
        )
        .unwrap();
        Header::new(&fabric, Some(1), 5)
    }

    fn entered(at_ns: u64) -> Record {
        let frame = Frame { key: 3, count: 2, ip_bytes: 1500, last_ip_bytes: 40, dscp: 10, ecn: Ecn::Ect0 };
        Record::Entered { at_ns, from: 0, to: 1, flow: 9, frame }
    }

    /// A way for packets of domain 0, and a train and a ghost that take it.
    fn from_elsewhere(at_ns: u64) -> [Record; 3] {
        let (link, onward) = (ElementId::from_index(4), Onward::from_index(1));
        let way = Record::Way { at_ns, from: 0, onward, elements: [link, ElementId::from_index(700)].into() };
        let came = |packet, nodes| {
            let crossing = Crossing { due: Instant::from_nanos(at_ns + 9), link, onward, packet };
            Record::Came { at_ns, from: 0, crossing, nodes }
        };
        let mut train = Packet::train(3 << 32 | 7, 44, 1500, 43 * 1500 + 900, 46).with_ecn(Ecn::Ect1);
        train.entered = Instant::from_nanos(at_ns - 3);
        train.damage = std::num::NonZeroU16::new(9).map(Damage::from_number);
        let mut ghost = Packet::ghost(1500);
        (ghost.entered, ghost.tag) = (train.entered, u64::MAX);
        assert_eq!(ghost.class, Class::Ghost);
        [way, came(train, Some((1, 0))), came(ghost, None)]
    }

    /// A disk in memory that accepts nothing before the test releases it.
    struct Disk {
        go: Receiver<()>,
        bytes: Arc<Mutex<Vec<u8>>>,
        header: bool,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !self.header && bytes.len() > 60_000 {
                // The test releases the disk by dropping the other end.
                let _ = self.go.recv();
                self.header = true;
            }
            self.bytes.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_recording_is_read_back_as_it_was_written() {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (_, go) = channel();
        let mut recorder =
            Recorder::start(Disk { go, bytes: Arc::clone(&bytes), header: false }, &header()).unwrap();
        let left = Decision {
            at_ns: 30,
            tag: 9 << 32,
            ip_bytes: 40,
            count: 1,
            damage: 0,
            dscp: 5,
            ecn: Ecn::Ce,
            fate: Fate::Crossed { element: 4 },
        };
        let [way, train, ghost] = from_elsewhere(8);
        let records =
            [entered(7), Record::Window { at_ns: 9 }, entered(8), Record::Decided(left), way, train, ghost];
        records.iter().for_each(|record| recorder.write(record));
        assert_eq!(recorder.finish(20), Written { items: 7, lost: 0, error: None });
        let bytes = bytes.lock().unwrap();
        let mut reader = Reader::open(&bytes[..]).unwrap();
        assert_eq!(*reader.header(), header());
        for record in records {
            assert_eq!(reader.read().unwrap(), Some(record));
        }
        assert_eq!(reader.read().unwrap(), Some(Record::End { at_ns: 20, lost: 0 }));
        assert_eq!(reader.read().unwrap(), None);
        let mut cut = Reader::open(&bytes[..bytes.len() - 3]).unwrap();
        (0..7).for_each(|_| assert!(cut.read().unwrap().is_some()));
        assert!(matches!(cut.read(), Err(RecordingError::CutOff(_))));
    }

    #[test]
    fn a_disk_that_stands_still_costs_records_and_the_end_counts_them() {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (release, go) = channel();
        let mut recorder =
            Recorder::start(Disk { go, bytes: Arc::clone(&bytes), header: false }, &header()).unwrap();
        // A record takes 13 octets, 256 blocks of 64 KiB hold fewer than 2 million.
        for at_ns in 0..2_000_000 {
            recorder.write(&entered(at_ns));
        }
        assert!(recorder.lost() > 0);
        drop(release);
        let written = recorder.finish(3_000_000);
        assert_eq!(written.items + written.lost, 2_000_000);
        let bytes = bytes.lock().unwrap();
        let mut reader = Reader::open(&bytes[..]).unwrap();
        for at_ns in 0..written.items {
            assert_eq!(reader.read().unwrap(), Some(entered(at_ns)));
        }
        assert_eq!(reader.read().unwrap(), Some(Record::End { at_ns: 3_000_000, lost: written.lost }));
    }
}
