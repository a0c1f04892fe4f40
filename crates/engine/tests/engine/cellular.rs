//! CellReplay: tables worked out by hand from its paper and its program, and that program's loop as an oracle.

use std::collections::VecDeque;

use crosswind_engine::{
    CellReplaySpec, DropReason, Duration, ElementSpec, Engine, HeavyRecording, LightRecording, LightRow,
    Packet,
};
use proptest::prelude::*;

use crate::common::{at, departures, fates, single, Fate};

const MS: u64 = 1_000_000;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Rows of (time, base delay, opportunities) in milliseconds, and the milliseconds of heavy opportunities.
fn spec(light: &[(u64, u64, &[u64])], heavy: &[u64]) -> CellReplaySpec {
    let row = |&(time, delay, train): &(u64, u64, &[u64])| LightRow {
        at: ms(time),
        delay: ms(delay),
        opportunities: train.iter().copied().map(ms).collect(),
    };
    let mut counts: Vec<(Duration, u64)> = Vec::new();
    for &time in heavy {
        match counts.last_mut() {
            Some((last, count)) if *last == ms(time) => *count += 1,
            _ => counts.push((ms(time), 1)),
        }
    }
    CellReplaySpec {
        light: LightRecording::new(light.iter().map(row).collect()).expect("valid rows"),
        heavy: HeavyRecording::new(counts).expect("valid opportunities"),
        opportunity_bytes: 1400,
        idle: Duration::ZERO,
        by_size_ns: None,
        buffer_bytes: None,
    }
}

/// Packets as (millisecond, bytes); returns when each leaves, in microseconds.
fn left_us(spec: CellReplaySpec, packets: &[(u64, u32)]) -> Vec<u64> {
    let (mut engine, path) = single(ElementSpec::Cellreplay(spec));
    for (tag, &(millis, bytes)) in (0..).zip(packets) {
        engine.push(at(millis * MS), path, Packet::real(tag, bytes, 0));
    }
    let left = departures(&mut engine);
    assert!(left.iter().map(|&(tag, _)| tag).eq(0..packets.len() as u64), "in order");
    left.into_iter().map(|(_, nanos)| nanos / 1000).collect()
}

#[test]
fn single_packets_have_the_base_delay_which_is_interpolated_and_repeats() {
    let light: [(u64, u64, &[u64]); 3] = [(0, 20, &[0, 1]), (100, 40, &[0, 1]), (300, 30, &[0, 1])];
    // At 50 of 100 ms half of the way from 20 to 40; at 250 three quarters from 40 to 30; 350 is 50 of the second pass.
    let packets = [(0, 1400), (50, 100), (100, 1400), (250, 1400), (350, 1400)];
    let expected = [20_000, 80_000, 140_000, 282_500, 380_000];
    assert_eq!(left_us(spec(&light, &[1]), &packets), expected);
}

#[test]
fn a_short_train_uses_the_light_opportunities() {
    // Full packets use one each: 0, 4, 4, 9 ms after the first, which arrives at 20.
    let light: [(u64, u64, &[u64]); 2] = [(0, 20, &[0, 4, 4, 9]), (1000, 20, &[0])];
    assert_eq!(left_us(spec(&light, &[1]), &[(0, 1400); 4]), [20_000, 24_000, 24_000, 29_000]);
    // Two halves share one; 800 B do not fit behind 700 B, so they use the next.
    let halves = [(0, 700), (0, 700), (0, 700), (0, 800), (0, 600)];
    assert_eq!(left_us(spec(&light, &[1]), &halves), [20_000, 20_000, 24_000, 24_000, 24_000]);
    // At 5 ms the opportunities at 4 have passed: the one at 9 is next, if this packet still belongs to the train.
    let patient = CellReplaySpec { idle: ms(5), ..spec(&light, &[1]) };
    assert_eq!(left_us(patient, &[(0, 1400), (5, 1400)]), [20_000, 29_000]);
    // A packet of 2000 B uses two.
    assert_eq!(left_us(spec(&light, &[1]), &[(0, 2000), (0, 1400)]), [24_000, 24_000]);
}

#[test]
fn a_longer_train_waits_for_heavy_opportunities() {
    // Two light opportunities; later packets leave the first stage at 20 ms, or in order at 22, and wait for the heavy
    // opportunities at 30, 40 and so on.
    let light: [(u64, u64, &[u64]); 2] = [(0, 20, &[0, 2]), (1000, 20, &[0])];
    let heavy = [10];
    assert_eq!(left_us(spec(&light, &heavy), &[(0, 1400); 5]), [20_000, 22_000, 30_000, 40_000, 50_000]);
    // While packets wait, one with a light opportunity waits behind them: after the pause of the sender the first stage
    // is empty at 60 ms, and a train begins, due at 80; the heavy queue is empty by then.
    let packets = [(0, 1400), (0, 1400), (0, 1400), (0, 1400), (0, 1400), (0, 1400), (30, 1400)];
    let expected = [20_000, 22_000, 30_000, 40_000, 50_000, 60_000, 70_000];
    assert_eq!(left_us(spec(&light, &heavy), &packets), expected);
    let packets = [(0, 1400), (0, 1400), (0, 1400), (60, 1400)];
    assert_eq!(left_us(spec(&light, &heavy), &packets), [20_000, 22_000, 30_000, 80_000]);
}

#[test]
fn an_opportunity_that_nothing_uses_is_lost_and_one_serves_several_packets() {
    let light: [(u64, u64, &[u64]); 2] = [(0, 0, &[0]), (1000, 0, &[0])];
    // All but the first wait from 0 on. At 7 ms 1400 B: 1000 and 400 of the next 1000; at 9 the rest and 800 of 1000.
    let packets = [(0, 1400), (0, 1000), (0, 1000), (0, 1000), (30, 1400), (30, 1400)];
    assert_eq!(left_us(spec(&light, &[7, 9, 20]), &packets), [0, 7_000, 9_000, 20_000, 30_000, 40_000]);
}

#[test]
fn a_train_begins_only_after_the_idle_time() {
    let light: [(u64, u64, &[u64]); 2] = [(0, 20, &[0]), (1000, 20, &[0])];
    // The first leaves at 20 ms. One that arrives at 1 would leave at 21: it begins a train unless idle is 1 ms or more.
    let soon = [(0, 1400), (1, 1400)];
    assert_eq!(left_us(spec(&light, &[100]), &soon), [20_000, 21_000]);
    let patient = CellReplaySpec { idle: ms(1), ..spec(&light, &[100]) };
    assert_eq!(left_us(patient, &soon), [20_000, 100_000]);
}

#[test]
fn an_addition_by_size_is_interpolated_and_changes_no_order() {
    let light: [(u64, u64, &[u64]); 2] = [(0, 20, &[0, 0, 0]), (1000, 20, &[0])];
    let sized = CellReplaySpec { by_size_ns: Some(vec![-2_000_000, 4_000_000, 0]), ..spec(&light, &[1]) };
    // 40 and 100 B: -2 ms; 150 B: half of the way from -2 to 4; 300 B and more: 0.
    let packets = [(0, 40), (100, 100), (200, 150), (300, 200), (400, 300), (500, 1400)];
    assert_eq!(left_us(sized.clone(), &packets), [18_000, 118_000, 221_000, 324_000, 420_000, 520_000]);
    // Behind a packet due at 24, one of 100 B may not leave at 18, so nothing is taken off; it then waits behind it.
    assert_eq!(left_us(sized, &[(0, 200), (0, 100)]), [24_000, 25_000]);
}

#[test]
fn a_full_buffer_loses_packets() {
    let light: [(u64, u64, &[u64]); 2] = [(0, 5, &[0]), (1000, 5, &[0])];
    let spec = CellReplaySpec { buffer_bytes: Some(2 * 1400), ..spec(&light, &[100]) };
    let (mut engine, path) = single(ElementSpec::Cellreplay(spec));
    for tag in 0..5 {
        engine.push(at(0), path, Packet::real(tag, 1400, 0));
    }
    let lost: Vec<_> = fates(&mut engine).into_iter().filter(|&(.., fate)| fate != Fate::Left).collect();
    assert_eq!(lost, [3, 4].map(|tag| (tag, 5 * MS, Fate::Lost(DropReason::QueueFull))));
}

#[test]
fn a_measurement_starts_the_recordings_again() {
    let light: [(u64, u64, &[u64]); 2] = [(0, 10, &[0]), (1000, 90, &[0])];
    let mut engine = Engine::new(7);
    let element = engine.add("it", ElementSpec::Cellreplay(spec(&light, &[1]))).expect("valid");
    let path = engine.path(&[element]);
    engine.push(at(0), path, Packet::real(0, 1400, 0));
    engine.advance(at(500 * MS));
    engine.reset_counters();
    engine.push(at(700 * MS), path, Packet::real(1, 1400, 0));
    assert_eq!(departures(&mut engine), [(0, 10 * MS), (1, 710 * MS)]);
}

#[test]
fn recordings_with_errors_are_refused() {
    let row = |time, train: &[u64]| LightRow {
        at: ms(time),
        delay: ms(5),
        opportunities: train.iter().copied().map(ms).collect(),
    };
    for rows in
        [vec![], vec![row(0, &[0])], vec![row(1, &[0]), row(2, &[0])], vec![row(0, &[0]), row(0, &[0])]]
    {
        assert!(LightRecording::new(rows).unwrap_err().to_string().contains("at increasing times"));
    }
    for rows in [vec![row(0, &[]), row(1, &[0])], vec![row(0, &[0]), row(1, &[2, 1])]] {
        assert!(LightRecording::new(rows).unwrap_err().to_string().contains("that do not decrease"));
    }
    for wrong in [vec![], vec![(ms(0), 1)], vec![(ms(2), 1), (ms(1), 1)], vec![(ms(1), 0)]] {
        assert!(HeavyRecording::new(wrong).unwrap_err().to_string().contains("above 0 ns"));
    }
}

/// The program's loop, one millisecond after the other, for delays that do not change.
fn in_whole_milliseconds(
    delay: u64,
    train: &[u64],
    heavy: &[u64],
    idle: u64,
    packets: &[(u64, u32)],
) -> Vec<u64> {
    const CARRIES: i64 = 1400;
    let mut coming: VecDeque<(usize, u64, i64)> = VecDeque::new();
    coming.extend(packets.iter().enumerate().map(|(tag, &(time, bytes))| (tag, time, i64::from(bytes))));
    let mut left = vec![0; packets.len()];
    let (mut delayed, mut queue) = (VecDeque::new(), VecDeque::new());
    let (mut base, mut begun, mut index, mut rest) = (None, 0, 0, 0);
    let (mut last, mut end) = (0, 0);
    let period = heavy[heavy.len() - 1];
    for now in 0.. {
        while coming.front().is_some_and(|&(_, time, _)| time == now) {
            let (tag, _, bytes) = coming.pop_front().expect("there is a first one");
            let (mut release, mut own);
            if base.is_none() || now + delay > last + idle {
                (base, begun, index, rest) = (Some(delay), now, 0, CARRIES - bytes);
                (release, own) = (now + delay, true);
            } else {
                while index < train.len() && now - begun > train[index] {
                    (index, rest) = (index + 1, CARRIES);
                }
                if rest < bytes {
                    (index, rest) = (index + 1, CARRIES);
                }
                rest -= bytes;
                if index >= train.len() {
                    (release, own) = ((now + delay).max(now + train[train.len() - 1]), false);
                } else {
                    (release, own) = (begun + delay + train[index], true);
                }
            }
            last = release;
            if release < end {
                (release, own) = (end, false);
            }
            end = release;
            delayed.push_back((tag, release, own, bytes));
        }
        let within = now % period;
        let at_the_end = now > 0 && within == 0;
        let chances = heavy.iter().filter(|&&time| time == if at_the_end { period } else { within }).count();
        for _ in 0..chances {
            let mut bytes = CARRIES;
            while let Some((tag, waits)) = queue.front_mut() {
                let leave = bytes.min(*waits);
                *waits -= leave;
                bytes -= leave;
                if *waits > 0 {
                    break;
                }
                left[*tag] = now * 1000;
                queue.pop_front();
            }
        }
        while delayed.front().is_some_and(|&(_, release, ..)| release <= now) {
            let (tag, _, own, bytes) = delayed.pop_front().expect("there is a first one");
            if own && queue.is_empty() {
                left[tag] = now * 1000;
            } else {
                queue.push_back((tag, bytes));
            }
        }
        if coming.is_empty() && delayed.is_empty() && queue.is_empty() {
            return left;
        }
    }
    unreachable!("time has no end")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn packets_leave_as_in_the_programs_own_loop(
        delay in 0_u64..40,
        mut train in prop::collection::vec(0_u64..12, 0..8),
        mut heavy in prop::collection::vec(1_u64..30, 1..20),
        idle in 0_u64..10,
        gaps in prop::collection::vec((prop_oneof![Just(0_u64), 0_u64..4, 20_u64..60], 1_u32..=1400), 1..60),
    ) {
        train.push(0);
        train.sort_unstable();
        heavy.sort_unstable();
        let packets: Vec<(u64, u32)> = gaps
            .iter()
            .scan(0, |time, &(gap, bytes)| {
                *time += gap;
                Some((*time, bytes))
            })
            .collect();
        let first = packets[0].0;
        let packets: Vec<(u64, u32)> = packets.into_iter().map(|(time, bytes)| (time - first, bytes)).collect();
        let light: [(u64, u64, &[u64]); 2] = [(0, delay, &train), (1_000_000, delay, &[0])];
        let with_idle = CellReplaySpec { idle: ms(idle), ..spec(&light, &heavy) };
        let expected = in_whole_milliseconds(delay, &train, &heavy, idle, &packets);
        prop_assert_eq!(left_us(with_idle, &packets), expected);
    }
}
