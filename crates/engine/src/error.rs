//! Why the engine refuses a specification. Each message names the thing, the value, the rule and the remedy.

use alloc::string::String;
use core::fmt;

use crate::monitor::MonitorSpec;
use crate::units::{Duration, Share};

/// A specification that the engine cannot carry out; nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// The element's or source's name.
    pub name: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a specification. Queues are numbered from 0, in the order given.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Every variant is explained by its message, below.
pub enum Problem {
    NameTaken,
    OtherKind { is: &'static str, asked: &'static str },
    ZeroBurst,
    ZeroBursts,
    PeakBelowCommitted { pir: u64, cir: u64 },
    ZeroBudget,
    InitialAboveBudget { initial: u64, budget: u64 },
    CreditRates { high: u64, low: u64, refill: u64 },
    ZeroInterval,
    NeverReopens { reopen: u64, budget: u64 },
    ZeroHorizon,
    DscpOutOfRange { dscp: u8 },
    FifoQueues { count: usize },
    DscpTwice { dscp: u8, first: usize, second: usize },
    EmptyDscpList { queue: usize },
    OtherTrafficQueues { count: usize },
    ZeroWeight { queue: usize },
    ZeroHold,
    ZeroPacing,
    PacketSize { ip_bytes: u32 },
    ReversedRange { low: u64, high: u64 },
    EndlessBurst,
    ZeroJitter,
    ZeroHalfLife,
    StepsAboveWhole { state: u8, first: Share, second: Share },
    ShortWindow { window: Duration },
    NothingMonitored,
    MonitoredTwice { what: &'static str },
    UtilisationWithoutRate,
    NothingToMark,
    ZeroAlpha { queue: usize },
    SharedHeadDrop { queue: usize },
    RedWeight,
    RedProfile { min_bytes: u64, max_bytes: u64, probability: Share },
    CodelTimes { target_ns: u64, interval_ns: u64 },
    ZeroSojourn,
    ParetoIndex { thousandths: u32 },
    Flows { flows: u16 },
    MixedSegments,
    NoAcks,
    NotALink { is: &'static str },
    AlreadyDriven,
    EmptyProcess,
    EndlessTrace,
    NoFirstLevel { first: Duration },
    TimesDisordered { index: usize },
    PeriodTooShort { period: Duration, last: Duration },
    EmptyOpportunity { index: usize },
    WeightlessCell { cell: usize },
    UnsoundTransitions { state: usize, sum_ppb: u64 },
    EndlessReplay { packets: usize },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NameTaken => {
                write!(f, "the name is taken; names are unique, so choose another")
            }
            Problem::OtherKind { is, asked } => {
                write!(f, "is a {is} and cannot become a {asked}; add the {asked} and send packets along a new path")
            }
            Problem::ZeroBurst => {
                write!(f, "burst 0 B lets no packet pass; give at least the largest packet")
            }
            Problem::ZeroBursts => {
                write!(f, "committed and excess burst 0 B colour every packet red; give one of them at least the largest packet")
            }
            Problem::PeakBelowCommitted { pir, cir } => {
                write!(f, "peak rate {pir} bit/s is below the committed {cir} bit/s; a packet beyond the peak is red, so give pir >= cir")
            }
            Problem::ZeroBudget => {
                write!(f, "budget 0 bit never lets the high rate hold; give at least the largest packet")
            }
            Problem::InitialAboveBudget { initial, budget } => {
                write!(
                    f,
                    "initial {initial} bit do not fit into the budget of {budget} bit; give at most that"
                )
            }
            Problem::CreditRates { high, low, refill } => {
                write!(f, "high {high}, low {low}, refill {refill} bit/s; give high >= low >= refill, or the low rate would never hold")
            }
            Problem::ZeroInterval => {
                write!(f, "interval 0 ns would run the loop for ever; give at least 1 ns")
            }
            Problem::NeverReopens { reopen, budget } => {
                write!(
                    f,
                    "reopen {reopen} bit is never exceeded by a budget of {budget} bit; give less than that"
                )
            }
            Problem::ZeroHorizon => {
                write!(f, "horizon 0 ns drops whatever would have to wait; give more")
            }
            Problem::DscpOutOfRange { dscp } => {
                write!(f, "DSCP {dscp} is not in 0..=63; give a 6-bit code point")
            }
            Problem::FifoQueues { count } => {
                write!(f, "fifo with {count} queues; a fifo has exactly one: give one, or schedule by strict, wrr, drr or stfq")
            }
            Problem::DscpTwice { dscp, first, second } => {
                write!(
                    f,
                    "DSCP {dscp} is in queue {first} and again in queue {second}; give each DSCP one queue"
                )
            }
            Problem::EmptyDscpList { queue } => {
                write!(
                    f,
                    "queue {queue} lists no DSCP and would stay empty; list some, or leave the queue out"
                )
            }
            Problem::OtherTrafficQueues { count } => {
                write!(
                    f,
                    "{count} queues take every other DSCP; exactly one must: leave out the list of one queue"
                )
            }
            Problem::ZeroWeight { queue } => {
                write!(f, "queue {queue} has weight 0 and would never be served; give at least 1")
            }
            Problem::ZeroHold => write!(f, "hold 0 ns would redraw the rate for ever; give at least 1 ns"),
            Problem::ZeroPacing => write!(f, "pacing 0 ns would never let time pass; give at least 1 ns"),
            Problem::PacketSize { ip_bytes } => {
                write!(f, "packets of {ip_bytes} IP bytes; an IP packet has 1..=65535: give such a size")
            }
            Problem::ReversedRange { low, high } => {
                write!(f, "rate range {low}..{high} bit/s is empty; give low <= high")
            }
            Problem::StepsAboveWhole { state, first, second } => {
                write!(
                    f,
                    "the steps that leave state {state} have {first} and {second}, more than 100 % together; give less"
                )
            }
            Problem::NothingToMark => {
                write!(f, "marks congestion, but its drop policy only acts when the buffer is full; choose red, wred or codel, or drop")
            }
            Problem::ZeroAlpha { queue } => {
                write!(f, "queue {queue} has alpha 0 and could hold nothing; give more, 1 is usual")
            }
            Problem::SharedHeadDrop { queue } => {
                write!(f, "queue {queue} shares a memory and pushes out its own packets; drop by tail, red, wred or codel")
            }
            Problem::RedWeight => {
                write!(f, "red with weight 0 would never see a queue; give a weight above 0, such as 0.2 %")
            }
            Problem::RedProfile { min_bytes, max_bytes, probability } => {
                write!(f, "red from {min_bytes} B to {max_bytes} B with {probability}; give 0 < min < max and a share above 0")
            }
            Problem::CodelTimes { target_ns, interval_ns } => {
                write!(f, "codel with target {target_ns} ns and interval {interval_ns} ns; give 0 < target <= interval")
            }
            Problem::ZeroJitter => {
                write!(f, "jitter 0 ns varies nothing; give a constant delay, or at least 1 ns")
            }
            Problem::ZeroHalfLife => {
                write!(f, "half-life 0 ns correlates nothing; leave it out, or give at least 1 ns")
            }
            Problem::EndlessBurst => {
                write!(f, "a draw of 0 means unlimited and so does the peak: endless packets at one instant; bound the peak")
            }
            Problem::ShortWindow { window } => {
                write!(
                    f,
                    "window {window} is too short to count in; give at least {}",
                    MonitorSpec::WINDOW_MIN
                )
            }
            Problem::NothingMonitored => write!(f, "monitors nothing; name at least one quantity"),
            Problem::MonitoredTwice { what } => write!(f, "monitors {what} twice; name each quantity once"),
            Problem::UtilisationWithoutRate => {
                write!(f, "utilisation of a link without a rate is not defined; give the link a rate, or monitor packet-rate")
            }
            Problem::ZeroSojourn => write!(f, "on or off for 0 ns on average; give at least 1 ns each"),
            Problem::ParetoIndex { thousandths } => {
                write!(
                    f,
                    "Pareto index {} is not in 1.001..=100; at 1 and below it has no mean: give such an index",
                    f64::from(*thousandths) / 1000.0
                )
            }
            Problem::Flows { flows } => write!(f, "{flows} flows; give 1..=1000"),
            Problem::MixedSegments => {
                write!(f, "TCP with packets of mixed sizes; a window counts packets, so give one size")
            }
            Problem::EndlessReplay { packets } => {
                write!(f, "a replay of {packets} packets that takes no time; give at least one packet, and a gap above 0 to repeat it")
            }
            Problem::NoAcks => write!(f, "sends no acknowledgements that could take another path"),
            Problem::NotALink { is } => {
                write!(f, "drives a {is}, which has no capacity; let it drive a link")
            }
            Problem::AlreadyDriven => {
                write!(f, "drives a link that another process drives; stop that one first")
            }
            Problem::EmptyProcess => write!(f, "has no entries and so no capacity; give at least one"),
            Problem::EndlessTrace => {
                write!(f, "is resampled and has no end; say when the trace is over")
            }
            Problem::NoFirstLevel { first } => {
                write!(f, "its first level is at {first}; say what holds from 0 ns on")
            }
            Problem::TimesDisordered { index } => {
                write!(f, "entry {index} is earlier than the one before it; put entries in the order of time")
            }
            Problem::PeriodTooShort { period, last } => {
                write!(
                    f,
                    "begins again after {period}, and its last entry is at {last}; give a longer period"
                )
            }
            Problem::EmptyOpportunity { index } => {
                write!(f, "opportunity {index} has 0 B; give at least 1, or leave it out")
            }
            Problem::WeightlessCell { cell } => {
                write!(f, "cell {cell} has weight 0 and is never drawn; give at least 1, or leave it out")
            }
            Problem::UnsoundTransitions { state, sum_ppb } => {
                write!(
                    f,
                    "state {state} goes on with {sum_ppb} parts per billion; give one part for each state, \
                     together 10^9"
                )
            }
        }
    }
}

impl core::error::Error for SpecError {}
