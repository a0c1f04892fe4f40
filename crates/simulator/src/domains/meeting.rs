//! Meetings: every domain waits until all others are there. It spins for a microsecond, then offers its core to others for some tens
//! of microseconds, and then sleeps: cores may be shared, and a thread that spins may occupy the core that the other thread needs.
//!
//! A thread that leaves for good, by an error or a panic, breaks the meeting, so that no thread waits for ever.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

/// About a microsecond. Four times as many doubled the CPU time of a packet where two domains shared a core and met every 2 us.
const SPINS: usize = 100;
/// Where no other thread wants the core, about as long as it takes to be woken.
const YIELDS: usize = 100;

/// A thread has left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

#[derive(Debug)]
pub(super) struct Meeting {
    parties: usize,
    /// How many have come to this meeting.
    here: AtomicUsize,
    /// Meetings that are over. Only its changes matter, so it may wrap.
    over: AtomicUsize,
    broken: AtomicBool,
    asleep: Mutex<usize>,
    bell: Condvar,
}

impl Meeting {
    pub(super) fn of(parties: usize) -> Self {
        Self {
            parties,
            here: AtomicUsize::new(0),
            over: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(0),
            bell: Condvar::new(),
        }
    }

    /// Returns when all are here. What any thread did before is visible to all threads after.
    pub(super) fn meet(&self) -> Result<(), Broken> {
        // It cannot be over without this one.
        let over = self.over.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.here.store(0, Ordering::Relaxed);
            self.over.store(over.wrapping_add(1), Ordering::Release);
            self.ring();
        } else {
            self.wait_while(|| self.over.load(Ordering::Acquire) == over);
        }
        if self.broken.load(Ordering::Acquire) {
            return Err(Broken);
        }
        Ok(())
    }

    /// Breaks the meeting when it is dropped, unless all is done.
    pub(super) fn leaving(&self) -> Leaving<'_> {
        Leaving(Some(self))
    }

    fn wait_while(&self, waits: impl Fn() -> bool) {
        let waits = || waits() && !self.broken.load(Ordering::Acquire);
        for attempt in 0..SPINS + YIELDS {
            if !waits() {
                return;
            }
            if attempt < SPINS {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        let mut asleep = self.lock();
        *asleep += 1;
        // The thread that changes it takes the lock afterwards: it has changed by now, or the bell will ring.
        while waits() {
            asleep = self.bell.wait(asleep).expect("no holder panicked");
        }
        *asleep -= 1;
    }

    /// Wakes the sleeping threads; without a system call where there is none.
    fn ring(&self) {
        if *self.lock() > 0 {
            self.bell.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.asleep.lock().expect("no holder panicked")
    }
}

/// A participant of the meetings.
pub(super) struct Leaving<'a>(Option<&'a Meeting>);

impl Leaving<'_> {
    /// The last meeting is over.
    pub(super) fn after_all_is_done(mut self) {
        self.0 = None;
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if let Some(meeting) = self.0 {
            meeting.broken.store(true, Ordering::Release);
            meeting.ring();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_a_meeting_ahead() {
        const MEETINGS: usize = 20_000;
        let meeting = Meeting::of(3);
        let come: [AtomicUsize; 3] = Default::default();
        thread::scope(|scope| {
            for me in 0..3 {
                let (meeting, come) = (&meeting, &come);
                scope.spawn(move || {
                    for round in 1..=MEETINGS {
                        come[me].store(round, Ordering::Relaxed);
                        meeting.meet().unwrap();
                        for other in come {
                            let other = other.load(Ordering::Relaxed);
                            assert!(other == round || other == round + 1, "{other} in {round}");
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn who_leaves_keeps_nobody_waiting() {
        let meeting = Meeting::of(2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| meeting.meet());
            drop(meeting.leaving());
            assert_eq!(waiting.join().unwrap(), Err(Broken));
        });
        let meeting = Meeting::of(2);
        meeting.leaving().after_all_is_done();
        assert!(!meeting.broken.load(Ordering::Relaxed));
    }
}
