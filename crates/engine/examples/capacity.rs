//! Measures the cost of a link whose capacity changes every millisecond, with 10,000 pending events.
//!
//! Prints one JSON line for each rate: real time per packet through a link with its own rate, through one that a
//! process drives at one level, and through one that a process changes every millisecond. Virtual time only, one
//! thread; run with `cargo run --release -p crosswind-engine --example capacity`. Packets of 1500 B arrive at 95 % of
//! the rate in bursts of eight. The three alternate every few milliseconds: other programs take the CPU away in some
//! turns, and a median over many turns is not affected.

use std::time::Instant as WallInstant;

use crosswind_engine::{
    Capacity, DelaySpec, Duration, ElementSpec, Engine, Instant, LevelSchedule, Limit, LinkSpec, Packet,
    PathId, ProcessSpec, Queueing, Rate,
};

const TURN_PACKETS: u64 = 20_000;
const TURNS: usize = 15;
/// The position of an engine in memory makes it some per cent faster or slower, so each is built this number of times.
const BUILDS: usize = 24;
const BURST: u64 = 8;
const PENDING: usize = 10_000;
/// 1500 IP bytes plus Ethernet's overhead.
const WIRE_BITS: u64 = 8 * 1538;

/// What determines the capacity of a link.
#[derive(Clone, Copy)]
enum Follows {
    OwnRate,
    OneLevel,
    Trace,
}

fn main() {
    for rate_bps in [1_000_000_000, 10_000_000_000] {
        let mut ns: [Vec<f64>; 3] = Default::default();
        let mut changes = 0;
        for build in 0..BUILDS {
            // The order of runs and of building alternates.
            let mut every = [(0, Follows::OwnRate), (1, Follows::OneLevel), (2, Follows::Trace)];
            every.rotate_left(build % 3);
            let mut loads = every.map(|(which, follows)| (which, Load::on(rate_bps, follows)));
            for _ in 0..TURNS {
                for (which, load) in &mut loads {
                    ns[*which].push(load.turn());
                }
                loads.rotate_left(1);
            }
            changes += loads.iter().map(|(_, load)| load.changes()).max().unwrap_or_default();
        }
        assert!(changes > 100, "{changes}");
        let [own, level, trace] = ns;
        println!(
            r#"{{"rate_bps": {rate_bps}, "pending": {PENDING}, "changes": {changes}, "own_rate_ns": {own:?}, "one_level_ns": {level:?}, "trace_ns": {trace:?}}}"#
        );
    }
}

struct Load {
    engine: Engine,
    path: PathId,
    process: Option<crosswind_engine::ProcessId>,
    gap: Duration,
    at: Instant,
    pushed: u64,
    departed: u64,
}

impl Load {
    fn on(rate_bps: u64, follows: Follows) -> Self {
        let mut engine = Engine::new(7);
        // Each packet waits in a line of its own, for longer than the measurement takes.
        for number in 0..PENDING {
            let time = Duration::from_secs(3_600 + number as u64);
            let delay = ElementSpec::Delay(DelaySpec { time, random: None });
            let delay = engine.add(&format!("delay {number}"), delay).expect("a valid delay");
            let path = engine.path(&[delay]);
            engine.push(Instant::ZERO, path, Packet::real(u64::MAX, 1500, 0));
        }
        let rate = |bps| Rate::bits_per_second(bps).expect("not 0");
        let link = LinkSpec {
            rate: rate(rate_bps),
            delay: Duration::from_micros(2),
            queueing: Queueing::fifo(Limit::Bytes(1 << 20)),
        };
        let link = engine.add("link", ElementSpec::Link(link)).expect("a valid link");
        // The trace is 1 % faster every other millisecond: packets wait as long as without it, or less.
        let levels: &[(u64, u64)] = match follows {
            Follows::OwnRate => &[],
            Follows::OneLevel => &[(0, 100)],
            Follows::Trace => &[(0, 100), (1, 101)],
        };
        let process = (!levels.is_empty()).then(|| {
            let level = |&(ms, percent): &(u64, u64)| {
                (Duration::from_millis(ms), Capacity::Rate(rate(rate_bps / 100 * percent)))
            };
            let period = (levels.len() > 1).then(|| Duration::from_millis(levels.len() as u64));
            let schedule = LevelSchedule { levels: levels.iter().map(level).collect(), period };
            let spec = ProcessSpec::Levels(schedule);
            engine.start_process("capacity", spec, link, Instant::ZERO).expect("a valid process")
        });
        let gap = Duration::from_nanos(BURST * WIRE_BITS * 1_000_000_000 * 100 / 95 / rate_bps);
        let path = engine.path(&[link]);
        let mut load = Self { engine, path, process, gap, at: Instant::ZERO, pushed: 0, departed: 0 };
        load.turn();
        load
    }

    /// Real time per packet, nanoseconds.
    fn turn(&mut self) -> f64 {
        let began = WallInstant::now();
        for _ in 0..TURN_PACKETS / BURST {
            for _ in 0..BURST {
                self.engine.push(self.at, self.path, Packet::real(self.pushed, 1500, 0));
                self.pushed += 1;
            }
            self.at = self.at + self.gap;
            self.departed += std::iter::from_fn(|| self.engine.pop()).count() as u64;
        }
        let took = began.elapsed();
        assert!(self.pushed - self.departed < 100, "the link keeps up");
        took.as_nanos() as f64 / TURN_PACKETS as f64
    }

    fn changes(&self) -> u64 {
        self.process.map_or(0, |process| {
            self.engine.changes(process).len() as u64 + self.engine.changes_not_stored(process)
        })
    }
}
