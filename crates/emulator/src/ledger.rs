//! The ledger: for every packet, the instant at which it was due and the instant at which it left. The difference is
//! the emulator's own error; it is reported and never hidden.
//!
//! `left` is the clock immediately before the system call that hands the packet over, plus the lead ([`crate::lead`]): the
//! shortest time that the kernel is known to take for it. Errors are counted in the engine's logarithmic histogram, so an hour
//! needs no more memory than a second. A quantile is the upper end of its bin, at most 3 % too high.

use crosswind_engine::Histogram;
use serde::Serialize;

use crate::late::{Late, Lates};

/// Lateness of every packet of a window.
#[derive(Clone, Debug)]
pub struct Ledger {
    late_ns: Histogram,
    early: u64,
    missed: u64,
    late: Lates,
    bound_ns: u64,
    clamped: u64,
    clamp_ns_max: u64,
}

/// How many packets of a window were late, without quantiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lateness {
    /// Wire packets handed over.
    pub packets: u64,
    /// Packets handed over before they were due: must be 0.
    pub early: u64,
    /// Packets handed over later than the bound.
    pub missed: u64,
    /// The greatest lateness.
    pub max_ns: u64,
}

/// The ledger as it is stored.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerReport {
    /// Wire packets handed over.
    pub packets: u64,
    /// Packets handed over before they were due: must be 0.
    pub early: u64,
    /// Packets handed over later than the bound, or than twice their own serialisation time if that is longer, and those
    /// that came from another domain later than the bound.
    pub missed: u64,
    /// When packets were missed.
    pub late: Vec<Late>,
    /// The declared bound.
    pub bound_ns: u64,
    /// Lateness.
    pub error_ns: ErrorReport,
    /// Packets that the kernel stamped before an instant that was already decided; they count from that instant.
    pub ingress_clamped: u64,
    /// The largest such correction.
    pub ingress_clamp_ns_max: u64,
}

/// Quantiles of lateness.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ErrorReport {
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p99: Option<u64>,
    pub p999: Option<u64>,
    pub max: Option<u64>,
}

impl Ledger {
    /// An empty ledger. `bound_ns` is the lateness that the emulator promises not to exceed.
    pub fn new(bound_ns: u64) -> Self {
        Self {
            late_ns: Histogram::logarithmic(),
            early: 0,
            missed: 0,
            late: Lates::default(),
            bound_ns,
            clamped: 0,
            clamp_ns_max: 0,
        }
    }

    /// Enters `packets` wire packets that were due at one instant. `serialisation_ns` returns the time of each on its
    /// own link; it is called only when it matters.
    #[inline]
    pub fn enter(&mut self, due_ns: u64, left_ns: u64, packets: u64, serialisation_ns: impl FnOnce() -> u64) {
        if left_ns < due_ns {
            self.early += packets;
        }
        let late = left_ns.saturating_sub(due_ns);
        self.late_ns.record_times(late, packets);
        if late > self.bound_ns && late > 2 * serialisation_ns() {
            self.missed += packets;
            self.late.enter(due_ns, left_ns);
        }
    }

    /// Enters a packet whose stamp had to be moved forward.
    pub fn clamp(&mut self, by_ns: u64) {
        self.clamped += 1;
        self.clamp_ns_max = self.clamp_ns_max.max(by_ns);
    }

    /// Enters a packet from another domain that came at `used_ns`, after it was due. The engine has it from then on, so
    /// its time of departure shows nothing of this: it is missed here.
    pub fn came_late(&mut self, due_ns: u64, used_ns: u64) {
        let late = used_ns - due_ns;
        self.clamp(late);
        if late > self.bound_ns {
            self.missed += 1;
            self.late.enter(due_ns, used_ns);
        }
    }

    /// Adds the content of another ledger with the same bound.
    pub fn add(&mut self, other: &Ledger) {
        self.late_ns.add(&other.late_ns);
        self.early += other.early;
        self.missed += other.missed;
        self.late.add(&other.late);
        self.clamped += other.clamped;
        self.clamp_ns_max = self.clamp_ns_max.max(other.clamp_ns_max);
    }

    /// The counts alone.
    pub fn lateness(&self) -> Lateness {
        Lateness {
            packets: self.late_ns.count(),
            early: self.early,
            missed: self.missed,
            max_ns: self.late_ns.range().map_or(0, |(_, greatest)| greatest),
        }
    }

    /// The ledger as it is stored.
    pub fn report(&self) -> LedgerReport {
        LedgerReport {
            packets: self.late_ns.count(),
            early: self.early,
            missed: self.missed,
            late: self.late.found().to_vec(),
            bound_ns: self.bound_ns,
            error_ns: ErrorReport {
                p50: self.late_ns.quantile(0.5),
                p90: self.late_ns.quantile(0.9),
                p99: self.late_ns.quantile(0.99),
                p999: self.late_ns.quantile(0.999),
                max: self.late_ns.range().map(|(_, greatest)| greatest),
            },
            ingress_clamped: self.clamped,
            ingress_clamp_ns_max: self.clamp_ns_max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_ranks_of_the_lateness() {
        let mut ledger = Ledger::new(10);
        for late in 1..=20 {
            ledger.enter(1_000, 1_000 + late, 1, || 0);
        }
        let report = ledger.report();
        assert_eq!((report.error_ns.p50, report.error_ns.max), (Some(10), Some(20)));
        assert_eq!((report.missed, report.early), (10, 0));
        assert_eq!(report.late, [Late { at_ns: 1_000, length_ns: 20 }]);
    }

    #[test]
    fn ledgers_add_up() {
        let [mut first, mut second] = [Ledger::new(10), Ledger::new(10)];
        first.enter(0, 5, 3, || 0);
        second.enter(0, 40, 1, || 0);
        first.add(&second);
        let report = first.report();
        assert_eq!((report.packets, report.missed), (4, 1));
        assert_eq!(
            (report.error_ns.p50, report.error_ns.p99, report.error_ns.max),
            (Some(5), Some(40), Some(40))
        );
    }

    #[test]
    fn leaving_before_the_due_instant_is_counted() {
        let mut ledger = Ledger::new(10);
        ledger.enter(1_000, 999, 1, || 0);
        assert_eq!(ledger.report().early, 1);
    }

    #[test]
    fn an_empty_ledger_has_no_quantiles() {
        assert_eq!(Ledger::new(10).report().error_ns.p50, None);
    }
}
