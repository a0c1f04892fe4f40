//! Markov-modulated levels. At every `hold` a chain moves from its state to another or stays; each state has a level.
//!
//! `states`: each with a level and `next`: the probability of every state to be the next one, in parts per billion, in
//! the order of the states, with the sum 10^9. The chain starts in the first state and makes its first transition
//! after one `hold`.
//!
//! The time in a state is geometric: if p is the probability of leaving it, its mean is hold / p. Two states make the
//! on/off channel of Gilbert, with losses replaced by an outage.
//!
//! Source: Gilbert 1960, "Capacity of a burst-noise channel"; Fischer and Meier-Hellstern 1993, "The Markov-modulated
//! Poisson process cookbook" (modulation by a chain, here of a rate, in discrete time).

use alloc::vec::Vec;

use super::drawn::below;
use crate::describe::Problem;
use crate::random::Stream;
use crate::units::{Capacity, Duration, Instant};

/// The sum of probabilities, which are whole numbers.
const CERTAIN_PPB: u64 = 1_000_000_000;

/// A chain of states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkovChain {
    /// At least one; the chain starts in the first.
    pub states: Vec<MarkovState>,
}

/// A state of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkovState {
    /// The capacity in it.
    pub level: Capacity,
    /// Parts per billion for each state to follow; as many as there are states, with the sum 10^9.
    pub next_ppb: Vec<u32>,
}

impl MarkovChain {
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.states.is_empty() {
            return Err(Problem::new("has no entries and so no capacity; give at least one"));
        }
        for (index, state) in self.states.iter().enumerate() {
            let sum: u64 = state.next_ppb.iter().map(|&part| u64::from(part)).sum();
            if state.next_ppb.len() != self.states.len() || sum != CERTAIN_PPB {
                return Err(Problem::new(alloc::format!("state {state} goes on with {sum_ppb} parts per billion; give one part for each state, together 10^9", state = index, sum_ppb = sum)));
            }
        }
        Ok(())
    }
}

pub(super) struct Markov {
    chain: MarkovChain,
    hold: Duration,
    stream: Stream,
    /// `None` before the first level.
    state: Option<usize>,
    next: Instant,
}

impl Markov {
    pub(super) fn new(chain: MarkovChain, hold: Duration, stream: Stream, start: Instant) -> Markov {
        Markov { chain, hold, stream, state: None, next: start }
    }

    pub(super) fn wake(&mut self) -> Capacity {
        self.next = self.next.saturating_add(self.hold);
        let state = match self.state {
            None => 0,
            Some(state) => self.successor(state),
        };
        self.state = Some(state);
        self.chain.states[state].level
    }

    pub(super) fn next_wake(&self) -> Instant {
        self.next
    }

    fn successor(&mut self, state: usize) -> usize {
        let mut drawn = below(CERTAIN_PPB, &mut self.stream);
        for (index, &part) in self.chain.states[state].next_ppb.iter().enumerate() {
            if drawn < u64::from(part) {
                return index;
            }
            drawn -= u64::from(part);
        }
        unreachable!("the sum of a state's parts is 10^9, and the draw is below that")
    }
}
