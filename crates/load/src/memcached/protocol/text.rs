//! memcached's text protocol, as much of it as GET and SET need: pure functions of bytes.
//!
//! Source: memcached 1.6, `doc/protocol.txt`, "Storage commands", "Retrieval command" and "Error strings".

use super::answer::{check_nothing_follows, not_there, Progress};
use crate::failure::Failure;

/// Appends a GET of one key.
pub fn get(request: &mut Vec<u8>, key: &str) {
    request.extend_from_slice(b"get ");
    request.extend_from_slice(key.as_bytes());
    request.extend_from_slice(b"\r\n");
}

/// Appends a SET that never expires.
pub fn set(request: &mut Vec<u8>, key: &str, value: &[u8]) {
    request.extend_from_slice(format!("set {key} 0 0 {}\r\n", value.len()).as_bytes());
    request.extend_from_slice(value);
    request.extend_from_slice(b"\r\n");
}

/// See `Protocol::answer_to_get`.
pub fn answer_to_get(said: &[u8], key: &str) -> Result<Progress, Failure> {
    let Some((line, rest)) = line(said)? else {
        return Ok(Progress::Incomplete);
    };
    if line == b"END" {
        check_nothing_follows(rest)?;
        return Err(not_there(key));
    }
    let Some(bytes) = value_bytes(line, key) else {
        return Err(complaint(line));
    };
    const END: &[u8] = b"\r\nEND\r\n";
    let Some(end) = rest.get(bytes..) else {
        return Ok(Progress::Incomplete);
    };
    if end.len() < END.len() && END.starts_with(end) {
        Ok(Progress::Incomplete)
    } else if end == END {
        Ok(Progress::Complete)
    } else {
        Err(Failure::Lost(format!("the value of {key} is not {bytes} bytes long, as announced")))
    }
}

/// Takes the answer to one SET from the front of what a server has said; returns what follows, or None when it is not
/// complete yet.
///
/// # Errors
/// `Refused` when it did not store it, `Lost` when the answer does not belong to this request.
pub fn answer_to_set(said: &[u8]) -> Result<Option<&[u8]>, Failure> {
    match line(said)? {
        None => Ok(None),
        Some((b"STORED", rest)) => Ok(Some(rest)),
        Some((line, _)) => Err(complaint(line)),
    }
}

/// A line, and what follows it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// Splits off the first line; None when it is not complete.
fn line(said: &[u8]) -> Result<Option<Split<'_>>, Failure> {
    /// Longer than any: `VALUE`, a key of 250 bytes, flags, a length.
    const LINE_BYTES_MAX: usize = 512;
    let head = &said[..said.len().min(LINE_BYTES_MAX)];
    match head.windows(2).position(|pair| pair == b"\r\n") {
        Some(end) => Ok(Some((&said[..end], &said[end + 2..]))),
        None if said.len() < LINE_BYTES_MAX => Ok(None),
        None => Err(Failure::Lost("the answer begins with no line; is the server a memcached?".into())),
    }
}

/// The length that a line `VALUE key flags bytes` announces, if it is one for this key.
fn value_bytes(line: &[u8], key: &str) -> Option<usize> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let announced = (words.next()?, words.next()?, words.next()?, words.next()?);
    match (announced, words.next()) {
        (("VALUE", of, _flags, bytes), None) if of == key => bytes.parse().ok(),
        _ => None,
    }
}

/// A line that is no answer, as a failure. After `SERVER_ERROR` and `NOT_STORED` the server is ready for the next request.
fn complaint(line: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(line);
    let message = format!("the server said \"{}\"", text.escape_debug());
    if text.starts_with("SERVER_ERROR ") || text == "NOT_STORED" {
        Failure::Refused(message)
    } else {
        Failure::Lost(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HIT: &[u8] = b"VALUE k1 0 5\r\nhello\r\nEND\r\n"; // as memcached 1.6.18 says it

    fn lost<T: std::fmt::Debug>(result: Result<T, Failure>) -> bool {
        matches!(result, Err(Failure::Lost(_)))
    }

    #[test]
    fn requests_are_those_of_the_protocol() {
        let mut request = Vec::new();
        get(&mut request, "k1");
        assert_eq!(request, b"get k1\r\n");
        set(&mut request, "k2", b"hello");
        assert_eq!(request, b"get k1\r\nset k2 0 0 5\r\nhello\r\n");
    }

    #[test]
    fn a_value_is_complete_with_its_last_byte_and_not_before() {
        for end in 0..HIT.len() {
            assert_eq!(answer_to_get(&HIT[..end], "k1"), Ok(Progress::Incomplete), "{end}");
        }
        assert_eq!(answer_to_get(HIT, "k1"), Ok(Progress::Complete));
        assert_eq!(answer_to_get(b"VALUE k1 0 0\r\n\r\nEND\r\n", "k1"), Ok(Progress::Complete));
    }

    #[test]
    fn a_value_that_looks_like_an_end_is_still_a_value() {
        let said = b"VALUE k 0 7\r\n\r\nEND\r\n\r\nEND\r\n";
        assert_eq!(answer_to_get(&said[..said.len() - 1], "k"), Ok(Progress::Incomplete));
        assert_eq!(answer_to_get(said, "k"), Ok(Progress::Complete));
    }

    #[test]
    fn a_key_that_is_not_there_is_refused_and_the_connection_goes_on() {
        let failure = answer_to_get(b"END\r\n", "k1").unwrap_err();
        assert!(
            matches!(&failure, Failure::Refused(message) if message.contains("k1") && message.contains("memory"))
        );
    }

    #[test]
    fn an_answer_to_another_question_costs_the_connection() {
        assert!(lost(answer_to_get(HIT, "k2")));
        assert!(lost(answer_to_get(b"VALUE k1 0 5\r\nhello too long\r\nEND\r\n", "k1")));
        assert!(lost(answer_to_get(b"ERROR\r\n", "k1")));
        assert!(lost(answer_to_get(&[b'x'; 600], "k1")));
        assert!(lost(answer_to_set(b"HTTP/1.1 400 Bad Request\r\n")));
        assert!(lost(check_nothing_follows(b"STORED\r\n")));
    }

    #[test]
    fn stored_values_are_counted_one_by_one() {
        let rest = answer_to_set(b"STORED\r\nSTORED\r\nSTO").unwrap().unwrap();
        let rest = answer_to_set(rest).unwrap().unwrap();
        assert_eq!(answer_to_set(rest), Ok(None));
    }

    #[test]
    fn a_full_server_refuses_in_its_own_words() {
        let failure = answer_to_set(b"SERVER_ERROR out of memory storing object\r\n").unwrap_err();
        assert_eq!(
            failure,
            Failure::Refused("the server said \"SERVER_ERROR out of memory storing object\"".into())
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(said in proptest::collection::vec(any::<u8>(), 0..700)) {
            let _ = answer_to_get(&said, "k1");
            let _ = answer_to_set(&said);
        }

        #[test]
        fn a_damaged_answer_is_never_taken_for_a_whole_one(place in 0..HIT.len(), byte: u8) {
            let mut said = HIT.to_vec();
            said[place] = byte;
            // Flags and the value's own bytes mean nothing here.
            let meaningless = place == 9 || (14..19).contains(&place);
            if byte != HIT[place] && !meaningless {
                prop_assert_ne!(answer_to_get(&said, "k1"), Ok(Progress::Complete));
            }
        }
    }
}
