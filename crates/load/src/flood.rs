//! Sends more packets than a path can carry, evenly spaced, and records when each arrived. Rates and bursts are measured so.
//!
//! Packets are sent in super-packets of `train` (see [`crate::udp`]), so that one core can send several Gbit/s. The
//! sender sleeps until shortly before each instant and spins the rest; where it falls behind it catches up. Some
//! trains go ahead at a quarter of the rate, without a pause before the flood, so that its first ones do not find sleeping
//! programs and fresh memory on their way.
//!
//! Both ends print a line of JSON when they are done, so that an interrupted flood can be recognised. The sender reports
//! how late its latest call was and how long it sent, the receiver how many packets its own buffer had no room for.

use std::fs;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{monotonic_ns, Clock, WallClock};
use crate::exit::Failed;
use crate::stop::Stop;
use crate::udp::{self, Received};

/// IPv4 and UDP, in front of every payload.
const HEADER_BYTES: u64 = 28;
/// Waking up takes about 25 us, rarely 60.
const SPIN_NS: u64 = 60_000;
/// Trains at a quarter of the rate go ahead of the flood: for this time, but at least this number of trains.
const AHEAD_NS: f64 = 20e6;
const AHEAD: u64 = 3;
const AHEAD_GAPS: u64 = 4;

/// The packets that are sent.
pub struct Packets {
    /// IP bits per second.
    pub rate_bps: f64,
    /// Of each packet; at least 1.
    pub payload_bytes: u16,
    /// Packets in each call, 1 to 64.
    pub train: u16,
    pub duration_s: f64,
}

/// Sends packets to `HOST:PORT` until their duration is over.
pub fn send(to: &str, packets: &Packets, stop: &Arc<Stop>) -> Result<(), Failed> {
    let unreachable = |error: io::Error| Failed::Unreachable(format!("{to}: {error}"));
    let segment = usize::from(packets.payload_bytes);
    let bytes = segment * usize::from(packets.train);
    if bytes > LARGEST_PAYLOAD_BYTES {
        return Err(Failed::Usage(format!(
            "--train {} of {segment} bytes: {bytes} bytes in one call, more than {LARGEST_PAYLOAD_BYTES}; send shorter trains",
            packets.train
        )));
    }
    let socket = UdpSocket::bind("0.0.0.0:0").map_err(unreachable)?;
    socket.connect(to).map_err(unreachable)?;
    if packets.train > 1 {
        udp::send_merged(&socket, packets.payload_bytes).map_err(unreachable)?;
    }
    let clock = WallClock::for_this_thread(stop);
    let train = vec![0; bytes];
    let ip_bits = (bytes as u64 + HEADER_BYTES * u64::from(packets.train)) * 8;
    let gap_ns = ip_bits as f64 * 1e9 / packets.rate_bps;
    let ahead = trains_ahead(gap_ns);
    let trains = (packets.duration_s * 1e9 / gap_ns).ceil() as u64;
    let started = monotonic_ns() + 1_000_000;
    let (mut sent, mut latest_ns, mut ended) = (0, 0, started);
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
        latest_ns = latest_ns.max(monotonic_ns().saturating_sub(due));
        // A full buffer or a refused packet is a lost packet, which the receiver does not see.
        if socket.send(&train).is_ok() {
            sent += u64::from(packets.train);
        }
        ended = monotonic_ns();
    }
    let lasted_ns = ended - started;
    println!("{}", serde_json::json!({"packets": sent, "latest_ns": latest_ns, "lasted_ns": lasted_ns}));
    Ok(())
}

fn trains_ahead(gap_ns: f64) -> u64 {
    AHEAD.max((AHEAD_NS / (AHEAD_GAPS as f64 * gap_ns)) as u64)
}

/// The largest UDP payload over IPv4.
const LARGEST_PAYLOAD_BYTES: usize = 65_507;

/// Receives until silence; writes `received_ns,bytes,segment_bytes`, one row for each call.
pub fn receive(listen: &str, silence: Duration, out: &Path, stop: &Stop) -> Result<(), Failed> {
    let unreachable = |error: io::Error| Failed::Unreachable(format!("{listen}: {error}"));
    let socket = udp::listen(listen, silence)
        .and_then(|socket| udp::receive_merged(&socket).map(|()| socket))
        .map_err(unreachable)?;
    println!("listening {listen}");
    let mut rows: Vec<Received> = Vec::with_capacity(1 << 16);
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
    write(out, &rows).map_err(|error| Failed::Internal(format!("{}: {error}", out.display())))?;
    println!("{}", serde_json::json!({"overflowed": rows.last().map_or(0, |last| last.overflowed)}));
    Ok(())
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
        let (address, file, silence) = (listen.clone(), out.clone(), Duration::from_millis(300));
        let receiving = std::thread::spawn(move || receive(&address, silence, &file, &Stop::new()));
        while UdpSocket::bind(&listen).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // 10 packets of 1000 bytes on the IP layer are 80 000 bits: one train a millisecond, 50 of them.
        let packets = Packets { rate_bps: 80e6, payload_bytes: 972, train: 10, duration_s: 0.05 };
        send(&listen, &packets, &Arc::new(Stop::new())).unwrap();
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
        let packets = Packets { rate_bps: 1e6, payload_bytes: 1472, train: 64, duration_s: 1.0 };
        let refused = send("127.0.0.1:9", &packets, &Arc::new(Stop::new())).unwrap_err();
        assert!(refused.to_string().contains("shorter trains"));
    }
}
