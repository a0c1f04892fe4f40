//! The first bytes of a data connection: which run and which connection it is. Pure but for the reading and writing.

use std::io::{self, Read, Write};

const MAGIC: &[u8; 8] = b"cwtraffc";
const BYTES: usize = 24;

/// Writes which connection this is.
pub fn say(connection: &mut impl Write, run: u64, number: usize) -> io::Result<()> {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..16].copy_from_slice(&run.to_be_bytes());
    bytes[16..].copy_from_slice(&(number as u64).to_be_bytes());
    connection.write_all(&bytes)
}

/// Reads which run and connection this is.
///
/// # Errors
/// `InvalidData` for a peer that is no `traffic-serve`, and the errors of reading.
pub fn hear(connection: &mut impl Read) -> io::Result<(u64, usize)> {
    let mut bytes = [0; BYTES];
    connection.read_exact(&mut bytes)?;
    let (magic, rest) = bytes.split_at(8);
    if magic != MAGIC {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the peer is no crosswind-load traffic-serve",
        ));
    }
    let (run, number) = rest.split_at(8);
    let number_of = |part: &[u8]| u64::from_be_bytes(part.try_into().expect("eight bytes"));
    Ok((number_of(run), number_of(number) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard() {
        let mut bytes = Vec::new();
        say(&mut bytes, 7_000_000_007, 42).unwrap();
        assert_eq!(hear(&mut bytes.as_slice()).unwrap(), (7_000_000_007, 42));
    }

    #[test]
    fn strangers_and_cut_off_hellos_are_refused() {
        assert_eq!(hear(&mut [b'x'; BYTES].as_slice()).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(hear(&mut MAGIC.as_slice()).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
