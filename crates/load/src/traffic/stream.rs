//! Bytes without end: one end writes until the window is over, the other reads until then and counts.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::cpu::Cpu;
use super::meter::{Counted, Meter, Window};
use super::progress::{Progress, Totals};
use super::round_trip::RoundTrip;
use super::tcp;
use crate::clock::monotonic_ns;
use crate::stop::Stop;

/// How late a blocked end notices that the window is over.
const TICK: Duration = Duration::from_millis(100);
const READ_BYTES: usize = 256 << 10;

/// How one end finished.
#[derive(Debug)]
pub struct Ended {
    pub cpu_ns: u64,
    /// Averaged over the window; `None` at the receiver, and where the kernel does not say.
    pub rtt_us: Option<u32>,
    /// Why it ended before the window did, if so.
    pub lost: Option<String>,
}

/// Writes until the window is over.
pub fn send(
    mut connection: &TcpStream,
    write_bytes: usize,
    window: Window,
    stop: &Stop,
    mut progress: Progress,
) -> Ended {
    let bytes = vec![0; write_bytes];
    let (mut cpu, mut round_trip) = (Cpu::from(window.from_ns), RoundTrip::new(window));
    let totals = |cpu: &Cpu| {
        let info = tcp::info(connection).ok();
        Totals {
            bytes: None,
            retransmits: info.map(|info| info.retransmits),
            rtt_us: info.map(|info| info.rtt_us),
            cpu_ns: cpu.spent_ns(),
        }
    };
    let mut lost = connection.set_write_timeout(Some(TICK)).err().map(|error| error.to_string());
    while lost.is_none() && stop.reason().is_none() {
        let now_ns = monotonic_ns();
        if window.is_over(now_ns) {
            break;
        }
        cpu.look(now_ns);
        round_trip.look(now_ns, connection);
        progress.look(now_ns, || totals(&cpu));
        lost = connection.write(&bytes).err().and_then(|error| reason(&error, window, "receiver"));
    }
    progress.finish(monotonic_ns(), || totals(&cpu), lost.as_deref());
    Ended { cpu_ns: cpu.spent_ns(), rtt_us: round_trip.mean_us(connection), lost }
}

/// Reads until the window is over, and counts.
pub fn receive(
    mut connection: &TcpStream,
    window: Window,
    part_ns: u64,
    mut progress: Progress,
) -> (Counted, Ended) {
    let mut bytes = vec![0; READ_BYTES];
    let mut meter = Meter::new(window, part_ns);
    let mut cpu = Cpu::from(window.from_ns);
    let totals = |meter: &Meter, cpu: &Cpu| Totals {
        bytes: Some(meter.total_bytes()),
        cpu_ns: cpu.spent_ns(),
        ..Totals::default()
    };
    let mut lost = connection.set_read_timeout(Some(TICK)).err().map(|error| error.to_string());
    while lost.is_none() && !window.is_over(monotonic_ns()) {
        let result = connection.read(&mut bytes);
        let now_ns = monotonic_ns();
        cpu.look(now_ns);
        progress.look(now_ns, || totals(&meter, &cpu));
        match result {
            Ok(0) if !window.is_over(now_ns) => lost = Some("the sender closed it".into()),
            Ok(count) => meter.add(now_ns, count as u64),
            Err(error) => lost = reason(&error, window, "sender"),
        }
    }
    progress.finish(monotonic_ns(), || totals(&meter, &cpu), lost.as_deref());
    (meter.into_counted(), Ended { cpu_ns: cpu.spent_ns(), rtt_us: None, lost })
}

/// Why a connection is lost; `None` for a wait that was only long, and for an end that came after the window's.
fn reason(error: &io::Error, window: Window, peer: &str) -> Option<String> {
    match error.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => None,
        _ if window.is_over(monotonic_ns()) => None,
        _ => Some(format!("the {peer} is gone: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::progress::End;
    use super::*;
    use std::net::TcpListener;

    const MS: u64 = 1_000_000;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (sender, listener.accept().unwrap().0)
    }

    fn window(length_ms: u64) -> Window {
        let start_ns = monotonic_ns();
        Window { start_ns, from_ns: start_ns + 20 * MS, to_ns: Some(start_ns + length_ms * MS) }
    }

    fn silent(window: Window) -> Progress {
        Progress::new(0, End::Receiver, window, None)
    }

    #[test]
    fn both_ends_stop_with_the_window_and_neither_calls_it_a_loss() {
        let (sender, receiver) = pair();
        let window = window(120);
        let sending =
            std::thread::spawn(move || send(&sender, 64 << 10, window, &Stop::new(), silent(window)));
        let (counted, ended) = receive(&receiver, window, 10 * MS, silent(window));
        drop(receiver);
        assert!(monotonic_ns() >= window.to_ns.unwrap());
        assert_eq!((ended.lost, sending.join().unwrap().lost), (None, None));
        assert!(counted.window_bytes > 0 && counted.window_bytes <= counted.total_bytes);
        assert!(counted.series.len() >= 10, "{} parts of 10 ms", counted.series.len());
    }

    #[test]
    fn a_silent_sender_holds_nobody_up() {
        let (_sender, receiver) = pair();
        let window = window(60);
        let (counted, ended) = receive(&receiver, window, 10 * MS, silent(window));
        assert_eq!((counted.total_bytes, counted.last_ns, ended.lost), (0, None, None));
        assert!(monotonic_ns() < window.to_ns.unwrap() + 1_000 * MS);
    }

    #[test]
    fn a_peer_that_goes_before_the_end_is_a_loss_at_both_ends() {
        let (sender, receiver) = pair();
        drop(sender);
        let window = window(10_000);
        let (_, ended) = receive(&receiver, window, 10 * MS, silent(window));
        assert_eq!(ended.lost.unwrap(), "the sender closed it");
        let (sender, receiver) = pair();
        drop(receiver);
        let ended = send(&sender, 1 << 20, window, &Stop::new(), silent(window));
        assert!(ended.lost.unwrap().starts_with("the receiver is gone"));
    }
}
