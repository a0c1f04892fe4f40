//! A future instant that many threads wait to know.

use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unknown,
    At(u64),
    Never,
}

/// The instant (CLOCK_MONOTONIC, ns) at which a run begins; set once, or called off.
#[derive(Debug)]
pub struct Start {
    state: Mutex<State>,
    changed: Condvar,
}

impl Start {
    /// Not yet known.
    pub fn unknown() -> Start {
        Start { state: Mutex::new(State::Unknown), changed: Condvar::new() }
    }

    /// Sets the instant; the first call holds.
    pub fn set(&self, at_ns: u64) {
        self.become_known(State::At(at_ns));
    }

    /// Calls the run off, unless its instant is set.
    pub fn call_off(&self) {
        self.become_known(State::Never);
    }

    /// Waits until it is known; `None` when the run was called off.
    pub fn wait(&self) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *state {
                State::At(at_ns) => return Some(at_ns),
                State::Never => return None,
                State::Unknown => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn become_known(&self, known: State) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Unknown {
            *state = known;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn who_waits_hears_the_first_thing_that_was_said() {
        let start = Arc::new(Start::unknown());
        let waiting = {
            let start = Arc::clone(&start);
            std::thread::spawn(move || start.wait())
        };
        start.set(7);
        start.call_off();
        assert_eq!((waiting.join().unwrap(), start.wait()), (Some(7), Some(7)));
        let off = Start::unknown();
        off.call_off();
        assert_eq!(off.wait(), None);
    }
}
