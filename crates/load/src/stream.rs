//! A blocking TCP connection whose every operation has a deadline, and which notices a request to stop.
//!
//! The kernel's own time-out is short, and the loop around it looks at the deadline and at the request to stop each time:
//! a server that trickles bytes cannot stretch an operation, and a silent one cannot hold up the end of a run. Both are
//! noticed within [`TICK`].

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::monotonic_ns;
use crate::failure::Failure;
use crate::stop::Stop;

/// Longest wait for a connection to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How soon a deadline that has passed, or a request to stop, is noticed at the latest.
pub const TICK: Duration = Duration::from_millis(250);

/// How long a connection may take to be made in this run: no longer than an operation.
pub fn connect_timeout(stop: &Stop) -> Duration {
    stop.patience().min(CONNECT_TIMEOUT)
}

/// A connection to a server, with TCP_NODELAY.
pub struct Stream {
    server: String,
    tcp: TcpStream,
    stop: Arc<Stop>,
    timeout: Duration,
    deadline_ns: u64,
}

impl Stream {
    /// Connects to the first address of `HOST:PORT` that answers, within [`connect_timeout`].
    pub fn connect(server: &str, stop: &Arc<Stop>) -> Result<Stream, String> {
        let addresses = server.to_socket_addrs().map_err(|error| {
            format!("server \"{server}\": {error}; write HOST:PORT with a name that resolves here")
        })?;
        let give_up_ns = monotonic_ns() + connect_timeout(stop).as_nanos() as u64;
        let mut reason = "its name has no address".to_string();
        for address in addresses {
            let left = Duration::from_nanos(give_up_ns.saturating_sub(monotonic_ns()));
            if left.is_zero() {
                break;
            }
            match TcpStream::connect_timeout(&address, left).and_then(|tcp| Self::prepared(server, tcp, stop))
            {
                Ok(stream) => return Ok(stream),
                Err(error) => reason = format!("{address}: {error}"),
            }
        }
        Err(format!("cannot reach the server {server}: {reason}; is it running, and is the address right?"))
    }

    fn prepared(server: &str, tcp: TcpStream, stop: &Arc<Stop>) -> io::Result<Stream> {
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(TICK))?;
        tcp.set_write_timeout(Some(TICK))?;
        Ok(Stream {
            server: server.to_owned(),
            tcp,
            stop: Arc::clone(stop),
            timeout: stop.patience(),
            deadline_ns: 0,
        })
    }

    /// A new connection to the same server.
    pub fn again(&self) -> Result<Stream, String> {
        Stream::connect(&self.server, &self.stop)
    }

    /// Our address and the server's.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((self.tcp.local_addr()?, self.tcp.peer_addr()?))
    }

    /// The socket itself, to read or set its options.
    pub fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// The socket alone, for callers that do their own waiting.
    pub fn into_nonblocking(self) -> io::Result<TcpStream> {
        self.tcp.set_nonblocking(true)?;
        Ok(self.tcp)
    }

    /// Sets how long an operation may take; that of the run at first.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Starts the clock of an operation: what follows must be done within its time-out.
    pub fn begin(&mut self) {
        self.deadline_ns = monotonic_ns() + self.timeout.as_nanos() as u64;
    }

    /// Sends all of it.
    pub fn send(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            self.check_deadline()?;
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
            self.check_deadline()?;
            match self.tcp.read(buffer) {
                Ok(0) => return Err(Failure::Lost("the server closed the connection".into())),
                Ok(count) => return Ok(count),
                Err(error) => self.wait_again(error)?,
            }
        }
    }

    fn check_deadline(&self) -> Result<(), Failure> {
        if monotonic_ns() < self.deadline_ns {
            Ok(())
        } else {
            Err(Failure::Lost(format!("no complete answer within {:?}", self.timeout)))
        }
    }

    fn wait_again(&self, error: io::Error) -> Result<(), Failure> {
        // The short wait of the kernel that has passed is WouldBlock; TimedOut is TCP itself giving up on the peer.
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock if self.stop.reason().is_some() => Err(Failure::Stopped),
            io::ErrorKind::WouldBlock => Ok(()),
            _ => Err(Failure::Lost(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (Stream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut stream = Stream::connect(&address, &Arc::new(Stop::new())).unwrap();
        stream.set_timeout(Duration::from_millis(100));
        (stream, listener.accept().unwrap().0)
    }

    #[test]
    fn a_silent_server_costs_the_time_out_and_the_connection() {
        let (mut stream, _silent) = pair();
        stream.begin();
        let failure = stream.receive(&mut [0; 8]).unwrap_err();
        assert_eq!(failure, Failure::Lost("no complete answer within 100ms".into()));
    }

    #[test]
    fn a_server_that_trickles_bytes_cannot_stretch_an_operation() {
        let (mut stream, mut trickling) = pair();
        std::thread::spawn(move || {
            while trickling.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        stream.begin();
        let failure = loop {
            if let Err(failure) = stream.receive(&mut [0; 8]) {
                break failure;
            }
        };
        assert_eq!(failure, Failure::Lost("no complete answer within 100ms".into()));
    }

    #[test]
    fn a_name_without_a_port_is_refused_with_the_form_to_write() {
        let message = Stream::connect("db0", &Arc::new(Stop::new())).err().unwrap();
        assert!(message.contains("\"db0\"") && message.contains("HOST:PORT"), "{message}");
    }
}
