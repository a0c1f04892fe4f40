//! Measures the packets per second of real time through one link, one monitored link, and a ten-stage path.
//!
//! Prints one JSON line each. Virtual time only, one thread; run with `cargo run --release -p crosswind-engine
//! --example throughput`. Packets of 1500 B arrive at 95 % of the links' rate in bursts of eight, so that queues fill
//! and empty.

use std::time::Instant as WallInstant;

use crosswind_engine::{
    DelaySpec, Duration, ElementId, ElementSpec, Engine, Instant, Limit, LinkSpec, MarkSpec, MonitorSpec,
    Packet, PoliceSpec, Quantity, Queueing, Rate, Selection, ShapeSpec, Start,
};

const PACKETS: u64 = 4_000_000;
const REPETITIONS: usize = 3;
const BURST: u64 = 8;

fn main() {
    for (name, build) in [
        ("one link", one_link as fn(&mut Engine) -> Vec<ElementId>),
        ("one link, monitored", monitored_link),
        ("ten stages", ten_stages),
    ] {
        for _ in 0..REPETITIONS {
            let packets_per_s = measure(build);
            println!(r#"{{"path": "{name}", "packets": {PACKETS}, "packets_per_s": {packets_per_s:.0}}}"#);
        }
    }
}

fn measure(build: fn(&mut Engine) -> Vec<ElementId>) -> f64 {
    let mut engine = Engine::new(7);
    let elements = build(&mut engine);
    let path = engine.path(&elements);
    // 1538 wire bytes at 100 Gbit/s take 123 ns; eight of them every 1036 ns are 95 %.
    let gap = Duration::from_nanos(1036);
    let mut at = Instant::ZERO;
    let mut departures = 0;
    let began = WallInstant::now();
    for burst in 0..PACKETS / BURST {
        for place in 0..BURST {
            engine.push(at, path, Packet::real(burst * BURST + place, 1500, 0));
        }
        at = at + gap;
        while engine.pop().is_some() {
            departures += 1;
        }
    }
    engine.advance(at + Duration::from_secs(1));
    while engine.pop().is_some() {
        departures += 1;
    }
    assert_eq!(departures, PACKETS, "nothing is lost on the way");
    PACKETS as f64 / began.elapsed().as_secs_f64()
}

fn link(engine: &mut Engine, name: &str) -> ElementId {
    let spec = ElementSpec::Link(LinkSpec {
        rate: Rate::bits_per_second(100_000_000_000).expect("not 0"),
        delay: Duration::from_micros(2),
        queueing: Queueing::fifo(Limit::Bytes(1 << 20)),
    });
    engine.add(name, spec).expect("a valid link")
}

fn one_link(engine: &mut Engine) -> Vec<ElementId> {
    vec![link(engine, "link")]
}

/// Every quantity that a monitor can measure, for every packet.
fn monitored_link(engine: &mut Engine) -> Vec<ElementId> {
    let monitor = MonitorSpec {
        what: Quantity::ALL.to_vec(),
        window: Duration::from_millis(1),
        burst_gap: Duration::from_nanos(100),
        line_rate: Rate::bits_per_second(100_000_000_000).expect("not 0"),
        select: Selection::ALL,
        start: Start::After(Duration::ZERO),
        reports_packets: false,
    };
    let monitor = engine.add("monitor", ElementSpec::Monitor(monitor)).expect("a valid monitor");
    let link = link(engine, "link");
    engine.watch(Instant::ZERO, monitor, Some(link), &[link]);
    vec![monitor, link]
}

fn ten_stages(engine: &mut Engine) -> Vec<ElementId> {
    let rate = Rate::bits_per_second(100_000_000_000).expect("not 0");
    let mut add = |name: &str, spec| engine.add(name, spec).expect("a valid element");
    let police = add("police", ElementSpec::Police(PoliceSpec { rate, burst_bytes: 1_000_000 }));
    let mark = add("mark", ElementSpec::Mark(MarkSpec { dscp: 34 }));
    let shape = add(
        "shape",
        ElementSpec::Shape(ShapeSpec { rate, burst_bytes: 3_000, buffer: Limit::Unlimited.into() }),
    );
    let delay = add("delay", ElementSpec::Delay(DelaySpec { time: Duration::from_micros(50), random: None }));
    let up = link(engine, "up");
    let mut add = |name: &str, spec| engine.add(name, spec).expect("a valid element");
    let police_in = add("police in", ElementSpec::Police(PoliceSpec { rate, burst_bytes: 1_000_000 }));
    let mark_in = add("mark in", ElementSpec::Mark(MarkSpec { dscp: 0 }));
    let delay_out =
        add("delay out", ElementSpec::Delay(DelaySpec { time: Duration::from_micros(10), random: None }));
    let down = link(engine, "down");
    let police_out = engine
        .add("police out", ElementSpec::Police(PoliceSpec { rate, burst_bytes: 1_000_000 }))
        .expect("a valid element");
    vec![police, mark, shape, delay, up, police_in, mark_in, delay_out, down, police_out]
}
