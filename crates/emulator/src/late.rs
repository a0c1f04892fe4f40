//! When packets were late: times from the instant a missed packet was due to the instant it left.
//!
//! The ledger counts packets that missed their deadline. These spans say when that was, so that the operations of an
//! application that were under way then can be distinguished from all the others. Spans that touch are one.

use serde::Serialize;

/// Stored per window. Then the last one goes on: it covers more than it should, and never less.
const SPANS_MAX: usize = 10_000;

/// A time in which at least one packet was due that had not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Late {
    /// When the first packet was due.
    pub at_ns: u64,
    /// From there until the last packet left.
    pub length_ns: u64,
}

/// The spans of a window.
#[derive(Clone, Debug, Default)]
pub struct Lates {
    found: Vec<Late>,
}

impl Lates {
    /// Enters a packet that missed its deadline; packets are entered in the order in which they leave.
    #[inline]
    pub fn enter(&mut self, due_ns: u64, left_ns: u64) {
        let full = self.found.len() == SPANS_MAX;
        match self.found.last_mut() {
            Some(last) if full || due_ns <= last.at_ns + last.length_ns => {
                let ends_ns = left_ns.max(last.at_ns + last.length_ns);
                last.at_ns = last.at_ns.min(due_ns);
                last.length_ns = ends_ns - last.at_ns;
            }
            _ => self.found.push(Late { at_ns: due_ns, length_ns: left_ns - due_ns }),
        }
    }

    /// Adds the spans of another thread.
    pub fn add(&mut self, other: &Lates) {
        let mut all = std::mem::take(&mut self.found);
        all.extend(&other.found);
        all.sort_by_key(|late| late.at_ns);
        all.iter().for_each(|late| self.enter(late.at_ns, late.at_ns + late.length_ns));
    }

    /// The spans so far.
    pub fn found(&self) -> &[Late] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(at_ns: u64, length_ns: u64) -> Late {
        Late { at_ns, length_ns }
    }

    #[test]
    fn packets_that_waited_at_the_same_time_are_one_span() {
        let mut lates = Lates::default();
        // The second was due first and left last; the third was due after both had left.
        [(20, 50), (10, 60), (61, 90)].into_iter().for_each(|(due, left)| lates.enter(due, left));
        assert_eq!(lates.found(), [late(10, 50), late(61, 29)]);
    }

    #[test]
    fn spans_of_two_threads_that_touch_are_one() {
        let [mut one, mut other] = [Lates::default(), Lates::default()];
        one.enter(10, 20);
        one.enter(100, 120);
        other.enter(15, 30);
        one.add(&other);
        assert_eq!(one.found(), [late(10, 20), late(100, 20)]);
    }

    #[test]
    fn when_there_is_no_more_room_the_last_span_goes_on() {
        let mut lates = Lates::default();
        (0..SPANS_MAX as u64 + 5).for_each(|at| lates.enter(10 * at, 10 * at + 1));
        let last = 10 * (SPANS_MAX as u64 - 1);
        assert_eq!(lates.found().len(), SPANS_MAX);
        assert_eq!(lates.found().last(), Some(&late(last, 51)));
    }
}
