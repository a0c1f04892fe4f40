//! A quantity over time, in fixed memory: the sum and the largest value of its windows in each of at most 1,024 steps.
//!
//! At first a step is one window. When the steps are used up, neighbours are merged and every step has twice as many
//! windows. A long measurement therefore has 512 to 1,024 points, and no peak is lost.

use alloc::boxed::Box;
use alloc::vec;

const STEPS: usize = 1024;

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
struct Step {
    sum: u64,
    greatest: u64,
}

/// One step of a trend.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TrendStep {
    /// The first window of the step, from 0.
    pub first_window: u64,
    /// The windows in it; fewer in the last step.
    pub windows: u64,
    /// The sum of their values.
    pub sum: u64,
    /// The largest of their values.
    pub greatest: u64,
}

/// Values of consecutive windows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trend {
    steps: Box<[Step]>,
    windows_per_step: u64,
    /// Windows closed so far.
    windows: u64,
}

impl Trend {
    pub(crate) fn new() -> Trend {
        Trend { steps: vec![Step::default(); STEPS].into_boxed_slice(), windows_per_step: 1, windows: 0 }
    }

    /// The next window has ended with `value`.
    pub(crate) fn close(&mut self, value: u64) {
        let window = self.windows;
        self.skip(1);
        let step = &mut self.steps[(window / self.windows_per_step) as usize];
        step.sum += value;
        step.greatest = step.greatest.max(value);
    }

    /// The next `windows` windows have ended with 0.
    pub(crate) fn skip(&mut self, windows: u64) {
        self.windows += windows;
        while self.windows > STEPS as u64 * self.windows_per_step {
            self.merge_neighbours();
        }
    }

    fn merge_neighbours(&mut self) {
        for index in 0..STEPS / 2 {
            let (first, second) = (self.steps[2 * index], self.steps[2 * index + 1]);
            self.steps[index] =
                Step { sum: first.sum + second.sum, greatest: first.greatest.max(second.greatest) };
        }
        self.steps[STEPS / 2..].fill(Step::default());
        self.windows_per_step *= 2;
    }

    /// Windows in every step but the last.
    pub fn windows_per_step(&self) -> u64 {
        self.windows_per_step
    }

    /// The steps so far, in order.
    pub fn steps(&self) -> impl Iterator<Item = TrendStep> + '_ {
        let used = self.windows.div_ceil(self.windows_per_step) as usize;
        self.steps[..used].iter().enumerate().map(|(index, step)| {
            let first_window = index as u64 * self.windows_per_step;
            let windows = self.windows_per_step.min(self.windows - first_window);
            TrendStep { first_window, windows, sum: step.sum, greatest: step.greatest }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn a_step_is_one_window_until_the_steps_are_used_up() {
        let mut trend = Trend::new();
        (0..1024).for_each(|value| trend.close(value));
        assert_eq!(trend.windows_per_step(), 1);
        trend.close(5000);
        // 1025 windows: 512 pairs, of which the first is 0 + 1 and the last 1022 + 1023, and the new one.
        let steps: Vec<_> = trend.steps().collect();
        assert_eq!((trend.windows_per_step(), steps.len()), (2, 513));
        assert_eq!((steps[0].sum, steps[511].sum, steps[511].greatest), (1, 2045, 1023));
        assert_eq!(steps[512], TrendStep { first_window: 1024, windows: 1, sum: 5000, greatest: 5000 });
    }

    proptest! {
        #[test]
        fn no_window_and_no_peak_is_lost(runs in prop::collection::vec((0u64..3000, 1u64..100), 0..20)) {
            let mut trend = Trend::new();
            for &(idle, value) in &runs {
                trend.skip(idle);
                trend.close(value);
            }
            let windows: u64 = runs.iter().map(|(idle, _)| idle + 1).sum();
            prop_assert_eq!(trend.steps().map(|step| step.windows).sum::<u64>(), windows);
            prop_assert_eq!(trend.steps().map(|step| step.sum).sum::<u64>(), runs.iter().map(|run| run.1).sum::<u64>());
            prop_assert_eq!(trend.steps().map(|step| step.greatest).max(), runs.iter().map(|run| run.1).max());
        }
    }
}
