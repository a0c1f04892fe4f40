//! A session with a Cassandra server over a blocking socket: CQL's binary protocol, version 4, uncompressed.
//!
//! Messages are made and read by `cassandra-protocol`, which only encodes and decodes; what is left is to send, to receive and
//! to bring answers into the order of their questions. A driver would learn of the other servers and spread requests over
//! them from threads of its own, while here a connection is one socket, and the caller decides
//! which server is asked.
//!
//! No passwords and no TLS: a server under test lives in a network of its own and trusts it.
//!
//! Source: Apache Cassandra, `doc/native_protocol_v4.spec`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use cassandra_protocol::compression::Compression;
use cassandra_protocol::consistency::Consistency;
use cassandra_protocol::frame::message_response::ResponseBody;
use cassandra_protocol::frame::message_result::ResResultBody;
use cassandra_protocol::frame::{Envelope, Flags, ParseEnvelopeError, Version};
use cassandra_protocol::query::{QueryParams, QueryValues};
use cassandra_protocol::types::value::Value;
use cassandra_protocol::types::CBytesShort;

use crate::failure::Failure;
use crate::stop::Stop;
use crate::stream::Stream;

const RECEIVE_BYTES: usize = 64 << 10; // a scan of 100 records is 110 kB
const VERSION: Version = Version::V4;
/// Section 2.1: the first byte of an answer of version 4.
const ANSWER: u8 = 0x84;
const NOT_CASSANDRA: &str = "an answer that is no message of CQL 4; is the server a Cassandra?";

/// A session.
pub struct Connection {
    stream: Stream,
    to_send: Vec<u8>,
    asked: usize, // questions in `to_send`
    received: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects and starts the session.
    pub fn connect(server: &str, stop: &Arc<Stop>) -> Result<Connection, String> {
        let mut connection = Connection {
            stream: Stream::connect(server, stop)?,
            to_send: Vec::new(),
            asked: 0,
            received: Vec::new(),
            buffer: vec![0; RECEIVE_BYTES],
        };
        let greeting = connection.greet();
        greeting.map_err(|failure| format!("Cassandra at {server}: {failure}"))?;
        Ok(connection)
    }

    /// Our address and the server's.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        self.stream.addresses()
    }

    /// Has statements prepared, all in one round trip, and returns their names in the same order.
    pub fn prepare(&mut self, statements: &[String]) -> Result<Vec<CBytesShort>, Failure> {
        for statement in statements {
            self.ask(Envelope::new_req_prepare(statement.clone(), None, Flags::empty(), VERSION))?;
        }
        let named = |answer| match answer {
            ResResultBody::Prepared(prepared) => Ok(prepared.id),
            _ => Err(Failure::Lost("the answer to PREPARE is something else".into())),
        };
        self.exchange()?.into_iter().map(named).collect()
    }

    /// Runs a statement that was not prepared.
    pub fn query(&mut self, statement: &str, consistency: Consistency) -> Result<ResResultBody, Failure> {
        let (text, flags) = (statement.to_string(), Flags::empty());
        self.ask(Envelope::new_req_query(
            text,
            consistency,
            None,
            false,
            None,
            None,
            None,
            None,
            None,
            None,
            flags,
            VERSION,
        ))?;
        self.only_answer()
    }

    /// Runs a prepared statement.
    pub fn execute(
        &mut self,
        prepared: &CBytesShort,
        consistency: Consistency,
        values: Vec<Value>,
    ) -> Result<ResResultBody, Failure> {
        self.ask_execute(prepared, consistency, values)?;
        self.only_answer()
    }

    /// Adds a prepared statement to those that go out together at the next [`exchange`](Connection::exchange).
    pub fn ask_execute(
        &mut self,
        prepared: &CBytesShort,
        consistency: Consistency,
        values: Vec<Value>,
    ) -> Result<(), Failure> {
        let parameters = QueryParams {
            consistency,
            values: Some(QueryValues::SimpleValues(values)),
            ..QueryParams::default()
        };
        self.ask(Envelope::new_req_execute(prepared, None, &parameters, Flags::empty(), VERSION))
    }

    /// Sends what was asked, and returns the answers in the order of the questions: one round trip.
    ///
    /// # Errors
    /// The first of the answers that is an error, after all of them have been taken.
    pub fn exchange(&mut self) -> Result<Vec<ResResultBody>, Failure> {
        let answers = self.exchange_bodies()?;
        answers.into_iter().map(result).collect()
    }

    fn greet(&mut self) -> Result<(), Failure> {
        self.ask(Envelope::new_req_startup(None, VERSION))?;
        match self.exchange_bodies()?.pop() {
            Some(ResponseBody::Ready) => Ok(()),
            Some(ResponseBody::Authenticate(_)) => {
                Err(Failure::Refused("it wants a password; start it with AllowAllAuthenticator".into()))
            }
            Some(ResponseBody::Error(error)) => Err(Failure::Refused(error.message)),
            _ => Err(Failure::Lost(NOT_CASSANDRA.into())),
        }
    }

    /// Adds a question, whose number is its place among those that go out together.
    fn ask(&mut self, mut question: Envelope) -> Result<(), Failure> {
        question.stream_id = self.asked as i16;
        let encoded = question.encode_with(Compression::None);
        self.to_send.extend(encoded.map_err(|error| Failure::Refused(format!("cannot be sent: {error}")))?);
        self.asked += 1;
        Ok(())
    }

    fn only_answer(&mut self) -> Result<ResResultBody, Failure> {
        self.exchange()?.pop().ok_or_else(|| Failure::Lost("no answer".into()))
    }

    fn exchange_bodies(&mut self) -> Result<Vec<ResponseBody>, Failure> {
        let asked = std::mem::take(&mut self.asked);
        self.stream.begin();
        let sent = self.stream.send(&self.to_send);
        self.to_send.clear();
        sent?;
        // The server answers in the order in which it is done.
        let mut answers: Vec<Option<ResponseBody>> = (0..asked).map(|_| None).collect();
        for _ in 0..asked {
            let (number, body) = self.answer()?;
            match answers.get_mut(number) {
                Some(place @ None) => *place = Some(body),
                _ => return Err(Failure::Lost(format!("an answer to question {number}, which is not open"))),
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    fn answer(&mut self) -> Result<(usize, ResponseBody), Failure> {
        loop {
            match take_answer(&mut self.received)? {
                Some(answer) => return Ok(answer),
                None => {
                    let count = self.stream.receive(&mut self.buffer)?;
                    self.received.extend_from_slice(&self.buffer[..count]);
                }
            }
        }
    }
}

/// Takes an answer and the number of its question off what was received, once all of it is there.
fn take_answer(received: &mut Vec<u8>) -> Result<Option<(usize, ResponseBody)>, Failure> {
    if received.first().is_some_and(|&version| version != ANSWER) {
        return Err(Failure::Lost(NOT_CASSANDRA.into()));
    }
    let parsed = match Envelope::from_buffer(received, Compression::None) {
        Ok(parsed) => parsed,
        Err(ParseEnvelopeError::NotEnoughBytes) => return Ok(None),
        Err(error) => return Err(Failure::Lost(format!("{NOT_CASSANDRA} {error}"))),
    };
    received.drain(..parsed.envelope_len);
    let body = parsed
        .envelope
        .response_body()
        .map_err(|error| Failure::Lost(format!("an answer that cannot be read: {error}")))?;
    Ok(Some((usize::from(parsed.envelope.stream_id as u16), body)))
}

/// The result in an answer, or what the server says against it.
fn result(answer: ResponseBody) -> Result<ResResultBody, Failure> {
    match answer {
        ResponseBody::Result(result) => Ok(result),
        ResponseBody::Error(error) => {
            Err(Failure::Refused(format!("{} (error 0x{:04x})", error.message, error.ty.to_error_code())))
        }
        _ => Err(Failure::Lost("neither a result nor an error".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Answers of Cassandra 5.0.6 to question 7, as they came over the socket.
    const ROWS: &str = "84000007080000002a00000002000000010000000200016b000174000161000d00016200030000000100000001780000000101";
    const PREPARED: &str = "8400000708000000420000000400106acaae026e5880eed03e69a09616c4c6000000010000000100000001000000016b000174000161000d000000010000000100016b0001740001620003";
    const SYNTAX: &str = "84000007000000003f0000200000396c696e6520313a30206e6f20766961626c6520616c7465726e617469766520617420696e707574202773656c65632720285b73656c65635d29";

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let octet = |at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap();
        (0..hexadecimal.len()).step_by(2).map(octet).collect()
    }

    fn body(hexadecimal: &str) -> ResponseBody {
        let (number, body) = take_answer(&mut bytes(hexadecimal)).unwrap().unwrap();
        assert_eq!(number, 7);
        body
    }

    #[test]
    fn an_answer_is_taken_when_all_of_it_is_there() {
        let whole = bytes(ROWS);
        let mut received = Vec::new();
        for &octet in &whole[..whole.len() - 1] {
            received.push(octet);
            assert_eq!(take_answer(&mut received), Ok(None));
        }
        received.push(whole[whole.len() - 1]);
        received.push(ANSWER); // the next answer begins
        assert!(take_answer(&mut received).unwrap().is_some());
        assert_eq!(received, [ANSWER]);
    }

    #[test]
    fn rows_have_their_values() {
        let Ok(ResResultBody::Rows(rows)) = result(body(ROWS)) else { panic!("no rows") };
        let values: Vec<_> = rows.rows_content[0].iter().map(|value| value.as_slice()).collect();
        assert_eq!((rows.rows_content.len(), values), (1, vec![Some(&b"x"[..]), Some(&[1][..])]));
    }

    #[test]
    fn a_prepared_statement_is_executed_by_its_name() {
        let Ok(ResResultBody::Prepared(prepared)) = result(body(PREPARED)) else { panic!("no name") };
        let parameters = QueryParams {
            consistency: Consistency::Quorum,
            values: Some(QueryValues::SimpleValues(vec![Value::Some(b"x".to_vec())])),
            ..QueryParams::default()
        };
        let question = Envelope::new_req_execute(&prepared.id, None, &parameters, Flags::empty(), VERSION);
        // Section 4.1.6: EXECUTE; the name; QUORUM (4); "values"; one of them; one byte, "x".
        let mut expected = bytes("04000000 0a 0000001c 0010".replace(' ', "").as_str());
        expected.extend(bytes("6acaae026e5880eed03e69a09616c4c6"));
        expected.extend(bytes("0004 01 0001 00000001 78".replace(' ', "").as_str()));
        assert_eq!(question.encode_with(Compression::None).unwrap(), expected);
    }

    #[test]
    fn an_error_is_a_refusal_with_the_servers_words() {
        let words = "line 1:0 no viable alternative at input 'selec' ([selec]) (error 0x2000)";
        assert_eq!(result(body(SYNTAX)), Err(Failure::Refused(words.into())));
    }

    #[test]
    fn another_protocol_is_recognised_at_its_first_byte() {
        assert_eq!(take_answer(&mut b"H".to_vec()), Err(Failure::Lost(NOT_CASSANDRA.into())));
        // Version 5 of the same one would come in frames, which were not requested.
        assert!(take_answer(&mut vec![0x85]).is_err());
    }
}
