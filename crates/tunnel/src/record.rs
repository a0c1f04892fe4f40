//! The records of a datagram: a kind in one byte, then its fields.
//!
//! * `announcement`: a way or a set of labels that later packets name by its number. It is repeated until the other
//!   machine has acknowledged it (in the header), so a lost datagram delays what follows and breaks nothing. A long
//!   list is announced in pieces.
//! * `part`: a part of a frame. A frame of up to 64 KiB is cut into as many as it takes; the wire packets in it keep
//!   their size.
//! * `packet`: a wire packet, or a train of them, that has left the transmitter of a cut link.
//! * `done`: no more packets of this frame will cross.
//! * `ask` and `answer`: an exchange of instants between two clocks.
//! * `padding`: the rest of the datagram has no meaning. Datagrams of equal length leave with one call of the kernel.

use std::num::NonZeroU16;

use crosswind_engine::{Class, Crossing, Damage, Ecn, ElementId, Instant, LabelSet, Onward, Packet};
use crosswind_fabric::Crosses;
use crosswind_wire::VnetHeader;

use crate::bytes::Reader;

const PADDING: u8 = 0;
const WAY: u8 = 1;
const LABELS: u8 = 2;
const PART: u8 = 3;
const PACKET: u8 = 4;
const DONE: u8 = 5;
const ASK: u8 = 6;
const ANSWER: u8 = 7;
const WAY_PIECE: u8 = 8;
const LABELS_PIECE: u8 = 9;

/// A frame with its headers; none is longer.
pub const FRAME_BYTES_MAX: usize = 65_535 + 64;
/// Elements of a way, or labels of a set, in one piece: less than the smallest datagram.
const PIECE: usize = 256;
/// Bytes of a `part` beside those of the frame.
pub const PART_BYTES: usize = 1 + 2 + 8 + 4 + 4 + VnetHeader::LEN + 4 + 4 + 2;

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The domain in which the frame entered, and its number there.
    pub name: (usize, u64),
    /// The sending node.
    pub from: usize,
    /// The receiving node.
    pub to: usize,
    /// How the frame is to be segmented.
    pub vnet: VnetHeader,
    /// Length of the whole frame, in 1..=[`FRAME_BYTES_MAX`].
    pub length: usize,
    /// Where these bytes belong.
    pub at: usize,
    /// Some of its bytes, all within its length.
    pub bytes: &'a [u8],
}

/// Whether a list ends with this piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It is complete.
    Here,
    /// The next announcement continues it.
    Later,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// [`Crosses::Way`] or [`Crosses::Labels`], or a piece of its list; and how many announcements there were before.
    Announcement(u32, Crosses, Ends),
    /// A part of a frame.
    Part(Part<'a>),
    /// A packet; a real one has the name of its frame.
    Packet(Crossing, Option<(usize, u64)>),
    /// No more packets of this frame cross.
    Done((usize, u64)),
    /// When it was sent stands in the header.
    Ask,
    /// When the latest question was sent, on the asker's clock, and when it came, on the answerer's.
    Answer {
        /// On the asker's clock.
        asked_ns: u64,
        /// On the answerer's clock.
        came_ns: u64,
    },
    /// The last one of its datagram.
    Padding,
}

/// Writes an announcement, in pieces; the first one has `before` before it.
///
/// # Panics
/// For a packet.
pub fn announcements(before: u32, crosses: &Crosses) -> Vec<Vec<u8>> {
    match crosses {
        Crosses::Way(onward, elements) => pieces(before, [WAY, WAY_PIECE], elements, |out, piece| {
            out.extend((onward.index() as u32).to_be_bytes());
            out.extend((piece.len() as u16).to_be_bytes());
            piece.iter().for_each(|element| out.extend((element.index() as u32).to_be_bytes()));
        }),
        Crosses::Labels(set, labels) => pieces(before, [LABELS, LABELS_PIECE], labels, |out, piece| {
            out.extend(set.number().to_be_bytes());
            out.extend((piece.len() as u16).to_be_bytes());
            piece.iter().for_each(|label| out.extend(label.to_be_bytes()));
        }),
        Crosses::Packet(_) => panic!("a packet is not announced"),
    }
}

fn pieces<T>(
    before: u32,
    [last, other]: [u8; 2],
    list: &[T],
    write: impl Fn(&mut Vec<u8>, &[T]),
) -> Vec<Vec<u8>> {
    let count = list.len().div_ceil(PIECE).max(1);
    let piece = |place: usize| {
        let mut out = Vec::new();
        head(&mut out, if place + 1 == count { last } else { other }, before + place as u32);
        write(&mut out, &list[place * PIECE..list.len().min((place + 1) * PIECE)]);
        out
    };
    (0..count).map(piece).collect()
}

fn head(out: &mut Vec<u8>, kind: u8, number: u32) {
    out.push(kind);
    out.extend(number.to_be_bytes());
}

fn name(out: &mut Vec<u8>, (domain, number): (usize, u64)) {
    out.extend((domain as u16).to_be_bytes());
    out.extend(number.to_be_bytes());
}

/// Writes a part of a frame.
pub fn part(out: &mut Vec<u8>, part: &Part<'_>) {
    out.push(PART);
    name(out, part.name);
    out.extend((part.from as u32).to_be_bytes());
    out.extend((part.to as u32).to_be_bytes());
    // The only field in the machine's own byte order: machines of both orders are not joined.
    out.extend(part.vnet.bytes());
    out.extend((part.length as u32).to_be_bytes());
    out.extend((part.at as u32).to_be_bytes());
    out.extend((part.bytes.len() as u16).to_be_bytes());
    out.extend(part.bytes);
}

/// Writes a packet; a real one has the name of its frame.
pub fn packet(out: &mut Vec<u8>, crossing: &Crossing, frame: Option<(usize, u64)>) {
    let Crossing { due, link, onward, packet } = crossing;
    out.push(PACKET);
    out.extend(due.as_nanos().to_be_bytes());
    out.extend((link.index() as u32).to_be_bytes());
    out.extend((onward.index() as u32).to_be_bytes());
    out.extend(packet.tag.to_be_bytes());
    out.extend(packet.entered.as_nanos().to_be_bytes());
    out.extend(packet.ip_bytes.to_be_bytes());
    out.extend(packet.count.to_be_bytes());
    out.extend(packet.segment_ip_bytes.to_be_bytes());
    out.extend([packet.dscp, packet.ecn.bits()]);
    out.extend(packet.damage.map_or(0, |damage| damage.number().get()).to_be_bytes());
    out.extend(packet.labels.number().to_be_bytes());
    match frame {
        None => out.push(Class::Ghost as u8),
        Some(frame) => {
            out.push(Class::Real as u8);
            name(out, frame);
        }
    }
}

/// Writes that no more packets of a frame cross.
pub fn done(out: &mut Vec<u8>, frame: (usize, u64)) {
    out.push(DONE);
    name(out, frame);
}

/// Writes a question.
pub fn ask(out: &mut Vec<u8>) {
    out.push(ASK);
}

/// Writes an answer.
pub fn answer(out: &mut Vec<u8>, asked_ns: u64, came_ns: u64) {
    out.push(ANSWER);
    out.extend(asked_ns.to_be_bytes());
    out.extend(came_ns.to_be_bytes());
}

/// Reads the next record; `None` if it is not one.
pub fn read<'a>(reader: &mut Reader<'a>) -> Option<Record<'a>> {
    Some(match reader.u8()? {
        kind @ (WAY | WAY_PIECE) => {
            let before = reader.u32()?;
            let onward = Onward::from_index(reader.u32()?);
            let elements = list(reader, |reader| reader.u32().map(ElementId::from_index))?;
            Record::Announcement(before, Crosses::Way(onward, elements), ends(kind == WAY))
        }
        kind @ (LABELS | LABELS_PIECE) => {
            let before = reader.u32()?;
            let set = LabelSet::from_number(reader.u16()?);
            let labels = list(reader, Reader::u16)?;
            Record::Announcement(before, Crosses::Labels(set, labels), ends(kind == LABELS))
        }
        PART => Record::Part(read_part(reader)?),
        PACKET => read_packet(reader)?,
        DONE => Record::Done(read_name(reader)?),
        ASK => Record::Ask,
        ANSWER => Record::Answer { asked_ns: reader.u64()?, came_ns: reader.u64()? },
        PADDING => {
            reader.take(reader.0.len())?;
            Record::Padding
        }
        _ => return None,
    })
}

fn ends(here: bool) -> Ends {
    if here {
        Ends::Here
    } else {
        Ends::Later
    }
}

fn list<'a, T>(reader: &mut Reader<'a>, one: impl Fn(&mut Reader<'a>) -> Option<T>) -> Option<Box<[T]>> {
    let length = usize::from(reader.u16()?);
    (length <= PIECE).then_some(())?;
    (0..length).map(|_| one(reader)).collect()
}

fn read_name(reader: &mut Reader<'_>) -> Option<(usize, u64)> {
    Some((usize::from(reader.u16()?), reader.u64()?))
}

fn read_part<'a>(reader: &mut Reader<'a>) -> Option<Part<'a>> {
    let name = read_name(reader)?;
    let (from, to) = (reader.u32()? as usize, reader.u32()? as usize);
    let vnet = VnetHeader::read(reader.take(VnetHeader::LEN)?.first_chunk()?);
    let (length, at) = (reader.u32()? as usize, reader.u32()? as usize);
    let count = usize::from(reader.u16()?);
    let bytes = reader.take(count)?;
    let fits = (1..=FRAME_BYTES_MAX).contains(&length) && at <= length && bytes.len() <= length - at;
    fits.then_some(Part { name, from, to, vnet, length, at, bytes })
}

fn read_packet<'a>(reader: &mut Reader<'_>) -> Option<Record<'a>> {
    let due = Instant::from_nanos(reader.u64()?);
    let link = ElementId::from_index(reader.u32()?);
    let onward = Onward::from_index(reader.u32()?);
    let tag = reader.u64()?;
    let entered = Instant::from_nanos(reader.u64()?);
    let ip_bytes = reader.u32()?;
    let (count, segment_ip_bytes) = (reader.u16()?, reader.u16()?);
    let (dscp, ecn) = (reader.u8()?, reader.u8()?);
    let damage = NonZeroU16::new(reader.u16()?).map(Damage::from_number);
    let labels = LabelSet::from_number(reader.u16()?);
    let class = reader.u8()?;
    let frame =
        (class == Class::Real as u8).then(|| read_name(reader)).map_or(Some(None), |it| it.map(Some))?;
    // What the engine asserts of its packets.
    let whole = count > 0 && u32::from(count - 1) * u32::from(segment_ip_bytes) < ip_bytes;
    let single = count != 1 || ip_bytes <= Packet::MAX_IP_BYTES;
    if !(whole && single && dscp < 64 && ecn < 4 && class <= Class::Ghost as u8) {
        return None;
    }
    let mut packet = Packet::train(tag, count, segment_ip_bytes, ip_bytes, dscp)
        .with_ecn(Ecn::from_bits(ecn))
        .with_labels(labels);
    packet.entered = entered;
    packet.damage = damage;
    packet.class = if frame.is_some() { Class::Real } else { Class::Ghost };
    Some(Record::Packet(Crossing { due, link, onward, packet }, frame))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn crossing(count: u16, segment: u16, last: u16, class: Class) -> Crossing {
        let ip_bytes = u32::from(count - 1) * u32::from(segment) + u32::from(last);
        let mut packet = Packet::train(7 << 32 | 3, count, segment, ip_bytes, 46).with_ecn(Ecn::from_bits(2));
        packet.entered = Instant::from_nanos(5);
        packet.class = class;
        packet.labels = LabelSet::from_number(9);
        packet.damage = NonZeroU16::new(77).map(Damage::from_number);
        let (link, onward) = (ElementId::from_index(4), Onward::from_index(1));
        Crossing { due: Instant::from_nanos(1 << 40), link, onward, packet }
    }

    fn read_all(bytes: &[u8]) -> Vec<Record<'_>> {
        let mut reader = Reader(bytes);
        std::iter::from_fn(|| read(&mut reader)).collect()
    }

    #[test]
    fn every_kind_is_read_as_it_was_written() {
        let ways = [ElementId::from_index(3), ElementId::from_index(70_000)];
        let all = [
            Record::Announcement(0, Crosses::Way(Onward::from_index(2), ways.into()), Ends::Here),
            Record::Announcement(1, Crosses::Labels(LabelSet::from_number(3), [5, 900].into()), Ends::Here),
            Record::Part(Part {
                name: (1, 12),
                from: 2,
                to: 3,
                vnet: VnetHeader { gso_type: 1, gso_size: 1448, ..VnetHeader::default() },
                length: 6,
                at: 2,
                bytes: b"abcd",
            }),
            Record::Packet(crossing(1, 1500, 1500, Class::Real), Some((1, 12))),
            Record::Packet(crossing(44, 1500, 900, Class::Real), Some((1, 13))),
            Record::Packet(crossing(1, 1500, 1500, Class::Ghost), None),
            Record::Done((1, 12)),
            Record::Ask,
            Record::Answer { asked_ns: 1, came_ns: 2 },
            Record::Padding,
        ];
        let mut bytes = Vec::new();
        for record in &all {
            match record {
                Record::Announcement(before, crosses, _) => {
                    bytes.extend(announcements(*before, crosses).concat());
                }
                Record::Part(it) => part(&mut bytes, it),
                Record::Packet(crossing, frame) => packet(&mut bytes, crossing, *frame),
                Record::Done(frame) => done(&mut bytes, *frame),
                Record::Ask => ask(&mut bytes),
                Record::Answer { asked_ns, came_ns } => answer(&mut bytes, *asked_ns, *came_ns),
                Record::Padding => bytes.extend([0; 5]),
            }
        }
        assert_eq!(read_all(&bytes), all);
        for length in 0..bytes.len() {
            assert!(read_all(&bytes[..length]).len() <= all.len());
        }
    }

    #[test]
    fn a_long_way_is_announced_in_pieces_that_fit_into_any_datagram() {
        let way: Vec<ElementId> = (0..600).map(ElementId::from_index).collect();
        let onward = Onward::from_index(2);
        let written = announcements(7, &Crosses::Way(onward, way.clone().into()));
        assert!(written.iter().all(|piece| piece.len() < 1_100));
        let mut read = Vec::new();
        for (place, piece) in (7..).zip(&written) {
            let [Record::Announcement(before, Crosses::Way(number, elements), ends)] = &read_all(piece)[..]
            else {
                panic!("one piece of a way")
            };
            assert_eq!((*before, *number), (place, onward));
            read.extend_from_slice(elements);
            assert_eq!(*ends == Ends::Here, read.len() == 600);
        }
        assert_eq!(read, way);
    }

    #[test]
    fn a_part_beyond_its_frame_is_refused() {
        let whole = Part {
            name: (0, 1),
            from: 0,
            to: 1,
            vnet: VnetHeader::default(),
            length: 10,
            at: 6,
            bytes: b"four",
        };
        let written = |it: &Part<'_>| {
            let mut bytes = Vec::new();
            part(&mut bytes, it);
            read_all(&bytes).len()
        };
        assert_eq!(written(&whole), 1);
        assert_eq!(written(&Part { at: 7, ..whole }), 0);
        assert_eq!(written(&Part { at: 11, bytes: b"", ..whole }), 0);
        assert_eq!(written(&Part { length: FRAME_BYTES_MAX + 1, ..whole }), 0);
    }

    proptest! {
        #[test]
        fn no_bytes_can_end_the_reader(bytes: Vec<u8>) {
            read_all(&bytes);
        }
    }
}
