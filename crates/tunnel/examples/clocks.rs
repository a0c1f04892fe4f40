//! How well a machine knows the clock of another: two network namespaces of one machine have one clock, so the true
//! offset is 0. Each side sleeps until a datagram comes or the next exchange is due, as an idle packet thread does.
//!
//!     cargo run --release -p crosswind-tunnel --example clocks [SECONDS]

#[path = "../tests/common/mod.rs"]
mod common;

use std::os::fd::AsFd;

use common::{in_two_namespaces, monotonic_ns, Over};
use crosswind_tunnel::Tunnel;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};

/// Offset, bound, and shortest round trip of every tenth of a second, ns.
fn exchange(mut tunnel: Tunnel, seconds: u64) -> Vec<(i64, u64, u64)> {
    let began_ns = monotonic_ns();
    let (mut rows, mut next_ns) = (Vec::new(), began_ns);
    while monotonic_ns() < began_ns + seconds * 1_000_000_000 {
        tunnel.take_in(monotonic_ns);
        tunnel.flush(monotonic_ns);
        let now = monotonic_ns();
        if now > next_ns {
            next_ns += 100_000_000;
            let clock = tunnel.clocks(now)[0].1;
            if let (Some(offset), Some(bound)) = (clock.offset_ns, clock.bound_ns) {
                rows.push((offset, bound, clock.round_trip_ns.unwrap_or_default()));
            }
        }
        let sleeps_ms = tunnel.next_ns().saturating_sub(now) / 1_000_000;
        let timeout = PollTimeout::try_from(sleeps_ms as i32).unwrap_or(PollTimeout::ZERO);
        poll(&mut [PollFd::new(tunnel.as_fd(), PollFlags::POLLIN)], timeout).expect("poll");
    }
    rows
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(10, |text| text.parse().expect("whole seconds"));
    let (rows, _) = in_two_namespaces(
        1_500,
        Over::Ipv4,
        |tunnel| exchange(tunnel, seconds),
        |tunnel| exchange(tunnel, seconds),
    );
    println!("after s  error us  bound us  shortest round trip us");
    for (place, (offset, bound, round_trip)) in rows.iter().enumerate() {
        if [1, 5, 10, 50, 100, 300, rows.len() - 1].contains(&place) {
            let us = |ns: f64| ns / 1e3;
            println!(
                "{:7.1}  {:8.2}  {:8.2}  {:10.2}",
                (place + 1) as f64 / 10.0,
                us(offset.unsigned_abs() as f64),
                us(*bound as f64),
                us(*round_trip as f64)
            );
        }
    }
}
