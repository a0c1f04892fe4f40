//! Policers and shapers: golden tables, and comparison with the arrival curve in exact rational numbers.

use crosswind_engine::{
    DropReason, ElementSpec, Limit, MarkSpec, Outcome, Packet, PoliceSpec, Rate, ShapeSpec,
};
use proptest::prelude::*;

use crate::common::{at, departures, fates, push_full, rate, single, Fate};

const NO_TOKENS: Fate = Fate::Lost(DropReason::NoTokens);
const QUEUE_FULL: Fate = Fate::Lost(DropReason::QueueFull);

fn shape(bits_per_second: u64, burst_bytes: u64, buffer: Limit) -> ElementSpec {
    ElementSpec::Shape(ShapeSpec { rate: rate(bits_per_second), burst_bytes, buffer: buffer.into() })
}

#[test]
fn a_policer_passes_the_burst_and_then_the_rate() {
    // 8 Mbit/s bring one byte a microsecond; the burst of 3000 B holds two packets of 1500 B.
    //   0: 3000 -> 1500;  0: 1500 -> 0;  0: dropped, spends nothing;
    //   1 499 999 ns: 1499.999 B are not enough;  1 500 000 ns: exactly enough.
    let (mut engine, path) =
        single(ElementSpec::Police(PoliceSpec { rate: rate(8_000_000), burst_bytes: 3000 }));
    push_full(&mut engine, path, &[0, 0, 0, 1_499_999, 1_500_000]);
    assert_eq!(
        fates(&mut engine),
        [
            (0, 0, Fate::Left),
            (1, 0, Fate::Left),
            (2, 0, NO_TOKENS),
            (3, 1_499_999, NO_TOKENS),
            (4, 1_500_000, Fate::Left)
        ]
    );
}

#[test]
fn a_packet_larger_than_the_burst_never_passes_a_policer() {
    let (mut engine, path) =
        single(ElementSpec::Police(PoliceSpec { rate: rate(8_000_000), burst_bytes: 1499 }));
    push_full(&mut engine, path, &[0, 1_000_000_000_000]);
    assert_eq!(fates(&mut engine), [(0, 0, NO_TOKENS), (1, 1_000_000_000_000, NO_TOKENS)]);
}

#[test]
fn an_unlimited_policer_or_shaper_passes_everything() {
    for spec in [
        ElementSpec::Police(PoliceSpec { rate: Rate::Unlimited, burst_bytes: 1 }),
        ElementSpec::Shape(ShapeSpec {
            rate: Rate::Unlimited,
            burst_bytes: 1,
            buffer: Limit::Bytes(0).into(),
        }),
    ] {
        let (mut engine, path) = single(spec);
        push_full(&mut engine, path, &[3, 3]);
        assert_eq!(departures(&mut engine), [(0, 3), (1, 3)]);
    }
}

#[test]
fn a_shaper_delays_until_tokens_suffice_and_drops_packets_beyond_the_buffer() {
    // 12 Mbit/s bring 1500 B a millisecond; the burst is one packet. Of four at once the first has tokens, two wait for
    // 1 and 2 ms (3000 B of buffer), and the fourth does not fit.
    let (mut engine, path) = single(shape(12_000_000, 1500, Limit::Bytes(3000)));
    push_full(&mut engine, path, &[0, 0, 0, 0]);
    assert_eq!(
        fates(&mut engine),
        [(0, 0, Fate::Left), (3, 0, QUEUE_FULL), (1, 1_000_000, Fate::Left), (2, 2_000_000, Fate::Left)]
    );
}

#[test]
fn a_shaper_whose_bucket_holds_one_packet_does_not_drift() {
    // 1500 B x 8 / 7 Gbit/s = 1714.2857.. ns; packet n leaves at n x 12 000 / 7, rounded up: 0, 1715, 3429, 5143, ...
    let (mut engine, path) = single(shape(7_000_000_000, 1500, Limit::Unlimited));
    let n = 10_000;
    push_full(&mut engine, path, &vec![0; n]);
    let departures = departures(&mut engine);
    assert_eq!(&departures[..4], [(0, 0), (1, 1715), (2, 3429), (3, 5143)]);
    assert!(departures.iter().all(|&(n, due)| due == (n * 12_000).div_ceil(7)));
}

#[test]
fn a_packet_larger_than_a_shapers_burst_is_refused_at_the_buffer() {
    let (mut engine, path) = single(shape(8_000_000, 1499, Limit::Unlimited));
    push_full(&mut engine, path, &[0]);
    assert_eq!(fates(&mut engine), [(0, 0, QUEUE_FULL)]);
}

#[test]
fn a_marker_rewrites_the_dscp() {
    let (mut engine, path) = single(ElementSpec::Mark(MarkSpec { dscp: 34 }));
    engine.push(at(1), path, Packet::real(0, 100, 0));
    let outcome = engine.pop();
    assert!(matches!(outcome, Some(Outcome::Departure { packet, .. }) if packet.dscp == 34), "{outcome:?}");
}

const NANO_BITS_PER_BYTE: i128 = 8_000_000_000;

/// Whether `bytes` at `now` and all earlier packets stay within burst + rate x window, for every window that ends now.
pub fn conforms(passed: &[(u64, u32)], now: u64, bytes: u32, rate: u64, burst_bytes: u64) -> bool {
    let mut sum = i128::from(bytes);
    let within = |sum: i128, since: u64| {
        (sum - i128::from(burst_bytes)) * NANO_BITS_PER_BYTE <= i128::from(rate) * i128::from(now - since)
    };
    within(sum, now)
        && passed.iter().rev().all(|&(since, bytes)| {
            sum += i128::from(bytes);
            within(sum, since)
        })
}

/// The exact instants, in nano-bits (ns x rate), at which a shaper with an unbounded buffer releases packets: as soon
/// as the packet has arrived, the one before has gone, and every window that ends then stays within burst + rate x
/// window.
fn greedy_shaper(arrivals: &[(u64, u32)], rate: u64, burst_bytes: u64) -> Vec<u64> {
    let mut gone: Vec<(i128, i128)> = Vec::new(); // exact instant, nano-bits
    for &(arrival, bytes) in arrivals {
        let size = i128::from(bytes) * NANO_BITS_PER_BYTE;
        let previous = gone.last().map_or(0, |&(instant, _)| instant);
        let mut instant = previous.max(i128::from(arrival) * i128::from(rate));
        let mut sum = size;
        for &(since, size) in gone.iter().rev() {
            sum += size;
            instant = instant.max(since + sum - i128::from(burst_bytes) * NANO_BITS_PER_BYTE);
        }
        gone.push((instant, size));
    }
    let round_up = |&(instant, _): &(i128, i128)| {
        u64::try_from((instant + i128::from(rate) - 1) / i128::from(rate)).expect("a short test")
    };
    gone.iter().map(round_up).collect()
}

pub fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0u64..4000, 1u32..=1500), 1..60).prop_map(|gaps_and_sizes| {
        let mut now = 0;
        gaps_and_sizes
            .into_iter()
            .map(|(gap, size)| {
                now += gap;
                (now, size)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn a_policer_passes_exactly_the_packets_that_the_arrival_curve_allows(
        traffic in traffic(),
        bits_per_second in 10_000_000u64..20_000_000_000,
        burst_bytes in 64u64..6000,
    ) {
        let spec = ElementSpec::Police(PoliceSpec { rate: rate(bits_per_second), burst_bytes });
        let (mut engine, path) = single(spec);
        let mut passed = Vec::new();
        for &(now, bytes) in &traffic {
            engine.push(at(now), path, Packet::real(0, bytes, 0));
            let allowed = conforms(&passed, now, bytes, bits_per_second, burst_bytes);
            let left = matches!(engine.pop(), Some(Outcome::Departure { .. }));
            prop_assert_eq!(left, allowed, "at {} ns, {} B", now, bytes);
            if left {
                passed.push((now, bytes));
            }
        }
    }

    #[test]
    fn a_shaper_is_the_greedy_one(
        traffic in traffic(),
        bits_per_second in 10_000_000u64..20_000_000_000,
        burst_bytes in 1500u64..6000,
    ) {
        let (mut engine, path) = single(shape(bits_per_second, burst_bytes, Limit::Unlimited));
        for (tag, &(now, bytes)) in (0..).zip(&traffic) {
            engine.push(at(now), path, Packet::real(tag, bytes, 0));
        }
        let expected: Vec<_> = (0..).zip(greedy_shaper(&traffic, bits_per_second, burst_bytes)).collect();
        prop_assert_eq!(departures(&mut engine), expected);
    }
}
