//! memcached's binary protocol, as much of it as GET and SET need: pure functions of bytes.
//!
//! Its authors have deprecated it, and many clients in the field speak it still. A GET is sent as GETK, whose answer
//! names the key, as the text protocol's does.
//!
//! Source: memcached 1.6, `doc/protocol-binary.txt`, "Packet structure", "Get, Get Quietly, Get Key", "Set" and "Response status".

use super::answer::{check_nothing_follows, not_there, Progress};
use crate::failure::Failure;

const HEADER_BYTES: usize = 24;
const REQUEST: u8 = 0x80;
const RESPONSE: u8 = 0x81;
const SET: u8 = 0x01;
const GETK: u8 = 0x0c;
/// Flags and expiry, both 0.
const SET_EXTRAS: [u8; 8] = [0; 8];
/// Flags.
const GETK_EXTRAS_BYTES: usize = 4;

const DONE: u16 = 0x0000;
const KEY_NOT_FOUND: u16 = 0x0001;
/// Not stored, out of memory, busy, temporary failure: the server is ready for the next request after them.
const REFUSED: [u16; 4] = [0x0005, 0x0082, 0x0085, 0x0086];

/// Appends a GET of one key.
pub fn get(request: &mut Vec<u8>, key: &str) {
    ask(request, GETK, &[], key, &[]);
}

/// Appends a SET that never expires.
pub fn set(request: &mut Vec<u8>, key: &str, value: &[u8]) {
    ask(request, SET, &SET_EXTRAS, key, value);
}

/// See `Protocol::answer_to_get`.
pub fn answer_to_get(said: &[u8], key: &str) -> Result<Progress, Failure> {
    let Some(answer) = answer(said, GETK)? else {
        return Ok(Progress::Incomplete);
    };
    match answer.status {
        DONE => {}
        KEY_NOT_FOUND => return Err(not_there(key)),
        _ => return Err(answer.complaint()),
    }
    let named = answer.body.get(GETK_EXTRAS_BYTES..GETK_EXTRAS_BYTES + answer.key_bytes);
    if answer.extras_bytes == GETK_EXTRAS_BYTES && named == Some(key.as_bytes()) {
        Ok(Progress::Complete)
    } else {
        Err(Failure::Lost(format!("an answer came that is not one to a GET of {key}")))
    }
}

/// See `Protocol::answer_to_set`.
pub fn answer_to_set(said: &[u8]) -> Result<Progress, Failure> {
    match answer(said, SET)? {
        None => Ok(Progress::Incomplete),
        Some(Answer { status: DONE, .. }) => Ok(Progress::Complete),
        Some(answer) => Err(answer.complaint()),
    }
}

fn ask(request: &mut Vec<u8>, opcode: u8, extras: &[u8], key: &str, value: &[u8]) {
    let key_bytes = u16::try_from(key.len()).expect("a key has at most 250 bytes");
    let body_bytes = u32::try_from(extras.len() + key.len() + value.len()).expect("a value has at most 1 MB");
    request.extend_from_slice(&[REQUEST, opcode]);
    request.extend_from_slice(&key_bytes.to_be_bytes());
    // Length of the extras, no data type, no bucket.
    request.extend_from_slice(&[extras.len() as u8, 0, 0, 0]);
    request.extend_from_slice(&body_bytes.to_be_bytes());
    // No mark of ours, no version to compare with.
    request.extend_from_slice(&[0; 12]);
    for part in [extras, key.as_bytes(), value] {
        request.extend_from_slice(part);
    }
}

struct Answer<'a> {
    status: u16,
    extras_bytes: usize,
    key_bytes: usize,
    body: &'a [u8],
}

impl Answer<'_> {
    /// A status that says no; the body is its text.
    fn complaint(&self) -> Failure {
        let text = String::from_utf8_lossy(self.body);
        let message = format!("the server said status {:#06x}, \"{}\"", self.status, text.escape_debug());
        if REFUSED.contains(&self.status) {
            Failure::Refused(message)
        } else {
            Failure::Lost(message)
        }
    }
}

/// The answer to one request, which is all that may have been said; None when it is not complete.
fn answer(said: &[u8], opcode: u8) -> Result<Option<Answer<'_>>, Failure> {
    if said.first().is_some_and(|&magic| magic != RESPONSE) {
        return Err(Failure::Lost(
            "the answer is not in the binary protocol; is the server a memcached?".into(),
        ));
    }
    let Some((header, rest)) = said.split_at_checked(HEADER_BYTES) else {
        return Ok(None);
    };
    if header[1] != opcode {
        return Err(Failure::Lost(format!("an answer to request {:#04x} came to {opcode:#04x}", header[1])));
    }
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let body_bytes = u32::from_be_bytes([header[8], header[9], header[10], header[11]]) as usize;
    let Some((body, beyond)) = rest.split_at_checked(body_bytes) else {
        return Ok(None);
    };
    check_nothing_follows(beyond)?;
    Ok(Some(Answer { status: short(6), extras_bytes: header[4].into(), key_bytes: short(2).into(), body }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // As memcached 1.6.18 says them.
    const HIT: &[u8] =
        b"\x81\x0c\x00\x02\x04\x00\x00\x00\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00k1hello";
    const MISS: &[u8] =
        b"\x81\x0c\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00k2";
    const STORED: &[u8] =
        b"\x81\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01";
    const TOO_LARGE: &[u8] =
        b"\x81\x01\x00\x00\x00\x00\x00\x03\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00Too large.";

    fn lost<T: std::fmt::Debug>(result: Result<T, Failure>) -> bool {
        matches!(result, Err(Failure::Lost(_)))
    }

    #[test]
    fn requests_are_those_of_the_protocol() {
        let (mut got, mut stored) = (Vec::new(), Vec::new());
        get(&mut got, "k1");
        set(&mut stored, "k1", b"hello");
        assert_eq!(got[..12], *b"\x80\x0c\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02");
        assert_eq!(got[12..], *b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00k1");
        // Extras of 8 bytes, a key of 2, a value of 5.
        assert_eq!(stored[..12], *b"\x80\x01\x00\x02\x08\x00\x00\x00\x00\x00\x00\x0f");
        assert_eq!(stored[24..], *b"\x00\x00\x00\x00\x00\x00\x00\x00k1hello");
    }

    #[test]
    fn an_answer_is_complete_with_its_last_byte_and_not_before() {
        for end in 0..HIT.len() {
            assert_eq!(answer_to_get(&HIT[..end], "k1"), Ok(Progress::Incomplete), "{end}");
        }
        assert_eq!(answer_to_get(HIT, "k1"), Ok(Progress::Complete));
        assert_eq!(answer_to_set(&STORED[..23]), Ok(Progress::Incomplete));
        assert_eq!(answer_to_set(STORED), Ok(Progress::Complete));
    }

    #[test]
    fn a_key_that_is_not_there_is_refused_and_the_connection_goes_on() {
        let failure = answer_to_get(MISS, "k2").unwrap_err();
        assert!(matches!(&failure, Failure::Refused(said) if said.contains("k2") && said.contains("memory")));
    }

    #[test]
    fn a_server_that_is_full_refuses_and_any_other_complaint_costs_the_connection_in_its_own_words() {
        let failure = answer_to_set(TOO_LARGE).unwrap_err();
        assert_eq!(failure, Failure::Lost("the server said status 0x0003, \"Too large.\"".into()));
        let mut full = TOO_LARGE.to_vec();
        full[7] = 0x82;
        assert!(matches!(answer_to_set(&full), Err(Failure::Refused(_))));
    }

    #[test]
    fn an_answer_to_another_question_costs_the_connection() {
        assert!(lost(answer_to_get(HIT, "k2")));
        assert!(lost(answer_to_get(STORED, "k1")));
        assert!(lost(answer_to_get(b"VALUE k1 0 5\r\n", "k1")));
        assert!(lost(answer_to_set(&[STORED, b"\x81"].concat())));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(said in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = answer_to_get(&said, "k1");
            let _ = answer_to_set(&said);
            let answer = [&[RESPONSE, GETK], &said[..]].concat();
            let _ = answer_to_get(&answer, "k1");
        }

        #[test]
        fn a_damaged_answer_is_never_taken_for_a_whole_one(place in 0..HIT.len(), byte: u8) {
            let mut said = HIT.to_vec();
            said[place] = byte;
            // The data type, mark and version, flags and the value's own bytes mean nothing here.
            let meaningless = place == 5 || (12..28).contains(&place) || place >= 30;
            if byte != HIT[place] && !meaningless {
                prop_assert_ne!(answer_to_get(&said, "k1"), Ok(Progress::Complete));
            }
        }
    }
}
