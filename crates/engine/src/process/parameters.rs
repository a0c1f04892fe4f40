//! The parameters of a link's capacity in a condition, and the form of a process in resolved JSON: lists of whole
//! numbers, a rate of 0 for an outage, `null` for an unlimited one.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::{
    Cell, LevelSchedule, LogSchedule, MarkovChain, MarkovState, OpportunitySchedule, PiecewiseUniform,
    ProcessSpec,
};
use crate::describe::{
    choice, parameters, Described, Json, Manual, Object, Parameter, Problem, Sampler, Value, Where,
};
use crate::units::{Capacity, Duration, Rate};

parameters! {
    /// Drives the rate of the uplink, the downlink, or both (place `link`). Has one of the first seven keys.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct CapacityParameters {
        /// The rate as a function of time.
        process: ProcessSpec = [Parameter::named(None, "process", "process", sample).scaled()],
        /// Direction from the host, or to it; both when absent.
        direction: Option<Direction> = [
            Parameter::choice("direction", "direction", Direction::values()).optional()
        ],
    }
}

impl Described for CapacityParameters {
    const MANUAL: Manual = Manual { place: Where::Link, ..Manual::new("capacity", super::PAGE) };
}

choice! {
    /// One direction of a host's link.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub enum Direction: "direction" {
        /// From the host to the switch.
        Up = "up",
        /// From the switch to the host.
        Down = "down",
    }
}

fn sample(sampler: &mut Sampler) -> Vec<(&'static str, Json)> {
    let rates = [json!(null), json!(0), json!(300_000_000), json!(2_000_000_000)];
    let mut rate = || sampler.one_of(&rates).clone();
    let steps = json!([rate(), rate(), rate()]);
    let processes = [
        json!({"levels": {"at_ns": [0, 700, 1500], "rate_bps": steps, "repeat_ns": 2100}}),
        json!({"levels": {"at_ns": [0, 700, 700], "rate_bps": steps}}),
        json!({"opportunities": {"at_ns": [300, 4000], "ip_bytes": [3000, 1500], "repeat_ns": 7000}}),
        json!({"log": {"at_ns": [0, 700, 1500], "rate_bps": steps, "delay_ns": [0, 900, 300], "repeat_ns": 2100}}),
        json!({"log": {"at_ns": [0, 700], "delay_ns": [100, 0]}}),
        json!({"drawn": {
            "cells": [{"low_bps": 0, "high_bps": 2_000_000_000, "weight": 1}], "grid_bps": 1_000_000, "hold_ns": 7001,
        }}),
        json!({"markov": {
            "states": [
                {"rate_bps": null, "next_ppb": [500_000_000, 500_000_000]},
                {"rate_bps": 90_000_000, "next_ppb": [500_000_000, 500_000_000]},
            ],
            "hold_ns": 7001,
        }}),
        json!({"resampled": {"at_ns": [0, 1000, 1500], "rate_bps": steps, "period_ns": 2100, "block_ns": 700}}),
    ];
    vec![("process", sampler.one_of(&processes).clone())]
}

/// The fields of a JSON object, each read once; the remaining ones are unknown.
struct Fields(Object);

impl Fields {
    fn of(json: &Json) -> Result<Fields, Problem> {
        json.as_object().cloned().map(Fields).ok_or_else(|| Problem::new(format!("{json} is not an object")))
    }

    fn take<T: Value>(&mut self, name: &str) -> Result<T, Problem> {
        match self.0.remove(name) {
            Some(json) => T::from_json(&json).map_err(|problem| problem.inside(name)),
            None => T::absent().ok_or_else(|| Problem::new(format!("{name} is missing; give it"))),
        }
    }

    fn end(self) -> Result<(), Problem> {
        match self.0.keys().next() {
            Some(name) => Err(Problem::new(format!("unknown key {name}"))),
            None => Ok(()),
        }
    }
}

/// Converts two lists to one of pairs.
fn pairs<T, U>(
    times: Vec<Duration>,
    values: Vec<T>,
    pair: fn(T) -> U,
) -> Result<Vec<(Duration, U)>, Problem> {
    if times.len() != values.len() {
        return Err(Problem::new("its lists differ in length; give one entry for each time"));
    }
    Ok(times.into_iter().zip(values.into_iter().map(pair)).collect())
}

fn capacity(rate_bps: Option<u64>) -> Capacity {
    rate_bps.map_or(Capacity::Rate(Rate::Unlimited), Capacity::bits_per_second)
}

fn capacities(rates_bps: Vec<Option<u64>>) -> Arc<[Capacity]> {
    rates_bps.into_iter().map(capacity).collect()
}

fn rate_bps(capacity: Capacity) -> Option<u64> {
    match capacity {
        Capacity::Outage => Some(0),
        Capacity::Rate(Rate::Unlimited) => None,
        Capacity::Rate(Rate::BitsPerSecond(rate)) => Some(rate.get()),
    }
}

impl Value for Cell {
    fn from_json(json: &Json) -> Result<Cell, Problem> {
        let mut fields = Fields::of(json)?;
        let cell = Cell {
            low: fields.take("low_bps")?,
            high: fields.take("high_bps")?,
            weight: fields.take("weight")?,
        };
        fields.end().map(|()| cell)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("low_bps", &self.low)?;
        object.serialize_entry("high_bps", &self.high)?;
        object.serialize_entry("weight", &self.weight)?;
        object.end()
    }
}

impl Value for MarkovState {
    fn from_json(json: &Json) -> Result<MarkovState, Problem> {
        let mut fields = Fields::of(json)?;
        let level = capacity(fields.take("rate_bps")?);
        let state = MarkovState { level, next_ppb: fields.take("next_ppb")? };
        fields.end().map(|()| state)
    }
}

impl Serialize for MarkovState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("rate_bps", &rate_bps(self.level))?;
        object.serialize_entry("next_ppb", &self.next_ppb)?;
        object.end()
    }
}

impl Value for ProcessSpec {
    fn from_json(json: &Json) -> Result<ProcessSpec, Problem> {
        let one = json.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
        let (word, json) = one.ok_or_else(|| Problem::new("give one kind of process with its parameters"))?;
        let mut fields = Fields::of(json)?;
        let process = match word.as_str() {
            "levels" => ProcessSpec::Levels(LevelSchedule {
                levels: pairs(fields.take("at_ns")?, fields.take("rate_bps")?, capacity)?.into(),
                period: fields.take("repeat_ns")?,
            }),
            "opportunities" => ProcessSpec::Opportunities(OpportunitySchedule {
                opportunities: pairs(fields.take("at_ns")?, fields.take("ip_bytes")?, |bytes| bytes)?.into(),
                period: fields.take("repeat_ns")?,
            }),
            "log" => ProcessSpec::Log(LogSchedule {
                at: fields.take::<Vec<Duration>>("at_ns")?.into(),
                levels: fields.take::<Option<Vec<Option<u64>>>>("rate_bps")?.map(capacities),
                delays: fields.take::<Option<Vec<Duration>>>("delay_ns")?.map(Into::into),
                period: fields.take("repeat_ns")?,
            }),
            "drawn" => ProcessSpec::Drawn {
                law: PiecewiseUniform {
                    cells: fields.take::<Vec<Cell>>("cells")?.into(),
                    grid: fields.take::<NonZeroU64>("grid_bps")?,
                },
                hold: fields.take("hold_ns")?,
            },
            "markov" => ProcessSpec::Markov {
                chain: MarkovChain { states: fields.take("states")? },
                hold: fields.take("hold_ns")?,
            },
            "resampled" => ProcessSpec::Resampled {
                trace: LevelSchedule {
                    levels: pairs(fields.take("at_ns")?, fields.take("rate_bps")?, capacity)?.into(),
                    period: fields.take::<Duration>("period_ns").map(Some)?,
                },
                block: fields.take("block_ns")?,
            },
            _ => {
                let words = "levels, opportunities, log, drawn, markov, resampled";
                return Err(Problem::new(format!("{word} is none of {words}")));
            }
        };
        fields.end().map_err(|problem| problem.inside(word)).map(|()| process)
    }

    fn problems(&self) -> Vec<Problem> {
        self.check().err().into_iter().collect()
    }
}

/// The object inside the one that names the kind.
struct Inside<'a>(&'a ProcessSpec);

impl Serialize for ProcessSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let word = match self {
            ProcessSpec::Levels(_) => "levels",
            ProcessSpec::Opportunities(_) => "opportunities",
            ProcessSpec::Log(_) => "log",
            ProcessSpec::Drawn { .. } => "drawn",
            ProcessSpec::Markov { .. } => "markov",
            ProcessSpec::Resampled { .. } => "resampled",
        };
        let mut object = serializer.serialize_map(Some(1))?;
        object.serialize_entry(word, &Inside(self))?;
        object.end()
    }
}

impl Serialize for Inside<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        match self.0 {
            ProcessSpec::Levels(LevelSchedule { levels, period }) => {
                put_levels(levels, &mut object)?;
                object.serialize_entry("repeat_ns", period)?;
            }
            ProcessSpec::Opportunities(OpportunitySchedule { opportunities, period }) => {
                let (at, bytes): (Vec<Duration>, Vec<u64>) = opportunities.iter().copied().unzip();
                object.serialize_entry("at_ns", &at)?;
                object.serialize_entry("ip_bytes", &bytes)?;
                object.serialize_entry("repeat_ns", period)?;
            }
            ProcessSpec::Log(LogSchedule { at, levels, delays, period }) => {
                object.serialize_entry("at_ns", &**at)?;
                if let Some(levels) = levels {
                    let rates: Vec<Option<u64>> = levels.iter().copied().map(rate_bps).collect();
                    object.serialize_entry("rate_bps", &rates)?;
                }
                if let Some(delays) = delays {
                    object.serialize_entry("delay_ns", &**delays)?;
                }
                object.serialize_entry("repeat_ns", period)?;
            }
            ProcessSpec::Drawn { law, hold } => {
                object.serialize_entry("cells", &*law.cells)?;
                object.serialize_entry("grid_bps", &law.grid)?;
                object.serialize_entry("hold_ns", hold)?;
            }
            ProcessSpec::Markov { chain, hold } => {
                object.serialize_entry("states", &chain.states)?;
                object.serialize_entry("hold_ns", hold)?;
            }
            ProcessSpec::Resampled { trace, block } => {
                put_levels(&trace.levels, &mut object)?;
                object.serialize_entry("period_ns", &trace.period)?;
                object.serialize_entry("block_ns", block)?;
            }
        }
        object.end()
    }
}

fn put_levels<M: SerializeMap>(levels: &[(Duration, Capacity)], object: &mut M) -> Result<(), M::Error> {
    let (at, rates): (Vec<Duration>, Vec<Option<u64>>) =
        levels.iter().map(|&(at, level)| (at, rate_bps(level))).unzip();
    object.serialize_entry("at_ns", &at)?;
    object.serialize_entry("rate_bps", &rates)
}
