//! How fast frames cross between two network namespaces over UDP, with and without a kernel that cuts and joins
//! datagrams, and over raw Ethernet: Gbit/s, datagrams a second, and the time of a core that a frame takes on either side.
//!
//!     cargo run --release -p crosswind-tunnel --example throughput [SECONDS] [MTU]
//!
//! A sender has at most [`WINDOW_BYTES`] under way, as TCP would. Every frame is copied out of a buffer first, as the
//! emulator copies it out of its ring. Needs the right to make network namespaces: root, or `unshare -Urn`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

use common::{in_two_namespaces, monotonic_ns, Over};
use crosswind_engine::{Crossing, ElementId, Instant, Onward, Packet};
use crosswind_fabric::Crosses;
use crosswind_tunnel::{Passage, Tunnel, TunnelReport};
use crosswind_wire::{Train, VnetHeader};
use nix::time::{clock_gettime, ClockId};

const WINDOW_BYTES: u64 = 1 << 20;
/// Frames that are handed over before the datagrams leave.
const BURST_BYTES: usize = 64 << 10;
const ONWARD: Onward = Onward::from_index(0);
const LINK: ElementId = ElementId::from_index(5);
/// Payload of a packet of a super-packet, and headers of Ethernet, IPv4 and TCP.
const SEGMENT: usize = 1_448;
const HEADERS: usize = 66;

/// One side after a run.
struct Side {
    report: TunnelReport,
    frames: u64,
    cpu_ns: u64,
    seconds: f64,
}

/// A frame of TCP over IPv4 without options but timestamps, with its packets.
fn frame(bytes: usize) -> (Box<[u8]>, VnetHeader) {
    let mut frame = vec![0; bytes];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14] = 0x45;
    let length = (bytes - 14).min(65_535) as u16;
    frame[16..18].copy_from_slice(&length.to_be_bytes());
    frame[23] = 6;
    frame[46] = 0x80;
    let gso = bytes > HEADERS + SEGMENT;
    let vnet = VnetHeader {
        flags: 1,
        gso_type: u8::from(gso),
        header_len: HEADERS as u16,
        gso_size: if gso { SEGMENT as u16 } else { 0 },
        csum_start: 34,
        csum_offset: 16,
    };
    (frame.into(), vnet)
}

/// Waits for the other side: the kernel drops what is sent before a new interface has its carrier.
fn meet(tunnel: &mut Tunnel) {
    while tunnel.clocks(0)[0].1.offset_ns.is_none() {
        tunnel.take_in(monotonic_ns);
        tunnel.flush(monotonic_ns);
        std::thread::yield_now();
    }
    tunnel.start_window();
}

fn send(mut tunnel: Tunnel, bytes: usize, seconds: f64, received: &AtomicU64, ends: &AtomicBool) -> Side {
    meet(&mut tunnel);
    let (ring, vnet) = frame(bytes);
    let train = Train::read(vnet, &ring).expect("a frame");
    tunnel.send(1, &Crosses::Way(ONWARD, [LINK].into()), None);
    let (began_ns, cpu_ns) = (monotonic_ns(), thread_cpu_ns());
    let until_ns = began_ns + (seconds * 1e9) as u64;
    let burst = (BURST_BYTES / bytes).max(1) as u64;
    let mut frames = 0;
    while monotonic_ns() < until_ns {
        tunnel.take_in(monotonic_ns);
        if (frames - received.load(Ordering::Relaxed)) * bytes as u64 > WINDOW_BYTES {
            // The other side may still wait for answers.
            tunnel.flush(monotonic_ns);
            std::thread::yield_now();
            continue;
        }
        for _ in 0..burst {
            let passage = Passage { name: (0, frames), train, bytes: ring.clone(), from: 0, to: 1 };
            let passage = Arc::new(passage);
            for index in 0..train.count() {
                let packet = Packet::real(u64::from(index), train.ip_bytes(index), 0);
                let crossing =
                    Crossing { due: Instant::from_nanos(until_ns), link: LINK, onward: ONWARD, packet };
                tunnel.send(1, &Crosses::Packet(crossing), Some(&passage));
            }
            frames += 1;
        }
        tunnel.flush(monotonic_ns);
    }
    let side = Side {
        report: tunnel.report(monotonic_ns()),
        frames,
        cpu_ns: thread_cpu_ns() - cpu_ns,
        seconds: (monotonic_ns() - began_ns) as f64 / 1e9,
    };
    ends.store(true, Ordering::Relaxed);
    side
}

fn receive(mut tunnel: Tunnel, bytes: usize, received: &AtomicU64, ends: &AtomicBool) -> Side {
    meet(&mut tunnel);
    let (began_ns, cpu_ns) = (monotonic_ns(), thread_cpu_ns());
    let last = frame(bytes).1.gso_size.max(1);
    let count = if last == 1 { 1 } else { (bytes - HEADERS).div_ceil(SEGMENT) as u64 };
    let mut packets = 0;
    while !ends.load(Ordering::Relaxed) {
        tunnel.take_in(monotonic_ns);
        tunnel.flush(monotonic_ns);
        let before = packets;
        while let Some(message) = tunnel.next_message() {
            packets += u64::from(message.is_real());
        }
        received.store(packets / count, Ordering::Relaxed);
        if packets == before {
            std::thread::yield_now();
        }
    }
    Side {
        report: tunnel.report(monotonic_ns()),
        frames: packets / count,
        cpu_ns: thread_cpu_ns() - cpu_ns,
        seconds: (monotonic_ns() - began_ns) as f64 / 1e9,
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every kernel has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: f64| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (seconds, mtu) = (number(2.0), number(1_500.0) as usize);
    println!(
        "frame   over         Gbit/s  datagrams/s  us/frame sent  us/frame received  lost  dropped here"
    );
    for bytes in [1_514, 65_226] {
        for (name, network, cuts) in [
            ("UDP", Over::Ipv4, true),
            ("UDP, uncut", Over::Ipv4, false),
            ("Ethernet", Over::Ethernet, false),
        ] {
            let (received, ends) = (AtomicU64::new(0), AtomicBool::new(false));
            let prepared = |mut tunnel: Tunnel| {
                if !cuts {
                    tunnel.one_by_one();
                }
                tunnel
            };
            let (sent, came) = in_two_namespaces(
                mtu,
                network,
                |tunnel| send(prepared(tunnel), bytes, seconds, &received, &ends),
                |tunnel| receive(prepared(tunnel), bytes, &received, &ends),
            );
            let peer = &came.report.peers[0];
            println!(
                "{bytes:6}  {name:11}  {:6.2}  {:11.0}  {:13.2}  {:17.2}  {:4}  {:12}",
                came.frames as f64 * bytes as f64 * 8e-9 / sent.seconds,
                peer.received_datagrams as f64 / came.seconds,
                sent.cpu_ns as f64 / 1e3 / sent.frames as f64,
                came.cpu_ns as f64 / 1e3 / came.frames.max(1) as f64,
                peer.lost_datagrams,
                came.report.dropped_here,
            );
        }
    }
}
