//! Counts the bytes that one end of a connection receives: in all, within the measured window, and over time.
//!
//! All meters of a run have the same window, so their counts are over one common span of time and may be added. The series
//! has at most [`PARTS_MAX`] parts: when it is full, neighbours are merged and a part is twice as long.

use serde::{Deserialize, Serialize};

/// Most parts of a series.
const PARTS_MAX: usize = 2048;

/// The span of time that is measured, CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When all connections began, warm-up included; the first part of a series starts here.
    pub start_ns: u64,
    pub from_ns: u64,
    /// `None` where the number of messages ends the run.
    pub to_ns: Option<u64>,
}

impl Window {
    /// Whether an instant is measured.
    pub fn holds(&self, instant_ns: u64) -> bool {
        instant_ns >= self.from_ns && !self.is_over(instant_ns)
    }

    /// Whether an instant lies behind the window.
    pub fn is_over(&self, instant_ns: u64) -> bool {
        self.to_ns.is_some_and(|to_ns| instant_ns >= to_ns)
    }
}

/// What a meter counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Warm-up included.
    pub total_bytes: u64,
    pub window_bytes: u64,
    /// When the last bytes came; null when none did.
    pub last_ns: Option<u64>,
    /// Length of each part of the series.
    pub part_ns: u64,
    /// Bytes in each part, from the start; parts after the last are empty.
    pub series: Vec<u64>,
}

/// A counter.
#[derive(Clone, Debug)]
pub struct Meter {
    window: Window,
    counted: Counted,
}

impl Meter {
    /// Nothing received yet; `part_ns` is the first step of the series.
    pub fn new(window: Window, part_ns: u64) -> Meter {
        Meter { window, counted: Counted { part_ns, ..Counted::default() } }
    }

    /// Counts bytes that came at this instant.
    pub fn add(&mut self, now_ns: u64, bytes: u64) {
        let counted = &mut self.counted;
        counted.total_bytes += bytes;
        counted.last_ns = Some(now_ns);
        if self.window.holds(now_ns) {
            counted.window_bytes += bytes;
        }
        let since_start_ns = now_ns.saturating_sub(self.window.start_ns);
        while since_start_ns / counted.part_ns >= PARTS_MAX as u64 {
            counted.series = counted.series.chunks(2).map(|pair| pair.iter().sum()).collect();
            counted.part_ns *= 2;
        }
        let part = (since_start_ns / counted.part_ns) as usize;
        if counted.series.len() <= part {
            counted.series.resize(part + 1, 0);
        }
        counted.series[part] += bytes;
    }

    /// Bytes until now, warm-up included.
    pub fn total_bytes(&self) -> u64 {
        self.counted.total_bytes
    }

    /// What was counted.
    pub fn into_counted(self) -> Counted {
        self.counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WINDOW: Window = Window { start_ns: 1000, from_ns: 2000, to_ns: Some(4000) };

    #[test]
    fn the_window_has_its_start_and_not_its_end() {
        let mut meter = Meter::new(WINDOW, 500);
        for (now_ns, bytes) in [(1999, 1), (2000, 10), (3999, 100), (4000, 1000)] {
            meter.add(now_ns, bytes);
        }
        let counted = meter.into_counted();
        assert_eq!((counted.window_bytes, counted.total_bytes), (110, 1111));
        assert_eq!(counted.series, [0, 1, 10, 0, 0, 100, 1000]);
        assert_eq!(counted.last_ns, Some(4000));
    }

    proptest! {
        #[test]
        fn a_series_loses_no_byte_however_long_it_gets(
            arrivals in proptest::collection::vec((0u64..10_000_000, 1u64..100_000), 1..200),
        ) {
            let mut meter = Meter::new(Window { start_ns: 0, from_ns: 0, to_ns: None }, 100);
            for (now_ns, bytes) in &arrivals {
                meter.add(*now_ns, *bytes);
            }
            let counted = meter.into_counted();
            let sum: u64 = arrivals.iter().map(|(_, bytes)| bytes).sum();
            prop_assert_eq!(counted.series.iter().sum::<u64>(), sum);
            prop_assert_eq!((counted.total_bytes, counted.window_bytes), (sum, sum));
            prop_assert!(counted.series.len() <= PARTS_MAX);
            // Every arrival lies in the part that its instant says.
            for (part, bytes) in counted.series.iter().enumerate() {
                let span = part as u64 * counted.part_ns..(part as u64 + 1) * counted.part_ns;
                let of_part: u64 =
                    arrivals.iter().filter(|(now_ns, _)| span.contains(now_ns)).map(|(_, bytes)| bytes).sum();
                prop_assert_eq!(*bytes, of_part);
            }
        }
    }
}
