//! Real sockets: over loopback, and between two network namespaces with the MTU of Ethernet.

mod common;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use common::{hardware, in_two_namespaces, may_make_namespaces, monotonic_ns, over, udp, Over};
use crosswind_engine::{Crossing, ElementId, Instant, Onward, Packet};
use crosswind_fabric::Crosses;
use crosswind_tunnel::udp::Unbound;
use crosswind_tunnel::{native, Address, Membership, Network, Passage, Tunnel, TunnelReport};
use crosswind_wire::{Train, VnetHeader};
use nix::sys::socket::AddressFamily;

const FRAMES: u64 = 60;
const ONWARD: Onward = Onward::from_index(0);
const LINK: ElementId = ElementId::from_index(5);
/// What the second machine's clock shows more than the first's.
const AHEAD_NS: u64 = 3_000_000_000;

fn frame(number: u64) -> Arc<Passage> {
    // From an acknowledgement to a super-packet.
    let bytes: Box<[u8]> = (0..66 + number * 1_100).map(|at| (at * 3 + number) as u8).collect();
    let train = Train::read(VnetHeader::default(), &bytes).unwrap();
    Arc::new(Passage { name: (0, number), train, bytes, from: 0, to: 1 })
}

fn packet(due_ns: u64, number: u64) -> Crosses {
    let (due, packet) = (Instant::from_nanos(due_ns), Packet::real(number, 1_500, 0));
    Crosses::Packet(Crossing { due, link: LINK, onward: ONWARD, packet })
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Clock::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::yield_now();
    }
}

/// Waits for the other clock. The kernel drops what is sent before a new interface has its carrier, so a window starts
/// only then.
fn meet(tunnel: &mut Tunnel, ahead_ns: u64) {
    until("the other clock", || {
        exchange(tunnel, ahead_ns);
        tunnel.clocks(0)[0].1.offset_ns.is_some()
    });
    tunnel.start_window();
}

/// Sends frames, and serves the exchange until the other side is done.
fn send(mut tunnel: Tunnel) -> TunnelReport {
    meet(&mut tunnel, 0);
    tunnel.send(1, &Crosses::Way(ONWARD, [LINK].into()), None);
    let due_ns = monotonic_ns() + 1_000_000;
    for number in 0..FRAMES {
        tunnel.send(1, &packet(due_ns + number, number), Some(&frame(number)));
        exchange(&mut tunnel, 0);
    }
    let mut back = None;
    until("the last frame of the other", || {
        exchange(&mut tunnel, 0);
        back = back.take().or_else(|| tunnel.next_message());
        back.is_some()
    });
    tunnel.report(monotonic_ns())
}

/// Takes frames in; when all have come, says so.
fn receive(mut tunnel: Tunnel) -> TunnelReport {
    meet(&mut tunnel, AHEAD_NS);
    let mut next = 0;
    until("all frames", || {
        exchange(&mut tunnel, AHEAD_NS);
        while let Some(message) = tunnel.next_message() {
            let Crosses::Packet(crossing) = message.crosses else { continue };
            assert_eq!(crossing.packet.tag, next);
            assert_eq!(message.passage.unwrap().bytes, frame(next).bytes);
            let ahead = crossing.due.as_nanos().abs_diff(monotonic_ns() + AHEAD_NS);
            assert!(ahead < 10_000_000_000, "{ahead} ns");
            next += 1;
        }
        next == FRAMES
    });
    tunnel.send(0, &Crosses::Way(ONWARD, [LINK].into()), None);
    tunnel.send(0, &packet(AHEAD_NS, 0), Some(&frame(0)));
    let report = tunnel.report(monotonic_ns() + AHEAD_NS);
    let began = Clock::now();
    while began.elapsed() < Duration::from_millis(200) {
        exchange(&mut tunnel, AHEAD_NS);
    }
    report
}

fn exchange(tunnel: &mut Tunnel, ahead_ns: u64) {
    tunnel.take_in(|| monotonic_ns() + ahead_ns);
    tunnel.flush(|| monotonic_ns() + ahead_ns);
}

fn check((sent, received): (TunnelReport, TunnelReport)) {
    for report in [&sent, &received] {
        assert_eq!((report.unsent, report.dropped_here, report.forged_datagrams), (0, 0, 0), "{report:?}");
        let peer = &report.peers[0];
        // A thread that moves to another CPU may overtake itself, which does no harm.
        assert_eq!(peer.lost_datagrams, 0, "{report:?}");
        assert_eq!((peer.duplicate_datagrams, peer.refused_records), (0, 0), "{report:?}");
    }
    let clock = sent.peers[0].clock;
    // Both clocks are one, so the error is known.
    let error = (clock.offset_ns.unwrap() - AHEAD_NS as i64).unsigned_abs();
    assert!(error <= clock.bound_ns.unwrap() + 20_000, "{clock:?}");
}

fn over_loopback(address: &str, prepare: fn(&mut Tunnel)) {
    let address: IpAddr = address.parse().unwrap();
    let (to_one, from_other) = std::sync::mpsc::channel();
    let (to_other, from_one) = std::sync::mpsc::channel();
    let one = std::thread::spawn(move || {
        let mut tunnel = over(0, address, |own| {
            to_other.send(own).unwrap();
            from_other.recv().unwrap()
        });
        prepare(&mut tunnel);
        send(tunnel)
    });
    let mut tunnel = over(1, address, |own| {
        to_one.send(own).unwrap();
        from_one.recv().unwrap()
    });
    prepare(&mut tunnel);
    let received = receive(tunnel);
    check((one.join().unwrap(), received));
}

#[test]
fn frames_cross_loopback() {
    over_loopback("127.0.0.1", |_| {});
}

#[test]
fn frames_cross_loopback_of_ipv6() {
    over_loopback("::1", |_| {});
}

#[test]
fn frames_cross_where_the_kernel_cuts_and_joins_nothing() {
    over_loopback("127.0.0.1", Tunnel::one_by_one);
}

#[test]
fn frames_larger_than_the_mtu_cross_between_two_namespaces() {
    if !may_make_namespaces() {
        eprintln!("left out: needs the right to make network namespaces");
        return;
    }
    check(in_two_namespaces(1_500, Over::Ipv4, send, receive));
    check(in_two_namespaces(1_280, Over::Ipv6, send, receive));
    let each = |mut tunnel: Tunnel| {
        tunnel.one_by_one();
        tunnel
    };
    check(in_two_namespaces(1_500, Over::Ipv4, |tunnel| send(each(tunnel)), |tunnel| receive(each(tunnel))));
}

#[test]
fn strange_datagrams_are_counted_and_dropped() {
    let address: IpAddr = "127.0.0.1".parse().unwrap();
    let stranger = std::net::UdpSocket::bind((address, 0)).unwrap();
    let mut own = None;
    let mut tunnel = over(0, address, |at| {
        own = Some(at);
        stranger.local_addr().unwrap().into()
    });
    stranger.send_to(b"hello", udp(own.unwrap())).unwrap();
    stranger.send_to(&[0; 1_400], udp(own.unwrap())).unwrap();
    stranger.send_to(&[], udp(own.unwrap())).unwrap();
    until("three datagrams", || {
        tunnel.take_in(monotonic_ns);
        tunnel.report(0).forged_datagrams == 3
    });
    assert!(tunnel.next_message().is_none());
    tunnel.start_window();
    assert_eq!(tunnel.report(0).forged_datagrams, 0);
}

#[test]
fn an_interface_with_too_small_an_mtu_is_refused() {
    if !may_make_namespaces() {
        eprintln!("left out: needs the right to make network namespaces");
        return;
    }
    let refused = std::thread::spawn(|| {
        common::loopback_alone(1_279);
        let unbound = Unbound::open(AddressFamily::Inet).unwrap();
        let socket = unbound.bind("127.0.0.1".parse().unwrap(), 0).unwrap();
        let own = Membership { domain: 0, run: 1, key: [3; 32] };
        Tunnel::new(socket, own, [(1, Address::Udp("127.0.0.1:9".parse().unwrap()))]).unwrap_err().to_string()
    });
    let refused = refused.join().unwrap();
    assert_eq!(refused, "domain 1 at 127.0.0.1:9: the path's MTU is 1279; at least 1280 is needed");
}

#[test]
fn frames_cross_ethernet_without_ip() {
    if !may_make_namespaces() {
        eprintln!("left out: needs the right to make network namespaces");
        return;
    }
    for mtu in [1_280, 1_500, 9_000] {
        let (sent, received) = in_two_namespaces(mtu, Over::Ethernet, send, receive);
        assert_eq!([&sent, &received].map(|report| report.network), [Network::Native; 2]);
        check((sent, received));
    }
}

#[test]
fn strange_frames_are_counted_or_ignored_and_none_is_taken() {
    if !may_make_namespaces() {
        eprintln!("left out: needs the right to make network namespaces");
        return;
    }
    let attack = |mut tunnel: Tunnel| {
        meet(&mut tunnel, 0);
        send_strange(hardware(1), b"hello");
        send_strange(hardware(1), &[1; 1_400]);
        send_strange([0xff; 6], b"for a group");
        let done = Clock::now();
        while done.elapsed() < Duration::from_millis(300) {
            exchange(&mut tunnel, 0);
        }
        tunnel.report(monotonic_ns())
    };
    let suffer = |mut tunnel: Tunnel| {
        until("two frames", || {
            exchange(&mut tunnel, 0);
            tunnel.report(0).forged_datagrams == 2
        });
        let done = Clock::now();
        while done.elapsed() < Duration::from_millis(200) {
            exchange(&mut tunnel, 0);
        }
        assert!(tunnel.next_message().is_none());
        tunnel.report(monotonic_ns())
    };
    let (_, suffered) = in_two_namespaces(1_500, Over::Ethernet, attack, suffer);
    assert_eq!(suffered.forged_datagrams, 2, "one for a group is ignored");
}

#[test]
fn a_flood_of_frames_for_a_group_ends_the_turn_of_reading() {
    if !may_make_namespaces() {
        eprintln!("left out: needs the right to make network namespaces");
        return;
    }
    let (to_attacker, stops) = std::sync::mpsc::channel();
    let (to_victim, flooded) = std::sync::mpsc::channel();
    let attack = move |mut tunnel: Tunnel| {
        until("the other to stop reading", || {
            exchange(&mut tunnel, 0);
            stops.try_recv().is_ok()
        });
        // More than one turn reads, as when they come faster than they are read.
        (0..100).for_each(|_| send_strange([0xff; 6], b"for a group"));
        send_strange(hardware(1), b"for this machine");
        to_victim.send(()).unwrap();
    };
    let suffer = move |mut tunnel: Tunnel| {
        meet(&mut tunnel, 0);
        to_attacker.send(()).unwrap();
        flooded.recv().unwrap();
        tunnel.take_in(monotonic_ns);
        assert_eq!(tunnel.report(0).forged_datagrams, 0, "it reads on");
        until("the frame behind those for a group", || {
            tunnel.take_in(monotonic_ns);
            tunnel.report(0).forged_datagrams == 1
        });
    };
    in_two_namespaces(1_500, Over::Ethernet, attack, suffer);
}

/// Sends a frame from the first namespace to the second's interface or to a group, as somebody without the key.
fn send_strange(to: [u8; 6], bytes: &[u8]) {
    use nix::sys::socket::{socket, SockFlag, SockType};
    let socket = socket(AddressFamily::Packet, SockType::Datagram, SockFlag::empty(), None).unwrap();
    // SAFETY: all zeros are a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = native::ETHERTYPE.to_be();
    address.sll_ifindex = nix::net::if_::if_nametoindex("end").unwrap() as i32;
    address.sll_halen = 6;
    address.sll_addr[..6].copy_from_slice(&to);
    // SAFETY: the bytes and the address live across the call, with these lengths.
    let sent = unsafe {
        libc::sendto(
            std::os::fd::AsRawFd::as_raw_fd(&socket),
            bytes.as_ptr().cast(),
            bytes.len(),
            0,
            (&raw const address).cast(),
            size_of_val(&address) as u32,
        )
    };
    assert_eq!(sent, bytes.len() as isize);
}
