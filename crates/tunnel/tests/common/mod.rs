//! Two tunnels in two network namespaces that a veth pair joins; what tests and the benchmark share.

use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::mpsc::{channel, Receiver, Sender};

use crosswind_tunnel::tunnel::Unbound;
use crosswind_tunnel::{Membership, RunKey, Tunnel};
use nix::sched::{unshare, CloneFlags};
use nix::sys::socket::AddressFamily;
use nix::unistd::gettid;

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn monotonic_ns() -> u64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).expect("every kernel has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Whether this process may make network namespaces. The benchmark does not ask.
#[allow(dead_code)]
pub fn may_make_namespaces() -> bool {
    std::thread::spawn(|| unshare(CloneFlags::CLONE_NEWNET).is_ok()).join().expect("it does not panic")
}

fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).status().expect("ip is installed");
    assert!(done.success(), "ip {arguments}");
}

/// Moves this thread into a network namespace with nothing but loopback, of this MTU. The benchmark does not need it.
#[allow(dead_code)]
pub fn loopback_alone(mtu: usize) {
    unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
    ip(&format!("link set lo mtu {mtu} up"));
}

/// Runs `one` and `other`, each on a thread in a network namespace of its own and with a tunnel to the other, over a
/// veth pair of this MTU. Their domains are 0 and 1; the addresses are of this version of IP.
pub fn in_two_namespaces<R: Send>(
    mtu: usize,
    version: u8,
    one: impl FnOnce(Tunnel) -> R + Send,
    other: impl FnOnce(Tunnel) -> R + Send,
) -> (R, R) {
    let (thread, threads): (Sender<i32>, Receiver<i32>) = channel();
    let (to_one, from_other) = channel();
    let (to_other, from_one) = channel();
    std::thread::scope(|scope| {
        let first = scope.spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
            let there = threads.recv().expect("the other thread lives");
            ip(&format!("link add end mtu {mtu} type veth peer name end mtu {mtu} netns {there}"));
            to_other.send(None).expect("the other thread lives");
            one(joined(0, version, &to_other, &from_other))
        });
        let second = scope.spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
            thread.send(gettid().as_raw()).expect("the first thread lives");
            from_one.recv().expect("the first thread lives");
            other(joined(1, version, &to_one, &from_one))
        });
        (first.join().expect("a tunnel of tests"), second.join().expect("a tunnel of tests"))
    })
}

fn joined(
    domain: u16,
    version: u8,
    to: &Sender<Option<SocketAddr>>,
    from: &Receiver<Option<SocketAddr>>,
) -> Tunnel {
    let host = domain + 1;
    let address = match version {
        4 => format!("10.9.0.{host}"),
        _ => format!("fd00:9::{host}"),
    };
    let (length, nodad) = if version == 4 { (24, "") } else { (64, " nodad") };
    ip(&format!("address add {address}/{length} dev end{nodad}"));
    ip("link set lo up");
    ip("link set end up");
    over(domain, address.parse().expect("an address"), |own| {
        to.send(Some(own)).expect("the other thread lives");
        from.recv().expect("the other thread lives").expect("an address")
    })
}

/// The tunnel of a domain at an address; `exchange` tells the other one where it is, and returns where that is.
pub fn over(domain: u16, address: IpAddr, exchange: impl FnOnce(SocketAddr) -> SocketAddr) -> Tunnel {
    with_key([3; 32], domain, address, exchange)
}

/// The same with a key.
pub fn with_key(
    key: RunKey,
    domain: u16,
    address: IpAddr,
    exchange: impl FnOnce(SocketAddr) -> SocketAddr,
) -> Tunnel {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let unbound = Unbound::open(family).expect("the kernel has this version of IP");
    let socket = unbound.bind(address, 0).expect("an address of this machine");
    let there = exchange(socket.address().expect("it is bound"));
    let own = Membership { domain, run: 1, key };
    let mut tunnel = Tunnel::new(socket, own, [(1 - domain, there)]).expect("a way to the other");
    tunnel.start_generation(1, 2);
    tunnel
}
