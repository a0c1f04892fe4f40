//! Tests that nothing is allocated per packet: from a port through every element and past every monitor to a port,
//! into a recording and a capture, from every source of interference, across a cut, and from a sleep to the next.
//! Growing buffers stop at the size that they need.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use crosswind_emulator::clock::{Clock, VirtualClock};
use crosswind_emulator::commands::commands;
use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::machine::ThisMachine;
use crosswind_emulator::port::{Arrival, Need, Port};
use crosswind_emulator::worker::Worker;
use crosswind_emulator::{send_due, Capture, CaptureLimits};
use crosswind_engine::{
    Arrivals, CongestionControl, Duration, Ecn, ElementSpec, Engine, Instant, Limit, LinkSpec, Queueing,
    Rate, RateLaw, RecordedPacket, ReplaySpec, Sizes, SourceSpec, ZeroMeans,
};
use crosswind_fabric::{star, Crosses, Division, Domains, Fabric, Frame, Network, Planner, Timeline};
use crosswind_recording::{Header, Recorder};
use crosswind_wire::{Cut, VnetHeader};
use serde_json::{json, Value};

/// Counts its thread's calls to the system's allocator.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending no longer has a counter, and nothing reads it.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations in three seconds of five sources on one link, after `settle_s` seconds.
fn allocations_after(settle_s: u64) -> (u64, u64) {
    let mut engine = Engine::new(7);
    let rate = Rate::bits_per_second(100_000_000).expect("not 0");
    let link = |buffer| {
        ElementSpec::Link(LinkSpec {
            rate,
            delay: Duration::from_millis(5),
            queueing: Queueing::fifo(Limit::Bytes(buffer)),
        })
    };
    let forth = engine.add("forth", link(100_000)).expect("a valid link");
    let back = engine.add("back", link(100_000)).expect("a valid link");
    let (path, acks) = (engine.path(&[forth]), engine.path(&[back]));
    let pacing = Duration::from_millis(10);
    let (on, off) = (Duration::from_millis(3), Duration::from_millis(5));
    let (control, ecn, rto_min) = (CongestionControl::Cubic, Ecn::NotEct, Duration::from_millis(200));
    let every = [
        Arrivals::Paced { pacing, peak: rate, zero: ZeroMeans::Silence },
        Arrivals::Poisson,
        Arrivals::OnOff { on, off, shape_thousandths: Some(1_500) },
        Arrivals::Responsive { pacing, flows: 4, control, ecn, rto_min, acks },
    ];
    for (number, arrivals) in every.into_iter().enumerate() {
        let spec = SourceSpec {
            rate: RateLaw::Constant { bits_per_second: 40_000_000 },
            // Draws are stored as a record; they are not per packet.
            hold: Duration::from_secs(3_600),
            arrivals,
            sizes: Sizes::Fixed { ip_bytes: 1500 },
            dscp: 0,
        };
        engine.start_source(&format!("source {number}"), spec, path, Instant::ZERO).expect("a valid source");
    }
    let packet = RecordedPacket { gap: Duration::from_micros(300), ip_bytes: 700 };
    let replay = ReplaySpec { packets: [packet; 3].into(), repeat: true, dscp: 0 };
    engine.start_replay("replay", replay, path, Instant::ZERO).expect("a valid replay");
    engine.advance(Instant::from_nanos(settle_s * 1_000_000_000));
    let (before, packets) = (ALLOCATIONS.get(), engine.totals().ghost.entered);
    engine.advance(Instant::from_nanos((settle_s + 3) * 1_000_000_000));
    (ALLOCATIONS.get() - before, engine.totals().ghost.entered - packets)
}

#[test]
fn sources_allocate_nothing_per_packet() {
    let (allocations, packets) = allocations_after(30);
    assert!(packets > 30_000, "{packets}");
    assert_eq!(allocations, 0, "in {packets} packets");
}

/// A port that receives TCP segments with consecutive data: single packets or super-packets. All its memory is
/// allocated in advance.
struct Line {
    frames: [(VnetHeader, Vec<u8>); 2],
    next: Option<Next>,
    /// Sequence numbers of the next data, and of the last data.
    sequences: [u32; 2],
    slots: Vec<Vec<u8>>,
    free: Vec<u32>,
    taken: VecDeque<u32>,
    sent: u64,
}

/// The next frame.
struct Next {
    realtime_ns: u64,
    which: usize,
    /// Counts the frames of both ends; used as their timestamps.
    number: u32,
}

const SLOTS: usize = 64;
const HEADERS: usize = 66;
const SEGMENT: usize = 1448;
/// One frame in this number retransmits data of its end.
const AGAIN: u32 = 16;

impl Line {
    fn new(from: u8, to: u8) -> Line {
        let frames = [SEGMENT, 10 * SEGMENT].map(|payload| frame(from, to, payload));
        let slots = (0..SLOTS).map(|_| Vec::with_capacity(HEADERS + 10 * SEGMENT));
        let (free, taken) = ((0..SLOTS as u32).collect(), VecDeque::with_capacity(SLOTS));
        Line { frames, next: None, sequences: [0; 2], slots: slots.collect(), free, taken, sent: 0 }
    }
}

impl Port for Line {
    type Slot = u32;

    fn receive(&mut self) -> Option<Arrival<u32>> {
        let Next { realtime_ns: stamped_realtime_ns, which, number } = self.next.take()?;
        let slot = self.free.pop().expect("frames are copied out in time");
        let (vnet, frame) = &self.frames[which];
        let sequence = if number % AGAIN == 0 {
            self.sequences[1]
        } else {
            let payload = (frame.len() - HEADERS) as u32;
            self.sequences = [self.sequences[0] + payload, self.sequences[0]];
            self.sequences[1]
        };
        let bytes = &mut self.slots[slot as usize];
        bytes.clear();
        bytes.extend_from_slice(frame);
        bytes[38..42].copy_from_slice(&sequence.to_be_bytes());
        // Echoes the latest timestamp of the other end, if the latest frame came from there.
        bytes[58..62].copy_from_slice(&number.to_be_bytes());
        bytes[62..66].copy_from_slice(&(number - 1).to_be_bytes());
        self.taken.push_back(slot);
        Some(Arrival { slot, stamped_realtime_ns, vnet: *vnet })
    }

    fn bytes(&self, slot: &u32) -> &[u8] {
        &self.slots[*slot as usize]
    }

    fn number(&self, slot: &u32) -> u32 {
        *slot
    }

    fn release(&mut self, slot: u32) {
        self.taken.retain(|&other| other != slot);
        self.free.push(slot);
    }

    fn pressed(&self, _: Need) -> Option<u32> {
        self.taken.front().copied().filter(|_| self.taken.len() > SLOTS / 2)
    }

    fn slots(&self) -> u32 {
        SLOTS as u32
    }

    fn send(&mut self, _: &Cut<'_>) -> io::Result<()> {
        self.sent += 1;
        Ok(())
    }

    fn overruns(&mut self) -> u64 {
        0
    }
}

/// An Ethernet frame with TCP over IPv4 and timestamps; AF11, so that meters have a class to `remark`.
fn frame(from: u8, to: u8, payload: usize) -> (VnetHeader, Vec<u8>) {
    let mut frame = vec![2, 0x77, 0, 0, 0, to + 1, 2, 0x77, 0, 0, 0, from + 1, 8, 0, 0x45, 10 << 2];
    frame.extend(((52 + payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, from + 1, 10, 77, 0, to + 1]);
    // One connection: the ports of the two ends are 1 and 2. Sequence number and timestamps follow when it is sent.
    frame.extend([0, from + 1, 0, to + 1, 0, 0, 0, 0, 0, 0, 0, 0, 8 << 4, 0x10, 2, 0, 0, 0, 0, 0]);
    frame.extend([1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(frame.len(), HEADERS);
    frame.resize(frame.len() + payload, 0);
    let (gso_type, gso_size) =
        if payload > SEGMENT { (VnetHeader::GSO_TCPV4, SEGMENT as u16) } else { (VnetHeader::GSO_NONE, 0) };
    let header_len = HEADERS as u16;
    (VnetHeader { flags: 1, gso_type, header_len, gso_size, csum_start: 34, csum_offset: 16 }, frame)
}

fn fabric(place: &str, element: &Value) -> Fabric {
    serde_json::from_value(json!({
        "seed": 7, "hosts": ["h0", "h1"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}],
        "switches": ["switch"], "links": star(&["h0", "h1"], Some(1_000_000_000), 2000, Some(60_000)), "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
        "condition": {"name": "tried", "places": {place: [element]}},
    }))
    .expect("a fabric of this version")
}

/// Files that are written in addition to forwarding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Files {
    None,
    RecordingAndCapture,
}

const START_NS: u64 = 1_000_000;

fn forwarder(place: &str, element: &Value, files: Files) -> Forwarder<Line> {
    let fabric = fabric(place, element);
    let network = Network::new(&fabric, Instant::from_nanos(START_NS)).expect("a valid fabric");
    let mut forwarder = Forwarder::new(network, vec![Line::new(0, 1), Line::new(1, 0)]);
    if files == Files::RecordingAndCapture {
        let names = fabric.nodes.iter().map(|node| node.name.clone());
        let limits = CaptureLimits { snap_bytes: HEADERS as u32, limit_bytes: u64::MAX };
        forwarder.capture = Some(Capture::start(io::sink(), names, limits, 0).expect("a thread"));
        let header = Header::new(&fabric, None, START_NS);
        forwarder.recorder = Some(Recorder::start(io::sink(), &header).expect("a thread"));
    }
    forwarder
}

/// Results for one element: allocations and wire packets of the second half of some milliseconds.
fn forwarded(place: &str, element: &Value, files: Files) -> (u64, u64) {
    let mut forwarder = forwarder(place, element, files);
    let mut half_time = (0, 0);
    for number in 1..=2000 {
        let now = START_NS + u64::from(number) * 60_000;
        if number == 1000 {
            half_time = (ALLOCATIONS.get(), forwarder.passed.entered);
        }
        let clock = VirtualClock::new(now);
        forwarder.let_out(now);
        send_due(&mut forwarder, &clock, now);
        forwarder.ports[(number % 3 % 2) as usize].next =
            Some(Next { realtime_ns: now, which: (number % 4 / 3) as usize, number });
        forwarder.take_in(None, |stamp| stamp);
        send_due(&mut forwarder, &clock, now);
        forwarder.give_back(Need::Room);
    }
    let allocations = ALLOCATIONS.get() - half_time.0;
    assert!(forwarder.ports[1].sent > 0, "{element}");
    (allocations, forwarder.passed.entered - half_time.1)
}

#[test]
fn no_element_makes_a_packet_cost_an_allocation() {
    let table: Value =
        serde_json::from_str(include_str!("../../fabric/every_element.json")).expect("a JSON document");
    for line in table["elements"].as_array().expect("a list") {
        let (place, element) = (line["place"].as_str().expect("a place"), &line["element"]);
        for files in [Files::None, Files::RecordingAndCapture] {
            let (allocations, packets) = forwarded(place, element, files);
            assert!(packets > 3000, "{packets}");
            // Buffers that still grow to their final size: the bounded records of drops and retransmissions double at
            // times, and now and then more packets are inside than ever before. A block of 64 KiB of a recording or a
            // capture is allocated if the thread that writes has not returned one, at most 256.
            assert!(
                100 * allocations < packets,
                "{element}, {files:?}: {allocations} allocations in {packets} packets"
            );
        }
    }
}

#[test]
fn waking_up_allocates_nothing() {
    // The kernel's report, and the frame that is then at the port.
    let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket on loopback"));
    let [reader, writer] = &sockets;
    let forwarder = forwarder("link", &json!({"delay": {"time_ns": 1000}}), Files::None);
    let machine = ThisMachine::new([[reader.as_fd(), writer.as_fd()]].into_iter(), None).expect("an epoll");
    let (_commands, inbox) = commands().expect("an eventfd");
    let mut worker = Worker::new(forwarder, machine, inbox, Timeline::default());
    worker.begin(worker.machine.monotonic_ns());
    let mut half_time = 0;
    for number in 1..=2000 {
        if number == 1000 {
            half_time = ALLOCATIONS.get();
        }
        writer
            .send_to(b"frame", reader.local_addr().expect("the socket is bound"))
            .expect("room in the socket");
        let now = worker.machine.monotonic_ns();
        let reported = worker.sleep(now + 1_000_000_000).expect("it sleeps");
        reader.recv(&mut [0; 8]).expect("a frame was sent");
        let realtime_ns = worker.machine.realtime_ns();
        worker.forwarder.ports[0].next = Some(Next { realtime_ns, which: 0, number });
        worker.round(reported);
        while worker.forwarder.next_due_ns().is_some() {
            worker.round(false);
        }
    }
    assert_eq!(worker.forwarder.ports[1].sent, 2000);
    // The rows of the series grow now and then.
    let allocations = ALLOCATIONS.get() - half_time;
    assert!(allocations < 10, "{allocations} in 1000 sleeps");
}

#[test]
fn crossing_from_a_domain_into_another_allocates_nothing_per_packet() {
    let fabric = fabric("link", &json!({"delay": {"time_ns": 1000}}));
    let apart = Division::Written(vec![vec!["h0".to_owned()], vec!["switch".to_owned()]]);
    let domains = Domains::of(&fabric, &apart, &[], 1).expect("a link of 2 us can be cut");
    let mut planner = Planner::new(&fabric).expect("a valid fabric").divided(domains);
    let mut domain = |which| planner.domain(Instant::ZERO, which).expect("a valid fabric");
    let (mut near, mut far) = (domain(0), domain(1));
    let (mut half_time, mut crossed) = (0, 0);
    for number in 1..=2000u32 {
        if number == 1000 {
            half_time = ALLOCATIONS.get();
        }
        let now = Instant::from_nanos(u64::from(number) * 15_000);
        let frame =
            Frame { key: number, count: 1, ip_bytes: 1500, last_ip_bytes: 1500, dscp: 0, ecn: Ecn::NotEct };
        near.push(now, 0, 1, 0, &frame);
        while let Some((to, crosses)) = near.next_out() {
            crossed += u32::from(matches!(crosses, Crosses::Packet(_)));
            assert_eq!(to, 1);
            far.take_in(0, crosses);
        }
        far.engine().advance(now);
        while far.engine().pop().is_some() {}
    }
    assert!(crossed > 1990, "{crossed}");
    assert_eq!(ALLOCATIONS.get() - half_time, 0, "in 1000 packets");
}
