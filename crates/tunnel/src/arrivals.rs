//! The numbers of datagrams from one machine: what was lost, came out of order, or came again, exactly, for each window.
//!
//! A datagram that had been overtaken when the window started belongs to the window before, where it counted as lost.
//! If it comes after all it is reordered, and hides no loss of this window.
//!
//! Source: RFC 6479 (the window against replay, in words); RFC 4737 (a packet is reordered if its number is smaller
//! than the largest before it).

const WORDS: usize = 64;
/// Datagrams that may be overtaken; an older one is taken for a repetition.
const WINDOW: u64 = WORDS as u64 * 64;

/// Numbers that have arrived.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// The largest number.
    largest: u64,
    /// The largest number when the window started.
    before: u64,
    /// Of those above `before`, how many have arrived.
    arrived: u64,
    /// A bit for each of the latest numbers.
    seen: Box<[u64; WORDS]>,
    reordered: u64,
    duplicate: u64,
}

/// Since the window started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Arrived, without repetitions and without those of the window before.
    pub received: u64,
    /// Have not arrived, but one with a larger number has.
    pub lost: u64,
    /// Came after one with a larger number.
    pub reordered: u64,
    /// Came again, or too late to tell whether it did.
    pub duplicate: u64,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self { largest: 0, before: 0, arrived: 0, seen: Box::new([0; WORDS]), reordered: 0, duplicate: 0 }
    }
}

impl Arrivals {
    /// A datagram has arrived; false if it must be dropped because it came before.
    pub fn note(&mut self, number: u64) -> bool {
        if number == 0 || number.saturating_add(WINDOW) <= self.largest {
            self.duplicate += 1;
            return false;
        }
        if number > self.largest {
            let first = self.largest.max(number.saturating_sub(WINDOW)) + 1;
            (first..=number).for_each(|number| self.seen[word(number)] &= !bit(number));
            self.largest = number;
        } else if self.seen[word(number)] & bit(number) != 0 {
            self.duplicate += 1;
            return false;
        } else {
            self.reordered += 1;
        }
        self.seen[word(number)] |= bit(number);
        self.arrived += u64::from(number > self.before);
        true
    }

    /// A window starts.
    pub fn start_window(&mut self) {
        (self.before, self.arrived, self.reordered, self.duplicate) = (self.largest, 0, 0, 0);
    }

    /// The window so far.
    pub fn counts(&self) -> Counts {
        let Self { largest, before, arrived, reordered, duplicate, .. } = *self;
        Counts { received: arrived, lost: largest - before - arrived, reordered, duplicate }
    }
}

fn word(number: u64) -> usize {
    (number / 64) as usize % WORDS
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_missing_late_or_repeated_is_counted() {
        let mut arrivals = Arrivals::default();
        let taken: Vec<bool> = [1, 2, 5, 4, 4, 9].iter().map(|&number| arrivals.note(number)).collect();
        assert_eq!(taken, [true, true, true, true, false, true]);
        // Lost: 3, 6, 7 and 8.
        assert_eq!(arrivals.counts(), Counts { received: 5, lost: 4, reordered: 1, duplicate: 1 });
        arrivals.start_window();
        assert!(arrivals.note(10));
        assert_eq!(arrivals.counts(), Counts { received: 1, ..Counts::default() });
    }

    #[test]
    fn what_comes_from_the_window_before_hides_no_loss() {
        let mut arrivals = Arrivals::default();
        assert_eq!([1, 2, 4].map(|number| arrivals.note(number)), [true; 3]);
        arrivals.start_window();
        assert_eq!([3, 6].map(|number| arrivals.note(number)), [true; 2]);
        // 3 is late, 5 is lost.
        assert_eq!(arrivals.counts(), Counts { received: 1, lost: 1, reordered: 1, duplicate: 0 });
    }

    proptest! {
        #[test]
        fn nothing_is_taken_twice(numbers: Vec<u16>) {
            let (mut arrivals, mut taken) = (Arrivals::default(), HashSet::new());
            for number in numbers.into_iter().map(u64::from) {
                if arrivals.note(number) {
                    prop_assert!(taken.insert(number), "{} again", number);
                } else {
                    prop_assert!(number + WINDOW <= arrivals.largest || number == 0 || taken.contains(&number));
                }
            }
        }

        #[test]
        fn every_number_of_a_window_is_counted_once(
            fates in proptest::collection::vec(0u8..10, 1..300), starts in 0usize..300
        ) {
            // A fate: 0 is lost, 1 comes 5 places later, 2 comes twice, others come.
            let mut order: Vec<(usize, u64)> = Vec::new();
            for (place, (fate, number)) in fates.iter().zip(1u64..).enumerate() {
                match fate {
                    0 => {}
                    1 => order.push((2 * place + 11, number)),
                    2 => order.extend([(2 * place, number); 2]),
                    _ => order.push((2 * place, number)),
                }
            }
            order.sort();
            let (mut arrivals, mut total) = (Arrivals::default(), 0);
            let starts = starts.min(order.len());
            let mut largest_before = 0;
            for (place, &(_, number)) in order.iter().enumerate() {
                if place == starts {
                    largest_before = arrivals.largest;
                    arrivals.start_window();
                }
                total += u64::from(arrivals.note(number));
            }
            let distinct: HashSet<u64> = order.iter().map(|&(_, number)| number).collect();
            prop_assert_eq!(total, distinct.len() as u64);
            if starts < order.len() {
                let counts = arrivals.counts();
                prop_assert_eq!(counts.received + counts.lost, arrivals.largest - largest_before);
                let gone = (largest_before + 1..=arrivals.largest).filter(|it| !distinct.contains(it)).count();
                prop_assert_eq!(counts.lost, gone as u64);
            }
        }
    }
}
