//! Loss: golden tables, shares in the long run, and the distributions of lengths of bursts and gaps.

use crosswind_engine::{
    BernoulliLaw, DropReason, ElementSpec, FourStateLaw, GilbertElliottLaw, LoseSpec, LossLaw, LossPattern,
    LossTrace, Outcome, Packet, Share,
};

use crate::common::{at, fates, push_full, share, single, Fate};

const PACKETS: usize = 400_000;
const PERCENT: u32 = 10_000_000;

/// Whether each of `packets` packets was lost.
fn lost(law: LossLaw, packets: usize) -> Vec<bool> {
    let (mut engine, path) = single(ElementSpec::Lose(LoseSpec { law }));
    let ends = (0..packets as u64).map(|tag| {
        engine.push(at(tag * 1000), path, Packet::real(tag, 1500, 0));
        matches!(engine.pop(), Some(Outcome::Dropped { reason: DropReason::Lost, .. }))
    });
    ends.collect()
}

/// Lengths of the runs of `which`, except the last one, which may be unfinished.
fn runs(lost: &[bool], which: bool) -> Vec<usize> {
    let mut runs: Vec<usize> = Vec::new();
    for pair in lost.chunk_by(|a, b| a == b) {
        if pair[0] == which {
            runs.push(pair.len());
        }
    }
    runs.pop();
    runs
}

/// Chi-square of run lengths against the geometric distribution on 1, 2, ... with the given probability to end, over
/// the classes 1 to 8 and more. Its 99.9 % quantile with 8 degrees of freedom is 26.1.
fn assert_geometric(runs: &[usize], ends: f64) {
    let mut chi_square = 0.0;
    let mut left = 1.0;
    for length in 1..=9 {
        let probability = if length < 9 { left * ends } else { left };
        left -= probability;
        let seen = runs.iter().filter(|&&run| run.min(9) == length).count() as f64;
        let expected = probability * runs.len() as f64;
        chi_square += (seen - expected).powi(2) / expected;
    }
    assert!(chi_square < 26.1, "chi-square {chi_square} of {} runs", runs.len());
}

/// The share of lost packets is within five standard errors. `variance` is that of one packet's loss, times the
/// correlation's inflation (1 for independent losses).
fn assert_share(lost: &[bool], share: f64, inflation: f64) {
    let seen = lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64;
    let error = (share * (1.0 - share) * inflation / lost.len() as f64).sqrt();
    assert!((seen - share).abs() < 5.0 * error, "{seen} instead of {share} +- {error}");
}

fn gilbert_elliott(p: u32, r: u32, h: u32, k: u32) -> LossLaw {
    let [p, r, h, k] = [p, r, h, k].map(|percent| share(percent * PERCENT));
    LossLaw::GilbertElliott(GilbertElliottLaw { p, r, h, k })
}

#[test]
fn a_trace_repeats_the_recorded_losses() {
    let pattern = LossPattern::new(&[false, true, true]).unwrap();
    let (mut engine, path) =
        single(ElementSpec::Lose(LoseSpec { law: LossLaw::Trace(LossTrace { pattern }) }));
    push_full(&mut engine, path, &[0, 1, 2, 3, 4]);
    let lost = Fate::Lost(DropReason::Lost);
    let expected = [(0, 0, Fate::Left), (1, 1, lost), (2, 2, lost), (3, 3, Fate::Left), (4, 4, lost)];
    assert_eq!(fates(&mut engine), expected);
}

#[test]
fn a_share_of_100_percent_is_certain() {
    assert!(lost(LossLaw::Bernoulli(BernoulliLaw { share: Share::WHOLE }), 1000).iter().all(|&lost| lost));
}

#[test]
fn bernoulli_losses_are_independent() {
    // Then gaps and bursts are geometric: a gap ends with the next loss, a burst with the next packet received.
    let lost = lost(LossLaw::Bernoulli(BernoulliLaw { share: share(20 * PERCENT) }), PACKETS);
    assert_share(&lost, 0.2, 1.0);
    assert_geometric(&runs(&lost, false), 0.2);
    assert_geometric(&runs(&lost, true), 0.8);
}

#[test]
fn a_part_per_hundred_thousand_is_not_rounded_away() {
    // 10^6 packets at 10^-5: ten are expected; none at all has probability e^-10, more than 25 about 2 x 10^-5.
    let (mut engine, path) = single(ElementSpec::Lose(LoseSpec {
        law: LossLaw::Bernoulli(BernoulliLaw { share: share(10_000) }),
    }));
    for tag in 0..1_000_000 {
        engine.push(at(tag), path, Packet::ghost(1500));
    }
    let dropped = engine.totals().ghost.dropped;
    assert!((1..=25).contains(&dropped), "{dropped}");
}

#[test]
fn gilberts_bursts_and_gaps_are_geometric() {
    // h = 0, k = 100 %: lost exactly in the bad state. Gaps end with p = 5 %, bursts with r = 30 %; lost: 5 / 35. The
    // chain's correlation 1 - p - r = 0.65 inflates the variance of the mean by 1.65 / 0.35.
    let lost = lost(gilbert_elliott(5, 30, 0, 100), PACKETS);
    assert_share(&lost, 5.0 / 35.0, 1.65 / 0.35);
    assert_geometric(&runs(&lost, false), 0.05);
    assert_geometric(&runs(&lost, true), 0.30);
}

#[test]
fn elliotts_chain_loses_in_both_states() {
    // ((1 - k) r + (1 - h) p) / (p + r) = (0.02 x 0.3 + 0.6 x 0.1) / 0.4 = 0.165; at most inflated by 1.6 / 0.4.
    let lost = lost(gilbert_elliott(10, 30, 40, 98), PACKETS);
    assert_share(&lost, 0.165, 1.6 / 0.4);
}

#[test]
fn a_chain_that_starts_good_loses_nothing_before_its_first_step() {
    assert_eq!(lost(gilbert_elliott(100, 0, 0, 100), 4), [false, true, true, true]);
}

fn four_state(p13: u32, p31: u32, p32: u32, p23: u32, p14: u32) -> LossLaw {
    let [p13, p31, p32, p23, p14] = [p13, p31, p32, p23, p14].map(|percent| share(percent * PERCENT));
    LossLaw::FourState(FourStateLaw { p13, p31, p32, p23, p14 })
}

#[test]
fn four_states_without_p14_and_p32_equal_gilberts_two() {
    let lost = lost(four_state(5, 30, 0, 100, 0), PACKETS);
    assert_share(&lost, 5.0 / 35.0, 1.65 / 0.35);
    assert_geometric(&runs(&lost, false), 0.05);
    assert_geometric(&runs(&lost, true), 0.30);
}

#[test]
fn four_states_lose_the_share_of_their_stationary_distribution() {
    // Balance, with p13 = 2 %, p14 = 1 %, p31 = 10 %, p32 = 20 %, p23 = 50 % and pi1 = 1:
    //   3 -> 1 brings back what 1 -> 3 takes: pi3 = 0.02 / 0.1 = 0.2; pi2 = pi3 x 0.2 / 0.5 = 0.08; pi4 = 0.01.
    // Lost: (0.2 + 0.01) / 1.29. The slowest mode decays by about 0.93 a packet: inflation at most 2 / 0.07.
    let lost = lost(four_state(2, 10, 20, 50, 1), PACKETS);
    assert_share(&lost, 0.21 / 1.29, 2.0 / 0.07);
}

#[test]
fn an_isolated_loss_is_followed_by_a_packet_received() {
    let lost = lost(four_state(0, 100, 0, 100, 50), PACKETS);
    assert!(runs(&lost, true).iter().all(|&run| run == 1));
    // One of two packets in state 1 is lost: 1 / 3 in the long run. Gaps: the packet that leads back to 1 is always
    // received, and then each one ends the gap with probability one half.
    let beyond: Vec<usize> =
        runs(&lost, false)[1..].iter().map(|run| run - 1).filter(|&run| run > 0).collect();
    assert_geometric(&beyond, 0.5);
    assert_share(&lost, 1.0 / 3.0, 1.0);
}

#[test]
fn new_parameters_of_a_model_leave_its_state() {
    // Permanently bad; with the new parameters nothing is lost in the good state but everything in the bad one.
    let mut engine = crosswind_engine::Engine::new(7);
    let element =
        engine.add("it", ElementSpec::Lose(LoseSpec { law: gilbert_elliott(100, 0, 100, 100) })).unwrap();
    let path = engine.path(&[element]);
    push_full(&mut engine, path, &[0]);
    engine
        .reconfigure(at(1), element, ElementSpec::Lose(LoseSpec { law: gilbert_elliott(0, 0, 0, 100) }))
        .unwrap();
    engine.push(at(2), path, Packet::real(1, 1500, 0));
    assert_eq!(fates(&mut engine), [(0, 0, Fate::Left), (1, 2, Fate::Lost(DropReason::Lost))]);
}

#[test]
fn transitions_from_a_state_have_a_sum_of_at_most_100_percent() {
    let error = crosswind_engine::Engine::new(7)
        .add("line", ElementSpec::Lose(LoseSpec { law: four_state(60, 10, 10, 10, 41) }))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "line: four_state: leaves state 1 with 101% together; give its two steps at most 100%"
    );
}
