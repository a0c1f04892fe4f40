//! One-way delay of single UDP packets between two nodes of one machine.
//!
//! The sender writes CLOCK_REALTIME into each packet immediately before the system call; the receiver takes the kernel's own
//! receive stamp (SO_TIMESTAMPNS, same clock), so that waking up the receiving process is not part of the delay. What
//! remains besides the network is the sender's system call: the floor, to be measured over a bare veth pair in the same run.
//!
//! The sender sleeps until shortly before each instant and spins the rest, keeping the kernel's send path warm ([`Warmth`]): at 200
//! packets a second it uses about 6 % of a core, at 1000 a third.
//! The sender prints how late its latest packet was: a receiver that gave up before counts the rest as lost.
//! The instants are planned with gaps between half and one and a half of the mean, because evenly spaced packets would fall
//! into step with what is measured: with a delay of 1 ms each would arrive just when the one before it is due. Gaps can be
//! exponential instead, for queueing theory.
//!
//! Source: RFC 2330, "Framework for IP Performance Metrics", section 11.1 (random additive sampling).

use std::fs;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use crate::clock::{monotonic_ns, Clock, WallClock};
use crate::exit::Failed;
use crate::random::{Purpose, Random};
use crate::stop::Stop;
use crate::udp;
use crate::warmth::Warmth;

/// Sequence number (4 bytes), how much later than planned it was sent (4, ns) and the send stamp (8).
const HEAD_BYTES: usize = 16;
/// The plan is the same in every run.
const PLAN_SEED: u64 = 1;
/// Waking up takes about 25 us, rarely 60; what was displaced from the caches while it slept takes as much again.
const SPIN_NS: u64 = 300_000;
/// The receiver gives up this long after the last packet.
const SILENCE: Duration = Duration::from_secs(2);

fn realtime_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec to write to. The call cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How the gaps between packets vary.
#[derive(Clone, Copy, ValueEnum)]
pub enum Gaps {
    /// Between half and one and a half of the mean
    Even,
    /// Exponentially, so that arrivals are a Poisson process
    Exponential,
}

/// The packets that are sent.
pub struct Packets {
    pub rate_per_s: f64,
    pub count: u64,
    /// At least 16.
    pub payload_bytes: u16,
    pub gaps: Gaps,
}

/// Sends packets at planned instants to `HOST:PORT`.
pub fn send(to: &str, packets: &Packets, stop: &Arc<Stop>) -> Result<(), Failed> {
    let unreachable = |error: io::Error| Failed::Unreachable(format!("{to}: {error}"));
    let socket = UdpSocket::bind("0.0.0.0:0").map_err(unreachable)?;
    socket.connect(to).map_err(unreachable)?;
    let clock = WallClock::for_this_thread(stop);
    let mut packet = vec![0; usize::from(packets.payload_bytes)];
    let mut warmth = Warmth::open().ok();
    let mut random = Random::stream(PLAN_SEED, Purpose::Connection, 0);
    let mut latest_ns = 0;
    let mut due = monotonic_ns() + 1_000_000;
    for sequence in 0..packets.count as u32 {
        let gap = match packets.gaps {
            Gaps::Even => 0.5 + random.unit(),
            Gaps::Exponential => -(1.0 - random.unit()).ln(),
        };
        due += (gap * 1e9 / packets.rate_per_s) as u64;
        if monotonic_ns() + SPIN_NS < due {
            clock.sleep_until_ns(due - SPIN_NS);
        }
        if stop.reason().is_some() {
            break;
        }
        loop {
            let now = monotonic_ns();
            if now >= due {
                break;
            }
            if let Some(warmth) = &mut warmth {
                warmth.keep(now, due, &socket);
            }
            std::hint::spin_loop();
        }
        let late_ns = monotonic_ns() - due;
        latest_ns = latest_ns.max(late_ns);
        let late = u32::try_from(late_ns).unwrap_or(u32::MAX);
        packet[..4].copy_from_slice(&sequence.to_le_bytes());
        packet[4..8].copy_from_slice(&late.to_le_bytes());
        packet[8..HEAD_BYTES].copy_from_slice(&realtime_ns().to_le_bytes());
        // A full buffer or a refused packet is a lost packet, which the receiver counts.
        let _ = socket.send(&packet);
        if let Some(warmth) = &mut warmth {
            warmth.sent(due);
        }
    }
    println!("{}", serde_json::json!({"latest_ns": latest_ns}));
    Ok(())
}

/// Receives `count` packets or until silence; writes a row for each and prints how many came.
pub fn receive(listen: &str, count: u64, out: &Path, stop: &Stop) -> Result<(), Failed> {
    let unreachable = |error: io::Error| Failed::Unreachable(format!("{listen}: {error}"));
    let socket = udp::listen(listen, SILENCE).map_err(unreachable)?;
    println!("listening {listen}");
    let mut rows: Vec<Row> = Vec::with_capacity(count as usize);
    let mut packet = [0; 65_536];
    while (rows.len() as u64) < count && stop.reason().is_none() {
        match udp::receive(&socket, &mut packet) {
            Ok(received) if received.bytes >= HEAD_BYTES => {
                let short =
                    |at: usize| u32::from_le_bytes(packet[at..at + 4].try_into().expect("four bytes"));
                let sent_ns = u64::from_le_bytes(packet[8..HEAD_BYTES].try_into().expect("eight bytes"));
                rows.push(Row {
                    sequence: short(0),
                    late_ns: short(4),
                    sent_ns,
                    received_ns: received.at_ns,
                });
            }
            Ok(_) => {}
            // Before the first packet the receiver waits for its sender as long as it takes.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && rows.is_empty() => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(Failed::Internal(format!("receiving: {error}"))),
        }
    }
    write(out, &rows).map_err(|error| Failed::Internal(format!("{}: {error}", out.display())))?;
    println!("received {}", rows.len());
    Ok(())
}

/// A packet that arrived.
struct Row {
    sequence: u32,
    late_ns: u32,
    sent_ns: u64,
    received_ns: u64,
}

fn write(path: &Path, rows: &[Row]) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    writeln!(file, "sequence,planned_ns,sent_ns,received_ns")?;
    for Row { sequence, late_ns, sent_ns, received_ns } in rows {
        writeln!(file, "{sequence},{},{sent_ns},{received_ns}", sent_ns.saturating_sub(u64::from(*late_ns)))?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_on_loopback_arrives_with_a_plausible_delay() {
        let listen = "127.0.0.1:39581".to_owned();
        let out = std::env::temp_dir().join(format!("probe-{}.csv", std::process::id()));
        let (address, file) = (listen.clone(), out.clone());
        let receiving = std::thread::spawn(move || receive(&address, 200, &file, &Stop::new()));
        while UdpSocket::bind(&listen).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let packets = Packets { rate_per_s: 20_000.0, count: 200, payload_bytes: 22, gaps: Gaps::Even };
        send(&listen, &packets, &Arc::new(Stop::new())).unwrap();
        receiving.join().unwrap().unwrap();
        let text = fs::read_to_string(&out).unwrap();
        fs::remove_file(&out).unwrap();
        let delays: Vec<i64> = text
            .lines()
            .skip(1)
            .map(|line| {
                let cells: Vec<i64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
                assert!(cells[1] <= cells[2], "sent no earlier than planned");
                cells[3] - cells[2]
            })
            .collect();
        assert_eq!(delays.len(), 200);
        assert!(delays.iter().all(|delay| (0..1_000_000_000).contains(delay)), "{delays:?}");
    }
}
