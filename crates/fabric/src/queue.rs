//! Queues as they cross from Python to the agent: what may wait, what is dropped, how congestion is signalled.
//!
//! The same keys stand in a `queue`, in each queue of a `schedule`, and in a `shape`: at most one of `buffer_bytes`,
//! `buffer_packets` and `buffer_ns`, then `drop` and `ecn`.

use crosswind_engine::{
    BufferSpec, CodelSpec, DropSpec, Duration, Limit, MemoryId, MemoryShare, QueueSpec, Queueing, RedProfile,
    RedSpec, Scheduling, Signal, WredSpec,
};
use serde::{Deserialize, Serialize};

use crate::impairments::share;

const WHOLE_PPB: u32 = 1_000_000_000;

/// Scheduling disciplines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The first queue that has a packet.
    Strict,
    /// Weighted round robin: packets a round.
    Wrr,
    /// Deficit round robin: share of bytes.
    Drr,
    /// Start-time fair queueing: share of bytes.
    Stfq,
}

/// One queue of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueEntry {
    /// Which DSCPs it takes; `None` takes every other (exactly one queue does).
    pub dscp: Option<Vec<u8>>,
    /// At least 1; absent under `strict`.
    #[serde(default)]
    pub weight: Option<u32>,
    /// Wire bytes. Without a buffer of its own the queue has as much as the uplink.
    #[serde(default)]
    pub buffer_bytes: Option<u64>,
    /// Packets.
    #[serde(default)]
    pub buffer_packets: Option<u64>,
    /// What the link sends in this time.
    #[serde(default)]
    pub buffer_ns: Option<u64>,
    /// Tail when absent.
    #[serde(default)]
    pub drop: DropEntry,
    /// Marks where it would drop early.
    #[serde(default)]
    pub ecn: bool,
    /// Of the scheduler's memory; 1 when absent.
    #[serde(default)]
    pub alpha_ppb: Option<u64>,
}

/// What a queue drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DropEntry {
    /// The newcomer without room.
    #[default]
    Tail,
    /// The oldest, for a newcomer without room.
    Head,
    /// Random early detection.
    Red(RedEntry),
    /// The same, with a profile for each colour.
    Wred(WredEntry),
    /// RFC 8289.
    Codel(CodelEntry),
}

impl DropEntry {
    fn shares_ppb(self) -> Vec<u32> {
        match self {
            Self::Tail | Self::Head | Self::Codel(_) => Vec::new(),
            Self::Red(red) => vec![red.probability_ppb, red.weight_ppb],
            Self::Wred(wred) => {
                let colours = [wred.green, wred.yellow, wred.red];
                colours.iter().map(|profile| profile.probability_ppb).chain([wred.weight_ppb]).collect()
            }
        }
    }
}

/// Parameters of RED. Shares in parts per billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedEntry {
    /// Average queue below which nothing is dropped.
    pub min_bytes: u64,
    /// Average queue at which `probability_ppb` is dropped.
    pub max_bytes: u64,
    /// Dropped at `max_bytes`.
    pub probability_ppb: u32,
    /// Of an arrival in the average.
    pub weight_ppb: u32,
}

/// Parameters of WRED.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WredEntry {
    /// For AFx1 and packets without a colour.
    pub green: ProfileEntry,
    /// For AFx2.
    pub yellow: ProfileEntry,
    /// For AFx3.
    pub red: ProfileEntry,
    /// Of an arrival in the average.
    pub weight_ppb: u32,
}

/// What WRED drops of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileEntry {
    /// As in RED.
    pub min_bytes: u64,
    /// As in RED.
    pub max_bytes: u64,
    /// As in RED.
    pub probability_ppb: u32,
}

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelEntry {
    /// The wait that is accepted.
    pub target_ns: u64,
    /// How long packets may wait longer than that.
    pub interval_ns: u64,
}

/// The buffer that three optional keys describe; `None` where none of them is given.
pub fn limit(bytes: Option<u64>, packets: Option<u64>, ns: Option<u64>) -> Option<Limit> {
    let time = |ns| Limit::Time(Duration::from_nanos(ns));
    bytes.map(Limit::Bytes).or(packets.map(Limit::Packets)).or(ns.map(time))
}

/// What waits and what is dropped, for the engine.
pub fn buffer(limit: Limit, drop: DropEntry, ecn: bool) -> BufferSpec {
    BufferSpec {
        limit,
        drop: match drop {
            DropEntry::Tail => DropSpec::Tail,
            DropEntry::Head => DropSpec::Head,
            DropEntry::Red(red) => DropSpec::Red(RedSpec {
                profile: profile(red.min_bytes, red.max_bytes, red.probability_ppb),
                weight: share(red.weight_ppb),
            }),
            DropEntry::Wred(wred) => {
                let [green, yellow, red] = [wred.green, wred.yellow, wred.red]
                    .map(|entry| profile(entry.min_bytes, entry.max_bytes, entry.probability_ppb));
                DropSpec::Wred(WredSpec { green, yellow, red, weight: share(wred.weight_ppb) })
            }
            DropEntry::Codel(CodelEntry { target_ns, interval_ns }) => DropSpec::Codel(CodelSpec {
                target: Duration::from_nanos(target_ns),
                interval: Duration::from_nanos(interval_ns),
            }),
        },
        signal: if ecn { Signal::Mark } else { Signal::Drop },
    }
}

fn profile(min_bytes: u64, max_bytes: u64, probability_ppb: u32) -> RedProfile {
    RedProfile { min_bytes, max_bytes, probability: share(probability_ppb) }
}

/// A scheduler's queues, for the engine; those without a buffer of their own have `default`.
pub fn queueing(by: By, queues: &[QueueEntry], default: Limit, memory: Option<MemoryId>) -> Queueing {
    Queueing {
        by: match by {
            By::Strict => Scheduling::Strict,
            By::Wrr => Scheduling::Wrr,
            By::Drr => Scheduling::Drr,
            By::Stfq => Scheduling::Stfq,
        },
        queues: queues.iter().map(|queue| queue.spec(default, memory)).collect(),
    }
}

impl QueueEntry {
    fn spec(&self, default: Limit, memory: Option<MemoryId>) -> QueueSpec {
        let own = limit(self.buffer_bytes, self.buffer_packets, self.buffer_ns);
        QueueSpec {
            dscp: self.dscp.clone(),
            weight: self.weight.unwrap_or(1),
            buffer: buffer(own.unwrap_or(default), self.drop, self.ecn),
            share: memory_share(memory, self.alpha_ppb),
        }
    }
}

/// A queue's part in a memory, if there is one.
pub fn memory_share(memory: Option<MemoryId>, alpha_ppb: Option<u64>) -> Option<MemoryShare> {
    memory.map(|memory| MemoryShare { memory, alpha_ppb: alpha_ppb.unwrap_or(u64::from(WHOLE_PPB)) })
}

/// What is wrong with a queue's part in a memory, if anything.
pub fn memory_problem(
    memory_bytes: Option<u64>,
    alpha_ppb: Option<u64>,
    drop: DropEntry,
) -> Option<&'static str> {
    match (memory_bytes, alpha_ppb) {
        (Some(0), _) => Some("a memory of 0 holds no packet; give one of at least a packet"),
        (_, Some(0)) => Some("alpha 0 holds no packet; give more, 1 is usual"),
        (None, Some(_)) => Some("alpha without a memory; give memory_bytes, or leave alpha out"),
        (Some(_), _) if drop == DropEntry::Head => {
            Some("shares a memory and pushes out its own packets; drop by tail, red, wred or codel")
        }
        _ => None,
    }
}

/// What is wrong with these keys, if anything.
pub fn problem(keys: [Option<u64>; 3], drop: DropEntry, ecn: bool) -> Option<String> {
    if keys.iter().flatten().count() > 1 {
        return Some("two buffers; give one of buffer_bytes, buffer_packets and buffer_ns".to_owned());
    }
    if keys.contains(&Some(0)) {
        return Some("a buffer of 0 holds no packet; give one of at least a packet".to_owned());
    }
    if let Some(ppb) = drop.shares_ppb().into_iter().find(|&ppb| ppb > WHOLE_PPB) {
        return Some(format!("{ppb} ppb is above the whole, {WHOLE_PPB} ppb"));
    }
    buffer(Limit::Unlimited, drop, ecn).check().err().map(|problem| problem.to_string())
}
