//! How exact packets arrive over a tunnel that holds them until they are due, and over one that subtracts a constant,
//! in turn and over the same path between two network namespaces. One row of CSV for each packet.
//!
//!     error PID ADDRESS PID ADDRESS SECONDS TURNS
//!
//! Each end is a thread in the network namespace of a process, with an address there. Every millisecond a packet leaves
//! the first end. It should arrive after [`DELAY_NS`], leave again at once, and be back after twice that. Ways in turn:
//!
//! * `deadline`: [`crosswind_tunnel`]. The second end's clock is [`AHEAD_NS`] ahead and runs [`FAST_PPM`] too fast.
//! * `constant`: a packet is sent when the delay less the mean delay of the path is over, and arrives when it comes. The
//!   mean is half of the mean of [`PINGS`] round trips that go before. So do emulators that subtract the physical delay.
//! * `control`: without a path. The second end learns of the packet in memory, and both wait as with `deadline`.
//!
//! Both ends are threads of this process and read one clock, so errors of one way are known exactly. Threads sleep, are
//! woken [`LEAD_NS`] early, and spin until the instant, with real-time priority where they may have it: as the emulator.
//!
//! `python -m bench.tunnel_error` makes the path and draws what this prints.

#[path = "../tests/common/mod.rs"]
mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;

use common::{monotonic_ns, over};
use crosswind_engine::{Crossing, ElementId, Instant, Onward, Packet};
use crosswind_fabric::Crosses;
use crosswind_tunnel::{Address, Passage, Tunnel};
use crosswind_wire::{Train, VnetHeader};
use nix::sched::{setns, CloneFlags};

const DELAY_NS: u64 = 5_000_000;
const PERIOD_NS: u64 = 1_000_000;
const LEAD_NS: u64 = 100_000;
const AHEAD_NS: u64 = 3_000_000_000;
const FAST_PPM: u64 = 50;
const PINGS: usize = 500;
/// The estimate of the clock gets better for half a minute. Agents live for a run, so most trials come later.
const WARM_UP_NS: u64 = 30_000_000_000;
/// What is on its way when a turn ends.
const PAUSE_NS: u64 = 50_000_000;
const FRAME_BYTES: usize = 128;
const ONWARD: Onward = Onward::from_index(0);
const LINK: ElementId = ElementId::from_index(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Way {
    None,
    Deadline,
    Constant,
    Control,
}

const WAYS: [Way; 3] = [Way::Deadline, Way::Constant, Way::Control];

impl Way {
    fn of(number: u8) -> Self {
        WAYS.into_iter().find(|way| *way as u8 == number).unwrap_or(Self::None)
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Deadline => "deadline",
            Self::Constant => "constant",
            Self::Control => "control",
        }
    }
}

/// A packet that waits for its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Waits {
    /// It has arrived when this is over.
    Arrives(u8, u64, u64),
    /// It is sent when this is over, by the tunnel that subtracts.
    Leaves(u64, u64),
}

/// One row of the result.
struct Row {
    way: Way,
    kind: &'static str,
    number: u64,
    error_ns: i64,
    bound_ns: u64,
}

struct Shared {
    way: AtomicU8,
    /// Mean of one way.
    physical_ns: AtomicU64,
    ends: AtomicBool,
}

struct End {
    first: bool,
    tunnel: Tunnel,
    plain: UdpSocket,
    there: SocketAddr,
    waits: BinaryHeap<(Reverse<u64>, Waits)>,
    to_other: Sender<(u64, u64)>,
    from_other: Receiver<(u64, u64)>,
    shared: Arc<Shared>,
    rows: Vec<Row>,
}

impl End {
    /// The clock of this end; that of the first is the true one.
    fn own(&self, true_ns: u64) -> u64 {
        if self.first {
            true_ns
        } else {
            true_ns + AHEAD_NS + true_ns / 1_000_000 * FAST_PPM
        }
    }

    fn now(&self) -> u64 {
        self.own(monotonic_ns())
    }

    fn exchange(&mut self) {
        let first = self.first;
        let now = move || {
            let now = monotonic_ns();
            if first {
                now
            } else {
                now + AHEAD_NS + now / 1_000_000 * FAST_PPM
            }
        };
        self.tunnel.take_in(now);
        self.tunnel.flush(now);
    }

    /// A packet leaves at an instant of the true clock; `sent_ns` is when it left the first end.
    fn leave(&mut self, way: Way, number: u64, sent_ns: u64, at_ns: u64) {
        let due_ns = self.own(at_ns) + DELAY_NS;
        match way {
            Way::Deadline => {
                let (due, packet) = (Instant::from_nanos(due_ns), Packet::real(number, 1_500, 0));
                let crossing = Crossing { due, link: LINK, onward: ONWARD, packet };
                let passage = frame(usize::from(!self.first), number, sent_ns);
                self.tunnel.send(usize::from(self.first), &Crosses::Packet(crossing), Some(&passage));
                self.exchange();
            }
            Way::Constant => {
                let at_ns = due_ns - self.shared.physical_ns.load(Ordering::Relaxed);
                self.waits.push((Reverse(at_ns), Waits::Leaves(number, sent_ns)));
            }
            Way::Control => self.to_other.send((number, sent_ns)).expect("the other end lives"),
            Way::None => {}
        }
    }

    /// A packet is here now.
    fn arrive(&mut self, way: Way, number: u64, sent_ns: u64) {
        let now = monotonic_ns();
        let (kind, delay_ns) = if self.first { ("round trip", 2 * DELAY_NS) } else { ("one way", DELAY_NS) };
        let clock = self.tunnel.clocks(self.now())[0].1;
        self.rows.push(Row {
            way,
            kind,
            number,
            error_ns: now as i64 - (sent_ns + delay_ns) as i64,
            bound_ns: clock.bound_ns.unwrap_or(u64::MAX),
        });
        if !self.first {
            self.leave(way, number, sent_ns, now);
        }
    }

    /// Takes in what has come, and does what is due.
    fn turn(&mut self) {
        self.exchange();
        while let Some(message) = self.tunnel.next_message() {
            let (Crosses::Packet(crossing), Some(passage)) = (message.crosses, message.passage) else {
                continue;
            };
            let sent_ns = u64::from_be_bytes(passage.bytes[14..22].try_into().expect("eight bytes"));
            let waits = Waits::Arrives(Way::Deadline as u8, crossing.packet.tag, sent_ns);
            self.waits.push((Reverse(crossing.due.as_nanos()), waits));
        }
        let mut bytes = [0; 64];
        while let Ok(16) = self.plain.recv(&mut bytes) {
            let [number, sent_ns] =
                [0, 8].map(|at| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes")));
            self.arrive(Way::Constant, number, sent_ns);
        }
        while let Ok((number, sent_ns)) = self.from_other.try_recv() {
            // The other end learnt of it just now; it is due by the true clock.
            let due_ns = self.own(sent_ns + if self.first { 2 * DELAY_NS } else { DELAY_NS });
            self.waits.push((Reverse(due_ns), Waits::Arrives(Way::Control as u8, number, sent_ns)));
        }
        while self.waits.peek().is_some_and(|(Reverse(at_ns), _)| *at_ns <= self.now()) {
            match self.waits.pop().expect("it has been seen").1 {
                Waits::Arrives(way, number, sent_ns) => self.arrive(Way::of(way), number, sent_ns),
                Waits::Leaves(number, sent_ns) => {
                    let bytes = [number.to_be_bytes(), sent_ns.to_be_bytes()].concat();
                    self.plain.send_to(&bytes, self.there).expect("a way to the other end");
                }
            }
        }
    }

    /// Sleeps until shortly before the next event, or until a datagram comes.
    fn wait(&self, until_ns: u64) {
        let waits = self.waits.peek().map_or(u64::MAX, |(Reverse(at_ns), _)| *at_ns);
        let next = until_ns.min(waits).min(self.tunnel.next_ns());
        // In control turns the other end sends no datagram that could wake this one.
        let sleeps = next.saturating_sub(self.now()).min(PERIOD_NS).saturating_sub(LEAD_NS);
        if sleeps == 0 {
            return;
        }
        let poll = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = [poll(self.tunnel.as_fd().as_raw_fd()), poll(self.plain.as_raw_fd())];
        let time = libc::timespec { tv_sec: 0, tv_nsec: sleeps as i64 };
        // SAFETY: both live across the call, and `fds` has two entries.
        unsafe { libc::ppoll(fds.as_mut_ptr(), 2, &raw const time, std::ptr::null()) };
    }
}

fn frame(from: usize, number: u64, sent_ns: u64) -> Arc<Passage> {
    let mut bytes = vec![0; FRAME_BYTES];
    bytes[14..22].copy_from_slice(&sent_ns.to_be_bytes());
    let train = Train::read(VnetHeader::default(), &bytes).expect("a frame");
    Arc::new(Passage { name: (from, number), train, bytes: bytes.into(), from, to: 1 - from })
}

/// Wakes without slack, and before other programs where this one may.
fn precede() {
    let priority: libc::c_int = 1;
    // SAFETY: `priority` lives across the call. Refusal is visible in the control.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority);
    }
}

/// Sends a packet every millisecond, in turns.
fn first(mut end: End, seconds: u64, turns: usize) -> Vec<Row> {
    precede();
    end.tunnel.send(1, &Crosses::Way(ONWARD, [LINK].into()), None);
    let begins = monotonic_ns() + WARM_UP_NS;
    let mut next = monotonic_ns();
    let mut number = 0;
    while monotonic_ns() < begins {
        end.turn();
        end.wait(begins);
    }
    for turn in 0..turns * WAYS.len() {
        let way = WAYS[turn % WAYS.len()];
        end.shared.way.store(way as u8, Ordering::Relaxed);
        let ends = monotonic_ns() + seconds * 1_000_000_000;
        next = next.max(monotonic_ns());
        while monotonic_ns() < ends + PAUSE_NS {
            end.turn();
            let now = monotonic_ns();
            if now >= next && now < ends {
                let sent_ns = monotonic_ns();
                end.leave(way, number, sent_ns, sent_ns);
                number += 1;
                next = now.max(next) + PERIOD_NS;
            }
            end.wait(if now < ends { next } else { ends + PAUSE_NS });
        }
    }
    end.shared.ends.store(true, Ordering::Relaxed);
    end.rows
}

fn second(mut end: End) -> Vec<Row> {
    precede();
    end.tunnel.send(0, &Crosses::Way(ONWARD, [LINK].into()), None);
    while !end.shared.ends.load(Ordering::Relaxed) {
        end.turn();
        end.wait(end.now() + PERIOD_NS);
    }
    end.rows
}

/// The mean of one way, as half of the mean of round trips.
fn mean_way_ns(plain: &UdpSocket, there: SocketAddr) -> u64 {
    let mut bytes = [0; 64];
    let mut total = 0;
    for _ in 0..PINGS {
        let began = monotonic_ns();
        plain.send_to(&[0; 8], there).expect("a way to the other end");
        plain.recv(&mut bytes).expect("an answer");
        total += monotonic_ns() - began;
    }
    total / PINGS as u64 / 2
}

fn enter(pid: &str) {
    let namespace = File::open(format!("/proc/{pid}/ns/net")).expect("a process");
    setns(namespace, CloneFlags::CLONE_NEWNET).expect("its network namespace");
}

fn plain_at(address: IpAddr) -> UdpSocket {
    let plain = UdpSocket::bind((address, 0)).expect("an address of this end");
    plain.set_read_timeout(Some(std::time::Duration::from_secs(5))).expect("a timeout");
    plain
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pid_one, address_one, pid_other, address_other, seconds, turns] = &arguments[..] else {
        panic!("error PID ADDRESS PID ADDRESS SECONDS TURNS");
    };
    let address = |text: &str| -> IpAddr { text.parse().expect("an address") };
    let (seconds, turns) = (seconds.parse().expect("seconds"), turns.parse().expect("turns"));
    let shared = Arc::new(Shared {
        way: AtomicU8::new(0),
        physical_ns: AtomicU64::new(0),
        ends: AtomicBool::new(false),
    });
    let ((to_one, from_other), (to_other, from_one)) = (channel(), channel());
    let ((address_to_one, address_of_other), (address_to_other, address_of_one)) = (channel(), channel());
    let rows = std::thread::scope(|scope| {
        let (shared_one, shared_other) = (Arc::clone(&shared), Arc::clone(&shared));
        let one = scope.spawn(move || {
            enter(pid_one);
            let plain = plain_at(address(address_one));
            let mut there = None;
            let tunnel = over(0, address(address_one), |own| {
                address_to_other.send((own, plain.local_addr().expect("it is bound"))).expect("it lives");
                let (tunnel, other): (Address, SocketAddr) = address_of_other.recv().expect("it lives");
                there = Some(other);
                tunnel
            });
            let there = there.expect("the other end said so");
            shared_one.physical_ns.store(mean_way_ns(&plain, there), Ordering::Relaxed);
            plain.set_nonblocking(true).expect("a socket");
            let end = End {
                first: true,
                tunnel,
                plain,
                there,
                waits: BinaryHeap::new(),
                to_other,
                from_other,
                shared: shared_one,
                rows: Vec::new(),
            };
            first(end, seconds, turns)
        });
        let other = scope.spawn(move || {
            enter(pid_other);
            let plain = plain_at(address(address_other));
            let mut there = None;
            let tunnel = over(1, address(address_other), |own| {
                let (tunnel, one): (Address, SocketAddr) = address_of_one.recv().expect("it lives");
                address_to_one.send((own, plain.local_addr().expect("it is bound"))).expect("it lives");
                there = Some(one);
                tunnel
            });
            let there = there.expect("the first end said so");
            let mut bytes = [0; 64];
            for _ in 0..PINGS {
                plain.recv(&mut bytes).expect("a ping");
                plain.send_to(&bytes[..8], there).expect("a way back");
            }
            plain.set_nonblocking(true).expect("a socket");
            let end = End {
                first: false,
                tunnel,
                plain,
                there,
                waits: BinaryHeap::new(),
                to_other: to_one,
                from_other: from_one,
                shared: shared_other,
                rows: Vec::new(),
            };
            second(end)
        });
        let mut rows = one.join().expect("the first end");
        rows.extend(other.join().expect("the second end"));
        rows
    });
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "way,kind,number,error_ns,bound_ns").expect("standard output");
    for row in rows {
        let (way, kind) = (row.way.name(), row.kind);
        writeln!(out, "{way},{kind},{},{},{}", row.number, row.error_ns, row.bound_ns)
            .expect("standard output");
    }
}
