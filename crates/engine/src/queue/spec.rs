//! The specification of a set of queues, and its validation.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::drop::DropSpec;
use super::MemoryShare;
use crate::describe::{Json, Object, Parameter, Parameters, Problem, Quantity, Rule, Sampler, Value};
use crate::ecn::Signal;
use crate::scheduler::Scheduling;
use crate::units::Limit;

/// Queues and the scheduler that serves them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queueing {
    /// The order of service. A fifo has exactly one queue.
    pub by: Scheduling,
    /// The queues; under strict priority the highest first.
    pub queues: Vec<QueueSpec>,
}

/// One queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueSpec {
    /// The DSCPs that wait here, each in [0, 63] and in no other queue; `None`, in exactly one queue: all others.
    pub dscp: Option<Vec<u8>>,
    /// For wrr packets per round, for drr and stfq the share of wire bytes, at least 1; fifo and strict have no
    /// weights.
    pub weight: u32,
    /// What can wait and what is dropped, in wire bytes; the packet on the transmitter does not wait.
    pub buffer: BufferSpec,
    /// Its part in a shared memory (`queue/memory.rs`), in addition to its own buffer.
    pub share: Option<MemoryShare>,
}

/// How much can wait, what is dropped, and how congestion is signalled: the same for links, schedulers and shapers.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct BufferSpec {
    /// What can wait.
    pub limit: Limit,
    /// What is dropped when it is full, and earlier.
    pub drop: DropSpec,
    /// How `drop` signals congestion to the ends; marking needs a policy that acts before the buffer is full.
    pub signal: Signal,
}

impl BufferSpec {
    /// Its parameters, where another parameter of the element empties it.
    pub(crate) fn emptied_by(rate: &'static str, about: &'static str) -> Vec<Parameter> {
        let limit = BufferSpec::limit().or_unlimited().emptied_by(rate).about(about);
        let drop = "Drops the new packet, the oldest, or by a policy that acts early; tail when absent.";
        let ecn = "Marks packets whose transport reacts to marks where the policy would drop them early.";
        vec![limit, BufferSpec::drop().about(drop), BufferSpec::signal().about(ecn)]
    }

    pub(super) fn limit() -> Parameter {
        Parameter::named("buffer", "buffer", "buffer", sample_limit).scaled()
    }

    pub(super) fn drop() -> Parameter {
        Parameter::choice("drop", "drop", DropSpec::values()).implied("tail")
    }

    pub(super) fn signal() -> Parameter {
        Parameter::flag("ecn", "ecn").implied(false)
    }

    /// Marks need a policy that signals before the buffer is full.
    pub(super) fn marks_early() -> Rule {
        let words = DropSpec::early_words();
        let message = format!(
            "marks nothing: {{word}} drops only when the buffer is full; remove it, or drop by {}",
            words.join(", ")
        );
        Rule::OnlyWith { key: "ecn", other: "drop", words, message }
    }
}

fn sample_limit(sampler: &mut Sampler) -> Vec<(&'static str, Json)> {
    let bytes = sampler.number(Quantity::Size);
    let nanos = sampler.number(Quantity::Duration);
    let packets = 1 + sampler.below(8);
    vec![*sampler.one_of(&[("buffer_bytes", bytes), ("buffer_packets", packets), ("buffer_ns", nanos)])]
        .into_iter()
        .map(|(name, number)| (name, json!(number)))
        .collect()
}

impl Parameters for BufferSpec {
    const ABOUT: &'static str = "What may wait, what is dropped, and how congestion is signalled.";

    fn parameters() -> Vec<Parameter> {
        vec![BufferSpec::limit().or_unlimited(), BufferSpec::drop(), BufferSpec::signal()]
    }

    fn rules() -> Vec<Rule> {
        vec![BufferSpec::marks_early()]
    }

    fn take_from(object: &mut Object) -> Result<BufferSpec, Problem> {
        Ok(BufferSpec {
            limit: Limit::take(object, &BufferSpec::limit())?,
            drop: DropSpec::take(object, &BufferSpec::drop())?,
            signal: Signal::take(object, &BufferSpec::signal())?,
        })
    }

    fn put_into<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error> {
        self.limit.put(&BufferSpec::limit(), object)?;
        self.drop.put(&BufferSpec::drop(), object)?;
        self.signal.put(&BufferSpec::signal(), object)
    }

    fn value(&self, name: &str) -> Option<Json> {
        match name {
            "drop" => serde_json::to_value(self.drop).ok(),
            "ecn" => serde_json::to_value(self.signal).ok(),
            _ => None,
        }
    }

    fn problems_inside(&self, _: &mut Vec<Problem>) {}
}

impl Serialize for BufferSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        self.put_into(&mut object)?;
        object.end()
    }
}

/// Tail drop at a limit.
impl From<Limit> for BufferSpec {
    fn from(limit: Limit) -> BufferSpec {
        BufferSpec { limit, drop: DropSpec::Tail, signal: Signal::Drop }
    }
}

impl Queueing {
    /// One queue for everything.
    pub fn fifo(buffer: impl Into<BufferSpec>) -> Queueing {
        let queue = QueueSpec { dscp: None, weight: 1, buffer: buffer.into(), share: None };
        Queueing { by: Scheduling::Fifo, queues: vec![queue] }
    }

    /// All errors in it. Queues are numbered from 0.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut wrong = Vec::new();
        let mut refuse = |sentence: String| wrong.push(Problem::new(sentence));
        if self.by == Scheduling::Fifo && self.queues.len() != 1 {
            let count = self.queues.len();
            refuse(format!(
                "fifo with {count} queues; a fifo has exactly one: give one, or schedule by strict, wrr, drr or stfq"
            ));
        }
        let others = self.queues.iter().filter(|queue| queue.dscp.is_none()).count();
        if others != 1 {
            refuse(format!(
                "{others} queues take every other DSCP; exactly one must: leave out the list of one queue"
            ));
        }
        let mut queue_of = [None; 64];
        for (index, queue) in self.queues.iter().enumerate() {
            for problem in Parameters::problems(&queue.buffer) {
                refuse(format!("queue {index}: {problem}"));
            }
            if queue.share.is_some_and(|share| share.alpha_ppb == 0) {
                refuse(format!("queue {index} has alpha 0 and could hold nothing; give more, 1 is usual"));
            }
            if queue.share.is_some() && !queue.buffer.drop.can_share() {
                let words = DropSpec::sharing_words().join(", ");
                refuse(format!(
                    "queue {index} shares a memory and pushes out its own packets; drop by {words}"
                ));
            }
            if queue.weight == 0 && matches!(self.by, Scheduling::Wrr | Scheduling::Drr | Scheduling::Stfq) {
                refuse(format!("queue {index} has weight 0 and would never be served; give at least 1"));
            }
            let listed = queue.dscp.as_deref();
            if listed.is_some_and(<[u8]>::is_empty) {
                refuse(format!(
                    "queue {index} lists no DSCP and would stay empty; list some, or leave the queue out"
                ));
            }
            for &dscp in listed.unwrap_or_default() {
                match queue_of.get_mut(usize::from(dscp)).map(|known| known.replace(index)) {
                    None => refuse(format!("DSCP {dscp} is not in 0..=63; give a 6-bit code point")),
                    Some(Some(first)) => refuse(format!(
                        "DSCP {dscp} is in queue {first} and again in queue {index}; give each DSCP one queue"
                    )),
                    Some(None) => {}
                }
            }
        }
        wrong
    }
}
