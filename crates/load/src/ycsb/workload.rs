//! The mixes of operations of the core workloads. The table is in the parent module.

use clap::ValueEnum;
use serde::Serialize;

use super::chooser::Chooser;
use crate::random::Random;
use crate::sample::Operation;

/// A core workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Workload {
    A,
    B,
    C,
    D,
    E,
    F,
}

impl Workload {
    /// Draws what the next operation does.
    pub fn operation(self, random: &mut Random) -> Operation {
        let (usual, share, other) = self.mix();
        if random.unit() < share {
            usual
        } else {
            other
        }
    }

    /// The distribution of its requests over `loaded` records.
    ///
    /// `operations`: of the measured phase, if limited. As in YCSB, twice the inserts that they contain on average may
    /// become popular; a run limited only by time is taken to insert at most as many records as were loaded.
    pub fn chooser(self, loaded: u64, operations: Option<u64>) -> Chooser {
        let (_, share, other) = self.mix();
        let inserts_expected = match operations {
            _ if other != Operation::Insert => 0,
            Some(operations) => (operations as f64 * (1.0 - share) * 2.0).round() as u64,
            None => loaded,
        };
        match self {
            Workload::D => Chooser::latest(loaded),
            _ => Chooser::scrambled_zipfian(loaded, inserts_expected),
        }
    }

    /// The more frequent operation, its share, and the other one.
    fn mix(self) -> (Operation, f64, Operation) {
        match self {
            Workload::A => (Operation::Read, 0.5, Operation::Update),
            Workload::B => (Operation::Read, 0.95, Operation::Update),
            Workload::C => (Operation::Read, 1.0, Operation::Read),
            Workload::D => (Operation::Read, 0.95, Operation::Insert),
            Workload::E => (Operation::Scan, 0.95, Operation::Insert),
            Workload::F => (Operation::Read, 0.5, Operation::ReadModifyWrite),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn each_workload_has_the_shares_of_the_paper() {
        let table = [
            (Workload::A, Operation::Update, 0.5),
            (Workload::B, Operation::Update, 0.05),
            (Workload::C, Operation::Read, 1.0),
            (Workload::D, Operation::Insert, 0.05),
            (Workload::E, Operation::Insert, 0.05),
            (Workload::F, Operation::ReadModifyWrite, 0.5),
        ];
        for (workload, operation, expected) in table {
            let mut random = Random::stream(1, Purpose::Connection, 0);
            let count = (0..100_000).filter(|_| workload.operation(&mut random) == operation).count();
            // Standard deviation of a share: at most sqrt(0.25 / 100000) = 0.0016; five of them.
            assert!((count as f64 / 1e5 - expected).abs() < 0.008, "{workload:?}");
        }
    }
}
