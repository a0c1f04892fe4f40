//! The parameters of queues in a condition: of the one before a link, and of those of a scheduler.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use serde_json::json;

use super::{BufferSpec, DropSpec, MemoryId, MemoryShare, QueueSpec, Queueing};
use crate::describe::{choice, parameters, Described, Manual, Parameter, Rule, Type, Where};
use crate::ecn::Signal;
use crate::scheduler::{self, Scheduling};
use crate::units::Limit;

/// `alpha` when absent.
const ALPHA_PPB: u64 = 1_000_000_000;

parameters! {
    /// Replaces the FIFO before the uplink (host.egress) or the downlink (switch.egress).
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct QueueParameters {
        /// What may wait, in wire bytes; absent: the uplink's buffer.
        limit: Option<Limit> = [BufferSpec::limit().optional()],
        /// Drops the new packet, the oldest, or by a policy that acts early; tail when absent.
        drop: DropSpec = [BufferSpec::drop()],
        /// Marks packets whose transport reacts to marks where the policy would drop them early.
        signal: Signal = [BufferSpec::signal()],
        /// Bytes of the shared memory that it may hold for each free byte; 1 when absent.
        alpha_ppb: Option<u64> = [alpha()],
        /// Memory that the queues of all ports share, in wire bytes: one memory in the switch, or one in each host. A
        /// queue without its own buffer is then bounded by the memory alone.
        memory_bytes: Option<u64> = [memory()],
    }
    rules: vec![
        BufferSpec::marks_early(),
        needs_memory("alpha"),
        can_share("drop"),
    ]
}

impl Described for QueueParameters {
    const MANUAL: Manual = Manual {
        place: Where::Port,
        queues: true,
        ..Manual::new("queue", super::PAGE).short("buffer", "1000packets")
    };
}

parameters! {
    /// One queue of a scheduler.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ScheduledQueue {
        /// Code points that it takes; exactly one queue takes `default`.
        dscp: Option<Vec<u8>> = [Parameter::named("dscp", "dscp", "dscps", |_| vec![("", json!(null))])],
        /// wrr: packets per round; drr, stfq: share of bytes; none for strict.
        weight: Option<u32> = [Parameter::count("weight", "weight").within(1, 1_000_000).optional()],
        /// What may wait, in wire bytes; absent: the uplink's buffer.
        limit: Option<Limit> = [BufferSpec::limit().optional()],
        /// Drops the new packet, the oldest, or by a policy that acts early; tail when absent.
        drop: DropSpec = [BufferSpec::drop()],
        /// Marks packets whose transport reacts to marks where the policy would drop them early.
        signal: Signal = [BufferSpec::signal()],
        /// Bytes of the shared memory that it may hold for each free byte; 1 when absent.
        alpha_ppb: Option<u64> = [alpha()],
    }
    rules: [BufferSpec::marks_early()]
}

choice! {
    /// The order in which queues are served.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub enum By: "by" {
        /// The first queue that has a packet.
        Strict = "strict",
        /// Weighted round robin: packets per round.
        Wrr = "wrr",
        /// Deficit round robin: share of bytes.
        Drr = "drr",
        /// Start-time fair queueing: share of bytes.
        Stfq = "stfq",
    }
}

/// The orders that use weights.
const WEIGHTED: [&str; 3] = ["wrr", "drr", "stfq"];

parameters! {
    /// Replaces the FIFO before the uplink (host.egress) or the downlink (switch.egress).
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ScheduleParameters {
        /// The order in which queues are served.
        by: By = [Parameter::choice("by", "by", By::values())],
        /// Under strict the first has the highest priority.
        queues: Vec<ScheduledQueue> = [
            Parameter::list("queues", "queues", Type::group::<ScheduledQueue>("ScheduledQueue"), 1)
        ],
        /// Memory that the queues of all ports share, in wire bytes: one memory in the switch, or one in each host. A
        /// queue without its own buffer is then bounded by the memory alone.
        memory_bytes: Option<u64> = [memory()],
    }
    rules: vec![
        Rule::OnlyWith {
            key: "queues.weight",
            other: "by",
            words: WEIGHTED.into(),
            message: "has no meaning under {word}; remove it, or use wrr, drr or stfq".into(),
        },
        Rule::NeededWith {
            key: "queues.weight",
            other: "by",
            words: WEIGHTED.into(),
            message: "needs a weight under {word}; add weight: 1 or more".into(),
        },
        Rule::Partition { key: "queues.dscp" },
        needs_memory("queues.alpha"),
        can_share("queues.drop"),
    ]
}

impl Described for ScheduleParameters {
    const MANUAL: Manual =
        Manual { place: Where::Port, queues: true, ..Manual::new("schedule", scheduler::PAGE) };
}

fn alpha() -> Parameter {
    Parameter::decimal("alpha", "alpha_ppb").within(1, 1024 * ALPHA_PPB).optional()
}

fn memory() -> Parameter {
    Parameter::size("memory", "memory_bytes").of_a_packet().optional()
}

fn needs_memory(key: &'static str) -> Rule {
    let message = "is a part of no memory; add memory: 1MB or more, or remove it";
    Rule::Needs { key, other: "memory", message }
}

fn can_share(key: &'static str) -> Rule {
    let words = DropSpec::sharing_words();
    let message = format!(
        "pushes out packets of its own queue only, and cannot share a memory; drop by {}",
        words.join(", ")
    );
    Rule::WordsWith { key, words, other: "memory", message }
}

fn share(memory: Option<MemoryId>, alpha_ppb: Option<u64>) -> Option<MemoryShare> {
    memory.map(|memory| MemoryShare { memory, alpha_ppb: alpha_ppb.unwrap_or(ALPHA_PPB) })
}

impl QueueParameters {
    /// The queueing of a link; queues without their own limit have the limit `usual`.
    pub fn queueing(&self, usual: Limit, memory: Option<MemoryId>) -> Queueing {
        let limit = self.limit.unwrap_or(usual);
        let mut queueing = Queueing::fifo(BufferSpec { limit, drop: self.drop, signal: self.signal });
        queueing.queues[0].share = share(memory, self.alpha_ppb);
        queueing
    }
}

impl ScheduleParameters {
    /// As [`QueueParameters::queueing`].
    pub fn queueing(&self, usual: Limit, memory: Option<MemoryId>) -> Queueing {
        let queue = |queue: &ScheduledQueue| QueueSpec {
            dscp: queue.dscp.clone(),
            weight: queue.weight.unwrap_or(1),
            buffer: BufferSpec {
                limit: queue.limit.unwrap_or(usual),
                drop: queue.drop,
                signal: queue.signal,
            },
            share: share(memory, queue.alpha_ppb),
        };
        Queueing {
            by: match self.by {
                By::Strict => Scheduling::Strict,
                By::Wrr => Scheduling::Wrr,
                By::Drr => Scheduling::Drr,
                By::Stfq => Scheduling::Stfq,
            },
            queues: self.queues.iter().map(queue).collect(),
        }
    }
}
