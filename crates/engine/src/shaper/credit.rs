//! Credit bucket. Sends packets at a high rate while there is budget for them and at a low one otherwise; the budget
//! is refilled all the time. It models a virtual machine whose rate depends on what it has sent, over minutes.
//!
//! `budget`: bits, the capacity of the bucket, at least the largest packet. `initial`: bits in it when the condition
//! begins (default full). A later change of parameters leaves its content, cut to the new budget. `high`, `low`,
//! `refill`: IP bits per second, high >= low >= refill; if tokens arrived faster than `low` spends them, the low rate
//! would never last. `buffer`: what can wait, in IP bytes, and what is dropped (see `queue`); a time counts at `low`,
//! so that waiting packets never need longer. Drop reasons: `queue-full` and those of the drop policy.
//!
//! The rate is decided for every packet when it leaves, without a loop: if there are whole tokens for it, it is sent
//! at `high`, else at `low`. Both spend its size. At `high` the tokens exist, so nothing is owed or forgiven: with
//! constant sending, a full bucket lasts budget / (high - refill). At `low` arriving tokens are spent on the packet,
//! and the bucket stays empty; it recovers when less than `refill` is sent. In every window at most `budget` + `low` x
//! window leaves, and at most `high` x window plus one packet. There is no burst: the gap between two packets is at
//! least the first one's size at its rate.
//!
//! Source: Uta et al., NSDI '20, section 3.3 (Amazon EC2: budget, high and low rate, refill); the model is db/dt =
//! refill - sent, 0 <= b <= budget. The emulator of that study is `shaper::credit_loop`.

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
    /// A high rate while there is budget, a low one otherwise; the budget is refilled all the time.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct CreditSpec {
        /// Capacity of the bucket, IP bits.
        budget_bits: u64 = [Parameter::bits("budget", "budget_bits").of_a_packet()],
        /// Content when the condition begins; full when absent.
        initial_bits: u64 = [Parameter::bits("initial", "initial_bits").or_zero().or_as("budget")],
        /// IP bits per second while there is budget.
        high: NonZeroU64 = [Parameter::rate("high", "high_bps")],
        /// IP bits per second without budget.
        low: NonZeroU64 = [Parameter::rate("low", "low_bps")],
        /// Refill in IP bits per second, at most `low`.
        refill: NonZeroU64 = [Parameter::rate("refill", "refill_bps")],
        /// What may wait, in IP bytes; a time counts at the low rate.
        buffer: BufferSpec = (flat |about| BufferSpec::emptied_by("low", about)),
        /// The algorithm of a published emulator. Absent: exact, decided for every packet.
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
            message: "{refill} is above low {low}; give at most that: or the low rate would spend less than the refill, and never last",
        },
    ]
}

/// The two algorithms are different elements for the engine, and neither can become the other.
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

/// Past and present content of a credit bucket.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CreditLevel {
    /// Its capacity.
    pub budget_bits: u64,
    /// Refill in bits per second.
    pub refill: NonZeroU64,
    /// Content when the element was made.
    pub first_bits: u64,
    /// Content now, in whole bits.
    pub now_bits: u64,
}

/// The budget, exact to the nano-bit.
#[derive(Clone)]
pub(crate) struct Budget {
    spec: CreditSpec,
    first_bits: u64,
    /// At most the budget; negative only during the gap after a packet that left at the low rate.
    level_nano_bits: i128,
    counted_at: Instant,
}

impl Budget {
    /// Adds tokens; none are lost before the bucket is full.
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
            // The low rate is granted: what it sent above the refill is not owed.
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

/// A credit bucket, exact or with a control loop.
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
            _ => unreachable!("the kinds are equal"),
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
