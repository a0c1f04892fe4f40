//! Credit bucket. Lets packets go at a high rate while there is budget for them and at a low one when there is not; the
//! budget is refilled all the time. What a virtual machine may send depends on what it has sent, over minutes.
//!
//! `budget`: bits, the most that the bucket holds, at least the largest packet. `initial`: bits in it when the condition
//! begins (default full); a later change of parameters keeps what is there, cut to the new budget. `high`, `low`, `refill`:
//! IP bits per second, high >= low >= refill: tokens that come faster than `low` spends them would never let it hold.
//! `buffer`: what can wait, in IP bytes, and what is dropped (see `queue`); a time counts at `low`, so that what waits never
//! needs longer. Drop reasons: `queue-full` and those of the drop policy.
//!
//! Decided for every packet as it leaves, by no loop: whole tokens for it, and it goes at `high`; else at `low`. Both spend
//! its size. At `high` the tokens are there, so nothing is owed and nothing is forgiven: sent without a pause, a bucket that
//! was full lasts budget / (high - refill). At `low` the tokens that come are spent on it, and the bucket stays empty; it
//! recovers by what is sent less than `refill`. In every window at most `budget` + `low` x window leaves, and at most
//! `high` x window, and one packet. No burst: two packets never leave closer than the first one's size at its rate.
//!
//! Source: Uta et al., NSDI '20, section 3.3 (Amazon EC2: budget, high and low rate, refill); the model is
//! db/dt = refill - sent, 0 <= b <= budget. Not the emulator of that study: see `shaper::credit_loop`.

use core::num::NonZeroU64;

use super::two_speed::{Account, TwoSpeed};
use crate::error::Problem;
use crate::queue::BufferSpec;
use crate::random::Stream;
use crate::units::{Instant, NANO};

/// The parameters of a credit bucket. Rates are IP bits per second.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CreditSpec {
    /// The most that the bucket holds; above 0.
    pub budget_bits: u64,
    /// What is in it at first; at most the budget.
    pub initial_bits: u64,
    /// The rate while there is budget.
    pub high: NonZeroU64,
    /// The rate without; at most `high`.
    pub low: NonZeroU64,
    /// The rate at which budget comes; at most `low`.
    pub refill: NonZeroU64,
    /// What can wait and what is dropped, in IP bytes; a time counts at `low`.
    pub buffer: BufferSpec,
}

impl CreditSpec {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let CreditSpec { budget_bits, initial_bits, high, low, refill, .. } = *self;
        if budget_bits == 0 {
            return Err(Problem::ZeroBudget);
        }
        if initial_bits > budget_bits {
            return Err(Problem::InitialAboveBudget { initial: initial_bits, budget: budget_bits });
        }
        if !(refill <= low && low <= high) {
            return Err(Problem::CreditRates { high: high.get(), low: low.get(), refill: refill.get() });
        }
        self.buffer.check()
    }
}

/// What a credit bucket held and holds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CreditLevel {
    /// The most that it holds.
    pub budget_bits: u64,
    /// Bits per second that come.
    pub refill: NonZeroU64,
    /// When the element was made.
    pub first_bits: u64,
    /// Now, in whole bits.
    pub now_bits: u64,
}

/// The budget, exact to the nano-bit.
#[derive(Clone)]
pub(crate) struct Budget {
    spec: CreditSpec,
    first_bits: u64,
    /// At most the budget; negative only during the gap behind a packet that left at the low rate.
    level_nano_bits: i128,
    counted_at: Instant,
}

impl Budget {
    /// Tokens come; none are lost before the bucket is full.
    fn count(&mut self, now: Instant) {
        let gained = i128::from(self.spec.refill.get()) * i128::from((now - self.counted_at).as_nanos());
        self.level_nano_bits = (self.level_nano_bits + gained).min(nano_bits(self.spec.budget_bits));
        self.counted_at = now;
    }
}

impl Account for Budget {
    fn settle(&mut self, free_at: Instant, now: Instant) {
        if (self.counted_at..=now).contains(&free_at) {
            self.count(free_at);
            // The low rate is granted: what it sent beyond the refill is not owed.
            self.level_nano_bits = self.level_nano_bits.max(0);
        }
        self.count(now);
    }

    fn charge(&mut self, ip_bytes: u32) -> NonZeroU64 {
        let cost = nano_bits(u64::from(ip_bytes) * 8);
        let rate = if self.level_nano_bits >= cost { self.spec.high } else { self.spec.low };
        self.level_nano_bits -= cost;
        rate
    }
}

pub(crate) type Credit = TwoSpeed<Budget>;

impl Credit {
    /// `spec` has been checked.
    pub(crate) fn with(spec: CreditSpec, now: Instant, random: Stream) -> Credit {
        let level_nano_bits = nano_bits(spec.initial_bits);
        let budget = Budget { spec, first_bits: spec.initial_bits, level_nano_bits, counted_at: now };
        TwoSpeed::new(budget, spec.buffer, spec.low, now, random)
    }

    pub(crate) fn level(&self, now: Instant) -> CreditLevel {
        let Budget { spec, first_bits, level_nano_bits, .. } = self.account(now);
        let whole_bits = level_nano_bits.max(0) / i128::from(NANO);
        CreditLevel {
            budget_bits: spec.budget_bits,
            refill: spec.refill,
            first_bits,
            now_bits: u64::try_from(whole_bits).expect("at most the budget"),
        }
    }

    pub(crate) fn set(&mut self, spec: CreditSpec, now: Instant) {
        let budget = self.reconfigure(spec.buffer, spec.low, now);
        budget.spec = spec;
        budget.level_nano_bits = budget.level_nano_bits.min(nano_bits(spec.budget_bits));
    }
}

fn nano_bits(bits: u64) -> i128 {
    i128::from(bits) * i128::from(NANO)
}
