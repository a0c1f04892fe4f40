//! Two tunnels in two network namespaces that a veth pair joins; what tests and the benchmark share.

// Each of them uses a part.
#![allow(dead_code)]

use std::net::IpAddr;
use std::process::Command;
use std::sync::mpsc::{channel, Receiver, Sender};

use crosswind_tunnel::udp::Unbound;
use crosswind_tunnel::{native, Address, Bound, Membership, RunKey, Tunnel};
use nix::sched::{unshare, CloneFlags};
use nix::sys::socket::AddressFamily;
use nix::unistd::gettid;

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn monotonic_ns() -> u64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).expect("every kernel has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Whether this process may make network namespaces.
pub fn may_make_namespaces() -> bool {
    std::thread::spawn(|| unshare(CloneFlags::CLONE_NEWNET).is_ok()).join().expect("it does not panic")
}

fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).status().expect("ip is installed");
    assert!(done.success(), "ip {arguments}");
}

/// Moves this thread into a network namespace with nothing but loopback, of this MTU.
pub fn loopback_alone(mtu: usize) {
    unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
    ip(&format!("link set lo mtu {mtu} up"));
}

/// What carries the datagrams over a veth pair.
#[derive(Clone, Copy)]
pub enum Over {
    Ipv4,
    Ipv6,
    Ethernet,
}

/// Runs `one` and `other`, each on a thread in a network namespace of its own and with a tunnel to the other, over a
/// veth pair of this MTU. Their domains are 0 and 1.
pub fn in_two_namespaces<R: Send>(
    mtu: usize,
    network: Over,
    one: impl FnOnce(Tunnel) -> R + Send,
    other: impl FnOnce(Tunnel) -> R + Send,
) -> (R, R) {
    let (thread, threads): (Sender<i32>, Receiver<i32>) = channel();
    let (to_one, from_other) = channel::<Option<Address>>();
    let (to_other, from_one) = channel();
    std::thread::scope(|scope| {
        let first = scope.spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
            let there = threads.recv().expect("the other thread lives");
            ip(&format!("link add end mtu {mtu} type veth peer name end mtu {mtu} netns {there}"));
            to_other.send(None).expect("the other thread lives");
            one(joined(0, network, &to_other, &from_other))
        });
        let second = scope.spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
            thread.send(gettid().as_raw()).expect("the first thread lives");
            from_one.recv().expect("the first thread lives");
            other(joined(1, network, &to_one, &from_one))
        });
        (first.join().expect("a tunnel of tests"), second.join().expect("a tunnel of tests"))
    })
}

fn joined(
    domain: u16,
    network: Over,
    to: &Sender<Option<Address>>,
    from: &Receiver<Option<Address>>,
) -> Tunnel {
    ip("link set lo up");
    let [.., last] = hardware(domain);
    ip(&format!("link set end address 02:00:00:00:00:{last:02x}"));
    ip("link set end up");
    let host = domain + 1;
    let socket = match network {
        Over::Ipv4 => {
            ip(&format!("address add 10.9.0.{host}/24 dev end"));
            socket_at(format!("10.9.0.{host}").parse().expect("an address"))
        }
        Over::Ipv6 => {
            ip(&format!("address add fd00:9::{host}/64 dev end nodad"));
            socket_at(format!("fd00:9::{host}").parse().expect("an address"))
        }
        Over::Ethernet => {
            native::Unbound::open().expect("CAP_NET_RAW").bind("end").expect("an Ethernet interface")
        }
    };
    joined_over(socket, [3; 32], domain, |own| {
        to.send(Some(own)).expect("the other thread lives");
        from.recv().expect("the other thread lives").expect("an address")
    })
}

/// The address of a domain's end of the pair.
pub fn hardware(domain: u16) -> [u8; 6] {
    [2, 0, 0, 0, 0, domain as u8 + 1]
}

fn socket_at(address: IpAddr) -> Bound {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let unbound = Unbound::open(family).expect("the kernel has this version of IP");
    unbound.bind(address, 0).expect("an address of this machine")
}

/// The tunnel of a domain at an address; `exchange` tells the other one where it is, and returns where that is.
pub fn over(domain: u16, address: IpAddr, exchange: impl FnOnce(Address) -> Address) -> Tunnel {
    with_key([3; 32], domain, address, exchange)
}

/// The same with a key.
pub fn with_key(
    key: RunKey,
    domain: u16,
    address: IpAddr,
    exchange: impl FnOnce(Address) -> Address,
) -> Tunnel {
    joined_over(socket_at(address), key, domain, exchange)
}

fn joined_over(socket: Bound, key: RunKey, domain: u16, exchange: impl FnOnce(Address) -> Address) -> Tunnel {
    let there = exchange(socket.address());
    let own = Membership { domain, run: 1, key };
    let mut tunnel = Tunnel::new(socket, own, [(1 - domain, there)]).expect("a way to the other");
    tunnel.start_generation(1, 2);
    tunnel
}

/// Where that is, over UDP.
pub fn udp(address: Address) -> std::net::SocketAddr {
    let Address::Udp(address) = address else { panic!("{address} is not of UDP") };
    address
}
