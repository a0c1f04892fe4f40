//! One connection to a web server, with one request in flight at a time.

use std::net::SocketAddr;
use std::sync::Arc;

use super::head::{self, Head};
use crate::driver::Session;
use crate::failure::Failure;
use crate::random::{Purpose, Random};
use crate::sample::Operation;
use crate::stop::Stop;
use crate::stream::Stream;

const BUFFER_BYTES: usize = 64 << 10;

/// A client of a web server.
pub struct Client {
    stream: Stream,
    objects: Vec<Object>,
    random: Random,
    chosen: usize,
    buffer: Vec<u8>,
}

struct Object {
    bytes: u32,
    request: Vec<u8>,
}

impl Client {
    /// Connects; its requests follow from the seed and its own number.
    pub fn connect(
        server: &str,
        object_bytes: &[u32],
        seed: u64,
        number: usize,
        stop: &Arc<Stop>,
    ) -> Result<Client, String> {
        let object = |&bytes: &u32| Object {
            bytes,
            request: format!("GET /{bytes} HTTP/1.1\r\nHost: {server}\r\n\r\n").into_bytes(),
        };
        Ok(Client {
            stream: Stream::connect(server, stop)?,
            objects: object_bytes.iter().map(object).collect(),
            random: Random::stream(seed, Purpose::Connection, number as u64),
            chosen: 0,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    fn receive(&mut self) -> Result<Head, Failure> {
        let mut received = 0;
        let head = loop {
            received += self.stream.receive(&mut self.buffer[received..])?;
            if let Some(head) = head::read(&self.buffer[..received])? {
                break head;
            }
        };
        let mut body_bytes = (received - head.head_bytes) as u64;
        while body_bytes < head.body_bytes {
            body_bytes += self.stream.receive(&mut self.buffer)? as u64;
        }
        if body_bytes > head.body_bytes {
            return Err(Failure::Lost("bytes came behind the announced end of the body".into()));
        }
        Ok(head)
    }
}

impl Session for Client {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        self.stream.addresses()
    }

    fn connect_again(&mut self) -> Result<(), String> {
        self.stream = self.stream.again()?;
        Ok(())
    }

    fn choose(&mut self) -> Operation {
        self.chosen = self.random.below(self.objects.len() as u64) as usize;
        Operation::Get
    }

    fn perform(&mut self) -> Result<(), Failure> {
        self.stream.begin();
        self.stream.send(&self.objects[self.chosen].request)?;
        let head = self.receive()?;
        let bytes = self.objects[self.chosen].bytes;
        if head.status != 200 {
            return Err(Failure::Refused(format!("status {} for /{bytes}", head.status)));
        }
        if head.body_bytes != u64::from(bytes) {
            return Err(Failure::Refused(format!("/{bytes} has {} bytes", head.body_bytes)));
        }
        Ok(())
    }

    fn payload_bytes(&self) -> u32 {
        self.objects[self.chosen].bytes
    }
}
