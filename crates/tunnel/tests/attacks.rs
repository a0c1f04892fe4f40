//! Somebody without the key, between two machines or beside them, over real sockets: nothing of theirs is taken.

mod common;

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use common::{monotonic_ns, over, udp, with_key};
use crosswind_engine::{Crossing, ElementId, Instant, Onward, Packet};
use crosswind_fabric::Crosses;
use crosswind_tunnel::{Passage, Tunnel};
use crosswind_wire::{Train, VnetHeader};

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const ONWARD: Onward = Onward::from_index(0);
const LINK: ElementId = ElementId::from_index(5);
const FRAMES: u64 = 50;
/// Of a datagram of the run, more than one holds.
const DATAGRAM_BYTES: usize = 65_536;

fn frame(number: u64) -> Arc<Passage> {
    let bytes: Box<[u8]> = (0..100 + number * 100).map(|at| (at * 3 + number) as u8).collect();
    let train = Train::read(VnetHeader::default(), &bytes).unwrap();
    Arc::new(Passage { name: (0, number), train, bytes, from: 0, to: 1 })
}

fn exchange(tunnel: &mut Tunnel) {
    tunnel.take_in(monotonic_ns);
    tunnel.flush(monotonic_ns);
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Clock::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::yield_now();
    }
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind((HERE, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    socket
}

/// Two tunnels whose datagrams go through `between`, as in (from the first, from the second).
fn through(between: &[UdpSocket; 2]) -> ([Tunnel; 2], [SocketAddr; 2]) {
    let [first, second] = between.each_ref().map(|socket| socket.local_addr().unwrap());
    let (mut own_first, mut own_second) = (first, second);
    let one = over(0, HERE, |own| {
        own_first = udp(own);
        first.into()
    });
    let other = over(1, HERE, |own| {
        own_second = udp(own);
        second.into()
    });
    ([one, other], [own_first, own_second])
}

#[test]
fn machines_with_different_keys_never_meet() {
    let mut address = None;
    let mut one = with_key([3; 32], 0, HERE, |own| {
        address = Some(own);
        // Where nothing of the run listens.
        socket().local_addr().unwrap().into()
    });
    let mut other = with_key([4; 32], 1, HERE, |_| address.unwrap());
    other.send(0, &Crosses::Way(ONWARD, [LINK].into()), None);
    until("datagrams with another key", || {
        exchange(&mut one);
        exchange(&mut other);
        one.report(monotonic_ns()).forged_datagrams >= 10
    });
    let report = one.report(monotonic_ns());
    assert!(one.next_message().is_none());
    assert_eq!(report.peers[0].received_datagrams, 0);
    assert_eq!(report.peers[0].clock.offset_ns, None, "no clock is estimated from it");
}

#[test]
fn what_is_replayed_is_taken_once_and_changes_no_clock() {
    let between = [socket(), socket()];
    let ([mut one, mut other], [own_one, own_other]) = through(&between);
    let ends = Arc::new(AtomicBool::new(false));
    let replay = |from: UdpSocket, to: SocketAddr| {
        let ends = Arc::clone(&ends);
        std::thread::spawn(move || {
            let (mut seen, mut bytes) = (Vec::<Vec<u8>>::new(), vec![0; DATAGRAM_BYTES]);
            while !ends.load(Ordering::Relaxed) {
                let Ok(length) = from.recv(&mut bytes) else { continue };
                from.send_to(&bytes[..length], to).unwrap();
                seen.push(bytes[..length].to_vec());
                // It again, and one of long ago.
                from.send_to(&bytes[..length], to).unwrap();
                from.send_to(&seen[seen.len() / 2], to).unwrap();
            }
        })
    };
    let [from_one, from_other] = between;
    let relays = [replay(from_one, own_other), replay(from_other, own_one)];
    until("both clocks", || {
        exchange(&mut one);
        exchange(&mut other);
        [&one, &other].iter().all(|tunnel| tunnel.clocks(0)[0].1.offset_ns.is_some())
    });
    one.send(1, &Crosses::Way(ONWARD, [LINK].into()), None);
    let mut taken = Vec::new();
    for number in 0..FRAMES {
        let due = Instant::from_nanos(monotonic_ns() + 1_000_000);
        let packet = Packet::real(number, 1_500, 0);
        let crossing = Crossing { due, link: LINK, onward: ONWARD, packet };
        one.send(1, &Crosses::Packet(crossing), Some(&frame(number)));
        exchange(&mut one);
        // The relay's socket has little room, and it has to run.
        std::thread::sleep(Duration::from_millis(1));
    }
    until("all packets", || {
        exchange(&mut one);
        exchange(&mut other);
        while let Some(message) = other.next_message() {
            if let Crosses::Packet(crossing) = message.crosses {
                assert_eq!(message.passage.unwrap().bytes, frame(crossing.packet.tag).bytes);
                taken.push(crossing.packet.tag);
            }
        }
        taken.len() as u64 >= FRAMES
    });
    until("replays of all", || {
        exchange(&mut one);
        exchange(&mut other);
        other.report(monotonic_ns()).peers[0].duplicate_datagrams > FRAMES
    });
    ends.store(true, Ordering::Relaxed);
    relays.into_iter().for_each(|relay| relay.join().unwrap());
    assert!(other.next_message().is_none());
    assert_eq!(taken, (0..FRAMES).collect::<Vec<_>>(), "once, and in sequence");
    let report = other.report(monotonic_ns());
    let clock = report.peers[0].clock;
    // Both clocks are one. A replayed answer would be off by as long as it was stored.
    assert!(clock.offset_ns.unwrap().unsigned_abs() <= clock.bound_ns.unwrap() + 20_000, "{clock:?}");
    assert_eq!((clock.steps, report.peers[0].refused_records, report.forged_datagrams), (0, 0, 0));
}

#[test]
fn what_is_changed_on_the_way_is_dropped_and_counted() {
    let between = [socket(), socket()];
    let ([mut one, mut other], [own_one, own_other]) = through(&between);
    let (mut bytes, mut changed) = (vec![0; DATAGRAM_BYTES], 0);
    until("forged datagrams", || {
        exchange(&mut one);
        exchange(&mut other);
        for (place, (from, to)) in between.iter().zip([own_other, own_one]).enumerate() {
            let Ok(length) = from.recv(&mut bytes) else { continue };
            // One bit of each, in another place each time; also of the code at its end.
            let at = changed * 7 % length;
            bytes[at] ^= 1 << (changed % 8);
            from.send_to(&bytes[..length], to).unwrap();
            // And cut short.
            from.send_to(&bytes[..changed % length], to).unwrap();
            changed += place;
        }
        [&one, &other].iter().all(|tunnel| tunnel.report(0).forged_datagrams >= 20)
    });
    for tunnel in [&mut one, &mut other] {
        assert!(tunnel.next_message().is_none());
        let report = tunnel.report(monotonic_ns());
        assert_eq!((report.peers[0].received_datagrams, report.peers[0].clock.offset_ns), (0, None));
    }
}

#[test]
fn a_flood_of_forged_datagrams_stores_nothing() {
    let mut own = None;
    let mut tunnel = over(0, HERE, |at| {
        own = Some(at);
        socket().local_addr().unwrap().into()
    });
    let (stranger, own) = (socket(), udp(own.unwrap()));
    let mut noise = vec![0_u8; 1_400];
    // A header that names the run and the peer, and everything else at random.
    noise[0] = 1;
    noise[2] = 1;
    noise[10] = 1;
    let before = resident_bytes();
    for number in 0..200_000_u32 {
        noise[15..19].copy_from_slice(&number.to_be_bytes());
        // The socket may have no room; the kernel drops it then.
        let _ = stranger.send_to(&noise, own);
        if number % 64 == 0 {
            tunnel.take_in(monotonic_ns);
        }
    }
    assert!(tunnel.report(0).forged_datagrams > 1_000);
    assert!(tunnel.next_message().is_none());
    assert!(resident_bytes() - before.min(resident_bytes()) < 16 << 20);
}

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}
