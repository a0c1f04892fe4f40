//! For every packet, the instant it was due and the instant it left: the emulator's own error, reported and never absorbed.
//!
//! `left` is the clock immediately before the system call that hands the packet over, and the lead ([`crate::lead`]): how long
//! the kernel takes for that at least, as far as is known. Errors are kept in a
//! histogram with 32 buckets per power of two (about 3 % resolution, reported as the bucket's upper end), so that an hour costs no
//! more memory than a second.

use serde::Serialize;

const BUCKET_BITS: u32 = 5;
const BUCKETS: usize = ((64 - BUCKET_BITS as usize) + 1) << BUCKET_BITS;

fn bucket(value: u64) -> usize {
    let top = 63 - (value | 1).leading_zeros();
    if top < BUCKET_BITS {
        return value as usize;
    }
    let shift = top - BUCKET_BITS;
    (((shift as usize) + 1) << BUCKET_BITS) + (value >> shift) as usize - (1 << BUCKET_BITS)
}

fn upper_end(bucket: usize) -> u64 {
    let octave = bucket >> BUCKET_BITS;
    let within = (bucket & ((1 << BUCKET_BITS) - 1)) as u64;
    if octave == 0 {
        return within;
    }
    let shift = octave as u32 - 1;
    (((1 << BUCKET_BITS) + within) << shift) + ((1u64 << shift) - 1)
}

/// Lateness of every packet of a window.
#[derive(Clone, Debug)]
pub struct Ledger {
    counts: Vec<u64>,
    packets: u64,
    early: u64,
    missed: u64,
    max_ns: u64,
    bound_ns: u64,
    clamped: u64,
    clamp_ns_max: u64,
}

/// The ledger as it is stored.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerReport {
    /// Wire packets handed over.
    pub packets: u64,
    /// Handed over before they were due: must be 0.
    pub early: u64,
    /// Handed over later than the bound, or twice their own serialisation time if that is longer.
    pub missed: u64,
    /// The declared bound.
    pub bound_ns: u64,
    /// Lateness.
    pub error_ns: ErrorReport,
    /// Packets that the kernel stamped before an instant already decided; they count from that instant.
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
    /// An empty ledger. `bound_ns`: lateness up to here is within what the emulator promises.
    pub fn new(bound_ns: u64) -> Self {
        Self {
            counts: vec![0; BUCKETS],
            packets: 0,
            early: 0,
            missed: 0,
            max_ns: 0,
            bound_ns,
            clamped: 0,
            clamp_ns_max: 0,
        }
    }

    /// Enters `packets` wire packets that were due at one instant. `serialisation_ns`: what each takes on its own link;
    /// asked for only when it matters.
    pub fn enter(&mut self, due_ns: u64, left_ns: u64, packets: u64, serialisation_ns: impl FnOnce() -> u64) {
        self.packets += packets;
        if left_ns < due_ns {
            self.early += packets;
        }
        let late = left_ns.saturating_sub(due_ns);
        self.counts[bucket(late)] += packets;
        self.max_ns = self.max_ns.max(late);
        if late > self.bound_ns && late > 2 * serialisation_ns() {
            self.missed += packets;
        }
    }

    /// Notes a packet whose stamp had to be moved forward.
    pub fn clamp(&mut self, by_ns: u64) {
        self.clamped += 1;
        self.clamp_ns_max = self.clamp_ns_max.max(by_ns);
    }

    /// Adds what another ledger with the same bound has.
    pub fn add(&mut self, other: &Ledger) {
        for (count, others) in self.counts.iter_mut().zip(&other.counts) {
            *count += others;
        }
        self.packets += other.packets;
        self.early += other.early;
        self.missed += other.missed;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.clamped += other.clamped;
        self.clamp_ns_max = self.clamp_ns_max.max(other.clamp_ns_max);
    }

    fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((self.packets as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(upper_end(bucket).min(self.max_ns))
    }

    /// The ledger as it is stored.
    pub fn report(&self) -> LedgerReport {
        LedgerReport {
            packets: self.packets,
            early: self.early,
            missed: self.missed,
            bound_ns: self.bound_ns,
            error_ns: ErrorReport {
                p50: self.quantile(0.5),
                p90: self.quantile(0.9),
                p99: self.quantile(0.99),
                p999: self.quantile(0.999),
                max: (self.packets > 0).then_some(self.max_ns),
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
    fn a_bucket_holds_its_value_within_one_part_in_32() {
        for value in (0..200).chain([1_000, 4_095, 4_096, 123_456_789, u64::MAX / 2, u64::MAX]) {
            let end = upper_end(bucket(value));
            assert!(end >= value && end - value <= value / 32, "{value} reported as {end}");
        }
    }

    #[test]
    fn quantiles_are_ranks_of_the_lateness() {
        let mut ledger = Ledger::new(10);
        for late in 1..=20 {
            ledger.enter(1_000, 1_000 + late, 1, || 0);
        }
        let report = ledger.report();
        assert_eq!((report.error_ns.p50, report.error_ns.max), (Some(10), Some(20)));
        assert_eq!((report.missed, report.early), (10, 0));
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
