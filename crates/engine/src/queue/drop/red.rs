//! Random early detection (RED). Drops arriving packets at random, with a probability that grows with the average
//! queue, so that the ends slow down before the buffer is full and not all at once.
//!
//! `min_bytes`, `max_bytes`: thresholds of the average queue, 0 < min < max, in bytes as the buffer counts them.
//! `probability`: the share dropped at max, in (0, 1]. `weight`: the weight of an arrival in the average
//! (`queue/drop/average.rs`). Below min nothing is dropped. From min to max the probability grows linearly to
//! `probability`, from max to twice max linearly to 1 (the "gentle" form); from there on everything is dropped.
//! Packets between two drops are counted, so that drops are spread evenly: at a constant average and probability p,
//! the number of packets from drop to drop is uniform in 1 to 1/p - 1 (that is figure 2 as published, where `count`
//! starts with 1; the source's text has 1/p).
//!
//! A packet's size does not change its probability (RFC 7567, section 4.4). With ECN, packets whose transport reacts
//! to marks are marked instead of dropped, but not from twice max on. Drop reason: `red`; packets without room in the
//! buffer have `queue-full`.
//!
//! Source: Floyd and Jacobson 1993, figure 2; Floyd 2000, "Recommendation on using the gentle variant of RED".

use crate::describe::{page, parameters, Page, Parameter, Rule};
use crate::outcome::DropReason;
use crate::packet::Packet;
use crate::queue::drop::average::Average;
use crate::queue::drop::policy::{Detected, DropPolicy};
use crate::queue::Buffer;
use crate::random::Stream;
use crate::units::{Instant, Rate, Share};

parameters! {
    /// Drops new packets at random, with a probability that grows with the average queue (Floyd, Jacobson).
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub struct RedSpec {
        /// The share dropped at each average.
        profile: RedProfile = flat,
        /// Weight of an arrival in the average queue; 0.2% when absent.
        weight: Share = [weight()],
    }
}

/// Weight of an arrival in the average; the source proposes 0.2 %.
pub(crate) fn weight() -> Parameter {
    Parameter::share("weight", "weight_ppb").or("0.2%", 2_000_000)
}

parameters! {
    /// The share dropped at each average queue.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub struct RedProfile {
        /// Average queue below which nothing is dropped.
        min_bytes: u64 = [Parameter::size("min", "min_bytes")],
        /// Average queue at which `probability` is dropped; at twice this value everything is dropped.
        max_bytes: u64 = [Parameter::size("max", "max_bytes")],
        /// Share dropped at `max`.
        probability: Share = [Parameter::share("probability", "probability_ppb")],
    }
    rules: [Rule::Ascending { keys: &["min", "max"] }]
}

pub(crate) struct Red {
    average: Average,
    detector: Detector,
}

impl DropPolicy for Red {
    type Spec = RedSpec;

    const PAGE: Option<Page> = Some(page!("red.rs"));
    const REASON: DropReason = DropReason::Red;

    fn new(spec: &RedSpec, buffer: &Buffer, rate: Rate) -> Red {
        let average = Average::new(spec.weight, buffer.measure(), rate);
        Red { average, detector: Detector::new(spec.profile) }
    }

    fn set_rate(&mut self, buffer: &Buffer, rate: Rate) {
        self.average.set_rate(buffer.measure(), rate);
    }

    fn at_arrival(&mut self, _: &Packet, buffer: &Buffer, now: Instant, random: &mut Stream) -> Detected {
        self.detector.judge(self.average.at_arrival(buffer, now), random)
    }

    fn emptied(&mut self, now: Instant) {
        self.average.emptied(now);
    }
}

/// A profile in operation.
pub(crate) struct Detector {
    min: f64,
    max: f64,
    probability: f64,
    /// Packets since the last drop, -1 after an average below min (the source's `count`).
    count: i64,
}

impl Detector {
    pub(super) fn new(profile: RedProfile) -> Detector {
        Detector {
            min: profile.min_bytes as f64,
            max: profile.max_bytes as f64,
            probability: f64::from(profile.probability.ppb()) / f64::from(Share::WHOLE.ppb()),
            count: -1,
        }
    }

    /// Decides about a packet that arrives at an average queue of this number of bytes. Makes one draw if the decision
    /// is random.
    pub(super) fn judge(&mut self, average: f64, random: &mut Stream) -> Detected {
        // "else count <- -1"
        if average < self.min {
            self.count = -1;
            return Detected::Nothing;
        }
        // "else if max_th <= avg: mark the arriving packet, count <- 0", here from twice max on.
        if average >= 2.0 * self.max {
            self.count = 0;
            return Detected::Overload;
        }
        // "if min_th <= avg < max_th: increment count; p_b <- max_p (avg - min_th) / (max_th - min_th)"
        self.count += 1;
        let base = if average < self.max {
            self.probability * (average - self.min) / (self.max - self.min)
        } else {
            self.probability + (1.0 - self.probability) * (average - self.max) / self.max
        };
        // "p_a <- p_b / (1 - count p_b)"; above 1 the packet is dropped with certainty.
        let left = 1.0 - self.count as f64 * base;
        let is_chosen = random.uniform() * left <= base;
        // "with probability p_a: mark the arriving packet, count <- 0"
        if base > 0.0 && is_chosen {
            self.count = 0;
            Detected::Early
        } else {
            Detected::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detector(probability_ppb: u32) -> Detector {
        let probability = Share::parts_per_billion(probability_ppb).unwrap();
        Detector::new(RedProfile { min_bytes: 1000, max_bytes: 3000, probability })
    }

    #[test]
    fn below_min_nothing_and_from_twice_max_on_everything_is_dropped() {
        let mut random = Stream::new(7, "red");
        let mut detector = detector(100_000_000);
        for _ in 0..1000 {
            assert_eq!(detector.judge(999.9, &mut random), Detected::Nothing);
            assert_eq!(detector.judge(6000.0, &mut random), Detected::Overload);
        }
    }

    #[test]
    fn from_drop_to_drop_the_number_of_packets_is_uniform() {
        // At 2000 B, in the middle, the probability is 2 % / 2 = 1 / 100: 1 to 99 packets from drop to drop.
        let (mut random, mut detector) = (Stream::new(7, "red"), detector(20_000_000));
        let mut between = [0u32; 101];
        let (drops, mut since) = (20_000, 0);
        // The first one counts from -1, one packet earlier than the others.
        while detector.judge(2000.0, &mut random) == Detected::Nothing {}
        for _ in 0..drops {
            loop {
                since += 1;
                if detector.judge(2000.0, &mut random) == Detected::Early {
                    break;
                }
            }
            between[since] += 1;
            since = 0;
        }
        assert_eq!((between[0], between[100]), (0, 0));
        // Chi-square with 98 degrees of freedom: mean 98, standard deviation 14; five standard deviations are allowed.
        let expected = f64::from(drops) / 99.0;
        let chi_square: f64 =
            between[1..100].iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!((28.0..168.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn the_share_dropped_grows_linearly_in_two_parts() {
        for (average, base) in [(1500.0, 0.025), (2500.0, 0.075), (3000.0, 0.1), (4500.0, 0.55)] {
            let (mut random, mut detector) = (Stream::new(7, "red"), detector(100_000_000));
            let n = 200_000;
            let dropped = (0..n).filter(|_| detector.judge(average, &mut random) == Detected::Early).count();
            // From drop to drop P(X > k) = 1 - k p / (1 - p) while that is positive; its sum is the mean of X.
            let mean: f64 = (0..40).map(|k| (1.0 - f64::from(k) * base / (1.0 - base)).max(0.0)).sum();
            let share = dropped as f64 / f64::from(n);
            assert!((share * mean - 1.0).abs() < 0.02, "{average}: {share} against {}", 1.0 / mean);
        }
    }
}
