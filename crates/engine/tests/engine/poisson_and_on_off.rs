//! Poisson and on/off sources: their distributions in long seeded runs, and properties of all sources.

use crosswind_engine::{Arrivals, Duration, Engine, Instant, RateLaw, Sizes, SourceSpec};

use crate::common::at;

/// 1000-byte packets at 80 Mbit/s: 10 000 a second, 100 us apart on average.
fn source(arrivals: Arrivals) -> SourceSpec {
    SourceSpec {
        rate: RateLaw::Constant { bits_per_second: 80_000_000 },
        hold: Duration::from_secs(1_000),
        arrivals,
        sizes: Sizes::Fixed { ip_bytes: 1000 },
        dscp: 0,
    }
}

fn on_off(on_ms: u64, off_ms: u64, shape_thousandths: Option<u32>) -> Arrivals {
    let (on, off) = (Duration::from_millis(on_ms), Duration::from_millis(off_ms));
    Arrivals::OnOff { on, off, shape_thousandths }
}

/// The instants at which the source called `name` sends in `seconds`.
fn instants(name: &str, spec: SourceSpec, seconds: u64) -> Vec<u64> {
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    engine.start_source(name, spec, path, Instant::ZERO).expect("a valid source");
    let mut instants = Vec::new();
    while let Some(next) = engine.next_event().filter(|&next| next < at(seconds * 1_000_000_000)) {
        let before = engine.totals().ghost.left;
        engine.advance(next);
        instants.extend((before..engine.totals().ghost.left).map(|_| next.as_nanos()));
    }
    instants
}

fn gaps(instants: &[u64]) -> Vec<f64> {
    instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

/// Variance over mean of the numbers of packets in windows.
fn dispersion(instants: &[u64], window_ns: u64, windows: usize) -> f64 {
    let mut counts = vec![0.0; windows];
    for instant in instants {
        counts[(instant / window_ns) as usize] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / windows as f64;
    counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / windows as f64 / mean
}

#[test]
fn gaps_of_a_poisson_source_are_exponential() {
    let mut gaps = gaps(&instants("p", source(Arrivals::Poisson), 2));
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let distance = gaps.iter().enumerate().map(|(index, gap)| {
        let law = 1.0 - (-gap / 100_000.0).exp();
        (law - index as f64 / n).abs().max((law - (index + 1) as f64 / n).abs())
    });
    // Kolmogorov-Smirnov: 1.63 / sqrt(n) is exceeded by one sample in a hundred; this one is seeded.
    let distance = distance.fold(0.0, f64::max);
    assert!(distance < 1.63 / n.sqrt(), "{distance} with {n} gaps");
}

#[test]
fn numbers_in_windows_have_the_dispersion_of_the_distribution() {
    // 20 s in windows of 10 ms, 100 packets each on average. For a Poisson process variance / mean is 1, with a
    // standard error of sqrt(2 / 2000) = 0.032.
    let poisson = dispersion(&instants("p", source(Arrivals::Poisson), 20), 10_000_000, 2000);
    assert!((poisson - 1.0).abs() < 0.1, "{poisson}");
    // On and off for 10 ms each on average: the share of on in a window varies far more.
    let bursty = dispersion(&instants("p", source(on_off(10, 10, None)), 20), 10_000_000, 2000);
    assert!(bursty > 20.0, "{bursty}");
}

#[test]
fn the_mean_rate_offered_is_the_rate_drawn() {
    // 200 000 packets in 20 s. Poisson: standard deviation 447. On and off: 1000 cycles of 20 ms, whose share of on
    // has a standard deviation of 0.5 / sqrt(1000) x sqrt(2) of one half, so 3200 packets.
    let poisson = instants("p", source(Arrivals::Poisson), 20).len();
    assert!((198_000..202_000).contains(&poisson), "{poisson}");
    let exponential = instants("p", source(on_off(10, 10, None)), 20).len();
    assert!((190_000..210_000).contains(&exponential), "{exponential}");
    // Pareto with index 1.5 converges slowly: its variance is infinite.
    let pareto = instants("p", source(on_off(10, 10, Some(1_500))), 20).len();
    assert!((140_000..260_000).contains(&pareto), "{pareto}");
}

#[test]
fn while_on_packets_are_evenly_spaced_at_the_rate_of_both() {
    // On for a quarter of the time: 320 Mbit/s while on, a packet every 25 us. Gaps are 25 us, or span an off period.
    let gaps = gaps(&instants("p", source(on_off(10, 30, None)), 5));
    let within = gaps.iter().filter(|&&gap| gap == 25_000.0).count();
    assert!(gaps.iter().all(|&gap| gap >= 25_000.0));
    assert!(within as f64 / gaps.len() as f64 > 0.99, "{within} of {}", gaps.len());
}

#[test]
fn pareto_lengths_have_the_tail_of_their_index() {
    // Off for 10 ms on average, index 1.5: minimum 10 x 0.5 / 1.5 = 3.33 ms, and P(off > 10 x minimum) = 10^-1.5 = 3.2 %.
    let spec = source(on_off(10, 10, Some(1_500)));
    let gaps = gaps(&instants("p", spec, 60));
    // The gap that spans an off period is at most one packet's time longer.
    let off: Vec<f64> = gaps.into_iter().filter(|&gap| gap > 3_333_333.0).collect();
    assert!(off.len() > 1_500, "{}", off.len());
    let long = off.iter().filter(|&&gap| gap > 33_333_333.0 + 25_000.0).count() as f64 / off.len() as f64;
    assert!((0.02..0.045).contains(&long), "{long}");
}

#[test]
fn a_new_rate_applies_from_its_draw_on() {
    // Half the draws are 0 (clipped): a Poisson source is silent between such a draw and the next.
    let rate = RateLaw::Normal { mean: 0, sd: 80_000_000, low: 0, high: 800_000_000 };
    let spec = SourceSpec { rate, hold: Duration::from_millis(10), ..source(Arrivals::Poisson) };
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    let id = engine.start_source("p", spec, path, Instant::ZERO).unwrap();
    let mut silent = 0;
    for hold in 0..100 {
        engine.advance(at(hold * 10_000_000));
        let before = engine.totals().ghost.left;
        engine.advance(at((hold + 1) * 10_000_000 - 1));
        let rate = engine.draws(id)[hold as usize].1;
        silent += u32::from(rate == 0);
        assert!(rate > 0 || engine.totals().ghost.left == before, "hold {hold}");
    }
    assert!((30..70).contains(&silent), "{silent}");
}

#[test]
fn the_simple_internet_mix_has_its_mean_size() {
    // (7 x 40 + 4 x 576 + 1500) / 12 = 340.33 IP bytes; at 80 Mbit/s for 5 s 50 000 000 bytes, 146 900 packets.
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    let spec = SourceSpec { sizes: Sizes::Imix, ..source(Arrivals::Poisson) };
    engine.start_source("p", spec, path, Instant::ZERO).unwrap();
    engine.advance(at(5_000_000_000));
    let packets = engine.totals().ghost.left;
    assert!((145_500..148_500).contains(&packets), "{packets}");
}

#[test]
fn sources_of_other_names_send_at_other_instants() {
    let first = instants("p", source(Arrivals::Poisson), 1);
    assert_eq!(first, instants("p", source(Arrivals::Poisson), 1));
    assert_ne!(first, instants("q", source(Arrivals::Poisson), 1));
}
