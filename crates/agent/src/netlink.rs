//! A route netlink socket in the caller's network namespace: sends requests in batches and waits for the outcome.
//!
//! It sends, then reads only outcomes; `link` defines the contents of the requests.

use std::io;

use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload, NLM_F_ACK, NLM_F_REQUEST};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{protocols::NETLINK_ROUTE, Socket, SocketAddr};

/// Requests of one batch, bytes. Larger ones gain nothing; a socket's buffer takes about 200 kB.
const BATCH_BYTES: usize = 32 * 1024;

/// One request, and its flags in addition to `NLM_F_REQUEST`.
pub struct Request {
    pub message: RouteNetlinkMessage,
    pub flags: u16,
}

/// A socket to the kernel's routing tables.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Carries out the requests in order and returns the first error. Requests after it in the same batch are carried
    /// out too.
    pub fn request(&mut self, requests: impl IntoIterator<Item = Request>) -> io::Result<()> {
        let mut batch = Vec::with_capacity(BATCH_BYTES);
        let mut last = None;
        for request in requests {
            if let Some(previous) = last.replace(request) {
                self.append(&mut batch, previous, 0);
            }
            if batch.len() >= BATCH_BYTES {
                if let Some(closing) = last.take() {
                    self.append(&mut batch, closing, NLM_F_ACK);
                }
                self.flush(&mut batch)?;
            }
        }
        if let Some(closing) = last {
            self.append(&mut batch, closing, NLM_F_ACK);
            self.flush(&mut batch)?;
        }
        Ok(())
    }

    fn append(&mut self, batch: &mut Vec<u8>, request: Request, acknowledge: u16) {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | request.flags | acknowledge;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(request.message));
        message.finalize();
        let start = batch.len();
        batch.resize(start + message.buffer_len(), 0);
        message.serialize(&mut batch[start..]);
    }

    /// Sends the batch. Only its last request asks for an acknowledgement; an error is reported for any of them.
    fn flush(&mut self, batch: &mut Vec<u8>) -> io::Result<()> {
        self.socket.send(batch, 0)?;
        batch.clear();
        let mut first_error = None;
        loop {
            let (answers, _) = self.socket.recv_from_full()?;
            let mut rest = answers.as_slice();
            while !rest.is_empty() {
                let answer =
                    NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest).map_err(io::Error::other)?;
                let length = (answer.header.length as usize).next_multiple_of(4).min(rest.len());
                rest = &rest[length..];
                if let NetlinkPayload::Error(outcome) = answer.payload {
                    if outcome.code.is_some() {
                        first_error.get_or_insert_with(|| outcome.to_io());
                    }
                    if answer.header.sequence_number == self.sequence {
                        return first_error.map_or(Ok(()), Err);
                    }
                }
            }
        }
    }
}
