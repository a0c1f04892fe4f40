//! The clock of a node on another machine, as a straight line over the own one; and its report on the own clock.

use serde::Serialize;

use super::control::Done;
use super::meter::Counted;

/// Another machine's CLOCK_MONOTONIC: it shows `there_ns` when the own one shows `here_ns`, and gains `gained_ns` over
/// the next `over_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockLine {
    pub here_ns: u64,
    pub there_ns: u64,
    pub gained_ns: i64,
    /// Above 0, and more than is lost in it.
    pub over_ns: u64,
}

impl ClockLine {
    /// Of a node on the own machine.
    pub const SAME: Self = Self { here_ns: 0, there_ns: 0, gained_ns: 0, over_ns: 1 };

    /// An instant of the own clock on the other one.
    pub fn there(&self, here_ns: u64) -> u64 {
        let over_ns = i128::from(self.over_ns);
        moved(here_ns, self.here_ns, self.there_ns, over_ns, over_ns + i128::from(self.gained_ns))
    }

    /// An instant of the other clock on the own one.
    pub fn here(&self, there_ns: u64) -> u64 {
        let over_ns = i128::from(self.over_ns);
        moved(there_ns, self.there_ns, self.here_ns, over_ns + i128::from(self.gained_ns), over_ns)
    }

    /// What a node reports, with its instants on the own clock.
    pub fn done_here(&self, mut done: Done) -> Done {
        let here = |instant: &mut Option<u64>| *instant = instant.map(|there_ns| self.here(there_ns));
        let counted = |counted: &mut Counted| here(&mut counted.last_ns);
        for sent in &mut done.sent {
            here(&mut sent.finished_ns);
            sent.answers.iter_mut().for_each(counted);
        }
        done.received.iter_mut().for_each(|received| counted(&mut received.counted));
        done
    }

    /// A row of samples with its instants on the own clock; `None` if it is no row.
    pub fn row_here(&self, row: &str) -> Option<String> {
        if *self == Self::SAME {
            return Some(row.to_owned());
        }
        let mut fields: Vec<String> = row.split(',').map(str::to_owned).collect();
        for instant in fields.get_mut(INSTANTS)? {
            *instant = self.here(instant.parse().ok()?).to_string();
        }
        Some(fields.join(","))
    }
}

/// Of the fields of a row: intended, started, finished.
const INSTANTS: std::ops::Range<usize> = 2..5;

fn moved(instant_ns: u64, from_ns: u64, to_ns: u64, per: i128, makes: i128) -> u64 {
    let since_ns = i128::from(instant_ns) - i128::from(from_ns);
    let moved_ns = i128::from(to_ns) + since_ns * makes / per.max(1);
    u64::try_from(moved_ns.max(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    // 50 ppm faster.
    const FAST: ClockLine =
        ClockLine { here_ns: 1_000, there_ns: 5_000_000, gained_ns: 50_000, over_ns: 1_000_000_000 };

    #[test]
    fn an_instant_goes_there_and_back() {
        assert_eq!(FAST.there(1_000), 5_000_000);
        assert_eq!(FAST.there(1_000_001_000), 1_005_050_000);
        assert_eq!(FAST.here(1_005_050_000), 1_000_001_000);
        for instant_ns in [0, 7, u64::MAX / 2] {
            assert_eq!(ClockLine::SAME.there(instant_ns), instant_ns);
            assert!(FAST.here(FAST.there(instant_ns)).abs_diff(instant_ns) <= 1);
        }
        assert_eq!(FAST.here(0), 0);
        assert_eq!(FAST.there(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_row_keeps_what_is_no_instant() {
        let row = "call,3,5000000,1005050000,1005050000,1,1\n";
        assert_eq!(FAST.row_here(row).as_deref(), Some("call,3,1000,1000001000,1000001000,1,1\n"));
        assert_eq!(ClockLine::SAME.row_here("anything").as_deref(), Some("anything"));
        for damaged in ["", "call,3", "call,3,x,1,1,1,1"] {
            assert_eq!(FAST.row_here(damaged), None);
        }
    }
}
