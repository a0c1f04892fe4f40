//! A session with a Redis server over a blocking socket: commands out, one reply for each back.
//!
//! Messages are made and read by `redis-protocol`, which only encodes and decodes; what is left is to send and receive. A
//! client library would put its own buffers and time-outs between the socket and the clock (see `stream.rs`).
//!
//! Source: Redis serialization protocol specification, version 2.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use redis_protocol::resp2::decode::decode;
use redis_protocol::resp2::encode::encode_borrowed;
use redis_protocol::resp2::types::{BorrowedFrame, OwnedFrame};

use crate::failure::Failure;
use crate::stop::Stop;
use crate::stream::Stream;

const RECEIVE_BYTES: usize = 64 << 10; // a scan of 100 records is 120 kB

/// A session.
pub struct Connection {
    stream: Stream,
    to_send: Vec<u8>,
    asked: usize, // commands in `to_send`
    received: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub fn connect(server: &str, stop: &Arc<Stop>) -> Result<Connection, String> {
        Ok(Connection {
            stream: Stream::connect(server, stop)?,
            to_send: Vec::new(),
            asked: 0,
            received: Vec::new(),
            buffer: vec![0; RECEIVE_BYTES],
        })
    }

    /// Our address and the server's.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        self.stream.addresses()
    }

    /// Adds a command to those that go out together at the next [`exchange`](Connection::exchange).
    pub fn ask(&mut self, words: &[&[u8]]) -> Result<(), Failure> {
        let words: Vec<BorrowedFrame> = words.iter().map(|word| BorrowedFrame::BulkString(word)).collect();
        let command = BorrowedFrame::Array(&words);
        let start = self.to_send.len();
        self.to_send.resize(start + command.encode_len(false), 0);
        encode_borrowed(&mut self.to_send[start..], &command, false)
            .map_err(|error| Failure::Refused(format!("cannot be sent: {error}")))?;
        self.asked += 1;
        Ok(())
    }

    /// Sends what was asked and takes one reply for each command, so it costs one round trip.
    ///
    /// # Errors
    /// The first of the replies that is an error, after all of them have been taken.
    pub fn exchange(&mut self) -> Result<Vec<OwnedFrame>, Failure> {
        let asked = std::mem::take(&mut self.asked);
        self.stream.begin();
        let sent = self.stream.send(&self.to_send);
        self.to_send.clear();
        sent?;
        let mut replies = Vec::with_capacity(asked);
        while replies.len() < asked {
            replies.push(self.reply()?);
        }
        match replies
            .iter()
            .find_map(|reply| if let OwnedFrame::Error(text) = reply { Some(text) } else { None })
        {
            Some(text) => Err(Failure::Refused(text.clone())),
            None => Ok(replies),
        }
    }

    fn reply(&mut self) -> Result<OwnedFrame, Failure> {
        loop {
            let decoded = decode(&self.received)
                .map_err(|error| Failure::Lost(format!("{error}; is the server a Redis?")))?;
            match decoded {
                Some((reply, length)) => {
                    self.received.drain(..length);
                    return Ok(reply);
                }
                None => {
                    let count = self.stream.receive(&mut self.buffer)?;
                    self.received.extend_from_slice(&self.buffer[..count]);
                }
            }
        }
    }
}
