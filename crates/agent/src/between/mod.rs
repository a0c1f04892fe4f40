//! `crosswind-agent between`: measures the network between this machine and another one, which runs the same.
//!
//! Requests are JSON lines on the standard streams, as of the agent (docs/reference/contracts.md, section 2). Sockets
//! are open from `open` to `close`, in the network namespace where the program was started; it needs no privileges and
//! makes nothing else. Datagrams and connections carry a code with the key of this meeting, which both ends get over
//! ssh. It ends with its input, or when no request comes for the length of its lease.
//!
//! * [`exchange`]: small datagrams both ways, with instants: delays, losses, and the other clock.
//! * [`transfer`]: bulk over TCP.
//! * [`sealed`]: the sockets' code and stamps.

mod exchange;
mod sealed;
mod transfer;

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::unistd::geteuid;
use serde::Deserialize;
use serde_json::{json, Value};

use crate::account::Account;
use crate::failure::Failure;
use crate::protocol::{self, Writer};
use crate::session::{hello, key_of};
use exchange::Probing;
pub use exchange::Wall;
use sealed::{Sealed, Secret};
use transfer::Window;

/// Longest request.
const LINE_BYTES_MAX: u64 = 65_536;

/// The requests.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    Hello {},
    Lease {
        seconds: u64,
    },
    /// Open the sockets of a meeting.
    Open {
        /// Of this machine.
        address: IpAddr,
        /// 32 bytes in hexadecimal; both ends have the same.
        key: String,
        /// 0 or 1; the other end has the other one.
        side: u16,
    },
    /// Exchange datagrams with the other end, which gets the same request.
    Exchange(Probing),
    /// Take what the other end sends.
    Receive(Window),
    /// Send as fast as TCP goes.
    Send {
        to: SocketAddr,
        window: Window,
    },
    Close {},
}

/// What is open.
struct Meeting {
    datagrams: Sealed,
    connections: TcpListener,
    secret: Secret,
}

struct Service {
    meeting: Option<Meeting>,
    lease: Option<Duration>,
    /// The input has ended; measurements end too.
    ended: Arc<AtomicBool>,
}

/// Serves requests on the standard streams until the input ends or the lease runs out.
pub fn serve() -> ExitCode {
    match serve_streams() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crosswind-agent between: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve_streams() -> io::Result<()> {
    let mut writer = Writer::new(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    let ended = Arc::new(AtomicBool::new(false));
    let lines = lines_of(io::stdin(), Arc::clone(&ended));
    let mut service = Service { meeting: None, lease: None, ended };
    loop {
        let line = match service.lease {
            None => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(lease) => lines.recv_timeout(lease),
        };
        match line {
            Ok(line) => {
                let (id, request) = protocol::parse(&line);
                let outcome = request.and_then(|request| service.carry_out(request));
                writer.patience = service.lease;
                writer.reply(id, &outcome)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                eprintln!("crosswind-agent between: no request for the length of the lease");
                return Ok(());
            }
        }
    }
}

/// The lines of the input, read on a thread of its own, so that its end is noticed at any time.
fn lines_of(input: impl Read + Send + 'static, ended: Arc<AtomicBool>) -> Receiver<Vec<u8>> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        let mut input = io::BufReader::new(input);
        loop {
            let mut line = Vec::new();
            match input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            if !line.trim_ascii().is_empty() && sender.send(line).is_err() {
                break;
            }
        }
        ended.store(true, Ordering::Relaxed);
    });
    lines
}

impl Service {
    fn carry_out(&mut self, request: Request) -> Result<Value, Failure> {
        match request {
            Request::Hello {} => Ok(hello(!geteuid().is_root(), Account::for_applications())),
            Request::Lease { seconds } if seconds > 0 => {
                self.lease = Some(Duration::from_secs(seconds));
                Ok(json!({}))
            }
            Request::Lease { seconds } => {
                Err(Failure::invalid(format!("lease: {seconds} seconds: must be at least 1")))
            }
            Request::Open { address, key, side } => self.open(address, &key, side),
            Request::Exchange(probing) => {
                let ended = Arc::clone(&self.ended);
                let meeting = self.meeting("exchange")?;
                let found = exchange::exchange(&mut meeting.datagrams, &probing, &ended)?;
                serde_json::to_value(found).map_err(|error| Failure::internal(format!("exchange: {error}")))
            }
            Request::Receive(window) => {
                let ended = Arc::clone(&self.ended);
                let meeting = self.meeting("receive")?;
                transfer::receive(&meeting.connections, &meeting.secret, &window, &ended)
            }
            Request::Send { to, window } => {
                let ended = Arc::clone(&self.ended);
                let meeting = self.meeting("send")?;
                transfer::send(to, &meeting.secret, &window, &ended)
            }
            Request::Close {} => {
                self.meeting = None;
                Ok(json!({}))
            }
        }
    }

    fn open(&mut self, address: IpAddr, key: &str, side: u16) -> Result<Value, Failure> {
        let secret = Secret::of(&key_of(key)?, side)?;
        // The sockets of the meeting before are closed first.
        self.meeting = None;
        let refused = |error: io::Error| {
            Failure::preflight(format!("open {address}: {error}; name an address of this machine"))
        };
        let connections = TcpListener::bind(SocketAddr::new(address, 0)).map_err(refused)?;
        let datagrams = Sealed::open(address, secret.clone()).map_err(refused)?;
        let at = json!({
            "datagrams": datagrams.address().map_err(refused)?,
            "connections": connections.local_addr().map_err(refused)?,
        });
        self.meeting = Some(Meeting { datagrams, connections, secret });
        Ok(at)
    }

    fn meeting(&mut self, request: &str) -> Result<&mut Meeting, Failure> {
        self.meeting
            .as_mut()
            .ok_or_else(|| Failure::invalid(format!("{request}: no sockets are open; request `open` first")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Request, Failure> {
        protocol::parse(line.as_bytes()).1
    }

    fn probing(to: SocketAddr, count: u32, per_s: u32) -> Probing {
        Probing { to, count, per_s }
    }

    #[test]
    fn requests_are_read_and_unknown_keys_are_errors() {
        assert_eq!(read(r#"{"id": 1, "do": "close"}"#), Ok(Request::Close {}));
        assert_eq!(
            read(r#"{"id": 1, "do": "exchange", "to": "10.0.0.1:7", "count": 400, "per_s": 200}"#),
            Ok(Request::Exchange(probing("10.0.0.1:7".parse().unwrap(), 400, 200)))
        );
        assert!(read(r#"{"id": 1, "do": "close", "now": true}"#).unwrap_err().message.contains("now"));
        let window = r#"{"connections": 1, "warm_up_ns": 1, "window_ns": 2, "part_ns": 1, "now": 1}"#;
        let send = format!(r#"{{"id": 1, "do": "send", "to": "[::1]:7", "window": {window}}}"#);
        assert!(read(&send).unwrap_err().message.contains("now"));
        assert!(read(r#"{"id": 1, "do": "up"}"#).unwrap_err().message.contains("up"));
    }

    #[test]
    fn no_damage_to_any_request_can_end_the_reader() {
        crosswind_fuzz::corpus::run("protocol", 1_000, |line| drop(protocol::parse::<Request>(line)));
    }

    #[test]
    fn without_sockets_nothing_is_measured() {
        let mut service = Service { meeting: None, lease: None, ended: Arc::default() };
        let window = Window { connections: 1, warm_up_ns: 1, window_ns: 1, part_ns: 1 };
        let refused = service.carry_out(Request::Receive(window)).unwrap_err();
        assert!(refused.message.contains("request `open` first"), "{refused:?}");
        assert!(service.open("127.0.0.1".parse().unwrap(), "00", 0).is_err());
        assert!(service.open("127.0.0.1".parse().unwrap(), &"00".repeat(32), 2).is_err());
    }

    /// Both ends of a meeting on this machine.
    fn both() -> [(Service, Value); 2] {
        [0, 1].map(|side| {
            let mut service = Service { meeting: None, lease: None, ended: Arc::default() };
            let at = service.open("127.0.0.1".parse().unwrap(), &"5a".repeat(32), side).unwrap();
            (service, at)
        })
    }

    fn address(at: &Value, key: &str) -> SocketAddr {
        at[key].as_str().unwrap().parse().unwrap()
    }

    #[test]
    fn two_ends_of_this_machine_measure_each_other() {
        let [(mut near, near_at), (mut far, far_at)] = both();
        let (to_near, to_far) = (address(&near_at, "datagrams"), address(&far_at, "datagrams"));
        let other = thread::spawn(move || {
            let found = far.carry_out(Request::Exchange(probing(to_near, 40, 400)));
            (far, found)
        });
        let found = near.carry_out(Request::Exchange(probing(to_far, 40, 400))).unwrap();
        let (mut far, theirs) = other.join().unwrap();
        for found in [&found, &theirs.unwrap()] {
            assert_eq!(found["sent"], 40);
            assert_eq!(found["arrived"].as_array().unwrap().len(), 40);
            assert_eq!(found["answered"].as_array().unwrap().len(), 40);
            let clock = found["clocks"].as_array().unwrap().last().unwrap();
            // It is the same clock.
            let (offset, bound) = (clock["offset_ns"].as_i64().unwrap(), clock["bound_ns"].as_i64().unwrap());
            assert!(offset.abs() <= bound, "{clock}");
        }
        let window =
            || Window { connections: 2, warm_up_ns: 50_000_000, window_ns: 200_000_000, part_ns: 50_000_000 };
        let to = address(&far_at, "connections");
        let other = thread::spawn(move || far.carry_out(Request::Receive(window())));
        let sent = near.carry_out(Request::Send { to, window: window() }).unwrap();
        let received = other.join().unwrap().unwrap();
        for connection in received["connections"].as_array().unwrap() {
            let series = connection["series"].as_array().unwrap();
            assert_eq!(series.len(), 5);
            assert!(series.iter().skip(1).any(|part| part.as_u64() > Some(0)), "{connection}");
        }
        assert_eq!(sent["connections"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn the_end_of_the_input_ends_a_measurement() {
        let [(mut near, _), (_far, far_at)] = both();
        near.ended.store(true, Ordering::Relaxed);
        let to = address(&far_at, "datagrams");
        assert!(near.carry_out(Request::Exchange(probing(to, 1, 1))).is_err());
    }
}
