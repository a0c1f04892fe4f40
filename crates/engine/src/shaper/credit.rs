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

use super::credit_loop::{LoopSpec, LoopedBucket};
use super::two_speed::{Account, TwoSpeed};
use crate::describe::{page, parameters, Described, Manual, Parameter, Rule};
use crate::element::{Behaviour, Context, Verdict};
use crate::packet::Class;
use crate::queue::BufferSpec;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Instant, NANO};

parameters! {
    /// A high rate while there is budget, a low one without; the budget is refilled all the time.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct CreditSpec {
        /// The most that the bucket holds, IP bits.
        budget_bits: u64 = [Parameter::bits("budget", "budget_bits").of_a_packet()],
        /// What is in it when the condition begins; full when absent.
        initial_bits: u64 = [Parameter::bits("initial", "initial_bits").or_zero().or_as("budget")],
        /// IP bits per second while there is budget.
        high: NonZeroU64 = [Parameter::rate("high", "high_bps")],
        /// IP bits per second without.
        low: NonZeroU64 = [Parameter::rate("low", "low_bps")],
        /// IP bits per second that come, at most `low`.
        refill: NonZeroU64 = [Parameter::rate("refill", "refill_bps")],
        /// What may wait, in IP bytes; a time counts at the low rate.
        buffer: BufferSpec = (flat |about| BufferSpec::emptied_by("low", about)),
        /// As a published emulator did it. Absent: exact, decided for every packet.
        control_loop: Option<LoopSpec> = [Parameter::group::<LoopSpec>("loop", "loop", "Loop").optional()],
    }
    rules: [
        Rule::AtMost {
            key: "initial",
            other: "budget",
            message: "{initial} is above budget {budget}; give at most that",
        },
        Rule::Below {
            key: "loop.reopen",
            other: "budget",
            message: "{loop.reopen} can never be exceeded by budget {budget}; give less than that",
        },
        Rule::AtMost {
            key: "low",
            other: "high",
            message: "{low} is above high {high}; give at most that: the high rate is the faster one",
        },
        Rule::AtMost {
            key: "refill",
            other: "low",
            message: "{refill} is above low {low}; give at most that: or the low rate would spend less than comes, and never hold",
        },
    ]
}

/// The two ways of doing it are different elements for the engine, and neither becomes the other.
const KINDS: [&str; 2] = ["credit", "credit-loop"];

impl Described for CreditSpec {
    const MANUAL: Manual = Manual {
        queues: true,
        drains: true,
        kept_without: &["loop"],
        limits_rate: Some("high"),
        names: &KINDS,
        ..Manual::new("credit", page!("credit.rs"))
    };

    fn kind(&self) -> &'static str {
        KINDS[usize::from(self.control_loop.is_some())]
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
    fn begin(&mut self, now: Instant) {
        self.counted_at = now;
    }

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

pub(super) type Bucket = TwoSpeed<Budget>;

impl Bucket {
    fn with(spec: CreditSpec, random: Stream) -> Bucket {
        let level_nano_bits = nano_bits(spec.initial_bits);
        let budget =
            Budget { spec, first_bits: spec.initial_bits, level_nano_bits, counted_at: Instant::ZERO };
        TwoSpeed::new(budget, spec.buffer, spec.low, random)
    }

    fn level(&self, now: Instant) -> CreditLevel {
        let Budget { spec, first_bits, level_nano_bits, .. } = self.account(now);
        let whole_bits = level_nano_bits.max(0) / i128::from(NANO);
        CreditLevel {
            budget_bits: spec.budget_bits,
            refill: spec.refill,
            first_bits,
            now_bits: u64::try_from(whole_bits).expect("at most the budget"),
        }
    }

    fn set(&mut self, spec: CreditSpec, now: Instant) {
        let budget = self.reconfigure(spec.buffer, spec.low, now);
        budget.spec = spec;
        budget.level_nano_bits = budget.level_nano_bits.min(nano_bits(spec.budget_bits));
    }
}

/// A credit bucket, exact or as a loop does it.
pub(crate) enum Credit {
    Exact(Bucket),
    Loop(LoopedBucket),
}

impl Behaviour for Credit {
    type Spec = CreditSpec;

    fn new(spec: &CreditSpec, random: Stream) -> Credit {
        match spec.control_loop {
            None => Credit::Exact(Bucket::with(*spec, random)),
            Some(control_loop) => Credit::Loop(LoopedBucket::with(*spec, control_loop, random)),
        }
    }

    fn begin(&mut self, now: Instant) {
        match self {
            Credit::Exact(bucket) => bucket.begin(now),
            Credit::Loop(bucket) => bucket.begin(now),
        }
    }

    fn reconfigure(&mut self, spec: &CreditSpec, context: &mut Context<'_>) {
        match (self, spec.control_loop) {
            (Credit::Exact(bucket), None) => bucket.set(*spec, context.shared.now),
            (Credit::Loop(bucket), Some(control_loop)) => bucket.set(*spec, control_loop, context.shared.now),
            _ => unreachable!("kinds have been compared"),
        }
    }

    fn kind(&self) -> &'static str {
        KINDS[usize::from(matches!(self, Credit::Loop(_)))]
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        match self {
            Credit::Exact(bucket) => bucket.arrive(slot, context),
            Credit::Loop(bucket) => bucket.arrive(slot, context),
        }
    }

    #[inline]
    fn wake_shaper(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        match self {
            Credit::Exact(bucket) => bucket.wake(context),
            Credit::Loop(bucket) => bucket.wake(context),
        }
    }

    fn queued_bytes(&self, class: Class) -> u64 {
        match self {
            Credit::Exact(bucket) => bucket.queued_bytes(class),
            Credit::Loop(bucket) => bucket.queued_bytes(class),
        }
    }

    fn credit(&self, now: Instant) -> Option<CreditLevel> {
        match self {
            Credit::Exact(bucket) => Some(bucket.level(now)),
            Credit::Loop(_) => None,
        }
    }
}

fn nano_bits(bits: u64) -> i128 {
    i128::from(bits) * i128::from(NANO)
}
