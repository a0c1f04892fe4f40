//! The clocks of a node: where they begin and how fast they run.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::anchor::Anchor;
use crate::map::{Map, CLOCKS, RIGHT_PPB, SECOND_NS};

/// The largest factor.
pub const FACTOR_MAX: u64 = 1000;
const RATE_PPB: std::ops::RangeInclusive<u64> = RIGHT_PPB.get() / 2..=RIGHT_PPB.get() * 2;
/// Ten years of 365 days: no clock gets before 1970, or overflows.
const OFFSET_MAX_NS: u64 = 3650 * 86_400 * SECOND_NS as u64;

/// All clocks at an instant, real and perceived, and how fast they run from there: what the processes of a node get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    factor: NonZeroU64,
    rate_ppb: NonZeroU64,
    real_ns: [i64; CLOCKS],
    perceived_ns: [i64; CLOCKS],
}

/// How wrong the clock of one node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrong {
    /// How far its wall clock is ahead; negative is behind. Clocks that count from a start have no right value.
    #[serde(default)]
    pub offset_ns: i64,
    /// How fast all of its clocks run, in billionths of the right speed.
    #[serde(default = "right")]
    pub rate_ppb: NonZeroU64,
}

fn right() -> NonZeroU64 {
    RIGHT_PPB
}

impl Wrong {
    /// # Errors
    /// The number that makes no sense, its rule and the remedy.
    pub fn check(&self) -> Result<(), String> {
        if !RATE_PPB.contains(&self.rate_ppb.get()) {
            let (least, most) = (RATE_PPB.start(), RATE_PPB.end());
            return Err(format!(
                "rate_ppb {} is outside {least} to {most}; {RIGHT_PPB} is right",
                self.rate_ppb
            ));
        }
        if self.offset_ns.unsigned_abs() > OFFSET_MAX_NS {
            return Err(format!("offset_ns {} is more than ten years; write less", self.offset_ns));
        }
        Ok(())
    }
}

impl Clocks {
    /// Real until an instant, and `factor` times slower from there.
    pub fn slow(from: Anchor, factor: NonZeroU64) -> Self {
        let real_ns = from.readings();
        Self { factor, rate_ppb: RIGHT_PPB, real_ns, perceived_ns: real_ns }
    }

    /// These clocks for a node where they are wrong from an instant on.
    pub fn wrong(self, from: Anchor, wrong: Wrong) -> Self {
        let real_ns = from.readings();
        let right = Map::from(self);
        let mut perceived_ns = [0; CLOCKS];
        for (clock, perceived_ns) in perceived_ns.iter_mut().enumerate() {
            let offset_ns = if Map::is_wall(clock) { wrong.offset_ns } else { 0 };
            *perceived_ns = right.perceived(clock, real_ns[Map::source(clock)]).saturating_add(offset_ns);
        }
        Self { factor: self.factor, rate_ppb: wrong.rate_ppb, real_ns, perceived_ns }
    }
}

impl From<Clocks> for Map {
    fn from(Clocks { factor, rate_ppb, real_ns, perceived_ns }: Clocks) -> Self {
        Self { factor, rate_ppb, real_ns, perceived_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchor::read;
    use crate::map::{MONOTONIC, REALTIME};

    const ALL: [usize; 8] = [0, 1, 4, 5, 6, 7, 9, 11];

    fn ten() -> NonZeroU64 {
        NonZeroU64::new(10).unwrap()
    }

    #[test]
    fn every_clock_reads_the_same_at_the_anchor_and_then_slower() {
        let anchor = Anchor::now();
        let map = Map::from(Clocks::slow(anchor, ten()));
        for clock in ALL {
            let source = Map::source(clock);
            let passed = read(source) - map.real_ns[source];
            // A coarse clock may be up to 10 ms behind the anchor.
            assert!((-10_000_001..1_000_000_000).contains(&passed), "clock {clock}: {passed} ns");
            let perceived = map.perceived(clock, map.real_ns[source] + 1_000_000) - map.real_ns[clock];
            assert_eq!(perceived, 100_000, "clock {clock}");
        }
        assert_eq!(map.perceived_ns[MONOTONIC], anchor.monotonic_ns);
        assert_eq!(map.perceived_ns[REALTIME], anchor.realtime_ns);
    }

    #[test]
    fn a_wrong_clock_is_off_from_the_right_one_at_its_anchor_and_drifts_from_there() {
        let anchor = Anchor::now();
        let right = Clocks::slow(anchor, ten());
        let later = Anchor::at(anchor.monotonic_ns + 5 * SECOND_NS);
        let wrong = Wrong { offset_ns: -SECOND_NS, rate_ppb: NonZeroU64::new(1_500_000_000).unwrap() };
        let [right, wrong] = [right, right.wrong(later, wrong)].map(Map::from);
        for clock in ALL {
            let offset_ns = if [0, 5, 11].contains(&clock) { -SECOND_NS } else { 0 };
            let at = wrong.real_ns[Map::source(clock)];
            let ahead = |after: i64| wrong.perceived(clock, at + after) - right.perceived(clock, at + after);
            // The distances of clocks are read again, and change meanwhile by their resolution.
            assert!((ahead(0) - offset_ns).abs() < 1_000_000, "clock {clock}: {}", ahead(0));
            // A perceived second takes ten, and the wrong clock gains half of it.
            assert_eq!(ahead(10 * SECOND_NS) - ahead(0), SECOND_NS / 2, "clock {clock}");
        }
    }

    #[test]
    fn a_wrong_clock_is_made_right_again() {
        let from = Anchor::now();
        let right = Clocks::slow(from, NonZeroU64::new(1).unwrap());
        let text = r#"{"offset_ns": 7, "rate_ppb": 500000000}"#;
        let wrong = right.wrong(from, serde_json::from_str(text).unwrap());
        assert_ne!(Map::from(wrong).perceived(REALTIME, from.monotonic_ns), from.realtime_ns);
        let again = Map::from(right.wrong(from, serde_json::from_str("{}").unwrap()));
        assert_eq!(again.perceived(REALTIME, from.monotonic_ns), from.realtime_ns);
    }

    #[test]
    fn an_offset_and_a_rate_that_make_no_sense_are_refused() {
        let checked =
            |offset_ns, rate_ppb| Wrong { offset_ns, rate_ppb: NonZeroU64::new(rate_ppb).unwrap() }.check();
        for (offset_ns, rate_ppb) in [(i64::MIN, 1_000_000_000), (0, 499_999_999), (0, 2_000_000_001)] {
            assert!(checked(offset_ns, rate_ppb).is_err());
        }
        for rate_ppb in [500_000_000, 1_000_000_000, 2_000_000_000] {
            checked(-5 * SECOND_NS, rate_ppb).unwrap();
        }
    }
}
