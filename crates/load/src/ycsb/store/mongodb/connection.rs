//! A session with a server that speaks MongoDB's wire protocol: commands and replies as OP_MSG over a blocking socket.
//!
//! Documents are made and read by `bson`; what is left is a header of 21 bytes. The `mongodb` driver is not used: it has
//! a pool, watches the servers from threads of its own, with packets of their own, and moves to another server when one
//! fails, while here a connection is one socket whose end is a result.
//!
//! No passwords and no TLS: a server under test lives in a network of its own and trusts it.
//!
//! Source: MongoDB documentation, "MongoDB Wire Protocol"; specification "OP_MSG".

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::failure::Failure;
use crate::stop::Stop;
use crate::stream::Stream;

const RECEIVE_BYTES: usize = 64 << 10; // a scan of 100 records is 120 kB
const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
/// The header, the flags, and the kind of the only section.
const BEFORE_DOCUMENT_BYTES: usize = HEADER_BYTES + 4 + 1;
const MESSAGE_BYTES_MAX: usize = 48_000_000; // maxMessageSizeBytes of every server
/// Flag of a request that gets no answer.
const MORE_TO_COME: u32 = 1 << 1;

/// What a reply's code says when the command may succeed at another server, or later: there is no primary, another one, or
/// it is about to leave. From the specification "Retryable Writes".
const RETRYABLE: [i32; 12] = [
    6,     // HostUnreachable
    7,     // HostNotFound
    89,    // NetworkTimeout
    91,    // ShutdownInProgress
    189,   // PrimarySteppedDown
    262,   // ExceededTimeLimit
    9001,  // SocketException
    10107, // NotWritablePrimary
    11600, // InterruptedAtShutdown
    11602, // InterruptedDueToReplStateChange
    13435, // NotPrimaryNoSecondaryOk
    13436, // NotPrimaryOrSecondary
];

/// Why a command was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// The server refused it, and the same command may succeed at the primary.
    Retryable(String),
    /// The connection cannot be used any more.
    Lost(String),
    /// Nothing that another attempt would change.
    Failed(Failure),
}

impl From<Failure> for Unserved {
    fn from(failure: Failure) -> Unserved {
        match failure {
            Failure::Lost(why) => Unserved::Lost(why),
            failure => Unserved::Failed(failure),
        }
    }
}

impl From<Unserved> for Failure {
    fn from(unserved: Unserved) -> Failure {
        match unserved {
            Unserved::Retryable(why) => Failure::Refused(why),
            Unserved::Lost(why) => Failure::Lost(why),
            Unserved::Failed(failure) => failure,
        }
    }
}

/// A session.
pub struct Connection {
    stream: Stream,
    questions: i32,
    received: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub fn connect(server: &str, stop: &Arc<Stop>) -> Result<Connection, String> {
        Ok(Connection {
            stream: Stream::connect(server, stop)?,
            questions: 0,
            received: Vec::new(),
            buffer: vec![0; RECEIVE_BYTES],
        })
    }

    /// Our address and the server's.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        self.stream.addresses()
    }

    /// Sets how long one command may take.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.stream.set_timeout(timeout);
    }

    /// Runs a command, which names its database as `$db`.
    ///
    /// # Errors
    /// Whatever the reply says was not done, or not confirmed by the requested number of servers.
    pub fn run(&mut self, command: &RawDocument) -> Result<RawDocumentBuf, Unserved> {
        self.send(command, 0)?;
        let reply = self.reply()?;
        match complaint(&reply) {
            Some(complaint) => Err(complaint),
            None => Ok(reply),
        }
    }

    /// Sends a command that the server is not to answer, and returns when the kernel has taken it.
    pub fn run_unanswered(&mut self, command: &RawDocument) -> Result<(), Unserved> {
        Ok(self.send(command, MORE_TO_COME)?)
    }

    fn send(&mut self, command: &RawDocument, flags: u32) -> Result<(), Failure> {
        self.questions = self.questions.wrapping_add(1);
        self.stream.begin();
        self.stream.send(&message(command, self.questions, flags))
    }

    fn reply(&mut self) -> Result<RawDocumentBuf, Failure> {
        loop {
            match take_reply(&mut self.received, self.questions)? {
                Some(reply) => return Ok(reply),
                None => {
                    let count = self.stream.receive(&mut self.buffer)?;
                    self.received.extend_from_slice(&self.buffer[..count]);
                }
            }
        }
    }
}

fn message(command: &RawDocument, request: i32, flags: u32) -> Vec<u8> {
    let document = command.as_bytes();
    let mut message = Vec::with_capacity(BEFORE_DOCUMENT_BYTES + document.len());
    let length = (BEFORE_DOCUMENT_BYTES + document.len()) as i32;
    for number in [length, request, 0, OP_MSG, flags as i32] {
        message.extend(number.to_le_bytes());
    }
    message.push(0); // the section's kind: one document
    message.extend_from_slice(document);
    message
}

/// Takes the reply to a request off what was received, once all of it is there.
fn take_reply(received: &mut Vec<u8>, request: i32) -> Result<Option<RawDocumentBuf>, Failure> {
    const NOT_MONGODB: &str = "an answer that is no OP_MSG; is the server a MongoDB?";
    if received.len() < BEFORE_DOCUMENT_BYTES {
        return Ok(None);
    }
    let number = |at: usize| i32::from_le_bytes(std::array::from_fn(|octet| received[at + octet]));
    let length = number(0) as usize;
    if number(12) != OP_MSG || !(BEFORE_DOCUMENT_BYTES..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(Failure::Lost(NOT_MONGODB.into()));
    }
    if number(8) != request {
        return Err(Failure::Lost(format!("an answer to question {} and not to {request}", number(8))));
    }
    if received.len() < length {
        return Ok(None);
    }
    let document = received[BEFORE_DOCUMENT_BYTES..length].to_vec();
    received.drain(..length);
    RawDocumentBuf::from_bytes(document)
        .map(Some)
        .map_err(|error| Failure::Lost(format!("{NOT_MONGODB} {error}")))
}

/// What a reply says went wrong, if anything did.
fn complaint(reply: &RawDocument) -> Option<Unserved> {
    let is_one = match reply.get("ok") {
        Ok(Some(RawBsonRef::Double(ok))) => ok == 1.0,
        Ok(Some(RawBsonRef::Int32(ok))) => ok == 1,
        _ => false,
    };
    if !is_one {
        return Some(refusal(reply, "a refusal without a reason", ""));
    }
    let first = reply.get_array("writeErrors").ok().and_then(|errors| errors.into_iter().next()?.ok());
    if let Some(RawBsonRef::Document(error)) = first {
        return Some(refusal(error, "a write error without a reason", ""));
    }
    let unconfirmed = reply.get_document("writeConcernError").ok()?;
    Some(refusal(unconfirmed, "no reason given", "not confirmed: "))
}

/// What a document with `code` and `errmsg` says.
fn refusal(error: &RawDocument, without_reason: &str, before: &str) -> Unserved {
    let reason = error.get_str("errmsg").unwrap_or(without_reason);
    match error.get_i32("code") {
        Ok(code) if RETRYABLE.contains(&code) => {
            Unserved::Retryable(format!("{before}{reason} (code {code})"))
        }
        Ok(code) => Unserved::Failed(Failure::Refused(format!("{before}{reason} (code {code})"))),
        Err(_) => Unserved::Failed(Failure::Refused(format!("{before}{reason}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    /// The bytes of a reply: a question's, with the number of what it answers.
    fn reply(document: &RawDocument, request: i32) -> Vec<u8> {
        let mut bytes = message(document, 99, 0);
        bytes[8..12].copy_from_slice(&request.to_le_bytes());
        bytes
    }

    #[test]
    fn a_question_has_the_documented_header() {
        // The document: 4 bytes of length, a type, "a\0", 4 bytes of number, and an end: 12.
        let bytes = message(&rawdoc! { "a": 1 }, 7, MORE_TO_COME);
        assert_eq!(bytes[..21], [33, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0, 2, 0, 0, 0, 0]);
        assert_eq!(bytes.len(), 33);
    }

    #[test]
    fn a_reply_is_taken_when_all_of_it_is_there() {
        let document = rawdoc! { "ok": 1.0, "n": 1 };
        let bytes = reply(&document, 7);
        let mut received = Vec::new();
        for &octet in &bytes[..bytes.len() - 1] {
            received.push(octet);
            assert_eq!(take_reply(&mut received, 7), Ok(None));
        }
        received.push(bytes[bytes.len() - 1]);
        assert_eq!(
            take_reply(&mut received.clone(), 8).unwrap_err(),
            Failure::Lost("an answer to question 7 and not to 8".into())
        );
        assert_eq!(take_reply(&mut received, 7), Ok(Some(document)));
        assert!(received.is_empty());
        assert!(take_reply(&mut b"HTTP/1.1 400 Bad Request\r\n".to_vec(), 7).is_err());
    }

    fn refused(message: &str) -> Option<Unserved> {
        Some(Unserved::Failed(Failure::Refused(message.into())))
    }

    #[test]
    fn refusals_write_errors_and_missing_confirmations_are_complaints() {
        assert_eq!(complaint(&rawdoc! { "ok": 1.0, "n": 1 }), None);
        let unknown = rawdoc! { "ok": 0.0, "errmsg": "no such command", "code": 59 };
        assert_eq!(complaint(&unknown), refused("no such command (code 59)"));
        let duplicate =
            rawdoc! { "ok": 1.0, "writeErrors": [{ "index": 0, "errmsg": "E11000 duplicate key" }] };
        assert_eq!(complaint(&duplicate), refused("E11000 duplicate key"));
        let late = rawdoc! { "ok": 1.0, "writeConcernError": { "code": 64, "errmsg": "timed out" } };
        assert_eq!(complaint(&late), refused("not confirmed: timed out (code 64)"));
    }

    #[test]
    fn what_an_election_causes_can_be_sent_again() {
        let again = |message: &str| Some(Unserved::Retryable(message.into()));
        let elsewhere = rawdoc! { "ok": 0.0, "errmsg": "not primary", "code": 10107 };
        assert_eq!(complaint(&elsewhere), again("not primary (code 10107)"));
        // A write that is done, and whose primary stepped down while it waited for the others.
        let unconfirmed =
            rawdoc! { "ok": 1.0, "n": 1, "writeConcernError": { "code": 189, "errmsg": "stepped down" } };
        assert_eq!(complaint(&unconfirmed), again("not confirmed: stepped down (code 189)"));
    }
}
