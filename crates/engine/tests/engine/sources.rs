//! Sources: instants of their packets, carried remainders, draws.

use crosswind_engine::{
    Arrivals, ClassTotals, DelaySpec, Duration, ElementSpec, Engine, Instant, MarkSpec, Packet, Rate,
    RateLaw, RecordedPacket, ReplaySpec, Sizes, SourceSpec, ZeroMeans,
};

use crate::common::{at, rate, FULL_PACKET_A_MICROSECOND};

/// Full packets, 1000 ns apart in a burst.
fn source(law: RateLaw, hold_ns: u64, pacing_ns: u64) -> SourceSpec {
    let arrivals = Arrivals::Paced {
        pacing: Duration::from_nanos(pacing_ns),
        peak: rate(FULL_PACKET_A_MICROSECOND),
        zero: ZeroMeans::Silence,
    };
    let sizes = Sizes::Fixed { ip_bytes: 1500 };
    SourceSpec { rate: law, hold: Duration::from_nanos(hold_ns), arrivals, sizes, dscp: 0 }
}

/// The same with another peak.
fn with_peak(mut spec: SourceSpec, other: Rate) -> SourceSpec {
    let Arrivals::Paced { peak, .. } = &mut spec.arrivals else { unreachable!("paced") };
    *peak = other;
    spec
}

fn constant(bits_per_second: u64, pacing_ns: u64) -> SourceSpec {
    source(RateLaw::Constant { bits_per_second }, 5_000_000_000, pacing_ns)
}

/// The instants at which a source started at 0 sends its packets, up to and including `until`.
fn instants(spec: SourceSpec, until: u64) -> Vec<u64> {
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    engine.start_source("neighbour", spec, path, Instant::ZERO).expect("a valid source");
    let mut instants = Vec::new();
    while let Some(next) = engine.next_event().filter(|&next| next <= at(until)) {
        let before = engine.totals().ghost.left;
        engine.advance(next);
        instants.extend((before..engine.totals().ghost.left).map(|_| next.as_nanos()));
    }
    instants
}

#[test]
fn a_burst_starts_with_every_pacing_interval_and_has_the_peak_rate() {
    // 12 Mbit/s x 2 ms = 24 000 bit = two packets of 12 000 bit.
    let expected = [0, 1000, 2_000_000, 2_001_000, 4_000_000];
    assert_eq!(instants(constant(12_000_000, 2_000_000), 4_000_000), expected);
}

#[test]
fn bits_of_an_incomplete_packet_are_carried_to_the_next_burst() {
    // 9 Mbit/s x 2 ms = 18 000 bit = one packet and a half: one, two, one, two.
    let expected = [0, 2_000_000, 2_001_000, 4_000_000, 6_000_000, 6_001_000];
    assert_eq!(instants(constant(9_000_000, 2_000_000), 7_999_999), expected);
}

#[test]
fn a_burst_longer_than_its_interval_continues_without_a_gap() {
    // 20 Gbit/s x 3000 ns = five packets per interval, of which the peak passes three.
    let expected: Vec<u64> = (0..=20).map(|n| n * 1000).collect();
    assert_eq!(instants(constant(20_000_000_000, 3000), 20_000), expected);
}

#[test]
fn an_unlimited_peak_sends_a_burst_at_one_instant() {
    let spec = with_peak(constant(12_000_000, 2_000_000), Rate::Unlimited);
    assert_eq!(instants(spec, 2_000_000), [0, 0, 2_000_000, 2_000_000]);
}

#[test]
fn packet_times_that_are_not_whole_nanoseconds_do_not_drift() {
    // 1230.4 ns a packet: 1230.4, 2460.8, 3691.2, 4921.6 rounded up; 60 000 bit = five packets.
    let spec = with_peak(constant(60_000_000, 1_000_000), rate(10_000_000_000));
    assert_eq!(instants(spec, 999_999), [0, 1231, 2461, 3692, 4922]);
}

#[test]
fn zero_means_silence_or_the_peak_as_the_source_specifies() {
    assert!(instants(constant(0, 10_000), 100_000).is_empty());
    let mut spec = constant(0, 10_000);
    let Arrivals::Paced { zero, .. } = &mut spec.arrivals else { unreachable!("paced") };
    *zero = ZeroMeans::Unlimited;
    assert_eq!(instants(spec, 100_000).len(), 101, "one per microsecond, including 0 and 100 000");
}

#[test]
fn the_mean_rate_offered_is_the_rate_drawn() {
    // 1 s at 500 Mbit/s: 41 666.67 packets; bursts of 10 ms have 416.67.
    assert_eq!(instants(constant(500_000_000, 10_000_000), 999_999_999).len(), 41_666);
}

fn normal() -> RateLaw {
    RateLaw::Normal { mean: 5_000_000, sd: 4_000_000, low: 0, high: 10_000_000 }
}

#[test]
fn rates_are_redrawn_with_every_hold_and_clipped_to_their_range() {
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    let id = engine.start_source("neighbour", source(normal(), 5_000_000, 1_000_000), path, at(3)).unwrap();
    engine.advance(at(999_000_003));
    let draws = engine.draws(id);
    let instants: Vec<u64> = draws.iter().map(|(instant, _)| instant.as_nanos()).collect();
    assert_eq!(instants, (0..200).map(|n| 3 + n * 5_000_000).collect::<Vec<_>>());
    assert!(draws.iter().all(|&(_, rate)| rate <= 10_000_000));
    // A tenth of the distribution is outside each bound (1.25 sd), so both bounds are drawn.
    assert!(draws.iter().any(|&(_, rate)| rate == 0) && draws.iter().any(|&(_, rate)| rate == 10_000_000));
}

/// The draws of "neighbour" after one second, in an engine that `disturb` has filled before.
fn draws_with(disturb: impl FnOnce(&mut Engine)) -> Vec<(Instant, u64)> {
    let mut engine = Engine::new(7);
    disturb(&mut engine);
    let path = engine.path(&[]);
    let spec = source(normal(), 5_000_000, 1_000_000);
    let id = engine.start_source("neighbour", spec, path, Instant::ZERO).expect("a valid source");
    engine.advance(at(1_000_000_000));
    engine.draws(id).to_vec()
}

#[test]
fn other_elements_and_sources_change_no_draw() {
    let alone = draws_with(|_| {});
    let accompanied = draws_with(|engine| {
        let delay = engine
            .add("delay", ElementSpec::Delay(DelaySpec { time: Duration::from_millis(1), random: None }))
            .unwrap();
        let path = engine.path(&[delay]);
        engine.start_source("another", source(normal(), 3_000_000, 500_000), path, Instant::ZERO).unwrap();
    });
    assert_eq!(alone, accompanied);
}

#[test]
fn a_stopped_source_sends_nothing_more_and_its_name_is_free_again() {
    let mut engine = Engine::new(7);
    let delay = engine
        .add("delay", ElementSpec::Delay(DelaySpec { time: Duration::from_micros(10), random: None }))
        .unwrap();
    let path = engine.path(&[delay]);
    let spec = constant(12_000_000_000, 1_000_000);
    let id = engine.start_source("neighbour", spec.clone(), path, Instant::ZERO).unwrap();
    engine.stop_source(at(4_500), id);
    // Its scheduled event comes, without effect.
    engine.advance(at(5_000));
    assert_eq!(engine.next_event(), Some(at(10_000)), "packets inside continue");
    engine.advance(at(50_000_000));
    assert_eq!(engine.totals().ghost, ClassTotals { entered: 5, left: 5, ..ClassTotals::default() });
    engine.start_source("neighbour", spec, path, at(60_000_000)).expect("the name is free");
}

#[test]
fn ghosts_delay_real_packets_but_have_no_outcomes() {
    // Ghosts fill the link at 0 and 1000 ns; the real packet of 500 ns waits for the first and precedes the second.
    let mut engine = Engine::new(7);
    let link = crate::common::fifo_link(FULL_PACKET_A_MICROSECOND, 0, crosswind_engine::Limit::Unlimited);
    let link = engine.add("link", link).unwrap();
    let path = engine.path(&[link]);
    engine.start_source("neighbour", constant(12_000_000, 2_000_000), path, Instant::ZERO).unwrap();
    engine.push(at(500), path, Packet::real(9, 1500, 0));
    assert_eq!(crate::common::departures(&mut engine), [(9, 2000)]);
    assert_eq!(engine.real_inside(), 0);
}

fn recorded(packets: &[(u64, u32)], repeat: bool) -> ReplaySpec {
    let packet =
        |&(gap_ns, ip_bytes): &(u64, u32)| RecordedPacket { gap: Duration::from_nanos(gap_ns), ip_bytes };
    ReplaySpec { packets: packets.iter().map(packet).collect(), repeat, dscp: 10 }
}

/// Instant and size of every ghost of a replay that started at 0, up to and including `until`.
fn replayed(spec: ReplaySpec, until: u64) -> Vec<(u64, u64)> {
    let mut engine = Engine::new(7);
    let mark = engine.add("mark", ElementSpec::Mark(MarkSpec { dscp: 0 })).unwrap();
    let path = engine.path(&[mark]);
    engine.start_replay("neighbour", spec, path, Instant::ZERO).expect("a valid replay");
    let mut sent = Vec::new();
    let mut bytes = 0;
    while let Some(next) = engine.next_event().filter(|&next| next <= at(until)) {
        // Waking for each packet distinguishes packets of one instant.
        engine.advance(next);
        let now = engine.counters(mark).ghost.arrived.bytes;
        sent.push((next.as_nanos(), now - bytes));
        bytes = now;
    }
    sent
}

#[test]
fn a_replay_has_the_gaps_and_sizes_of_its_recording() {
    let once = recorded(&[(5, 100), (1_000, 1500), (0, 60), (20, 40)], false);
    // The two packets of instant 1005 are one advance.
    assert_eq!(replayed(once, 1_000_000), [(5, 100), (1_005, 1_560), (1_025, 40)]);
}

#[test]
fn a_repeated_replay_restarts_after_its_first_gap() {
    let again = recorded(&[(10, 100), (5, 200)], true);
    assert_eq!(replayed(again, 47), [(10, 100), (15, 200), (25, 100), (30, 200), (40, 100), (45, 200)]);
}

#[test]
fn a_replay_that_would_stop_time_or_send_nothing_is_refused() {
    let refusal = |spec| {
        let mut engine = Engine::new(7);
        let path = engine.path(&[]);
        engine.start_replay("s", spec, path, Instant::ZERO).err().map(|error| error.to_string())
    };
    assert_eq!(refusal(recorded(&[(0, 100)], false)), None);
    assert!(refusal(recorded(&[(0, 100)], true)).is_some_and(|text| text.contains("takes no time")));
    assert!(refusal(recorded(&[], false)).is_some_and(|text| text.contains("0 packets")));
    assert!(refusal(recorded(&[(1, 0)], false)).is_some_and(|text| text.contains("packets of 0 IP bytes")));
    let marked = ReplaySpec { dscp: 64, ..recorded(&[(1, 100)], false) };
    assert!(refusal(marked).is_some_and(|text| text.contains("DSCP 64")));
}
