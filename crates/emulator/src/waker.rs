//! Wakes the packet thread for a command, whether it spins or sleeps.
//!
//! A spinning thread reads a flag, which costs no system call. A sleeping thread waits for an event (an eventfd).
//! Every ring sets both, the event first. So a thread that sees the flag can also clear the event, and no event is
//! left over that would end every later sleep at once. A ring may be half done when a sleep ends: the event is set and
//! the flag is not. So the event is cleared whenever a wait reports it, whatever the flag is.
//!
//! The order is checked against every interleaving of threads that the memory model permits (loom), in the tests below.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use nix::sys::eventfd::{EfdFlags, EventFd};

/// An atomic boolean; loom's differs from the standard library's.
pub trait Flag {
    /// As for `AtomicBool`.
    fn load(&self, ordering: Ordering) -> bool;
    /// As for `AtomicBool`.
    fn store(&self, value: bool, ordering: Ordering);
    /// As for `AtomicBool`.
    fn swap(&self, value: bool, ordering: Ordering) -> bool;
}

/// An event that a thread can wait for.
pub trait Event {
    /// Ends the current sleep, or the next one.
    fn set(&self);
    /// Clears every `set` so far; never waits.
    fn clear(&self);
}

impl Flag for AtomicBool {
    fn load(&self, ordering: Ordering) -> bool {
        self.load(ordering)
    }

    fn store(&self, value: bool, ordering: Ordering) {
        self.store(value, ordering);
    }

    fn swap(&self, value: bool, ordering: Ordering) -> bool {
        self.swap(value, ordering)
    }
}

impl Event for EventFd {
    fn set(&self) {
        // A full counter refuses this, but then the event is already set.
        let _ = self.write(1);
    }

    fn clear(&self) {
        // An empty counter is not an error here.
        let _ = self.read();
    }
}

#[derive(Debug)]
struct Bell<F, E> {
    flag: F,
    event: E,
}

/// Both ends: commands are sent before [`Waker::wake`], and read when [`Waker::rung`] returns true.
#[derive(Debug)]
pub struct Waker<F = AtomicBool, E = EventFd>(Arc<Bell<F, E>>);

impl<F, E> Clone for Waker<F, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl Waker {
    /// A waker that has not been rung.
    pub fn new() -> io::Result<Self> {
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Self(Arc::new(Bell { flag: AtomicBool::new(false), event })))
    }
}

/// Becomes readable when it is rung.
impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.event.as_fd()
    }
}

impl<F: Flag, E: Event> Waker<F, E> {
    /// Makes the thread read its commands.
    pub fn wake(&self) {
        self.0.event.set();
        self.0.flag.store(true, Ordering::Release);
    }

    /// Whether commands may have come since the last call. `reported`: whether the latest wait found the event set.
    pub fn rung(&self, reported: bool) -> bool {
        if !reported && !self.0.flag.load(Ordering::Relaxed) {
            return false;
        }
        // The flag is cleared first: a ring in between sets it again. Acquire: when the flag of a ring is visible, so
        // is its event.
        self.0.flag.swap(false, Ordering::AcqRel);
        self.0.event.clear();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicBool as LoomBool, AtomicU32};
    use loom::sync::mpsc::{channel, Sender};
    use loom::sync::{Condvar, Mutex};
    use loom::thread;

    impl Flag for LoomBool {
        fn load(&self, ordering: Ordering) -> bool {
            self.load(ordering)
        }

        fn store(&self, value: bool, ordering: Ordering) {
            self.store(value, ordering);
        }

        fn swap(&self, value: bool, ordering: Ordering) -> bool {
            self.swap(value, ordering)
        }
    }

    /// An eventfd: a counter, and a wait that ends as soon as it is not zero.
    #[derive(Default)]
    struct Counter {
        count: Mutex<u64>,
        changed: Condvar,
    }

    impl Counter {
        fn is_set(&self) -> bool {
            *self.count.lock().unwrap() > 0
        }

        /// Waits without a time limit: if no other thread rings any more, loom reports a deadlock.
        fn wait(&self) {
            let mut count = self.count.lock().unwrap();
            while *count == 0 {
                count = self.changed.wait(count).unwrap();
            }
        }
    }

    impl Event for Counter {
        fn set(&self) {
            *self.count.lock().unwrap() += 1;
            self.changed.notify_all();
        }

        fn clear(&self) {
            *self.count.lock().unwrap() = 0;
        }
    }

    type Model = Waker<LoomBool, Counter>;

    /// How the thread waits when it has no work.
    #[derive(Clone, Copy)]
    enum Between {
        Spin,
        Sleep,
    }

    /// Each of `askers` threads sends `commands` to one thread, which carries them out and waits for more as `between`
    /// describes, by the rules of the worker's loop. Ends when every asker has ended and that thread is idle.
    ///
    /// `preemptions`: largest number of interruptions of a runnable thread; `None` tries every interleaving.
    fn every_command_arrives(askers: u32, commands: u32, between: Between, preemptions: Option<usize>) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = preemptions;
        model.check(move || {
            let waker: Model =
                Waker(Arc::new(Bell { flag: LoomBool::new(false), event: Counter::default() }));
            let sent = Arc::new(AtomicU32::new(0));
            let asking: Vec<_> = (0..askers)
                .map(|_| {
                    let (waker, sent) = (waker.clone(), Arc::clone(&sent));
                    thread::spawn(move || {
                        for _ in 0..commands {
                            sent.fetch_add(1, Ordering::Relaxed);
                            waker.wake();
                        }
                    })
                })
                .collect();
            let (mut done, mut reported) = (0, false);
            while done < askers * commands {
                if waker.rung(std::mem::take(&mut reported)) {
                    done = sent.load(Ordering::Relaxed);
                } else if let Between::Sleep = between {
                    waker.0.event.wait();
                    reported = true;
                } else {
                    thread::yield_now();
                }
            }
            for asker in asking {
                asker.join().unwrap();
            }
            // One more check, for a ring whose command was found before its flag.
            waker.rung(false);
            assert!(!waker.0.event.is_set(), "every later sleep would end at once");
        });
    }

    #[test]
    fn a_thread_that_sleeps_misses_no_command_and_can_sleep_afterwards() {
        every_command_arrives(1, 1, Between::Sleep, None);
        every_command_arrives(1, 2, Between::Sleep, Some(3));
        every_command_arrives(2, 1, Between::Sleep, Some(2));
    }

    #[test]
    fn a_thread_that_spins_misses_no_command_and_can_sleep_afterwards() {
        every_command_arrives(1, 2, Between::Spin, None);
        every_command_arrives(2, 1, Between::Spin, Some(2));
    }

    /// Rows of a full chunk of a log: written by the thread, and read by askers while it writes the next one.
    type Chunk = loom::sync::Arc<UnsafeCell<u32>>;

    /// Each of `askers` threads asks one thread for the rows that it has written so far, as `Emulator::read` does.
    fn every_asker_is_answered(askers: u32, between: Between, preemptions: Option<usize>) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = preemptions;
        model.check(move || {
            let waker: Model =
                Waker(Arc::new(Bell { flag: LoomBool::new(false), event: Counter::default() }));
            let (commands, inbox) = channel::<Sender<Chunk>>();
            let asking: Vec<_> = (0..askers)
                .map(|_| {
                    let (waker, commands) = (waker.clone(), commands.clone());
                    thread::spawn(move || {
                        let (reply, answer) = channel();
                        commands.send(reply).unwrap();
                        waker.wake();
                        // Without an answer loom reports a deadlock.
                        let chunk: Chunk = answer.recv().unwrap();
                        chunk.with(|rows| {
                            // SAFETY: loom checks that no thread writes at the same time.
                            assert_eq!(unsafe { *rows }, 7);
                        });
                    })
                })
                .collect();
            let (mut answered, mut reported) = (0, false);
            while answered < askers {
                if waker.rung(std::mem::take(&mut reported)) {
                    while let Ok(reply) = inbox.try_recv() {
                        let chunk = Chunk::new(UnsafeCell::new(0));
                        // SAFETY: as above.
                        chunk.with_mut(|rows| unsafe { *rows = 7 });
                        reply.send(chunk).unwrap();
                        answered += 1;
                    }
                } else if let Between::Sleep = between {
                    waker.0.event.wait();
                    reported = true;
                } else {
                    thread::yield_now();
                }
            }
            for asker in asking {
                asker.join().unwrap();
            }
        });
    }

    #[test]
    fn every_reader_gets_the_rows_that_were_written_before() {
        every_asker_is_answered(1, Between::Sleep, None);
        every_asker_is_answered(1, Between::Spin, None);
        every_asker_is_answered(2, Between::Sleep, Some(2));
        every_asker_is_answered(2, Between::Spin, Some(2));
    }
}
