//! Counters over time: packets and bytes of each element in each step of 100 ms of a window, and what credit buckets
//! hold at its end. A row exists only if it is not empty, or if the bucket holds something else than a step before.

use crosswind_engine::{Class, ClassCounters, ElementId, Engine};
use crosswind_fabric::ElementAt;

use crate::log::Log;

/// Length of a step.
pub const STEP_NS: u64 = 100_000_000;

/// Counts of one element for one class of packets in one step.
#[derive(Clone, Debug)]
pub struct Row {
    /// Start of the step.
    pub at_ns: u64,
    /// Which element.
    pub element: ElementId,
    /// Real or ghost.
    pub class: Class,
    /// IP bytes in.
    pub arrived_bytes: u64,
    /// IP bytes out.
    pub departed_bytes: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// IP bytes dropped.
    pub dropped_bytes: u64,
    /// Waiting at the end of the step, both classes.
    pub queued_bytes: u64,
}

impl Row {
    /// Adds another domain's counts for the same element and step.
    pub fn add(&mut self, other: &Row) {
        self.arrived_bytes += other.arrived_bytes;
        self.departed_bytes += other.departed_bytes;
        self.dropped_packets += other.dropped_packets;
        self.dropped_bytes += other.dropped_bytes;
        self.queued_bytes += other.queued_bytes;
    }
}

/// What a credit bucket holds at the end of a step.
#[derive(Clone, Copy, Debug)]
pub struct CreditRow {
    /// Start of the step.
    pub at_ns: u64,
    /// Which bucket.
    pub element: ElementId,
    /// Its content.
    pub left_bits: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    arrived_bytes: u64,
    departed_bytes: u64,
    dropped_packets: u64,
    dropped_bytes: u64,
}

impl Sums {
    fn of(counters: &ClassCounters) -> Self {
        let dropped = counters.dropped_for_any_reason();
        Self {
            arrived_bytes: counters.arrived.bytes,
            departed_bytes: counters.departed.bytes,
            dropped_packets: dropped.packets,
            dropped_bytes: dropped.bytes,
        }
    }
}

/// The rows of a window.
#[derive(Debug, Default)]
pub struct Series {
    /// In the order of time.
    pub rows: Log<Row>,
    /// Likewise.
    pub credit: Log<CreditRow>,
    before: Vec<[Sums; 2]>,
    left_before: Vec<Option<u64>>,
    step_started_ns: u64,
}

impl Series {
    /// Starts from zero; the engine's counters must be reset at the same instant.
    pub fn start_window(&mut self, at_ns: u64) {
        *self = Self { step_started_ns: at_ns, ..Self::default() };
    }

    /// When the current step started.
    pub fn step_started_ns(&self) -> u64 {
        self.step_started_ns
    }

    /// When the current step ends.
    pub fn step_ends_ns(&self) -> u64 {
        self.step_started_ns + STEP_NS
    }

    /// Closes the current step with the engine's current counters.
    pub fn close_step(&mut self, engine: &mut Engine, elements: &[ElementAt]) {
        self.before.resize(elements.len(), Default::default());
        self.left_before.resize(elements.len(), None);
        for (position, element) in elements.iter().enumerate() {
            let left = engine.credit(element.id).map(|level| level.now_bits);
            if let Some(left_bits) = left.filter(|_| left != self.left_before[position]) {
                self.credit.push(CreditRow { at_ns: self.step_started_ns, element: element.id, left_bits });
            }
            self.left_before[position] = left;
            let queued_bytes = engine.queued_bytes(element.id);
            let counters = engine.counters(element.id);
            for (slot, (class, now)) in
                [(Class::Real, &counters.real), (Class::Ghost, &counters.ghost)].into_iter().enumerate()
            {
                let (now, before) = (Sums::of(now), self.before[position][slot]);
                let row = Row {
                    at_ns: self.step_started_ns,
                    element: element.id,
                    class,
                    arrived_bytes: now.arrived_bytes - before.arrived_bytes,
                    departed_bytes: now.departed_bytes - before.departed_bytes,
                    dropped_packets: now.dropped_packets - before.dropped_packets,
                    dropped_bytes: now.dropped_bytes - before.dropped_bytes,
                    queued_bytes,
                };
                if row.arrived_bytes + row.departed_bytes + row.dropped_packets > 0 {
                    self.rows.push(row);
                }
                self.before[position][slot] = now;
            }
        }
        self.step_started_ns += STEP_NS;
    }
}
