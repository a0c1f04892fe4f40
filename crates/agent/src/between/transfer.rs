//! Bulk over TCP from one end to the other: bytes are counted where they arrive, in parts of a window.
//!
//! The sender opens its connections, and says on each which one it is, with the code of its direction. When all are
//! there, the receiver answers on each, with the code of the other one; then the sender begins. The receiver's clock
//! counts from the first byte, so no clocks are compared. The sender goes on a little longer than the window is, and then
//! forgets what it has not sent, so that nothing is left in the network.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crosswind_tunnel::{seal_in_place, verified, Key, CODE_BYTES};
use nix::sys::socket::{setsockopt, sockopt};
use nix::time::ClockId;
use serde::Deserialize;
use serde_json::{json, Value};

use super::sealed::{monotonic_ns, nanoseconds, Secret};
use crate::failure::Failure;

const SECOND: u64 = 1_000_000_000;
/// For connecting over a lossy path, and for the other end to begin.
const PATIENCE: Duration = Duration::from_secs(10);
/// For the first bytes of a connection that was taken.
const GREETING: Duration = Duration::from_secs(3);
/// How often the end of the input is looked for.
const LOOK: Duration = Duration::from_millis(100);
/// The sender goes on for longer than the window, because the receiver's began later.
const BEYOND_NS: u64 = 300_000_000;
const BUFFER_BYTES: usize = 128 << 10;
const CONNECTIONS_MAX: u32 = 1_000;
const WINDOW_NS_MAX: u64 = 3_600 * SECOND;
const PARTS_MAX: u64 = 100_000;

/// What is measured; both ends get the same.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    pub connections: u32,
    /// From the first byte to the window.
    pub warm_up_ns: u64,
    pub window_ns: u64,
    pub part_ns: u64,
}

impl Window {
    fn check(&self, request: &str) -> Result<(), Failure> {
        let total = self.warm_up_ns.saturating_add(self.window_ns);
        if !(1..=CONNECTIONS_MAX).contains(&self.connections)
            || self.window_ns == 0
            || total > WINDOW_NS_MAX
            || self.part_ns == 0
            || total / self.part_ns > PARTS_MAX
        {
            return Err(Failure::invalid(format!(
                "{request}: {self:?}: at most {CONNECTIONS_MAX} connections, an hour, and {PARTS_MAX} parts"
            )));
        }
        Ok(())
    }

    fn end_ns(&self) -> u64 {
        self.warm_up_ns + self.window_ns
    }

    fn parts(&self) -> usize {
        self.end_ns().div_ceil(self.part_ns) as usize
    }
}

/// A number with its code: 12 bytes.
const GREETING_BYTES: usize = 4 + CODE_BYTES;

fn greeting(number: u32, key: &Key) -> [u8; GREETING_BYTES] {
    let mut bytes = [0; GREETING_BYTES];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    seal_in_place(key, &mut bytes);
    bytes
}

fn greeted(mut stream: &TcpStream, key: &Key) -> Option<u32> {
    let mut bytes = [0; GREETING_BYTES];
    stream.read_exact(&mut bytes).ok()?;
    verified(key, &bytes)?.try_into().map(u32::from_be_bytes).ok()
}

fn look(ended: &AtomicBool, request: &str) -> Result<(), Failure> {
    if ended.load(Ordering::Relaxed) {
        return Err(Failure::internal(format!("{request}: the input has ended")));
    }
    Ok(())
}

/// Takes the connections of the other end, and counts what arrives.
pub fn receive(
    listener: &TcpListener,
    secret: &Secret,
    window: &Window,
    ended: &AtomicBool,
) -> Result<Value, Failure> {
    window.check("receive")?;
    let failed = |error: io::Error| Failure::preflight(format!("receive: {error}"));
    let streams = accept(listener, secret, window, ended)?;
    for (number, mut stream) in (0..).zip(&streams) {
        stream.set_read_timeout(Some(LOOK)).map_err(failed)?;
        stream.write_all(&greeting(number, &secret.own)).map_err(failed)?;
    }
    let begun = &OnceLock::new();
    let until_ns = monotonic_ns() + window.end_ns() + BEYOND_NS + PATIENCE.as_nanos() as u64;
    let counted: Vec<Value> = thread::scope(|scope| {
        let threads: Vec<_> =
            streams.iter().map(|it| scope.spawn(move || count(it, window, begun, until_ns, ended))).collect();
        threads.into_iter().map(|it| it.join().unwrap_or_default()).collect()
    });
    look(ended, "receive")?;
    Ok(json!({ "connections": counted }))
}

fn accept(
    listener: &TcpListener,
    secret: &Secret,
    window: &Window,
    ended: &AtomicBool,
) -> Result<Vec<TcpStream>, Failure> {
    let failed = |error: io::Error| Failure::preflight(format!("receive: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    let deadline = Instant::now() + PATIENCE;
    let mut streams: Vec<Option<TcpStream>> = (0..window.connections).map(|_| None).collect();
    while streams.iter().any(Option::is_none) {
        look(ended, "receive")?;
        if Instant::now() >= deadline {
            let there = streams.iter().flatten().count();
            return Err(Failure::preflight(format!(
                "receive: {there} of {} connections came within {} s; let TCP pass between the machines",
                window.connections,
                PATIENCE.as_secs()
            )));
        }
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_read_timeout(Some(GREETING)).map_err(failed)?;
                // One that has no code of this meeting is a stranger's, and is closed.
                let free = greeted(&stream, &secret.other)
                    .and_then(|number| streams.get_mut(number as usize))
                    .filter(|free| free.is_none());
                if let Some(free) = free {
                    *free = Some(stream);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOOK / 20),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(streams.into_iter().flatten().collect())
}

/// Reads a connection to its end.
fn count(
    mut stream: &TcpStream,
    window: &Window,
    begun: &OnceLock<u64>,
    until_ns: u64,
    ended: &AtomicBool,
) -> Value {
    let mut series = vec![0u64; window.parts()];
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut cpu = Cpu::default();
    let mut total = 0;
    loop {
        let read = stream.read(&mut buffer);
        let now = monotonic_ns();
        match read {
            Ok(0) => break,
            Ok(length) => {
                let since = now.saturating_sub(*begun.get_or_init(|| now));
                total += length as u64;
                if let Some(part) = series.get_mut((since / window.part_ns) as usize) {
                    *part += length as u64;
                }
                cpu.look(since, window);
            }
            Err(error) if is_for_now(&error) => {}
            // The sender has forgotten the rest.
            Err(_) => break,
        }
        if now >= until_ns || ended.load(Ordering::Relaxed) {
            break;
        }
    }
    json!({ "series": series, "total_bytes": total, "cpu_ns": cpu.spent() })
}

/// Connects to the other end, and sends for as long as the window lasts.
pub fn send(to: SocketAddr, secret: &Secret, window: &Window, ended: &AtomicBool) -> Result<Value, Failure> {
    window.check("send")?;
    let failed = |error: io::Error| {
        Failure::preflight(format!("send to {to}: {error}; let TCP pass between the machines"))
    };
    let mut streams = Vec::new();
    for number in 0..window.connections {
        look(ended, "send")?;
        let mut stream = TcpStream::connect_timeout(&to, PATIENCE).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE + GREETING)).map_err(failed)?;
        stream.set_write_timeout(Some(LOOK)).map_err(failed)?;
        let forget = libc::linger { l_onoff: 1, l_linger: 0 };
        setsockopt(&stream, sockopt::Linger, &forget).map_err(|error| failed(error.into()))?;
        stream.write_all(&greeting(number, &secret.own)).map_err(failed)?;
        streams.push(stream);
    }
    for (number, stream) in (0..).zip(&streams) {
        if greeted(stream, &secret.other) != Some(number) {
            return Err(Failure::preflight(format!(
                "send to {to}: connection {number} was not taken; does the other end still run?"
            )));
        }
    }
    let begun = monotonic_ns();
    let results: Vec<io::Result<Value>> = thread::scope(|scope| {
        let threads: Vec<_> =
            streams.iter().map(|it| scope.spawn(move || fill(it, window, begun, ended))).collect();
        threads
            .into_iter()
            .map(|it| it.join().unwrap_or_else(|_| Err(io::Error::other("a thread has died"))))
            .collect()
    });
    look(ended, "send")?;
    let sent = results.into_iter().collect::<io::Result<Vec<_>>>().map_err(failed)?;
    Ok(json!({ "connections": sent }))
}

/// Writes to a connection until the end of the window, and a little longer.
fn fill(mut stream: &TcpStream, window: &Window, begun: u64, ended: &AtomicBool) -> io::Result<Value> {
    let buffer: Vec<u8> =
        (0..BUFFER_BYTES as u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut cpu = Cpu::default();
    let end = window.end_ns() + BEYOND_NS;
    loop {
        let since = monotonic_ns() - begun;
        cpu.look(since, window);
        if since >= end || ended.load(Ordering::Relaxed) {
            break;
        }
        match stream.write(&buffer) {
            Ok(_) => {}
            Err(error) if is_for_now(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let info = tcp_info(stream)?;
    Ok(json!({
        "retransmits": info.tcpi_total_retrans,
        "rtt_us": info.tcpi_rtt,
        "mss_bytes": info.tcpi_snd_mss,
        "cpu_ns": cpu.spent(),
    }))
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// CPU time of the calling thread within the window.
#[derive(Default)]
struct Cpu {
    first_ns: Option<i64>,
    last_ns: i64,
}

impl Cpu {
    fn look(&mut self, since_ns: u64, window: &Window) {
        if since_ns < window.warm_up_ns || since_ns > window.end_ns() {
            return;
        }
        self.last_ns = nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID);
        self.first_ns.get_or_insert(self.last_ns);
    }

    fn spent(&self) -> i64 {
        self.first_ns.map_or(0, |first| self.last_ns - first)
    }
}

fn tcp_info(connection: &TcpStream) -> io::Result<libc::tcp_info> {
    // SAFETY: all-zero is a valid tcp_info.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `info` is as long as `length` says, and the kernel writes at most that much.
    let result = unsafe {
        libc::getsockopt(
            connection.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        Ok(info)
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_read_with_the_key_of_its_direction() {
        let [near, far] = [0, 1].map(|side| Secret::of(&[3; 32], side).unwrap());
        let bytes = greeting(7, &near.own);
        assert_eq!(verified(&far.other, &bytes), Some(&7u32.to_be_bytes()[..]));
        assert_eq!(verified(&near.other, &bytes), None);
    }

    #[test]
    fn a_window_without_an_end_is_refused() {
        let window = Window { connections: 1, warm_up_ns: 0, window_ns: 1, part_ns: 1 };
        assert!(window.check("send").is_ok());
        for wrong in [
            Window { connections: 0, ..window },
            Window { window_ns: 0, ..window },
            Window { window_ns: u64::MAX, ..window },
            Window { part_ns: 0, ..window },
            Window { window_ns: SECOND, ..window },
        ] {
            assert!(wrong.check("send").is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_stranger_does_not_take_the_place_of_a_connection() {
        let [near, far] = [0, 1].map(|side| Secret::of(&[3; 32], side).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let window = Window { connections: 1, warm_up_ns: 0, window_ns: SECOND / 10, part_ns: SECOND / 10 };
        let mut stranger = TcpStream::connect(to).unwrap();
        stranger.write_all(&[0; GREETING_BYTES]).unwrap();
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let sender = scope.spawn(|| send(to, &near, &window, &ended));
            let received = receive(&listener, &far, &window, &ended).unwrap();
            sender.join().unwrap().unwrap();
            assert!(received["connections"][0]["total_bytes"].as_u64() > Some(0), "{received}");
        });
    }
}
