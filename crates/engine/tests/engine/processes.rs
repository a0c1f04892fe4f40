//! Links with variable capacity: golden tables, a fluid oracle, Mahimahi's own loop, and the distributions of draws.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use crosswind_engine::{
    Capacity, Cell, DropReason, Duration, ElementId, ElementSpec, Engine, Instant, LevelSchedule, Limit,
    LinkSpec, LogSchedule, MarkSpec, MarkovChain, MarkovState, OpportunitySchedule, Packet, PathId,
    PiecewiseUniform, ProcessSpec, Queueing, Rate,
};
use proptest::prelude::*;

use crate::common::{at, departures, fates, fifo_link, push_full, single, Fate, FULL_PACKET_A_MICROSECOND};

const FULL: u64 = FULL_PACKET_A_MICROSECOND;

/// A link whose own rate is one full packet per microsecond, driven from 0 on.
fn driven(spec: ProcessSpec, buffer: Limit) -> (Engine, ElementId, PathId) {
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, buffer)).expect("a valid link");
    engine.start_process("capacity", spec, link, at(0)).expect("a valid process");
    let path = engine.path(&[link]);
    (engine, link, path)
}

/// Levels in bits per second from the given nanoseconds on; 0 is an outage.
fn levels(entries: &[(u64, u64)], period: Option<u64>) -> ProcessSpec {
    let level = |&(nanos, rate): &(u64, u64)| (Duration::from_nanos(nanos), Capacity::bits_per_second(rate));
    ProcessSpec::Levels(LevelSchedule {
        levels: entries.iter().map(level).collect(),
        period: period.map(Duration::from_nanos),
    })
}

fn resampled(entries: &[(u64, u64)], period: Option<u64>, block: u64) -> ProcessSpec {
    let ProcessSpec::Levels(trace) = levels(entries, period) else {
        unreachable!("the function returns levels")
    };
    ProcessSpec::Resampled { trace, block: Duration::from_nanos(block) }
}

fn opportunities(entries: &[(u64, u64)], period: Option<u64>) -> ProcessSpec {
    let entry = |&(nanos, ip_bytes): &(u64, u64)| (Duration::from_nanos(nanos), ip_bytes);
    ProcessSpec::Opportunities(OpportunitySchedule {
        opportunities: entries.iter().map(entry).collect(),
        period: period.map(Duration::from_nanos),
    })
}

#[test]
fn the_rest_of_a_packet_is_sent_at_the_new_rate() {
    // At 400 of 1000 ns six tenths remain: 600 ns at the old rate, 1200 ns at half of it, 60 ns at ten times it.
    for (level, expected) in [(FULL / 2, [1600, 3600]), (10 * FULL, [460, 560])] {
        let (mut engine, _, path) = driven(levels(&[(0, FULL), (400, level)], None), Limit::Unlimited);
        push_full(&mut engine, path, &[0, 0]);
        assert_eq!(departures(&mut engine), [(0, expected[0]), (1, expected[1])]);
    }
}

#[test]
fn in_an_outage_everything_waits_and_then_continues() {
    // 400 ns of the first packet are sent before the outage, 600 ns after it.
    let spec = levels(&[(0, FULL), (400, 0), (5000, FULL)], None);
    let (mut engine, link, path) = driven(spec, Limit::Unlimited);
    push_full(&mut engine, path, &[0, 0, 3000]);
    assert_eq!(engine.queued_bytes(link), 2 * 1500);
    assert_eq!(departures(&mut engine), [(0, 5600), (1, 6600), (2, 7600)]);
}

#[test]
fn an_outage_of_an_idle_link_fills_its_buffer_and_drops_the_rest() {
    let spec = levels(&[(0, FULL), (100, 0), (5000, FULL)], None);
    let (mut engine, _, path) = driven(spec, Limit::Bytes(2 * 1538));
    push_full(&mut engine, path, &[200, 300, 400]);
    let full = Fate::Lost(DropReason::QueueFull);
    assert_eq!(fates(&mut engine), [(2, 400, full), (0, 6000, Fate::Left), (1, 7000, Fate::Left)]);
}

#[test]
fn an_outage_without_end_is_no_event_and_loses_nothing() {
    let (mut engine, _, path) = driven(levels(&[(0, FULL), (400, 0)], None), Limit::Unlimited);
    push_full(&mut engine, path, &[0, 0]);
    engine.advance(at(1_000_000_000));
    assert_eq!((engine.next_event(), engine.real_inside()), (None, 2));
}

#[test]
fn an_unlimited_level_empties_the_link_at_once() {
    let unlimited = (Duration::from_nanos(400), Capacity::Rate(Rate::Unlimited));
    let first = (Duration::ZERO, Capacity::bits_per_second(FULL));
    let back = (Duration::from_nanos(900), Capacity::bits_per_second(FULL));
    let schedule = LevelSchedule { levels: Arc::new([first, unlimited, back]), period: None };
    let (mut engine, _, path) = driven(ProcessSpec::Levels(schedule), Limit::Unlimited);
    push_full(&mut engine, path, &[0, 0, 500, 1000]);
    assert_eq!(departures(&mut engine), [(0, 400), (1, 400), (2, 500), (3, 2000)]);
}

#[test]
fn levels_repeat_after_their_period() {
    // 1000 ns on, 1000 ns off: a packet sent from 500 on needs 500 ns of this period and 500 ns of the next.
    let (mut engine, _, path) = driven(levels(&[(0, FULL), (1000, 0)], Some(2000)), Limit::Unlimited);
    push_full(&mut engine, path, &[500, 500, 500]);
    assert_eq!(departures(&mut engine), [(0, 2500), (1, 4500), (2, 6500)]);
}

#[test]
fn a_buffer_given_as_a_time_follows_the_level_and_does_not_change_in_an_outage() {
    // 2 us are two packets at first and one at half the rate. The first of each burst goes on the transmitter, except in the
    // outage from 30 us on, where one waits and the transmitter is empty.
    let spec = levels(&[(0, FULL), (10_000, FULL / 2), (30_000, 0), (40_000, FULL)], None);
    let (mut engine, _, path) = driven(spec, Limit::Time(Duration::from_micros(2)));
    push_full(&mut engine, path, &[0, 0, 0, 0, 20_000, 20_000, 20_000, 35_000, 35_000]);
    let lost: Vec<u64> = fates(&mut engine)
        .into_iter()
        .filter(|&(_, _, fate)| fate != Fate::Left)
        .map(|(tag, ..)| tag)
        .collect();
    assert_eq!(lost, [3, 6, 8]);
}

#[test]
fn after_a_process_stops_the_link_has_its_own_rate() {
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let half = engine.start_process("half", levels(&[(0, FULL / 2)], None), link, at(0)).unwrap();
    let path = engine.path(&[link]);
    push_full(&mut engine, path, &[0]);
    // The link's own rate is reduced to a quarter in the meantime: 500 of 1000 ns were sent by 1000, the rest takes
    // 2000 ns.
    engine.reconfigure(at(500), link, fifo_link(FULL / 4, 0, Limit::Unlimited)).unwrap();
    engine.stop_process(at(1000), half);
    engine.stop_process(at(1001), half);
    assert_eq!(departures(&mut engine), [(0, 3000)]);
    engine.start_process("half", levels(&[(0, FULL / 2)], None), link, at(4000)).unwrap();
    engine.push(at(4000), path, Packet::real(1, 1500, 0));
    assert_eq!(departures(&mut engine), [(1, 6000)]);
}

#[test]
fn a_process_that_starts_takes_over_a_packet_that_finishes_at_an_older_rate() {
    // Unlimited from 400 on, the link still sends its packet at the old rate until 1000; from 700 on at half of that.
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let path = engine.path(&[link]);
    push_full(&mut engine, path, &[0, 0]);
    let (delay, queueing) = (Duration::ZERO, Queueing::fifo(Limit::Unlimited));
    let unlimited = ElementSpec::Link(LinkSpec { rate: Rate::Unlimited, delay, queueing });
    engine.reconfigure(at(400), link, unlimited).unwrap();
    engine.start_process("half", levels(&[(0, FULL / 2)], None), link, at(700)).unwrap();
    assert_eq!(departures(&mut engine), [(0, 1300), (1, 3300)]);
}

#[test]
fn a_driven_link_does_not_treat_a_train_as_one_even_while_it_is_unlimited() {
    let spec = ElementSpec::Link(LinkSpec {
        rate: Rate::Unlimited,
        delay: Duration::ZERO,
        queueing: Queueing::fifo(Limit::Unlimited),
    });
    let mut engine = Engine::new(7);
    let link = engine.add("link", spec).unwrap();
    let path = engine.path(&[link]);
    assert!(engine.treats_alike(path));
    let unlimited = [(Duration::ZERO, Capacity::Rate(Rate::Unlimited))];
    let spec = ProcessSpec::Levels(LevelSchedule { levels: Arc::new(unlimited), period: None });
    let process = engine.start_process("p", spec, link, at(0)).unwrap();
    assert!(!engine.treats_alike(path));
    engine.stop_process(at(1), process);
    assert!(engine.treats_alike(path));
}

#[test]
fn an_opportunity_serves_packets_up_to_its_bytes_and_loses_the_rest() {
    // 1500 B each millisecond. Packets of 1000, 1000 and 100 B wait: the first opportunity sends 1000 and half of the second
    // packet, the second its other half, the 100 B and 900 B of nothing. What comes at that instant waits for the third.
    let spec = opportunities(&[(1_000_000, 1500), (2_000_000, 1500), (3_000_000, 1500)], None);
    let (mut engine, _, path) = driven(spec, Limit::Unlimited);
    for (tag, ip_bytes) in [(0, 1000), (1, 1000), (2, 100)] {
        engine.push(at(0), path, Packet::real(tag, ip_bytes, 0));
    }
    engine.push(at(2_000_000), path, Packet::real(3, 40, 0));
    assert_eq!(departures(&mut engine), [(0, 1_000_000), (1, 2_000_000), (2, 2_000_000), (3, 3_000_000)]);
}

#[test]
fn packets_wait_for_an_opportunity_in_the_buffer() {
    let (mut engine, _, path) = driven(opportunities(&[(1000, 1500)], Some(1000)), Limit::Bytes(1538));
    push_full(&mut engine, path, &[0, 0, 1000]);
    let full = Fate::Lost(DropReason::QueueFull);
    assert_eq!(fates(&mut engine), [(1, 0, full), (0, 1000, Fate::Left), (2, 2000, Fate::Left)]);
}

#[test]
fn opportunities_that_replace_a_rate_finish_the_packet_on_the_transmitter() {
    // 769 of 1538 wire bytes have left by 500; 769 are left, and each opportunity sends 500.
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let path = engine.path(&[link]);
    push_full(&mut engine, path, &[0]);
    engine.start_process("p", opportunities(&[(100, 500)], Some(100)), link, at(500)).unwrap();
    assert_eq!(departures(&mut engine), [(0, 700)]);
}

#[test]
fn changes_are_stored_with_their_instants() {
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let spec = levels(&[(0, 5), (10, 5), (20, 0)], None);
    let process = engine.start_process("p", spec, link, at(100)).unwrap();
    engine.advance(at(1000));
    let expected = [(at(100), Capacity::bits_per_second(5)), (at(120), Capacity::Outage)];
    assert_eq!(engine.changes(process), expected);
    assert_eq!(engine.changes_not_stored(process), 0);
}

#[test]
fn processes_that_cannot_be_carried_out_are_refused() {
    let (mut engine, path) = single(fifo_link(FULL, 0, Limit::Unlimited));
    let mark = engine.add("mark", ElementSpec::Mark(MarkSpec { dscp: 1 })).unwrap();
    let free = engine.add("free", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let driven = engine.add("driven", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    engine.start_process("p", levels(&[(0, 1)], None), driven, at(0)).unwrap();
    let hold = Duration::from_nanos(1);
    let law = |low, weight| PiecewiseUniform {
        cells: Arc::new([Cell { low, high: 10, weight }]),
        grid: NonZeroU64::MIN,
    };
    let chain = |next_ppb| MarkovChain { states: vec![MarkovState { level: Capacity::Outage, next_ppb }] };
    for (link, spec, problem) in [
        (mark, levels(&[(0, 1)], None), "drives a mark, which has no capacity"),
        (driven, levels(&[(0, 1)], None), "drives a link that another process drives"),
        (free, levels(&[], None), "has no entries"),
        (free, levels(&[(3, 1)], None), "its first level is at 3 ns"),
        (free, levels(&[(0, 1), (9, 1), (8, 1)], None), "entry 2 is earlier"),
        (free, levels(&[(0, 1), (9, 1)], Some(9)), "begins again after 9 ns, and its last entry is at 9 ns"),
        (free, levels(&[(0, 1)], Some(0)), "begins again after 0 ns"),
        (free, opportunities(&[(9, 1)], Some(8)), "begins again after 8 ns"),
        (free, opportunities(&[(9, 0)], None), "opportunity 0 has 0 B"),
        (free, ProcessSpec::Drawn { law: law(11, 1), hold }, "rate range 11..10 bit/s is empty"),
        (free, ProcessSpec::Drawn { law: law(1, 0), hold }, "cell 0 has weight 0"),
        (free, ProcessSpec::Drawn { law: law(1, 1), hold: Duration::ZERO }, "hold 0 ns"),
        (
            free,
            ProcessSpec::Markov { chain: chain(vec![5]), hold },
            "state 0 goes on with 5 parts per billion",
        ),
        (free, ProcessSpec::Markov { chain: MarkovChain { states: vec![] }, hold }, "has no entries"),
        (free, resampled(&[(0, 1)], None, 5), "is resampled and has no end"),
        (free, resampled(&[(3, 1)], Some(9), 5), "its first level is at 3 ns"),
        (free, resampled(&[(0, 1)], Some(9), 0), "hold 0 ns"),
    ] {
        let refused = engine.start_process("q", spec, link, at(0)).unwrap_err();
        assert!(refused.to_string().contains(problem), "{refused}");
    }
    // A refused process does not change its link.
    push_full(&mut engine, path, &[0]);
    assert_eq!(departures(&mut engine), [(0, 1000)]);
}

/// Levels drawn by a process within this number of its holds of 1 us; a level that is drawn several times counts each
/// time.
fn drawn_levels(spec: ProcessSpec, holds: u64) -> Vec<u64> {
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let process = engine.start_process("p", spec, link, at(0)).unwrap();
    engine.advance(at(holds * 1000 - 1));
    let changes = engine.changes(process);
    let ends = changes.iter().skip(1).map(|&(end, _)| end).chain([at(holds * 1000)]);
    let mut every = Vec::new();
    for (&(begin, level), end) in changes.iter().zip(ends) {
        let level = match level {
            Capacity::Outage => 0,
            Capacity::Rate(Rate::BitsPerSecond(rate)) => rate.get(),
            Capacity::Rate(Rate::Unlimited) => unreachable!("no process draws it"),
        };
        every.extend((0..(end - begin).as_nanos() / 1000).map(|_| level));
    }
    assert_eq!(every.len() as u64, holds);
    every
}

#[test]
fn a_piecewise_uniform_distribution_has_its_weights_and_stays_on_its_grid() {
    // Cells of 1, 2 and 1 quarters. 40 000 draws: a share's standard error is at most 0.0025; four standard errors are
    // allowed.
    let cells = [(100, 199, 1), (200, 399, 2), (1000, 1000, 1)];
    let cells = cells.map(|(low, high, weight)| Cell { low, high, weight });
    let law = PiecewiseUniform { cells: Arc::new(cells), grid: NonZeroU64::new(10).unwrap() };
    let drawn = drawn_levels(ProcessSpec::Drawn { law, hold: Duration::from_micros(1) }, 40_000);
    let share = |low, high| drawn.iter().filter(|&&x| (low..=high).contains(&x)).count() as f64 / 40_000.0;
    for (low, high, expected) in
        [(100, 190, 0.25), (200, 390, 0.5), (1000, 1000, 0.25), (200, 290, 0.25), (0, 5000, 1.0)]
    {
        assert!((share(low, high) - expected).abs() < 0.01, "{low}..={high}: {}", share(low, high));
    }
    assert!(drawn.iter().all(|level| level % 10 == 0));
}

#[test]
fn a_published_sampler_has_its_published_moments() {
    // Cloud A of Ballani et al. as its emulator draws it, in Mbit/s: one of four cells, int(uniform(low, high + 1));
    // mean 288.8, coefficient of variation 0.557. 40 000 draws: standard errors 0.8 and 0.002; four standard errors
    // are allowed.
    let quantiles = [60_344_000, 149_999_000, 263_793_000, 384_482_000, 653_448_000];
    let cell = |pair: &[u64]| Cell { low: pair[0], high: pair[1] + 1_000_000, weight: 1 };
    let law = PiecewiseUniform {
        cells: quantiles.windows(2).map(cell).collect(),
        grid: NonZeroU64::new(1_000_000).unwrap(),
    };
    let drawn = drawn_levels(ProcessSpec::Drawn { law, hold: Duration::from_micros(1) }, 40_000);
    let mean = drawn.iter().sum::<u64>() as f64 / 40_000.0;
    let variance = drawn.iter().map(|&level| (level as f64 - mean).powi(2)).sum::<f64>() / 40_000.0;
    assert!((mean / 1e6 - 288.8).abs() < 3.2, "{mean}");
    assert!((variance.sqrt() / mean - 0.557).abs() < 0.008, "{}", variance.sqrt() / mean);
    assert!(drawn.iter().all(|level| (60_000_000..=654_000_000).contains(level)));
}

#[test]
fn a_chain_stays_as_long_as_its_probabilities_require() {
    // Good to bad 0.1, bad to good 0.4: four fifths good, visits of 10 and 2.5 steps on average. 50 000 steps contain
    // about 4000 visits of each, whose means have standard errors of 1.5 % and 1.2 %; 6 % are allowed.
    let state = |level, next: [u32; 2]| MarkovState {
        level: Capacity::bits_per_second(level),
        next_ppb: next.to_vec(),
    };
    let states = vec![state(7, [900_000_000, 100_000_000]), state(0, [400_000_000, 600_000_000])];
    let spec = ProcessSpec::Markov { chain: MarkovChain { states }, hold: Duration::from_micros(1) };
    let every = drawn_levels(spec, 50_000);
    assert_eq!(every[0], 7, "it starts in the first state");
    let visits: Vec<&[u64]> = every.chunk_by(|a, b| a == b).collect();
    for (level, expected) in [(7, 10.0), (0, 2.5)] {
        let of_level: Vec<f64> =
            visits.iter().filter(|visit| visit[0] == level).map(|visit| visit.len() as f64).collect();
        let mean = of_level.iter().sum::<f64>() / of_level.len() as f64;
        assert!((mean / expected - 1.0).abs() < 0.06, "{level}: {mean}");
    }
}

#[test]
fn a_resampled_trace_preserves_its_distribution_and_its_correlation_within_a_block() {
    // 30 us at level 1, 10 us at level 3: a quarter of the time at 3. Whole periods follow each other within a block
    // of 400 us, so one lag later, at 40 us, the level is the same unless a block ends in between: 1 in 10. A block
    // starts with level 1 in 3/4 and with level 3 in 1/4 of all cases, so two start alike in 5/8; the others differ in
    // 20 of the 40 us after the border. The share of equal levels is 0.9 + 0.1 * (5/8 + 3/8 * 1/2) = 0.98125. 1000
    // blocks: its standard error is 0.0008, four of which are allowed. The distribution is exact except for the last
    // block, since blocks are whole periods.
    let spec = resampled(&[(0, 1), (30_000, 3)], Some(40_000), 400_000);
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let process = engine.start_process("p", spec, link, at(0)).unwrap();
    engine.advance(at(400_000_000));
    let changes = engine.changes(process);
    let level_at = |instant: Instant| changes[changes.partition_point(|&(begin, _)| begin <= instant) - 1].1;
    let every: Vec<u64> = (0..400_000)
        .map(|micro| u64::from(level_at(at(micro * 1000)) == Capacity::bits_per_second(3)))
        .collect();
    let at_three = every.iter().sum::<u64>() as f64 / every.len() as f64;
    assert!((at_three - 0.25).abs() < 0.0001, "{at_three}");
    let pairs = every.iter().zip(&every[40..]);
    let equal = pairs.filter(|(now, then)| now == then).count() as f64 / (every.len() - 40) as f64;
    assert!((equal - 0.98125).abs() < 0.0031, "{equal}");
}

#[test]
fn a_block_longer_than_its_trace_repeats_it() {
    // Wherever the block starts, 1000 ns contain 250 ns of every level; four times over in 4000 ns.
    let trace = [(0, 1), (250, 2), (500, 3), (750, 4)];
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 0, Limit::Unlimited)).unwrap();
    let process = engine.start_process("p", resampled(&trace, Some(1000), 4000), link, at(0)).unwrap();
    engine.advance(at(3999));
    let changes = engine.changes(process);
    let ends = changes.iter().skip(1).map(|&(end, _)| end).chain([at(4000)]);
    let mut nanos = [0; 4];
    for (&(begin, level), end) in changes.iter().zip(ends) {
        let place = (1..=4).position(|rate| level == Capacity::bits_per_second(rate)).unwrap();
        nanos[place] += (end - begin).as_nanos();
    }
    assert_eq!(nanos, [1000; 4]);
}

#[test]
fn draws_depend_on_seed_and_name_alone() {
    let law = PiecewiseUniform {
        cells: Arc::new([Cell { low: 1, high: 1_000_000_000, weight: 1 }]),
        grid: NonZeroU64::MIN,
    };
    let spec = ProcessSpec::Drawn { law, hold: Duration::from_nanos(10) };
    let drawn = |seed, name, start, neighbour: bool| {
        let mut engine = Engine::new(seed);
        let links = ["a", "b"].map(|name| engine.add(name, fifo_link(FULL, 0, Limit::Unlimited)).unwrap());
        if neighbour {
            engine.start_process("neighbour", spec.clone(), links[1], at(0)).unwrap();
        }
        let process = engine.start_process(name, spec.clone(), links[0], at(start)).unwrap();
        engine.advance(at(start + 95));
        engine.changes(process).iter().map(|&(_, level)| level).collect::<Vec<_>>()
    };
    assert_eq!(drawn(1, "up", 0, false), drawn(1, "up", 77, true));
    assert_ne!(drawn(1, "up", 0, false), drawn(1, "down", 0, false));
    assert_ne!(drawn(1, "up", 0, false), drawn(2, "up", 0, false));
    assert_eq!(drawn(1, "up", 0, false).len(), 10);
}

/// Processes that change many times within a scenario.
pub fn process() -> impl Strategy<Value = ProcessSpec> {
    let level = || prop_oneof![Just(0u64), 1_000_000_000u64..20_000_000_000];
    let times = || prop::collection::vec(0u64..40, 1..6);
    let sums = |gaps: Vec<u64>| {
        let sum = |time: &mut u64, gap: u64| {
            *time += gap * 100;
            Some(*time)
        };
        gaps.into_iter().scan(0, sum).collect::<Vec<u64>>()
    };
    let given = (times(), level(), prop::option::of(1u64..30)).prop_map(move |(gaps, rate, rest)| {
        let mut entries: Vec<(u64, u64)> = sums(gaps)
            .into_iter()
            .zip(1..)
            .map(|(time, index)| (time, rate * index % 20_000_000_000))
            .collect();
        entries[0].0 = 0;
        let last = entries[entries.len() - 1].0;
        levels(&entries, rest.map(|rest| last + rest * 100))
    });
    let granted = (times(), 1u64..4000, prop::option::of(1u64..30)).prop_map(move |(gaps, bytes, rest)| {
        let entries: Vec<(u64, u64)> = sums(gaps).into_iter().map(|time| (time, bytes)).collect();
        let last = entries[entries.len() - 1].0;
        opportunities(&entries, rest.map(|rest| last + rest * 100))
    });
    let drawn = (level(), 1u64..50).prop_map(|(low, hold)| ProcessSpec::Drawn {
        law: PiecewiseUniform {
            cells: Arc::new([Cell { low, high: low + 1_000_000_000, weight: 1 }]),
            grid: NonZeroU64::MIN,
        },
        hold: Duration::from_nanos(hold * 100),
    });
    let chain = (level(), level(), 1u64..50).prop_map(|(first, second, hold)| {
        let state = |rate| MarkovState {
            level: Capacity::bits_per_second(rate),
            next_ppb: vec![500_000_000, 500_000_000],
        };
        let chain = MarkovChain { states: vec![state(first), state(second)] };
        ProcessSpec::Markov { chain, hold: Duration::from_nanos(hold * 100) }
    });
    prop_oneof![given, granted, drawn, chain]
}

/// The fluid model: what the levels pass up to an instant, in nano-bits.
fn let_through(levels: &[(u64, u64)], until: u64) -> u128 {
    let ends = levels.iter().skip(1).map(|&(end, _)| end).chain([u64::MAX]);
    levels
        .iter()
        .zip(ends)
        .map(|(&(begin, rate), end)| u128::from(rate) * u128::from(end.min(until).saturating_sub(begin)))
        .sum()
}

/// The first whole nanosecond at which this number of nano-bits has been passed.
fn through_at(levels: &[(u64, u64)], nano_bits: u128) -> u64 {
    let (mut low, mut high) = (0, 1 << 50);
    while low < high {
        let middle = (low + high) / 2;
        if let_through(levels, middle) < nano_bits {
            low = middle + 1
        } else {
            high = middle
        }
    }
    low
}

proptest! {
    #[test]
    fn a_driven_link_is_a_fluid(
        steps in prop::collection::vec((1u64..3000, prop_oneof![Just(0u64), 100_000_000..100_000_000_000u64]), 0..20),
        gaps_and_sizes in prop::collection::vec((0u64..800, 1u32..=1500), 1..60),
        last in 1_000_000_000u64..20_000_000_000,
    ) {
        let mut time = 0;
        let mut schedule = vec![(0, last / 3 + 1)];
        for (gap, rate) in steps { time += gap; schedule.push((time, rate)); }
        schedule.push((time + 500, last));
        let (mut engine, _, path) = driven(levels(&schedule, None), Limit::Unlimited);
        let (mut arrival, mut done) = (0, 0);
        let mut expected = Vec::new();
        for (tag, (gap, ip_bytes)) in (0..).zip(gaps_and_sizes) {
            arrival += gap;
            let packet = Packet::real(tag, ip_bytes, 0);
            engine.push(at(arrival), path, packet);
            // In passed nano-bits: a packet starts where the one before it ends, or with its arrival.
            done = let_through(&schedule, arrival).max(done) + u128::from(packet.wire_bytes()) * 8_000_000_000;
            let end = through_at(&schedule, done);
            expected.push((tag, end));
        }
        prop_assert_eq!(departures(&mut engine), expected);
    }

    #[test]
    fn opportunities_have_the_effect_of_mahimahis(
        gaps in prop::collection::vec(0u64..4, 1..30),
        arrivals in prop::collection::vec((0u64..3, prop_oneof![Just(1500u32), 1u32..=1500]), 1..60),
    ) {
        let mut time = 1;
        let times: Vec<u64> = gaps.iter().map(|gap| { time += gap; time }).collect();
        let schedule: Vec<(u64, u64)> = times.iter().map(|&time| (time, 1500)).collect();
        let (mut engine, _, path) = driven(opportunities(&schedule, Some(time)), Limit::Unlimited);
        let (mut queue, mut expected, mut turn, mut next) = (VecDeque::<(u64, u32)>::new(), Vec::new(), 0, 0);
        let mut rationalize = |now: u64, queue: &mut VecDeque<(u64, u32)>| while turn * time + times[next] <= now {
            let mut bytes = 1500;
            while let (true, Some((tag, left))) = (bytes > 0, queue.front_mut()) {
                let sent = bytes.min(*left);
                (bytes, *left) = (bytes - sent, *left - sent);
                if *left == 0 { expected.push((*tag, turn * time + times[next])); queue.pop_front(); }
            }
            (turn, next) = (turn + u64::from(next + 1 == times.len()), (next + 1) % times.len());
        };
        let mut now = 0;
        for (tag, (gap, ip_bytes)) in (0..).zip(arrivals) {
            now += gap;
            engine.push(at(now), path, Packet::real(tag, ip_bytes, 0));
            rationalize(now, &mut queue);
            queue.push_back((tag, ip_bytes));
        }
        rationalize(now + 10_000, &mut queue);
        prop_assert_eq!(departures(&mut engine), expected);
    }
}

#[test]
fn a_buffer_given_as_a_time_holds_the_packets_of_that_time() {
    // 2 us of buffer: two full packets wait at one per microsecond, four at twice that, each behind the packet in
    // transmission. In the outage after it, when none is in transmission, still four wait.
    let two = Limit::Time(Duration::from_micros(2));
    let twice = (0, 2 * FULL);
    for (entries, passed) in [(vec![(0, FULL)], 3), (vec![twice], 5), (vec![twice, (50, 0), (9000, FULL)], 4)]
    {
        let (mut engine, _, path) = driven(levels(&entries, None), two);
        push_full(&mut engine, path, &[100; 9]);
        assert_eq!(departures(&mut engine).len(), passed, "{entries:?}");
    }
}

fn log(at_ns: &[u64], rates: Option<&[u64]>, delays_ns: Option<&[u64]>, period: Option<u64>) -> ProcessSpec {
    let durations = |list: &[u64]| list.iter().copied().map(Duration::from_nanos).collect();
    ProcessSpec::Log(LogSchedule {
        at: durations(at_ns),
        levels: rates.map(|rates| rates.iter().copied().map(Capacity::bits_per_second).collect()),
        delays: delays_ns.map(durations),
        period: period.map(Duration::from_nanos),
    })
}

#[test]
fn a_log_changes_rate_and_delay_and_no_packet_overtakes() {
    // 1000 ns for a packet at first, 2000 ns from 5000 on. The delay of 4000 ns becomes 500 at 5000.
    let spec = log(&[0, 5_000], Some(&[FULL, FULL / 2]), Some(&[4_000, 500]), None);
    let (mut engine, _, path) = driven(spec, Limit::Unlimited);
    push_full(&mut engine, path, &[0, 3_900, 6_000, 20_000]);
    // The second left the transmitter at 4900, so it is due at 8900; the third left at 8000 and is due with it.
    assert_eq!(departures(&mut engine), [(0, 5_000), (1, 8_900), (2, 8_900), (3, 22_500)]);
}

#[test]
fn a_log_of_delays_leaves_the_link_its_rate_and_ends_with_the_process() {
    let mut engine = Engine::new(7);
    let link = engine.add("link", fifo_link(FULL, 100, Limit::Unlimited)).expect("a valid link");
    let spec = log(&[0, 1_000], None, Some(&[0, 700]), Some(2_000));
    let process = engine.start_process("log", spec, link, at(0)).expect("a valid process");
    let path = engine.path(&[link]);
    // They leave the transmitter at 1000 (the change comes after it), 3500 (delay 700), 4500 (none).
    push_full(&mut engine, path, &[0, 2_500, 3_500]);
    engine.advance(at(6_000));
    engine.stop_process(at(6_000), process);
    engine.push(at(7_000), path, Packet::real(3, 1500, 0));
    assert_eq!(departures(&mut engine), [(0, 1_100), (1, 4_300), (2, 4_600), (3, 8_100)]);
    assert!(engine.changes(process).is_empty());
}

#[test]
fn a_log_with_errors_is_refused() {
    for (spec, expected) in [
        (log(&[0], None, None, None), "has neither rates nor delays"),
        (log(&[0, 1], Some(&[1]), None, None), "differ in length"),
        (log(&[0, 1], None, Some(&[1]), None), "differ in length"),
        (log(&[5], Some(&[1]), None, None), "its first entry is at 5 ns"),
        (log(&[0, 9], Some(&[1, 1]), None, Some(9)), "begins again after 9 ns"),
        (log(&[], Some(&[]), None, None), "has no entries"),
    ] {
        let problem = spec.check().expect_err("is refused").to_string();
        assert!(problem.contains(expected), "{problem}");
    }
}
