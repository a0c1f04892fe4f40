//! Nothing is allocated per packet: from a port through every element to a port, and from every source of interference. What grows,
//! grows until it is as large as it needs to be.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;

use crosswind_emulator::forwarder::Forwarder;
use crosswind_emulator::port::{Arrival, Need, Port};
use crosswind_engine::{
    Arrivals, CongestionControl, Duration, Ecn, ElementSpec, Engine, Instant, Limit, Queueing, Rate, RateLaw,
    RecordedPacket, ReplaySpec, Sizes, SourceSpec, ZeroMeans,
};
use crosswind_fabric::{Fabric, Network};
use crosswind_wire::{Cut, VnetHeader};
use serde_json::{json, Value};

/// Counts what its thread asks of the system's allocator.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more, and nobody reads it.
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

/// Allocations during three seconds of five sources on one link, after `settle_s` seconds.
fn allocations_after(settle_s: u64) -> (u64, u64) {
    let mut engine = Engine::new(7);
    let rate = Rate::bits_per_second(100_000_000).expect("not 0");
    let link = |buffer| ElementSpec::Link {
        rate,
        delay: Duration::from_millis(5),
        queueing: Queueing::fifo(Limit::Bytes(buffer)),
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
            // Draws are kept as a record; they are no packets.
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

/// A port whose frames were all there before: one of a single packet and one of a super-packet.
struct Line {
    frames: [(VnetHeader, Vec<u8>); 2],
    /// When the next frame comes, and which it is.
    next: Option<(u64, usize)>,
    slots: [usize; SLOTS],
    free: Vec<u32>,
    taken: VecDeque<u32>,
    sent: u64,
}

const SLOTS: usize = 64;

impl Line {
    fn new(from: u8, to: u8) -> Line {
        let frames = [1400, 14_600].map(|payload: usize| frame(from, to, payload));
        let (free, taken) = ((0..SLOTS as u32).collect(), VecDeque::with_capacity(SLOTS));
        Line { frames, next: None, slots: [0; SLOTS], free, taken, sent: 0 }
    }
}

impl Port for Line {
    fn receive(&mut self) -> Option<Arrival> {
        let (stamped_realtime_ns, which) = self.next.take()?;
        let slot = self.free.pop().expect("frames are copied out in time");
        self.slots[slot as usize] = which;
        self.taken.push_back(slot);
        Some(Arrival { slot, stamped_realtime_ns, vnet: self.frames[which].0 })
    }

    fn bytes(&self, slot: u32) -> &[u8] {
        &self.frames[self.slots[slot as usize]].1
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

/// An Ethernet frame with UDP over IPv4, which nothing takes for a retransmission; AF11, so that meters have a class to remark.
fn frame(from: u8, to: u8, payload: usize) -> (VnetHeader, Vec<u8>) {
    let mut frame = vec![2, 0x77, 0, 0, 0, to + 1, 2, 0x77, 0, 0, 0, from + 1, 8, 0, 0x45, 10 << 2];
    frame.extend(((28 + payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 77, 0, from + 1, 10, 77, 0, to + 1]);
    frame.extend([0x15, 0x38, 0x9c, 0x40]);
    frame.extend(((8 + payload) as u16).to_be_bytes());
    frame.resize(frame.len() + 2 + payload, 0);
    let (gso_type, gso_size) =
        if payload > 1460 { (VnetHeader::GSO_UDP_L4, 1460) } else { (VnetHeader::GSO_NONE, 0) };
    (VnetHeader { flags: 1, gso_type, header_len: 42, gso_size, csum_start: 34, csum_offset: 6 }, frame)
}

fn fabric(place: &str, element: &Value) -> Fabric {
    serde_json::from_value(json!({
        "seed": 7, "hosts": ["h0", "h1"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}],
        "uplink": {"rate_bps": 1_000_000_000, "delay_ns": 2000, "buffer_bytes": 60_000}, "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
        "condition": {"name": "tried", "places": {place: [element]}},
    }))
    .expect("a fabric of this version")
}

/// What a forwarder has seen of one element: allocations and wire packets of the second half of some milliseconds.
fn forwarded(place: &str, element: &Value) -> (u64, u64) {
    // Long past on any machine's clock, so that nothing waits to be sent.
    let start_ns = 1_000_000;
    let network =
        Network::new(&fabric(place, element), Instant::from_nanos(start_ns)).expect("a valid fabric");
    let mut forwarder = Forwarder::new(network, vec![Line::new(0, 1), Line::new(1, 0)]);
    let mut half_time = (0, 0);
    for number in 0..2000 {
        let now = start_ns + number * 60_000;
        if number == 1000 {
            half_time = (ALLOCATIONS.get(), forwarder.passed.entered);
        }
        forwarder.let_out(now);
        let realtime = now.wrapping_add(forwarder.stamps.realtime_minus_monotonic_ns() as u64);
        forwarder.ports[(number % 3 % 2) as usize].next = Some((realtime, (number % 4 / 3) as usize));
        forwarder.take_in(now);
    }
    assert!(forwarder.ports[1].sent > 0, "{element}");
    (ALLOCATIONS.get() - half_time.0, forwarder.passed.entered - half_time.1)
}

#[test]
fn no_element_makes_a_packet_cost_an_allocation() {
    let table: Value =
        serde_json::from_str(include_str!("../../fabric/every_element.json")).expect("a JSON document");
    for line in table["elements"].as_array().expect("a list") {
        let (place, element) = (line["place"].as_str().expect("a place"), &line["element"]);
        let (allocations, packets) = forwarded(place, element);
        assert!(packets > 3000, "{packets}");
        // The record of drops doubles at times, and now and then more packets are inside than ever before.
        assert!(100 * allocations < packets, "{element}: {allocations} allocations in {packets} packets");
    }
}
