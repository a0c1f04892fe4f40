//! A blocking TCP connection whose every operation has a deadline, and which notices a request to stop.
//!
//! The kernel's receive time-out is short and the loop around it looks at the deadline: a server that trickles bytes
//! cannot stretch an operation, and a silent one cannot hold up the end of a run.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::monotonic_ns;
use crate::driver::Failure;
use crate::stop::Stop;

/// Longest wait for a connection to be made.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest operation. A later answer would belong to a question nobody remembers, so the connection is given up.
pub const OPERATION_TIMEOUT: Duration = Duration::from_secs(30);

const TICK: Duration = Duration::from_millis(250);

/// A connection to a server, with TCP_NODELAY.
pub struct Stream {
    tcp: TcpStream,
    stop: Arc<Stop>,
    timeout: Duration,
    deadline_ns: u64,
}

impl Stream {
    /// Connects to the first address of `HOST:PORT` that answers, within [`CONNECT_TIMEOUT`].
    pub fn connect(server: &str, stop: &Arc<Stop>) -> Result<Stream, String> {
        let addresses = server.to_socket_addrs().map_err(|error| {
            format!("server \"{server}\": {error}; write HOST:PORT with a name that resolves here")
        })?;
        let give_up_ns = monotonic_ns() + CONNECT_TIMEOUT.as_nanos() as u64;
        let mut reason = "its name has no address".to_string();
        for address in addresses {
            let left = Duration::from_nanos(give_up_ns.saturating_sub(monotonic_ns()));
            if left.is_zero() {
                break;
            }
            match TcpStream::connect_timeout(&address, left)
                .and_then(|tcp| Self::prepared(tcp, stop))
            {
                Ok(stream) => return Ok(stream),
                Err(error) => reason = format!("{address}: {error}"),
            }
        }
        Err(format!(
            "cannot reach the server {server}: {reason}; is it running, and is the address right?"
        ))
    }

    fn prepared(tcp: TcpStream, stop: &Arc<Stop>) -> io::Result<Stream> {
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(TICK))?;
        tcp.set_write_timeout(Some(TICK))?;
        Ok(Stream {
            tcp,
            stop: Arc::clone(stop),
            timeout: OPERATION_TIMEOUT,
            deadline_ns: 0,
        })
    }

    /// Our address and the server's.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((self.tcp.local_addr()?, self.tcp.peer_addr()?))
    }

    /// Starts the clock of an operation: what follows must be done within its time-out.
    pub fn begin(&mut self) {
        self.deadline_ns = monotonic_ns() + self.timeout.as_nanos() as u64;
    }

    /// Sends all of it.
    pub fn send(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            match self.tcp.write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) => self.wait_again(error)?,
            }
        }
        Ok(())
    }

    /// Waits for bytes and returns how many came: at least one, at most `buffer.len()`.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.tcp.read(buffer) {
                Ok(0) => return Err(Failure::Lost("the server closed the connection".into())),
                Ok(count) => return Ok(count),
                Err(error) => self.wait_again(error)?,
            }
        }
    }

    fn wait_again(&self, error: io::Error) -> Result<(), Failure> {
        // The short wait of the kernel that has passed is WouldBlock; TimedOut is TCP itself giving up on the peer.
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock if self.stop.reason().is_some() => Err(Failure::Stopped),
            io::ErrorKind::WouldBlock if monotonic_ns() < self.deadline_ns => Ok(()),
            io::ErrorKind::WouldBlock => Err(Failure::Lost(format!(
                "no answer within {} s",
                self.timeout.as_secs()
            ))),
            _ => Err(Failure::Lost(error.to_string())),
        }
    }
}
