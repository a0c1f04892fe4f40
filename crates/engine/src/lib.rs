//! The effect of a network on packets: policing, shaping, queueing, scheduling, delay, serialisation, interference.
//!
//! The engine is pure. It has no clock, no input or output, no threads and no hidden randomness: time is an argument.
//! Callers are the emulator (wall clock, real packets) and the simulator (virtual clock).
//!
//! ```
//! use crosswind_engine::{Duration, ElementSpec, Engine, Instant, Limit, LinkSpec, Outcome, Packet, Queueing, Rate};
//!
//! let mut engine = Engine::new(7);
//! let link = engine.add("a->b", ElementSpec::Link(LinkSpec {
//!     rate: Rate::bits_per_second(10_000_000_000).unwrap(),
//!     delay: Duration::from_micros(2),
//!     queueing: Queueing::fifo(Limit::Bytes(524_288)),
//! }))?;
//! let path = engine.path(&[link]);
//! engine.push(Instant::ZERO, path, Packet::real(1, 1500, 0));
//! engine.advance(engine.next_event().unwrap()); // 1 230.4 ns, rounded up, on the transmitter; 2 us under way
//! assert!(matches!(engine.pop(), Some(Outcome::Departure { due, .. }) if due == Instant::from_nanos(3_231)));
//! # Ok::<(), crosswind_engine::SpecError>(())
//! ```
//!
//! # Promises
//!
//! * A departure carries the instant at which it was *due*. Stages pass packets on at ideal instants, so that lateness
//!   of the caller does not add up.
//! * Splitting an `advance` into several changes nothing.
//! * The same calls and the same seed give the same outcomes, bit for bit, on every machine.
//! * Every element treats real and ghost packets alike.
//! * Every packet that enters or is duplicated leaves, is dropped for a named reason, or is still inside ([`Totals`]).
//! * Nothing is allocated per packet in a steady state.
//!
//! # Events at equal instants
//!
//! Events at one instant happen in this order: transmitters finish, capacities change, tokens become available,
//! packets reach the other end of a delay or a link, sources send. Among equals the order is that in which the
//! elements were added. `push` first processes everything due up to and including its instant, then lets the new
//! packet enter. So the result does not depend on when or how often the caller looks.
//!
//! # Rounding
//!
//! Instants are whole nanoseconds. Exact instants between two of them are rounded up (never early), and the remainder
//! is carried over to the next packet, so that rates do not drift.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod agenda;
mod cellular;
mod delay;
mod describe;
mod ecn;
mod element;
mod engine;
mod error;
mod gate;
mod impairment;
mod label;
mod link;
mod list;
mod loss;
mod marker;
mod meter;
mod monitor;
mod normal;
mod outcome;
mod packet;
mod path;
mod process;
mod queue;
mod random;
mod scheduler;
mod shaper;
mod slab;
mod sound;
mod source;
mod units;
mod watch;

pub use cellular::{CellReplaySpec, HeavyRecording, LightRecording, LightRow};
pub use delay::{
    DelayBin, DelayHistogram, DelayLaw, DelaySamples, DelaySpec, Depth, Lognormal, Order, RandomDelay, Spread,
};
pub use describe::{
    Described, Json, Manual, Object, Page, Parameter, Parameters, Presence, Problem, Quantity as QuantityOf,
    Rule, Sampler, Short, Type, Where,
};
pub use ecn::{Ecn, Signal};
pub use element::{ElementId, ElementSpec, Treatment};
pub use engine::{Crossing, Engine, Onward, Prepared};
pub use error::SpecError;
pub use gate::GateSpec;
pub use impairment::{CorruptSpec, DuplicateSpec, ReorderSpec};
pub use label::{LabelMask, LabelSet};
pub use link::LinkSpec;
pub use loss::{BernoulliLaw, FourStateLaw, GilbertElliottLaw, LoseSpec, LossLaw, LossPattern, LossTrace};
pub use marker::MarkSpec;
pub use meter::{ColourAction, ColourActions, ColourMode, PoliceSpec, SrtcmSpec, TrtcmSpec};
pub use monitor::{
    Begin, Bin, ClassCounters, ClassTotals, ClassWord, Count, Counters, Histogram, Match, MonitorParameters,
    MonitorSpec, NamedCount, NamedHistogram, NamedTrend, Quantity, Readings, Selection, Start, Totals, Trend,
    TrendStep, What,
};
pub use outcome::{DropReason, Outcome, Sighting};
pub use packet::{wire_bytes, Class, Damage, Packet};
pub use path::PathId;
pub use process::{
    CapacityParameters, Cell, Direction, LevelSchedule, LogSchedule, MarkovChain, MarkovState,
    OpportunitySchedule, PiecewiseUniform, ProcessId, ProcessSpec, CHANGES_STORED,
};
pub use queue::policies::*;
pub use queue::{
    BufferSpec, DropSpec, MemoryId, MemoryShare, QueueParameters, QueueSpec, Queueing, RedProfile,
    ScheduleParameters, ScheduledQueue,
};
pub use scheduler::Scheduling;
pub use shaper::{CreditLevel, CreditSpec, LoopSpec, PaceSpec, ShapeSpec};
pub use sound::{Sound, Specification};
pub use source::{
    Arrivals, CongestionControl, RateLaw, RecordedPacket, ReplaySpec, Sizes, SourceId, SourceSpec, ZeroMeans,
};
pub use units::{Capacity, Duration, Instant, Limit, Rate, Share};
