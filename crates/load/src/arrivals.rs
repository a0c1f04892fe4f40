//! When the operations of one connection fall due in an open loop: instants that follow from the rate, the
//! arrival process and the seed, whatever the server does.
//!
//! * **Even**: operation `k` of the run is due at `k / rate` and belongs to connection `k mod connections`; as YCSB's
//!   `-target` spaces them.
//! * **Poisson**: each connection is a Poisson process of `rate / connections`, independent of the others, so that all
//!   together are one of `rate`. Gaps are exponential, as in mutilate by default.
//!
//! Instants are relative to the start of the run.

use crate::random::{Purpose, Random};

/// How arrivals follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalProcess {
    Even,
    Poisson { seed: u64 },
}

/// The instants of one connection, the next one first.
#[derive(Clone, Debug)]
pub enum Arrivals {
    Even(Even),
    Poisson(Poisson),
}

impl Arrivals {
    /// The instants of one connection; all `connections` together have this rate.
    pub fn new(process: ArrivalProcess, rate_per_s: f64, connection: usize, connections: usize) -> Arrivals {
        let period_ns = 1e9 / rate_per_s;
        match process {
            ArrivalProcess::Even => {
                Arrivals::Even(Even { period_ns, index: connection as u64, step: connections as u64 })
            }
            ArrivalProcess::Poisson { seed } => Arrivals::Poisson(Poisson::new(
                period_ns * connections as f64,
                Random::stream(seed, Purpose::Arrivals, connection as u64),
            )),
        }
    }

    /// The next instant.
    pub fn due_ns(&self) -> u64 {
        match self {
            Arrivals::Even(even) => even.due_ns(even.index),
            Arrivals::Poisson(poisson) => poisson.due_ns as u64,
        }
    }

    /// Moves on to the next instant.
    pub fn advance(&mut self) {
        match self {
            Arrivals::Even(even) => even.index += even.step,
            Arrivals::Poisson(poisson) => poisson.advance(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Even {
    period_ns: f64,
    index: u64,
    step: u64,
}

impl Even {
    /// The instant of an operation of the run, from its index and not from the one before, so that rounding does not add
    /// up.
    pub fn due_ns(&self, index: u64) -> u64 {
        (index as f64 * self.period_ns) as u64
    }

    /// The index of the first operation of the run, of any connection, that is not due before the instant.
    pub fn first_at_or_after(&self, instant_ns: u64) -> u64 {
        let guess = (instant_ns as f64 / self.period_ns) as u64;
        // Rounding may put the guess one off; the definition decides.
        (guess.saturating_sub(1)..).find(|&index| self.due_ns(index) >= instant_ns).unwrap_or(guess)
    }
}

#[derive(Clone, Debug)]
pub struct Poisson {
    mean_gap_ns: f64,
    due_ns: f64,
    random: Random,
}

impl Poisson {
    fn new(mean_gap_ns: f64, random: Random) -> Poisson {
        let mut new = Poisson { mean_gap_ns, due_ns: 0.0, random };
        new.advance();
        new
    }

    fn advance(&mut self) {
        self.due_ns -= self.mean_gap_ns * (1.0 - self.random.unit()).ln();
    }

    /// The instant that is behind exactly `count` others of this connection, of those at or after `from_ns`.
    pub fn behind(&self, count: u64, from_ns: u64) -> u64 {
        let mut ahead = self.clone();
        while (ahead.due_ns as u64) < from_ns {
            ahead.advance();
        }
        (0..count).for_each(|_| ahead.advance());
        ahead.due_ns as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const POISSON: ArrivalProcess = ArrivalProcess::Poisson { seed: 7 };

    fn before(end_ns: u64, mut arrivals: Arrivals) -> Vec<u64> {
        let mut instants = Vec::new();
        while arrivals.due_ns() < end_ns {
            instants.push(arrivals.due_ns());
            arrivals.advance();
        }
        instants
    }

    /// Mean and coefficient of variation of the gaps between instants, the first after 0 included.
    fn gaps(instants: &[u64]) -> (f64, f64) {
        let gaps: Vec<f64> =
            [0].iter().chain(instants).zip(instants).map(|(from, to)| (to - from) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn even_arrivals_take_turns() {
        let due = before(12_000_000, Arrivals::new(ArrivalProcess::Even, 1000.0, 3, 4));
        assert_eq!(due, [3_000_000, 7_000_000, 11_000_000]);
    }

    #[test]
    fn gaps_of_a_poisson_connection_have_the_mean_of_its_share_and_vary_as_much() {
        let instants = before(100 * SECOND_NS, Arrivals::new(POISSON, 4000.0, 1, 4));
        let (mean, variation) = gaps(&instants);
        // 100,000 gaps: the standard errors of mean and coefficient are both 1 / sqrt(100000) = 0.0032; five of them.
        assert!((mean / 1e6 - 1.0).abs() < 0.016, "{mean}");
        assert!((variation - 1.0).abs() < 0.016, "{variation}");
    }

    #[test]
    fn poisson_connections_are_together_a_poisson_process_of_the_rate() {
        let mut all: Vec<u64> = (0..8)
            .flat_map(|connection| before(100 * SECOND_NS, Arrivals::new(POISSON, 1000.0, connection, 8)))
            .collect();
        all.sort_unstable();
        let (mean, variation) = gaps(&all);
        assert!((mean / 1e6 - 1.0).abs() < 0.016 && (variation - 1.0).abs() < 0.016, "{mean} {variation}");
        // And the gaps are independent: counts in 1000 windows of 100 arrivals have a Poisson distribution, whose
        // variance is its mean. Standard error of the ratio: sqrt(2 / 1000) = 0.045; five of them.
        let counts: Vec<f64> = (0..1000)
            .map(|window| window * SECOND_NS / 10..(window + 1) * SECOND_NS / 10)
            .map(|window| all.iter().filter(|instant_ns| window.contains(*instant_ns)).count() as f64)
            .collect();
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 999.0;
        assert!((variance / mean - 1.0).abs() < 0.23, "{variance} {mean}");
    }

    #[test]
    fn poisson_arrivals_follow_from_seed_and_connection() {
        let first =
            |seed, connection| Arrivals::new(ArrivalProcess::Poisson { seed }, 100.0, connection, 2).due_ns();
        assert_eq!(first(7, 0), first(7, 0));
        assert!(first(7, 0) != first(7, 1) && first(7, 0) != first(8, 0));
    }

    #[test]
    fn an_instant_behind_others_has_that_many_before_it() {
        let arrivals = Arrivals::new(POISSON, 1000.0, 0, 1);
        let Arrivals::Poisson(poisson) = &arrivals else { unreachable!("the requested process") };
        let end_ns = poisson.behind(250, SECOND_NS);
        let counted = before(end_ns, arrivals.clone()).into_iter().filter(|&due_ns| due_ns >= SECOND_NS);
        assert_eq!(counted.count(), 250);
    }
}
