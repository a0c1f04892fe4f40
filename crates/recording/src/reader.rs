//! Reads a recording, record by record; memory does not grow with the file.
//!
//! Damage is an error that names its place. It never panics and never asks for more memory than the file has octets.

use std::fmt;
use std::io::{self, BufReader, Read};

use std::num::NonZeroU16;

use crosswind_engine::{Class, Crossing, Damage, Ecn, ElementId, Instant, Onward, Packet};
use crosswind_fabric::Frame;

use crate::header::{Header, MAGIC};
use crate::number::{extend, unzigzag};
use crate::record::{
    Decision, Fate, Record, CAME, CONDITION, CROSSED, CUTS, DEPARTED, DROPPED, DUPLICATED, END, ENTERED,
    STEP, WAY, WINDOW,
};

/// 292 years after the machine was started: sums with any delay still fit into 64 bits.
const INSTANT_MAX: u64 = i64::MAX as u64;

/// Why a recording cannot be read (any further).
#[derive(Debug)]
pub enum RecordingError {
    /// The file could not be read.
    Io(io::Error),
    /// It does not begin as a recording does, or it begins as one of another version.
    NotARecording,
    /// The header cannot be read.
    Header(String),
    /// It ends in the middle, at this octet.
    CutOff(u64),
    /// The bytes before this octet are no record.
    Damaged {
        /// Octets from the start of the file.
        at: u64,
        /// What is wrong there.
        what: &'static str,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::NotARecording => write!(
                f,
                "does not begin with \"crosswind-recording 3\": no recording, or one that another version of crosswind made; \
                 record it again with this one"
            ),
            Self::Header(error) => write!(f, "its header cannot be read ({error}); record it again with this version"),
            Self::CutOff(at) => write!(
                f,
                "it is cut off at octet {at}: the emulator did not end normally, or the disk was full; record it again"
            ),
            Self::Damaged { at, what } => write!(f, "damaged before octet {at} ({what}); record it again"),
        }
    }
}

impl std::error::Error for RecordingError {}

/// The records of a recording, in order. Ends after [`Record::End`]; anything else at the end is an error.
#[derive(Debug)]
pub struct Reader<R> {
    octets: Octets<R>,
    header: Header,
    before_ns: u64,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub fn open(input: R) -> Result<Self, RecordingError> {
        let mut octets = Octets { input: BufReader::with_capacity(1 << 16, input), at: 0 };
        let mut magic = [0; MAGIC.len()];
        octets.fill(&mut magic).map_err(|error| match error {
            RecordingError::CutOff(_) => RecordingError::NotARecording,
            other => other,
        })?;
        if magic != MAGIC {
            return Err(RecordingError::NotARecording);
        }
        let mut length = [0; 4];
        octets.fill(&mut length)?;
        let text = octets.text(u64::from(u32::from_le_bytes(length)))?;
        let header =
            serde_json::from_str(&text).map_err(|error| RecordingError::Header(error.to_string()))?;
        Ok(Self { octets, header, before_ns: 0, ended: false })
    }

    /// What the recording was made of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next record; `None` behind the last.
    pub fn read(&mut self) -> Result<Option<Record>, RecordingError> {
        if self.ended {
            return Ok(None);
        }
        let kind = self.octets.octet()?;
        let difference = unzigzag(self.octets.number()?);
        let at_ns = self.before_ns.wrapping_add(difference as u64);
        self.before_ns = at_ns;
        if at_ns > INSTANT_MAX {
            return Err(self.octets.damaged("an instant later than any clock's"));
        }
        let record = match kind {
            ENTERED => self.entered(at_ns)?,
            DEPARTED | DROPPED | DUPLICATED | CROSSED => Record::Decided(self.decision(at_ns, kind)?),
            CONDITION => Record::Condition { at_ns, json: self.json()? },
            STEP => Record::Step { at_ns, json: self.json()? },
            CUTS => match self.octets.number()? {
                by_hand @ (0 | 1) => Record::Cuts { at_ns, by_hand: by_hand == 1, json: self.json()? },
                _ => return Err(self.octets.damaged("cuts that neither a timeline nor a hand made")),
            },
            WINDOW => Record::Window { at_ns },
            WAY | CAME if self.header.domain.is_none() => {
                return Err(self.octets.damaged("something of another machine, where there was one"));
            }
            WAY => self.way(at_ns)?,
            CAME => self.came(at_ns)?,
            END => {
                self.ended = true;
                Record::End { at_ns, lost: self.octets.number()? }
            }
            _ => return Err(self.octets.damaged("no kind of record")),
        };
        Ok(Some(record))
    }

    fn entered(&mut self, at_ns: u64) -> Result<Record, RecordingError> {
        let (from, to) = (self.node()?, self.node()?);
        let octets = &mut self.octets;
        let flow = octets.small::<u16>("flow")?.into();
        let frame = Frame {
            key: octets.small("key")?,
            count: octets.small("number of wire packets")?,
            ip_bytes: octets.small("IP bytes")?,
            last_ip_bytes: octets.small("IP bytes")?,
            dscp: 0,
            ecn: Ecn::NotEct,
        };
        let class: u8 = octets.small("traffic class")?;
        let frame = Frame { dscp: class >> 2, ecn: Ecn::from_bits(class), ..frame };
        if !frame.is_sound() {
            return Err(octets.damaged("no frame is like that"));
        }
        Ok(Record::Entered { at_ns, from, to, flow, frame })
    }

    fn way(&mut self, at_ns: u64) -> Result<Record, RecordingError> {
        let octets = &mut self.octets;
        let from = octets.small::<u16>("domain")?.into();
        let onward = Onward::from_index(octets.small("way")?);
        let elements = (0..octets.number()?).map(|_| octets.small("element").map(ElementId::from_index));
        Ok(Record::Way { at_ns, from, onward, elements: elements.collect::<Result<_, _>>()? })
    }

    fn came(&mut self, at_ns: u64) -> Result<Record, RecordingError> {
        let octets = &mut self.octets;
        let from = octets.small::<u16>("domain")?.into();
        let onward = Onward::from_index(octets.small("way")?);
        let link = ElementId::from_index(octets.small("element")?);
        let (due, entered) = (octets.instant_from(at_ns)?, octets.instant_from(at_ns)?);
        let tag = octets.tag()?;
        let class: u8 = octets.small("traffic class")?;
        let ip_bytes: u32 = octets.small("IP bytes")?;
        let count: u16 = octets.small("number of wire packets")?;
        let segment_ip_bytes: u16 = octets.small("IP bytes")?;
        let damage = NonZeroU16::new(octets.small("damage")?).map(Damage::from_number);
        // What the engine asserts of its packets.
        let whole = count > 0 && u32::from(count - 1) * u32::from(segment_ip_bytes) < ip_bytes;
        if !whole || (count == 1 && ip_bytes > Packet::MAX_IP_BYTES) {
            return Err(octets.damaged("no packet is like that"));
        }
        let packet = Packet::train(tag, count, segment_ip_bytes, ip_bytes, class >> 2);
        let mut packet = packet.with_ecn(Ecn::from_bits(class));
        (packet.entered, packet.damage) = (entered, damage);
        let sender: u32 = octets.small("node")?;
        let nodes = match sender.checked_sub(1) {
            None => {
                packet.class = Class::Ghost;
                None
            }
            Some(sender) => Some((self.known(sender)?, self.node()?)),
        };
        Ok(Record::Came { at_ns, from, crossing: Crossing { due, link, onward, packet }, nodes })
    }

    fn decision(&mut self, at_ns: u64, kind: u8) -> Result<Decision, RecordingError> {
        let octets = &mut self.octets;
        let tag = octets.tag()?;
        let (class, ip_bytes, count): (u8, _, _) = (
            octets.small("traffic class")?,
            octets.small("IP bytes")?,
            octets.small("number of wire packets")?,
        );
        let damage = octets.small("damage")?;
        let fate = if kind == DEPARTED {
            Fate::Departed
        } else {
            let element = octets.small::<u32>("element")? as usize;
            if kind == DUPLICATED {
                Fate::Duplicated { element }
            } else if kind == CROSSED {
                Fate::Crossed { element }
            } else {
                let reason = octets.small::<u32>("reason")? as usize;
                if reason >= self.header.reasons.len() {
                    return Err(octets.damaged("a reason that the header does not name"));
                }
                Fate::Dropped { element, reason }
            }
        };
        let (dscp, ecn) = (class >> 2, Ecn::from_bits(class));
        Ok(Decision { at_ns, tag, dscp, ecn, ip_bytes, count, damage, fate })
    }

    fn node(&mut self) -> Result<usize, RecordingError> {
        let position = self.octets.small("node")?;
        self.known(position)
    }

    fn known(&self, position: u32) -> Result<usize, RecordingError> {
        if position as usize >= self.header.fabric.nodes.len() {
            return Err(self.octets.damaged("a node that the fabric does not have"));
        }
        Ok(position as usize)
    }

    fn json(&mut self) -> Result<String, RecordingError> {
        let length = self.octets.number()?;
        self.octets.text(length)
    }
}

/// The file as a row of octets, numbers and texts.
#[derive(Debug)]
struct Octets<R> {
    input: BufReader<R>,
    /// Octets read.
    at: u64,
}

impl<R: Read> Octets<R> {
    fn damaged(&self, what: &'static str) -> RecordingError {
        RecordingError::Damaged { at: self.at, what }
    }

    fn small<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, RecordingError> {
        let number = self.number()?;
        T::try_from(number).map_err(|_| self.damaged(what))
    }

    fn tag(&mut self) -> Result<u64, RecordingError> {
        let key: u32 = self.small("key")?;
        let index: u32 = self.small("index")?;
        Ok(u64::from(key) << 32 | u64::from(index.wrapping_sub(1)))
    }

    /// An instant that is stored as its difference to another one.
    fn instant_from(&mut self, other_ns: u64) -> Result<Instant, RecordingError> {
        let at_ns = other_ns.wrapping_add(unzigzag(self.number()?) as u64);
        if at_ns > INSTANT_MAX {
            return Err(self.damaged("an instant later than any clock's"));
        }
        Ok(Instant::from_nanos(at_ns))
    }

    fn number(&mut self) -> Result<u64, RecordingError> {
        let mut number = 0;
        for position in 0.. {
            let octet = self.octet()?;
            number =
                extend(number, octet, position).ok_or_else(|| self.damaged("a number beyond 64 bits"))?;
            if octet < 0x80 {
                break;
            }
        }
        Ok(number)
    }

    fn octet(&mut self) -> Result<u8, RecordingError> {
        let mut octet = [0];
        self.fill(&mut octet)?;
        Ok(octet[0])
    }

    /// Text of a stated length, taken as it comes: a damaged length cannot ask for memory.
    fn text(&mut self, length: u64) -> Result<String, RecordingError> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(length).read_to_end(&mut bytes).map_err(RecordingError::Io)?;
        self.at += read as u64;
        if (read as u64) < length {
            return Err(RecordingError::CutOff(self.at));
        }
        String::from_utf8(bytes).map_err(|_| self.damaged("text that is not UTF-8"))
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RecordingError> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => RecordingError::CutOff(self.at),
            _ => RecordingError::Io(error),
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}
