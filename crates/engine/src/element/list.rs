//! The list of elements. A new element needs its file and its line here.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use serde::ser::SerializeMap;
use serde_json::json;

use super::behaviour::{Behaviour, Spec, Verdict};
use super::dispatch::elements;
use super::Context;
use crate::describe::{
    description, Described, Json, Manual, Object, Parameter, Parameters, Problem, Rule, Sampler,
};
use crate::link::Link;
use crate::monitor::{Monitor, MonitorParameters};
use crate::packet::Class;
use crate::process::CapacityParameters;
use crate::queue::{QueueParameters, ScheduleParameters};
use crate::random::Stream;
use crate::shaper::CreditLevel;
use crate::slab::SlotId;
use crate::units::{Duration, Instant};
use crate::{cellular, delay, gate, impairment, link, loss, marker, meter, monitor, shaper};

elements! {
    // Named by conditions and carried out by the engine unchanged.
    elements {
        Police: meter::PoliceSpec => meter::Police,
        Shape: shaper::ShapeSpec => shaper::Shape,
        Credit: shaper::CreditSpec => shaper::Credit,
        Pace: shaper::PaceSpec => shaper::Pace,
        Srtcm: meter::SrtcmSpec => meter::Srtcm,
        Trtcm: meter::TrtcmSpec => meter::Trtcm,
        Mark: marker::MarkSpec => marker::Mark,
        Delay: delay::DelaySpec => delay::Delay,
        Lose: loss::LoseSpec => loss::Lose,
        Duplicate: impairment::DuplicateSpec => impairment::Duplicate,
        Corrupt: impairment::CorruptSpec => impairment::Corrupt,
        Reorder: impairment::ReorderSpec => impairment::Reorder,
        Cellreplay: cellular::CellReplaySpec => cellular::CellReplay,
    }
    // These depend on their surroundings, and so have other parameters in conditions, if conditions name them at all.
    placed {
        Link: link::LinkSpec => link::Link,
        Monitor: monitor::MonitorSpec => Box<Monitor>,
        Gate: gate::GateSpec => gate::Gate,
    }
    // Also named by conditions, for a caller that knows the surroundings.
    parameters {
        Monitor: MonitorParameters,
        Queue: QueueParameters,
        Schedule: ScheduleParameters,
        Capacity: CapacityParameters,
    }
}
