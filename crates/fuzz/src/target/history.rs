//! Histories: whatever a file says, it is checked or refused, within the time that the check is given.

use std::cell::Cell;

use crosswind_history::event::Workload;
use crosswind_history::verdict::{check, Verdict};

/// How often the check asks whether to give up; a hostile history could have it go on for hours.
const LOOKS_MAX: u32 = 8;

/// A file of lines of any bytes, as each of the workloads.
pub fn history(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(events) = crosswind_history::json::read(text) else { return };
    for workload in [Workload::Register, Workload::Set, Workload::Append] {
        let looks = Cell::new(0);
        let give_up = || {
            looks.set(looks.get() + 1);
            looks.get() > LOOKS_MAX
        };
        let Ok(checked) = check(workload, &events, &give_up) else { continue };
        let is_decided = checked.wrong_keys.is_empty() && checked.undecided_keys.is_empty();
        assert!(checked.verdict != Verdict::Ok || (is_decided && checked.confirmed > 0), "{checked:?}");
        assert_eq!(checked.verdict == Verdict::Violation, !checked.wrong_keys.is_empty(), "{checked:?}");
        assert_eq!(checked.shown.len(), checked.wrong_keys.len().min(8));
    }
}
