//! The first stage: when a packet of a train leaves it.

use alloc::vec::Vec;

use super::recordings::LightRecording;
use super::CellReplaySpec;
use crate::units::{Duration, Instant};

/// Sizes for which an addition to the delay is given: this, twice this, and so on, in bytes.
const SIZE_STEP: u64 = 100;

pub(super) struct Light {
    recording: LightRecording,
    opportunity_bytes: u64,
    idle: Duration,
    by_size_ns: Vec<i64>,
    train: Option<Train>,
    /// When the last packet was due to leave, whatever the order.
    last: Instant,
    /// No later packet leaves before.
    not_before: Instant,
}

struct Train {
    /// The row whose opportunities it uses.
    row: usize,
    began: Instant,
    delay: Duration,
    /// The present opportunity; at the end of the row, all are used.
    place: usize,
    /// The rest of it, in bytes.
    left: u64,
}

impl Light {
    pub(super) fn new(spec: &CellReplaySpec) -> Light {
        Light {
            recording: spec.light.clone(),
            opportunity_bytes: spec.opportunity_bytes,
            idle: spec.idle,
            by_size_ns: spec.by_size_ns.clone().unwrap_or_default(),
            train: None,
            last: Instant::ZERO,
            not_before: Instant::ZERO,
        }
    }

    /// Whether another one has the same parameters.
    pub(super) fn is_like(&self, other: &Light) -> bool {
        let of = |light: &Light| (light.opportunity_bytes, light.idle);
        of(self) == of(other) && self.by_size_ns == other.by_size_ns && self.recording == other.recording
    }

    /// Takes over the parameters of another one; no packet overtakes those before it.
    pub(super) fn become_like(&mut self, other: Light) {
        let (last, not_before) = (self.last, self.not_before);
        *self = Light { last, not_before, ..other };
    }

    /// The next packet begins a train.
    pub(super) fn start_again(&mut self) {
        self.train = None;
    }

    /// When a packet leaves the stage that arrives now, `elapsed` into the recording, and whether it has an opportunity
    /// of its own.
    pub(super) fn release(&mut self, now: Instant, elapsed: Duration, ip_bytes: u64) -> (Instant, bool) {
        let (due, has_own) = match self.train.take() {
            Some(train) if now.saturating_add(train.delay) <= self.last.saturating_add(self.idle) => {
                self.join(train, now, ip_bytes)
            }
            _ => self.begin(now, elapsed, ip_bytes),
        };
        self.last = due;
        let due =
            Some(later(due, self.addition_ns(ip_bytes))).filter(|&due| due >= self.not_before).unwrap_or(due);
        let is_behind = due < self.not_before;
        self.not_before = self.not_before.max(due);
        (self.not_before, has_own && !is_behind)
    }

    /// What is added to the delay of a packet of this size.
    fn addition_ns(&self, ip_bytes: u64) -> i64 {
        let (Some(&first), Some(&last)) = (self.by_size_ns.first(), self.by_size_ns.last()) else { return 0 };
        let Some(step) = (ip_bytes / SIZE_STEP).checked_sub(1) else { return first };
        let place = usize::try_from(step).unwrap_or(usize::MAX);
        match self.by_size_ns.get(place..).unwrap_or_default() {
            &[here, next, ..] => {
                let part = i128::from(ip_bytes % SIZE_STEP) * (i128::from(next) - i128::from(here));
                here.saturating_add(i64::try_from(part / i128::from(SIZE_STEP)).unwrap_or(i64::MAX))
            }
            _ => last,
        }
    }

    fn begin(&mut self, now: Instant, elapsed: Duration, ip_bytes: u64) -> (Instant, bool) {
        let (row, delay) = self.recording.at(elapsed);
        let train = Train { row, began: now, delay, place: 0, left: self.opportunity_bytes };
        let train = self.take(train, ip_bytes);
        // The first packet defines the time of the train, so its own opportunity is no delay.
        let place = train.place;
        let after =
            if place == 0 { Duration::ZERO } else { self.opportunity(&train).unwrap_or(Duration::ZERO) };
        self.train = Some(train);
        (now.saturating_add(delay).saturating_add(after), true)
    }

    fn join(&mut self, mut train: Train, now: Instant, ip_bytes: u64) -> (Instant, bool) {
        let since = now - train.began;
        let opportunities = self.recording.opportunities(train.row);
        while opportunities.get(train.place).is_some_and(|&time| time < since) {
            train.place += 1;
            train.left = self.opportunity_bytes;
        }
        let train = self.take(train, ip_bytes);
        let left_at = match self.opportunity(&train) {
            Some(time) => (train.began.saturating_add(train.delay).saturating_add(time), true),
            None => {
                let last = self.recording.opportunities(train.row).last().copied().unwrap_or(Duration::ZERO);
                (now.saturating_add(train.delay.max(last)), false)
            }
        };
        self.train = Some(train);
        left_at
    }

    /// The packet uses the present opportunity, or the next ones.
    fn take(&self, mut train: Train, ip_bytes: u64) -> Train {
        if train.left < ip_bytes && train.left < self.opportunity_bytes {
            train.place += 1;
            train.left = self.opportunity_bytes;
        }
        while train.left < ip_bytes {
            train.place += 1;
            train.left += self.opportunity_bytes;
        }
        train.left -= ip_bytes;
        train
    }

    fn opportunity(&self, train: &Train) -> Option<Duration> {
        self.recording.opportunities(train.row).get(train.place).copied()
    }
}

fn later(instant: Instant, addition_ns: i64) -> Instant {
    Instant::from_nanos(instant.as_nanos().saturating_add_signed(addition_ns))
}
