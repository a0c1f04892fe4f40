//! A datagram between two machines: a header, records, and a short authentication code over both.
//!
//! | bytes | |
//! |---|---|
//! | 1 | version of this format |
//! | 2 | domain of the sender |
//! | 8 | number of the run: what an earlier run has sent is refused |
//! | 4 | generation: fabrics that the run has brought up, from 1 |
//! | 8 | number of the datagram, from 1 |
//! | 8 | when it was sent, nanoseconds of the sender's clock |
//! | 4 | announcements that the sender has received |
//! | ... | records ([`crate::record`]) |
//! | 8 | HighwayHash of everything before, with the key of this direction |
//!
//! Each direction between two domains has a key of its own, derived from the run's, so a datagram that is sent back to
//! its sender is refused too. Datagrams are authenticated and not encrypted: the packets in them belong to a test.
//!
//! The code keeps out what is not of this run: datagrams of an earlier one, of a neighbour's, damaged, replayed, or
//! invented by somebody who does not have the key. It is checked on the thread that forwards packets, so its cost
//! decides: HighwayHash takes 0.16 us for 1472 bytes, SipHash-2-4 0.72, BLAKE3 1.8 (docs/decisions/dependencies.md).
//!
//! Source: Alakuijala, Cox and Wassenberg 2016, "Fast keyed hash/pseudo-random function using SIMD multiply and permute".

use highway::{HighwayHash, HighwayHasher};

use crate::bytes::Reader;

/// Bytes in front of the records.
pub const HEADER_BYTES: usize = 1 + 2 + 8 + 4 + 8 + 8 + 4;
/// Bytes behind the records.
pub const CODE_BYTES: usize = 8;
const VERSION: u8 = 1;

/// The key of one direction.
#[derive(Clone)]
pub struct Key([u64; 4]);

/// Bytes of a [`RunKey`].
pub const KEY_BYTES: usize = 32;

/// The key of a run, which the controller gives to every machine: 32 bytes of a cryptographic random source.
pub type RunKey = [u8; KEY_BYTES];

/// Codes of keys differ from codes of datagrams, whose first byte is [`VERSION`].
const PURPOSE: &[u8] = b"key of datagrams from one domain to another";

impl Key {
    /// The key for datagrams from one domain to another.
    pub fn of(run: &RunKey, from: u16, to: u16) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(run.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        let content = [PURPOSE, &from.to_be_bytes(), &to.to_be_bytes()].concat();
        Self(HighwayHasher::new(highway::Key(words)).hash256(&content))
    }

    fn code(&self, bytes: &[u8]) -> [u8; CODE_BYTES] {
        HighwayHasher::new(highway::Key(self.0)).hash64(bytes).to_be_bytes()
    }
}

impl std::fmt::Debug for Key {
    /// Not the key: it must not get into a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key")
    }
}

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender.
    pub domain: u16,
    /// The run.
    pub run: u64,
    /// The fabric, from 1.
    pub generation: u32,
    /// Datagrams that the sender had sent before, plus 1.
    pub number: u64,
    /// When it was sent, on the sender's clock.
    pub sent_ns: u64,
    /// Announcements of this generation that the sender has received.
    pub announced: u32,
}

impl Header {
    /// Writes it to the first [`HEADER_BYTES`] of `out`; records follow.
    pub fn write(&self, out: &mut [u8]) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&[VERSION]);
        put(&self.domain.to_be_bytes());
        put(&self.run.to_be_bytes());
        put(&self.generation.to_be_bytes());
        put(&self.number.to_be_bytes());
        put(&self.sent_ns.to_be_bytes());
        put(&self.announced.to_be_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        (reader.u8()? == VERSION).then_some(())?;
        Some(Self {
            domain: reader.u16()?,
            run: reader.u64()?,
            generation: reader.u32()?,
            number: reader.u64()?,
            sent_ns: reader.u64()?,
            announced: reader.u32()?,
        })
    }
}

/// Writes the code of a datagram into its last [`CODE_BYTES`].
///
/// # Panics
/// On fewer bytes than those of a code.
pub fn seal_in_place(key: &Key, datagram: &mut [u8]) {
    let (content, code) = datagram.split_last_chunk_mut::<CODE_BYTES>().expect("there is room for the code");
    *code = key.code(content);
}

/// What a sealed datagram has in front of its code; `None` if it was not made with this key.
pub fn verified<'a>(key: &Key, datagram: &'a [u8]) -> Option<&'a [u8]> {
    let (content, code) = datagram.split_last_chunk::<CODE_BYTES>()?;
    // Compared without a branch for each byte, so that the time says nothing about the code.
    let differs = key.code(content).iter().zip(code).fold(0, |all, (one, other)| all | (one ^ other));
    (std::hint::black_box(differs) == 0).then_some(content)
}

/// The header and the records of a datagram; `None` if it was not made with this key.
pub fn open<'a>(key: &Key, datagram: &'a [u8]) -> Option<(Header, Reader<'a>)> {
    verified(key, datagram)?;
    opened(datagram)
}

/// The same of one that has been opened before.
pub fn opened(datagram: &[u8]) -> Option<(Header, Reader<'_>)> {
    let (content, _) = datagram.split_last_chunk::<CODE_BYTES>()?;
    let mut reader = Reader(content);
    let header = Header::read(&mut reader)?;
    Some((header, reader))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: Header = Header { domain: 3, run: 7, generation: 1, number: 9, sent_ns: 11, announced: 2 };

    fn sealed(key: &Key) -> Vec<u8> {
        let mut out = vec![0; HEADER_BYTES];
        HEADER.write(&mut out);
        out.extend(b"records");
        out.extend([0; CODE_BYTES]);
        seal_in_place(key, &mut out);
        out
    }

    #[test]
    fn it_is_read_with_the_key_of_its_direction_alone() {
        let run = [5; 32];
        let (there, back) = (Key::of(&run, 3, 1), Key::of(&run, 1, 3));
        let datagram = sealed(&there);
        assert_eq!(datagram.len(), HEADER_BYTES + 7 + CODE_BYTES);
        let (header, records) = open(&there, &datagram).unwrap();
        assert_eq!((header, records.0), (HEADER, &b"records"[..]));
        assert!(open(&back, &datagram).is_none(), "reflected");
        assert!(open(&Key::of(&[6; 32], 3, 1), &datagram).is_none(), "of another run");
    }

    #[test]
    fn a_code_does_not_depend_on_the_instructions_that_a_machine_has() {
        // The test vector of the authors' C++ code for one byte, 0, and the key 0x0706050403020100 and so on.
        let words = [0x0706050403020100, 0x0F0E0D0C0B0A0908, 0x1716151413121110, 0x1F1E1D1C1B1A1918];
        assert_eq!(Key(words).code(&[0]), 0x7EAB_43AA_C7CD_DD78_u64.to_be_bytes());
        let bytes: Vec<u8> = (0..2_000u32).map(|it| it as u8).collect();
        for length in [1, 31, 32, 33, 1_472, 2_000] {
            let plain = highway::PortableHash::new(highway::Key(words)).hash64(&bytes[..length]);
            assert_eq!(Key(words).code(&bytes[..length]), plain.to_be_bytes());
        }
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_found(at in 0..HEADER_BYTES + 7 + CODE_BYTES, bits in 1u8..) {
            let key = Key::of(&[5; 32], 3, 1);
            let mut datagram = sealed(&key);
            datagram[at] ^= bits;
            prop_assert!(open(&key, &datagram).is_none());
        }

        #[test]
        fn no_bytes_are_taken_for_one(bytes: Vec<u8>) {
            prop_assert!(open(&Key::of(&[5; 32], 3, 1), &bytes).is_none());
        }
    }
}
