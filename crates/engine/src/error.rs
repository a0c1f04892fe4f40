//! Why the engine refuses a specification. Each message names the thing, the value, the rule and the remedy.

use alloc::string::String;
use core::fmt;

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
            Problem::DscpOutOfRange { dscp } => {
                write!(f, "DSCP {dscp} is not in 0..=63; give a 6-bit code point")
            }
            Problem::FifoQueues { count } => {
                write!(f, "fifo with {count} queues; a fifo has exactly one: give one, or schedule by strict, wrr or drr")
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
            Problem::EndlessBurst => {
                write!(f, "a draw of 0 means unlimited and so does the peak: endless packets at one instant; bound the peak")
            }
        }
    }
}

impl core::error::Error for SpecError {}
