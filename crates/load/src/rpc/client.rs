//! One connection to an `rpc-serve`, with one call in flight at a time.

use std::net::SocketAddr;
use std::sync::Arc;

use super::frame::{self, RESPONSE_HEADER_BYTES};
use crate::driver::Session;
use crate::failure::Failure;
use crate::sample::Operation;
use crate::stop::Stop;
use crate::stream::Stream;

const BUFFER_BYTES: usize = 64 << 10;

/// A client that sends the same request every time.
pub struct Caller {
    stream: Stream,
    request: Vec<u8>,
    response_bytes: u32,
    buffer: Vec<u8>,
}

impl Caller {
    /// Connects to the server.
    pub fn connect(
        server: &str,
        request_bytes: u32,
        response_bytes: u32,
        stop: &Arc<Stop>,
    ) -> Result<Caller, String> {
        Ok(Caller {
            stream: Stream::connect(server, stop)?,
            request: frame::request(request_bytes, response_bytes),
            response_bytes,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    fn receive_response(&mut self) -> Result<(), Failure> {
        let expected = self.response_bytes as usize;
        let mut header = [0; RESPONSE_HEADER_BYTES];
        let mut received = 0;
        while received < expected {
            let count = self.stream.receive(&mut self.buffer)?;
            for (place, byte) in header.iter_mut().skip(received).zip(&self.buffer[..count]) {
                *place = *byte;
            }
            received += count;
        }
        if received == expected && header == frame::response_header(self.response_bytes) {
            return Ok(());
        }
        Err(Failure::Lost(format!(
            "response of {received} bytes announced as {}, expected {expected}; is the server a crosswind-load?",
            u32::from_be_bytes(header)
        )))
    }
}

impl Session for Caller {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        self.stream.addresses()
    }

    fn connect_again(&mut self) -> Result<(), String> {
        self.stream = self.stream.again()?;
        Ok(())
    }

    fn choose(&mut self) -> Operation {
        Operation::Call
    }

    fn perform(&mut self) -> Result<(), Failure> {
        self.stream.begin();
        self.stream.send(&self.request)?;
        self.receive_response()
    }
}
