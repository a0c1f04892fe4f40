//! How requests to a memcached are written and where its answers end, in the text and in the binary protocol.
//!
//! A server recognises the protocol from the first byte of a connection.

pub mod answer;
pub mod binary;
pub mod text;

use clap::ValueEnum;
use serde::Serialize;

use self::answer::{check_nothing_follows, Progress};
use crate::failure::Failure;

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Text,
    Binary,
}

impl Protocol {
    /// Replaces the request by a GET of one key.
    pub fn get(self, request: &mut Vec<u8>, key: &str) {
        request.clear();
        match self {
            Protocol::Text => text::get(request, key),
            Protocol::Binary => binary::get(request, key),
        }
    }

    /// Replaces the request by a SET that never expires.
    pub fn set(self, request: &mut Vec<u8>, key: &str, value: &[u8]) {
        request.clear();
        match self {
            Protocol::Text => text::set(request, key, value),
            Protocol::Binary => binary::set(request, key, value),
        }
    }

    /// Reads the bytes received so far in answer to a GET of the key.
    ///
    /// # Errors
    /// `Refused` when it does not have the key, `Lost` when the answer does not belong to this request.
    pub fn answer_to_get(self, said: &[u8], key: &str) -> Result<Progress, Failure> {
        match self {
            Protocol::Text => text::answer_to_get(said, key),
            Protocol::Binary => binary::answer_to_get(said, key),
        }
    }

    /// Reads the bytes received so far in answer to one SET.
    ///
    /// # Errors
    /// `Refused` when it did not store it, `Lost` when the answer does not belong to this request.
    pub fn answer_to_set(self, said: &[u8]) -> Result<Progress, Failure> {
        match self {
            Protocol::Text => match text::answer_to_set(said)? {
                Some(rest) => check_nothing_follows(rest).map(|()| Progress::Complete),
                None => Ok(Progress::Incomplete),
            },
            Protocol::Binary => binary::answer_to_set(said),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_takes_the_place_of_the_one_before() {
        for protocol in [Protocol::Text, Protocol::Binary] {
            let (mut fresh, mut used) = (Vec::new(), b"left over".to_vec());
            protocol.get(&mut fresh, "k1");
            protocol.get(&mut used, "k1");
            assert_eq!(fresh, used);
            protocol.set(&mut fresh, "k1", b"hello");
            let mut alone = Vec::new();
            protocol.set(&mut alone, "k1", b"hello");
            assert_eq!(fresh, alone);
        }
    }

    #[test]
    fn more_than_the_answer_to_a_set_costs_the_connection() {
        assert_eq!(Protocol::Text.answer_to_set(b"STORED\r\n"), Ok(Progress::Complete));
        assert!(matches!(Protocol::Text.answer_to_set(b"STORED\r\nSTORED\r\n"), Err(Failure::Lost(_))));
    }
}
