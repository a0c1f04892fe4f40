//! Wakes the emulator's thread for a command, whether it spins or sleeps.
//!
//! A thread that spins looks at a flag, which costs it no system call. A thread that sleeps waits for an event (an eventfd).
//! Both are set by every ring, the event first. So whoever sees the flag can also take the event away, and no event is
//! left over that would end every later sleep at once. A ring may be halfway when a sleep ends: the event is there and the
//! flag is not. So the event is taken away whenever a wait reports it, whatever the flag says.
//!
//! The order is checked against every interleaving of threads that the memory model permits (loom), in the tests below.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use nix::sys::eventfd::{EfdFlags, EventFd};

/// An atomic boolean; loom has another one than the standard library.
pub trait Flag {
    /// As of `AtomicBool`.
    fn load(&self, ordering: Ordering) -> bool;
    /// As of `AtomicBool`.
    fn store(&self, value: bool, ordering: Ordering);
    /// As of `AtomicBool`.
    fn swap(&self, value: bool, ordering: Ordering) -> bool;
}

/// What a thread can sleep for.
pub trait Event {
    /// Ends the present sleep, or the next one.
    fn set(&self);
    /// Takes back every `set` so far; never waits.
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
        // Refused by a full counter, which is as good as one that was set.
        let _ = self.write(1);
    }

    fn clear(&self) {
        // Nothing to read is no error here.
        let _ = self.read();
    }
}

#[derive(Debug)]
struct Bell<F, E> {
    flag: F,
    event: E,
}

/// Both ends: commands are sent before [`Waker::wake`], and looked for when [`Waker::rung`] says so.
#[derive(Debug)]
pub struct Waker<F = AtomicBool, E = EventFd>(Arc<Bell<F, E>>);

impl<F, E> Clone for Waker<F, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl Waker {
    /// A waker nobody has rung yet.
    pub fn new() -> io::Result<Self> {
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Self(Arc::new(Bell { flag: AtomicBool::new(false), event })))
    }
}

/// What becomes readable with a ring.
impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.event.as_fd()
    }
}

impl<F: Flag, E: Event> Waker<F, E> {
    /// Makes the thread look at its commands.
    pub fn wake(&self) {
        self.0.event.set();
        self.0.flag.store(true, Ordering::Release);
    }

    /// Whether commands may have come since the last call. `reported`: the wait that has just ended found the event set.
    pub fn rung(&self, reported: bool) -> bool {
        if !reported && !self.0.flag.load(Ordering::Relaxed) {
            return false;
        }
        // The flag first: a ring that comes in between sets it again. Acquire: the event of a ring whose flag is seen is seen.
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

        /// Waits without end: where nobody rings any more, loom reports a deadlock.
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

    /// How the thread waits while there is nothing to do.
    #[derive(Clone, Copy)]
    enum Between {
        Spin,
        Sleep,
    }

    /// Lets each of `askers` threads send `commands` to one that carries them out and waits for more as `between` says, by the
    /// rules of the worker's loop. It ends with every asker gone and that thread idle.
    ///
    /// `preemptions`: how often a thread that could go on is interrupted at most; None tries every interleaving.
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
            // One more look, for a ring whose command was found before its flag.
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

    /// Rows of a full chunk of a log: written by the thread, and looked at by askers while it writes the next one.
    type Chunk = loom::sync::Arc<UnsafeCell<u32>>;

    /// Lets each of `askers` threads ask one that is answering for what it has written so far, as `Emulator::read` does.
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
                            // SAFETY: loom checks that nobody writes at the same time.
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
    fn whoever_asks_is_answered_with_what_was_written_before() {
        every_asker_is_answered(1, Between::Sleep, None);
        every_asker_is_answered(1, Between::Spin, None);
        every_asker_is_answered(2, Between::Sleep, Some(2));
        every_asker_is_answered(2, Between::Spin, Some(2));
    }
}
