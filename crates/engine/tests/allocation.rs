//! Sources allocate nothing per packet: once their queues have grown to what they need, a second costs no allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crosswind_engine::{
    Arrivals, CongestionControl, Duration, Ecn, ElementSpec, Engine, Instant, Limit, Queueing, Rate, RateLaw,
    RecordedPacket, ReplaySpec, Sizes, SourceSpec, ZeroMeans,
};

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
