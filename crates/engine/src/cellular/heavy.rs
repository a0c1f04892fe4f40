//! The second stage's opportunities, at the instants of a recording that repeats.

use super::recordings::HeavyRecording;
use crate::units::{Duration, Instant};

#[derive(PartialEq, Eq)]
pub(super) struct Heavy {
    recording: HeavyRecording,
    opportunity_bytes: u64,
}

impl Heavy {
    pub(super) fn new(recording: HeavyRecording, opportunity_bytes: u64) -> Heavy {
        Heavy { recording, opportunity_bytes }
    }

    /// The first opportunity after `now`, and how many bytes may then leave. `origin`: when the recording began.
    pub(super) fn after(&self, origin: Instant, now: Instant) -> (Instant, u64) {
        let period_ns = self.recording.period().as_nanos();
        let elapsed_ns = (now - origin).as_nanos();
        let pass = Duration::from_nanos(elapsed_ns - elapsed_ns % period_ns);
        let (time, count) = self.recording.after(Duration::from_nanos(elapsed_ns % period_ns));
        let at = origin.saturating_add(pass).saturating_add(time);
        (at, count.saturating_mul(self.opportunity_bytes))
    }
}
