//! A file with the input of the engine in a live run and its decisions, which the simulator can replay.
//!
//! The emulator has one [`Recorder`]; the simulator has the one [`Reader`]. The instants are those that the engine used, so
//! a replay needs no guesses: same fabric, same calls, same decisions.
//!
//! # Format, version 3
//!
//! 1. One line of text: `crosswind-recording 3`.
//! 2. Four octets, little endian: the length of the JSON header that follows ([`Header`]: the fabric with the condition it
//!    started under, the domain that this machine carried or null, the instant at which it was built, and the names of drop
//!    reasons by number).
//! 3. Records until the end of the file. Each begins with one octet, its kind. Numbers are LEB128 (7 bits an octet, lowest
//!    first, the eighth says that more follow).
//!
//! | kind | record | then |
//! |---|---|---|
//! | 1 | a frame entered | instant, from, to, flow, key, wire packets, IP bytes of each but the last, IP bytes of the last, traffic class |
//! | 2 | a packet left | instant, tag's key, tag's index, traffic class, IP bytes, wire packets, damage |
//! | 3 | a packet was dropped | as 2, then element, reason |
//! | 4 | a packet became two | as 2, then element |
//! | 5 | a condition became active | instant, length, JSON of the condition |
//! | 6 | a timeline step became active | instant, length, JSON of its places |
//! | 7 | a measurement window started | instant |
//! | 8 | end | instant up to which everything was done, records that were lost |
//! | 9 | a packet left for another machine | as 2, then element: the link that it crosses |
//! | 10 | packets of another machine have a new way | instant, domain, number of the way, number of elements, elements |
//! | 11 | a packet came from another machine | instant, domain, number of its way, link, due, entered, tag's key, tag's index, traffic class, IP bytes, wire packets, IP bytes of each but the last, number of its damage, 0 for a ghost or the sending node plus one, and then the receiving node |
//! | 12 | other cuts became active | instant, 0 by the timeline or 1 by hand, length, JSON of all cuts of that kind |
//!
//! Damage is 0, or 1 more than the place of the flipped bit in 65 535 of a packet. An instant is a zigzag difference to that of the record before it, in nanoseconds; the first counts from 0. A tag's index is stored plus
//! one, and 0 stands for a train that travels as one packet. `from` and `to` are positions in the fabric's nodes, `flow` is below 65 536 and 0 where
//! routes do not look at flows,
//! `element` is the position in the order of adding.
//!
//! A machine that carries one domain of a fabric records what it did itself. Records 10 and 11 are input, as 1 is: what other
//! machines sent, with its instants on this machine's clock, as the engine took it in. `due` and `entered` of record 11
//! are zigzag differences to the record's own instant.
//!
//! A file without record 8 was cut off; one whose record 8 counts lost records is not complete before its end. Both are
//! refused by a replay: an incomplete file is never used silently.

mod background;
mod header;
mod number;
mod reader;
mod record;
mod writer;

pub use background::{Background, Block, Written};
pub use header::Header;
pub use reader::{Reader, RecordingError};
pub use record::{Decision, Fate, Record};
pub use writer::Recorder;
