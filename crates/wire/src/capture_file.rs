//! Reads captures, packet by packet: pcap and pcapng, as tcpdump, dumpcap, Wireshark and [`crate::pcapng`] write them.
//!
//! Understood: either byte order; pcap with stamps in microseconds or nanoseconds; pcapng with any number of sections and
//! interfaces, any resolution and offset of stamps, enhanced and obsolete packet blocks; other blocks are stepped over. Links: all
//! in the table of `link.rs` that carry IP. Packets of other links are left out and counted, and a file that has no others is
//! refused with the link's number and name. Frames may be cut to their first bytes.
//!
//! A file that is cut off or damaged ends with an error that names its place; what was read before it stands. Memory does not grow
//! with the file.
//!
//! Source: IETF draft-ietf-opsawg-pcap; draft-ietf-opsawg-pcapng, sections 3 and 4; tcpdump.org/linktypes.html.

use std::fmt;
use std::io::{self, BufReader, Read};

pub use link::Link;
pub use packet::Packet;

use link::link_type;

mod link;
mod packet;
#[cfg(test)]
mod tests;

const PCAP_MICROSECONDS: u32 = 0xa1b2_c3d4;
const PCAP_NANOSECONDS: u32 = 0xa1b2_3c4d;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const SHB_USERAPPL: u16 = 4;

/// Longer than any packet that Linux makes (BIG TCP: 512 KiB); a longer one is damage.
const BLOCK_MAX: u32 = 16 << 20;
/// A name or comment beyond this is cut.
const TEXT_MAX: usize = 1024;
/// Where packets were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// As the file calls it; empty where it does not.
    pub name: String,
    /// The program that wrote its section; empty where unknown.
    pub application: String,
    /// The number of its link type.
    link_number: u16,
    /// What stands before the network header of its packets; `None` where that is not read.
    link: Option<Link>,
    /// Stamps in a second.
    per_second: u64,
    offset_s: i64,
}

/// Why a capture cannot be read (any further).
#[derive(Debug)]
pub enum CaptureError {
    /// The file could not be read.
    Io(io::Error),
    /// It begins neither as pcap nor as pcapng.
    NotACapture,
    /// It has packets of this link type, which is not read, and no others.
    LinkNotRead(u16),
    /// It ends inside something.
    CutOff {
        /// Bytes from the start of the file to what is cut.
        at: u64,
        /// The packets before it.
        packets: u64,
    },
    /// Something in it is impossible.
    Damaged {
        /// Bytes from the start of the file.
        at: u64,
        /// The packets before it.
        packets: u64,
        /// What.
        what: String,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::NotACapture => {
                write!(f, "is neither pcap nor pcapng; capture with tcpdump, dumpcap, Wireshark or crosswind")
            }
            Self::LinkNotRead(number) => {
                let name = link_type(*number).map_or("of no known name", |(name, _)| name);
                write!(
                    f,
                    "has packets of link type {number} ({name}), which is not read; capture on Ethernet, raw IP, `any`, loopback or PPP"
                )
            }
            Self::CutOff { at, packets } => {
                write!(f, "is cut off at byte {at}, behind packet {packets}: the capturing program did not end normally, or the disk was full")
            }
            Self::Damaged { at, packets, what } => {
                write!(f, "is damaged at byte {at}, behind packet {packets}: {what}")
            }
        }
    }
}

impl std::error::Error for CaptureError {}

impl From<io::Error> for CaptureError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Pcap,
    Pcapng,
}

/// A capture that is being read.
#[derive(Debug)]
pub struct CaptureFile<R: Read> {
    input: BufReader<R>,
    format: Format,
    big_endian: bool,
    /// Bytes before what is read next.
    at: u64,
    packets: u64,
    interfaces: Vec<Interface>,
    /// Where the interfaces of this section start.
    section: usize,
    application: String,
    /// Packets that have no stamp, and are left out.
    pub without_stamp: u64,
    /// Packets of links that are not read, and are left out.
    pub link_not_read: u64,
}

impl<R: Read> CaptureFile<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// Where it is no capture, or its first header is cut off or damaged.
    pub fn open(input: R) -> Result<Self, CaptureError> {
        let mut file = Self {
            input: BufReader::with_capacity(1 << 16, input),
            format: Format::Pcapng,
            big_endian: false,
            at: 0,
            packets: 0,
            interfaces: Vec::new(),
            section: 0,
            application: String::new(),
            without_stamp: 0,
            link_not_read: 0,
        };
        let mut magic = [0; 4];
        if file.fill(&mut magic)? < magic.len() {
            return Err(CaptureError::NotACapture);
        }
        if u32::from_le_bytes(magic) == SECTION_HEADER {
            file.section_header()?;
            return Ok(file);
        }
        file.big_endian = matches!(u32::from_be_bytes(magic), PCAP_MICROSECONDS | PCAP_NANOSECONDS);
        let per_second = match file.long(magic) {
            PCAP_MICROSECONDS => 1_000_000,
            PCAP_NANOSECONDS => 1_000_000_000,
            _ => return Err(CaptureError::NotACapture),
        };
        file.format = Format::Pcap;
        let header = file.exactly(20)?;
        // The upper half says whether frames end with a checksum, and how long that is.
        let link_number = (file.long_at(&header, 16) & 0xffff) as u16;
        file.interface(link_number, String::new(), per_second, 0);
        if file.interfaces[0].link.is_none() {
            return Err(CaptureError::LinkNotRead(link_number));
        }
        file.at = 24;
        Ok(file)
    }

    /// Where packets were captured, as far as the file was read; of pcapng there may be more behind.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// Where the file is cut off or damaged. Nothing can be read behind it.
    pub fn read(&mut self) -> Result<Option<Packet>, CaptureError> {
        match self.format {
            Format::Pcap => self.record(),
            Format::Pcapng => self.block(),
        }
    }

    fn record(&mut self) -> Result<Option<Packet>, CaptureError> {
        let mut header = [0; 16];
        match self.fill(&mut header)? {
            0 => return Ok(None),
            16 => {}
            _ => return Err(self.cut_off()),
        }
        let [seconds, ticks, kept, wire_bytes] = [0, 4, 8, 12].map(|at| self.long_at(&header, at));
        let Interface { link: Some(link), per_second, .. } = self.interfaces[0] else {
            unreachable!("`open` refuses links that are not read")
        };
        if kept > BLOCK_MAX {
            return Err(self.damaged(format!("a packet of {kept} bytes")));
        }
        let bytes = self.exactly(kept as usize)?;
        self.at += 16 + u64::from(kept);
        self.packets += 1;
        let at_ns =
            u64::from(seconds) * 1_000_000_000 + u64::from(ticks).saturating_mul(1_000_000_000 / per_second);
        Ok(Some(Packet { interface: 0, at_ns, link, bytes, wire_bytes, comment: String::new() }))
    }

    /// Steps over blocks until one is a packet.
    fn block(&mut self) -> Result<Option<Packet>, CaptureError> {
        loop {
            let mut kind = [0; 4];
            match self.fill(&mut kind)? {
                0 => return self.at_end(),
                4 => {}
                _ => return Err(self.cut_off()),
            }
            let kind = self.long(kind);
            if kind == SECTION_HEADER {
                self.section_header()?;
                continue;
            }
            let length = self.exactly(4)?;
            let length = self.long_at(&length, 0);
            let body = self.body(length, 8)?;
            let packet = match kind {
                INTERFACE_DESCRIPTION => {
                    self.description(&body)?;
                    None
                }
                ENHANCED_PACKET => self.enhanced(&body, false)?,
                OBSOLETE_PACKET => self.enhanced(&body, true)?,
                SIMPLE_PACKET => {
                    self.without_stamp += 1;
                    self.packets += 1;
                    None
                }
                _ => None,
            };
            self.at += u64::from(length);
            if packet.is_some() {
                self.packets += 1;
                return Ok(packet);
            }
        }
    }

    /// The end of pcapng: an error where no packet was of a link that is read.
    fn at_end(&self) -> Result<Option<Packet>, CaptureError> {
        let unread = self.interfaces.iter().find(|interface| interface.link.is_none());
        match unread {
            Some(interface) if self.link_not_read > 0 && self.link_not_read == self.packets => {
                Err(CaptureError::LinkNotRead(interface.link_number))
            }
            _ => Ok(None),
        }
    }

    /// A section begins; its type has been read.
    fn section_header(&mut self) -> Result<(), CaptureError> {
        let start = self.exactly(8)?;
        self.big_endian = match u32::from_le_bytes([start[4], start[5], start[6], start[7]]) {
            BYTE_ORDER_MAGIC => false,
            order if order.swap_bytes() == BYTE_ORDER_MAGIC => true,
            _ => return Err(self.damaged("a section without a byte order".to_owned())),
        };
        let length = self.long_at(&start, 0);
        let body = self.body(length, 12)?;
        self.application = self.text(&body, 12, SHB_USERAPPL);
        self.section = self.interfaces.len();
        self.at += u64::from(length);
        Ok(())
    }

    /// The rest of a block of `length` bytes without the length at its end; `read` bytes of it have been.
    fn body(&mut self, length: u32, read: usize) -> Result<Vec<u8>, CaptureError> {
        if length % 4 != 0 || (length as usize) < read + 4 || length > BLOCK_MAX {
            return Err(self.damaged(format!("a block of {length} bytes")));
        }
        let mut body = self.exactly(length as usize - read)?;
        let end = body.len() - 4;
        if self.long_at(&body, end) != length {
            return Err(self.damaged(format!("a block of {length} bytes whose end says another length")));
        }
        body.truncate(end);
        Ok(body)
    }

    fn description(&mut self, body: &[u8]) -> Result<(), CaptureError> {
        if body.len() < 8 {
            return Err(self.damaged("an interface without a header".to_owned()));
        }
        let link_number = self.short_at(body, 0);
        let per_second = match self.option(body, 8, IF_TSRESOL) {
            Some(&[power]) if power & 0x80 != 0 => 1u64.checked_shl(u32::from(power & 0x7f)),
            Some(&[power]) => 10u64.checked_pow(u32::from(power)),
            _ => Some(1_000_000),
        };
        let Some(per_second) = per_second else {
            return Err(self.damaged("an interface with stamps finer than any clock's".to_owned()));
        };
        let offset_s = match self.option(body, 8, IF_TSOFFSET) {
            Some(&[a, b, c, d, e, f, g, h]) => {
                let bytes = [a, b, c, d, e, f, g, h];
                if self.big_endian {
                    i64::from_be_bytes(bytes)
                } else {
                    i64::from_le_bytes(bytes)
                }
            }
            _ => 0,
        };
        let name = self.text(body, 8, IF_NAME);
        self.interface(link_number, name, per_second, offset_s);
        Ok(())
    }

    fn interface(&mut self, link_number: u16, name: String, per_second: u64, offset_s: i64) {
        let link = link_type(link_number).and_then(|(_, link)| link);
        let application = self.application.clone();
        self.interfaces.push(Interface { name, application, link_number, link, per_second, offset_s });
    }

    /// A packet; `None` where its link is not read.
    fn enhanced(&mut self, body: &[u8], obsolete: bool) -> Result<Option<Packet>, CaptureError> {
        if body.len() < 20 {
            return Err(self.damaged("a packet without a header".to_owned()));
        }
        let number =
            if obsolete { usize::from(self.short_at(body, 0)) } else { self.long_at(body, 0) as usize };
        let interface = self.section.saturating_add(number);
        let Some(Interface { link, per_second, offset_s, .. }) = self.interfaces.get(interface) else {
            return Err(self.damaged(format!("a packet of interface {number}, which was not described")));
        };
        let [high, low, kept, wire_bytes] = [4, 8, 12, 16].map(|at| self.long_at(body, at));
        let Some(bytes) = body.get(20..20usize.saturating_add(kept as usize)) else {
            return Err(self.damaged(format!("a packet of {kept} bytes in a block of {}", body.len())));
        };
        let Some(link) = link else {
            self.link_not_read += 1;
            self.packets += 1;
            return Ok(None);
        };
        let ticks = u64::from(high) << 32 | u64::from(low);
        let since = i128::from(ticks) * 1_000_000_000 / i128::from(*per_second);
        let at_ns = since.saturating_add(i128::from(*offset_s) * 1_000_000_000);
        Ok(Some(Packet {
            interface,
            at_ns: at_ns.clamp(0, i128::from(u64::MAX)) as u64,
            link: *link,
            bytes: bytes.to_vec(),
            wire_bytes,
            comment: self.text(body, 20 + (kept as usize).next_multiple_of(4), OPT_COMMENT),
        }))
    }

    /// The first option of a kind, where options start at `from`.
    fn option<'a>(&self, body: &'a [u8], from: usize, wanted: u16) -> Option<&'a [u8]> {
        let mut rest = body.get(from..)?;
        while rest.len() >= 4 {
            let (kind, length) = (self.short_at(rest, 0), usize::from(self.short_at(rest, 2)));
            if kind == OPT_END {
                break;
            }
            let value = rest.get(4..4 + length)?;
            if kind == wanted {
                return Some(value);
            }
            rest = rest.get(4 + length.next_multiple_of(4)..)?;
        }
        None
    }

    fn text(&self, body: &[u8], from: usize, wanted: u16) -> String {
        let bytes = self.option(body, from, wanted).unwrap_or_default();
        String::from_utf8_lossy(&bytes[..bytes.len().min(TEXT_MAX)]).into_owned()
    }

    fn long(&self, bytes: [u8; 4]) -> u32 {
        if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    }

    fn long_at(&self, bytes: &[u8], at: usize) -> u32 {
        self.long([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    fn short_at(&self, bytes: &[u8], at: usize) -> u16 {
        let pair = [bytes[at], bytes[at + 1]];
        if self.big_endian {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        }
    }

    fn exactly(&mut self, length: usize) -> Result<Vec<u8>, CaptureError> {
        let mut bytes = Vec::new();
        // Never asks for more memory than the file has bytes.
        self.input.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            Err(self.cut_off())
        } else {
            Ok(bytes)
        }
    }

    /// Reads as much as there is, up to the whole of `bytes`.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, CaptureError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(filled)
    }

    fn cut_off(&self) -> CaptureError {
        CaptureError::CutOff { at: self.at, packets: self.packets }
    }

    fn damaged(&self, what: String) -> CaptureError {
        CaptureError::Damaged { at: self.at, packets: self.packets, what }
    }
}
