//! One connection to a memcached, with one request in flight at a time.

use std::net::SocketAddr;
use std::sync::Arc;

use super::etc::{self, Keys, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use super::protocol::answer::Progress;
use super::protocol::Protocol;
use crate::driver::Session;
use crate::failure::Failure;
use crate::random::{Purpose, Random};
use crate::sample::Operation;
use crate::stop::Stop;
use crate::stream::Stream;
use crate::ycsb::zipfian::Zipfian;

/// Room for the longest answer. Pages that no answer reaches are never touched, so they cost nothing.
const ANSWER_BYTES_MAX: usize = VALUE_BYTES_MAX + KEY_BYTES_MAX + 64;

/// What requests are drawn from, the same for every connection.
#[derive(Clone, Debug)]
pub struct Mix {
    keys: Keys,
    popularity: Zipfian,
    set_share: f64, // in [0, 1]
    filler: Arc<[u8]>,
}

impl Mix {
    /// Requests for the keys 0 to `keys - 1`, the smaller the number the more popular. Takes time proportional to `keys`.
    pub fn new(keys: u64, set_share: f64) -> Mix {
        Mix { keys: Keys::new(keys), popularity: Zipfian::new(keys), set_share, filler: filler().into() }
    }
}

/// A client of a memcached.
pub struct Client {
    stream: Stream,
    protocol: Protocol,
    mix: Mix,
    random: Random,
    key: String,
    operation: Operation,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    /// Connects; its requests follow from the seed and its own number.
    pub fn connect(
        server: &str,
        protocol: Protocol,
        mix: &Mix,
        seed: u64,
        number: usize,
        stop: &Arc<Stop>,
    ) -> Result<Client, String> {
        Ok(Client {
            stream: Stream::connect(server, stop)?,
            protocol,
            mix: mix.clone(),
            random: Random::stream(seed, Purpose::Connection, number as u64),
            key: String::new(),
            operation: Operation::Get,
            request: Vec::new(),
            answer: vec![0; ANSWER_BYTES_MAX],
        })
    }

    fn receive(&mut self) -> Result<(), Failure> {
        let mut received = 0;
        loop {
            if received == self.answer.len() {
                return Err(Failure::Lost(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes")));
            }
            received += self.stream.receive(&mut self.answer[received..])?;
            let said = &self.answer[..received];
            let progress = match self.operation {
                Operation::Set => self.protocol.answer_to_set(said)?,
                _ => self.protocol.answer_to_get(said, &self.key)?,
            };
            if progress == Progress::Complete {
                return Ok(());
            }
        }
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
        self.key = self.mix.keys.name(self.mix.popularity.rank(&mut self.random));
        if self.random.unit() < self.mix.set_share {
            let bytes = etc::value_bytes(&mut self.random);
            self.protocol.set(&mut self.request, &self.key, &self.mix.filler[..bytes]);
            self.operation = Operation::Set;
        } else {
            self.protocol.get(&mut self.request, &self.key);
            self.operation = Operation::Get;
        }
        self.operation
    }

    fn perform(&mut self) -> Result<(), Failure> {
        self.stream.begin();
        self.stream.send(&self.request)?;
        self.receive()
    }
}

/// Values are cut from these bytes. Their contents have no meaning.
pub fn filler() -> Vec<u8> {
    vec![b'x'; VALUE_BYTES_MAX]
}
