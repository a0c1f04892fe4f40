//! More packets than a path can take, evenly spaced, and when each arrived: what rates and bursts are measured with.
//!
//! Packets are sent in super-packets of `train` (see [`crate::udp`]), so that one processor offers several Gbit/s. The
//! sender sleeps until shortly before each instant and spins the rest; where it falls behind it catches up. Some
//! trains go ahead at a quarter of the rate, without a pause before the flood, so that its first ones do not find sleeping
//! programs and fresh memory on their way.

use std::fs;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::arguments::{FloodReceive, FloodSend};
use crate::clock::{monotonic_ns, Clock, WallClock};
use crate::exit::Failed;
use crate::stop::Stop;
use crate::udp::{self, Received};

/// IPv4 and UDP, in front of every payload.
const HEADER_BYTES: u64 = 28;
/// Waking up takes about 25 us, rarely 60.
const SPIN_NS: u64 = 60_000;
/// At a quarter of the rate trains go ahead for so long, and at least so many.
const AHEAD_NS: f64 = 20e6;
const AHEAD: u64 = 3;
const AHEAD_GAPS: u64 = 4;

/// Sends for `duration`.
pub fn send(arguments: &FloodSend, stop: &Arc<Stop>) -> Result<(), Failed> {
    let unreachable = |error: io::Error| Failed::Unreachable(format!("{}: {error}", arguments.to));
    let segment = usize::from(arguments.payload_bytes);
    let bytes = segment * usize::from(arguments.train);
    if bytes > LARGEST_PAYLOAD_BYTES {
        return Err(Failed::Usage(format!(
            "--train {} of {segment} bytes: {bytes} bytes in one call, more than {LARGEST_PAYLOAD_BYTES}; send shorter trains",
            arguments.train
        )));
    }
    let socket = UdpSocket::bind("0.0.0.0:0").map_err(unreachable)?;
    socket.connect(&arguments.to).map_err(unreachable)?;
    if arguments.train > 1 {
        udp::send_merged(&socket, arguments.payload_bytes).map_err(unreachable)?;
    }
    let clock = WallClock::for_this_thread(stop);
    let train = vec![0; bytes];
    let ip_bits = (bytes as u64 + HEADER_BYTES * u64::from(arguments.train)) * 8;
    let gap_ns = ip_bits as f64 * 1e9 / arguments.rate_bps;
    let ahead = trains_ahead(gap_ns);
    let trains = (arguments.duration * 1e9 / gap_ns).ceil() as u64;
    let started = monotonic_ns() + 1_000_000;
    let gaps =
        (0..ahead).map(|train| train * AHEAD_GAPS).chain((0..trains).map(|train| ahead * AHEAD_GAPS + train));
    for number in gaps {
        let due = started + (number as f64 * gap_ns) as u64;
        if monotonic_ns() + SPIN_NS < due {
            clock.sleep_until_ns(due - SPIN_NS);
        }
        if stop.reason().is_some() {
            break;
        }
        while monotonic_ns() < due {
            std::hint::spin_loop();
        }
        // A full buffer or a refused packet is a lost packet, which the receiver does not see.
        let _ = socket.send(&train);
    }
    Ok(())
}

fn trains_ahead(gap_ns: f64) -> u64 {
    AHEAD.max((AHEAD_NS / (AHEAD_GAPS as f64 * gap_ns)) as u64)
}

/// The largest UDP payload over IPv4.
const LARGEST_PAYLOAD_BYTES: usize = 65_507;

/// Receives until silence; writes `received_ns,bytes,segment_bytes`, one row for each call.
pub fn receive(arguments: &FloodReceive, stop: &Stop) -> Result<(), Failed> {
    let unreachable = |error: io::Error| Failed::Unreachable(format!("{}: {error}", arguments.listen));
    let socket = udp::listen(&arguments.listen, Duration::from_secs_f64(arguments.silence))
        .and_then(|socket| udp::receive_merged(&socket).map(|()| socket))
        .map_err(unreachable)?;
    println!("listening {}", arguments.listen);
    let mut rows = Vec::with_capacity(1 << 16);
    let mut packet = vec![0; 1 << 16];
    while stop.reason().is_none() {
        match udp::receive(&socket, &mut packet) {
            Ok(received) => rows.push(received),
            // Before the first packet the receiver waits for its sender as long as it takes.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && rows.is_empty() => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(Failed::Internal(format!("receiving: {error}"))),
        }
    }
    write(&arguments.out, &rows)
        .map_err(|error| Failed::Internal(format!("{}: {error}", arguments.out.display())))
}

fn write(path: &Path, rows: &[Received]) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    writeln!(file, "received_ns,bytes,segment_bytes")?;
    for row in rows {
        writeln!(file, "{},{},{}", row.at_ns, row.bytes, row.segment_bytes)?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_arrive_whole_and_at_their_rate() {
        let listen = "127.0.0.1:39582".to_owned();
        let out = std::env::temp_dir().join(format!("flood-{}.csv", std::process::id()));
        let receiver = FloodReceive { listen: listen.clone(), silence: 0.3, out: out.clone() };
        let receiving = std::thread::spawn(move || receive(&receiver, &Stop::new()));
        while UdpSocket::bind(&listen).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // 10 packets of 1000 bytes on the IP layer are 80 000 bits: one train a millisecond, 50 of them.
        let sender = FloodSend { to: listen, rate_bps: 80e6, payload_bytes: 972, train: 10, duration: 0.05 };
        send(&sender, &Arc::new(Stop::new())).unwrap();
        receiving.join().unwrap().unwrap();
        let text = fs::read_to_string(&out).unwrap();
        fs::remove_file(&out).unwrap();
        let bytes: usize =
            text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<usize>().unwrap()).sum();
        assert_eq!(bytes, (50 + trains_ahead(1e6) as usize) * 10 * 972);
        assert!(text.lines().skip(1).all(|line| line.ends_with(",972")));
    }

    #[test]
    fn a_train_that_no_call_can_send_is_refused() {
        let sender = FloodSend {
            to: "127.0.0.1:9".into(),
            rate_bps: 1e6,
            payload_bytes: 1472,
            train: 64,
            duration: 1.0,
        };
        let refused = send(&sender, &Arc::new(Stop::new())).unwrap_err();
        assert!(refused.to_string().contains("shorter trains"));
    }
}
