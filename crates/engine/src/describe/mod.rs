//! Descriptions: names, meanings and value ranges of an element's parameters. One description serves the engine
//! (checks), its callers (JSON), the readers of experiment files, the reference, and the tests (random parameters).
//!
//! An element's file describes it with `parameters!` and, if it has several kinds, with `choice!`. Everything else
//! here works on these descriptions and names no element.
//!
//! A parameter has two names. Its key is used in experiment files, where values have units ("10ms"). Its name is used
//! in resolved JSON, where values are whole numbers of the unit at the end of the name (`_ns`).

mod choice;
mod page;
mod parameter;
mod parameters;
mod rule;
mod sample;
mod value;
mod verify;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde_json::{json, Map};

pub(crate) use choice::choice;
pub(crate) use page::page;
pub use page::Page;
pub use parameter::{Choice, Group, Parameter, Presence, Quantity, Type, Variant};
pub(crate) use parameters::parameters;
pub use parameters::Parameters;
pub use rule::Rule;
pub use sample::Sampler;
pub(crate) use value::Value;
pub(crate) use verify::{problems_of, verify_object};

/// JSON, as it crosses to and from the engine's callers.
pub type Json = serde_json::Value;
/// A JSON object.
pub type Object = Map<String, Json>;

/// An error in a specification: the parameter, its value, the rule and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem(Box<str>);

impl Problem {
    /// A sentence with the value, the rule and the remedy.
    pub fn new(sentence: impl Into<Box<str>>) -> Problem {
        Problem(sentence.into())
    }

    /// The same error, inside a parameter of that name.
    pub(crate) fn inside(self, name: &str) -> Problem {
        Problem::new(alloc::format!("{name}: {}", self.0))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where an element is allowed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Where {
    /// At every place.
    Anywhere,
    /// Only at a transmitter; it is a part of that.
    Port,
    /// Only on a link; it is a part of that.
    Link,
}

/// The one parameter that files may write instead of all.
#[derive(Copy, Clone, Debug)]
pub struct Short {
    /// Its key.
    pub key: &'static str,
    /// An example of its value.
    pub example: &'static str,
    /// A size that is then filled in: its key, the rate's key, the time in ns in which the rate fills it, and its
    /// minimum in bytes.
    pub fills: Option<(&'static str, &'static str, u64, u64)>,
}

/// The description of an element apart from its parameters.
#[derive(Copy, Clone, Debug)]
pub struct Manual {
    /// Its name in files.
    pub kind: &'static str,
    /// The header of its file.
    pub page: Page,
    /// Where it is allowed.
    pub place: Where,
    /// Whether packets wait in it, so that a monitor can measure its queue.
    pub queues: bool,
    /// Whether it has a level that traffic uses up and idle time refills.
    pub drains: bool,
    /// Parameters with which that level cannot be carried over to another run.
    pub kept_without: &'static [&'static str],
    /// The parameter that is the highest rate at which packets pass.
    pub limits_rate: Option<&'static str>,
    /// The parameter that is the smallest delay.
    pub adds_delay: Option<&'static str>,
    /// If this parameter is zero and no other is given, the element has no effect.
    pub idle: Option<&'static str>,
    /// The short form.
    pub short: Option<Short>,
    /// The kinds under which the engine shows it, if not only its own.
    pub names: &'static [&'static str],
}

impl Manual {
    /// An element that is allowed anywhere and has no other properties.
    pub(crate) const fn new(kind: &'static str, page: Page) -> Manual {
        Manual {
            kind,
            page,
            place: Where::Anywhere,
            queues: false,
            drains: false,
            kept_without: &[],
            limits_rate: None,
            adds_delay: None,
            idle: None,
            short: None,
            names: &[],
        }
    }

    /// With a parameter that may be written instead of all.
    pub(crate) const fn short(self, key: &'static str, example: &'static str) -> Manual {
        Manual { short: Some(Short { key, example, fills: None }), ..self }
    }
}

/// Parameters of an element that conditions name.
pub trait Described: Parameters {
    /// Its description apart from its parameters.
    const MANUAL: Manual;

    /// The kind under which the engine shows it.
    fn kind(&self) -> &'static str {
        Self::MANUAL.kind
    }
}

/// Describes an element: format 1 of docs/reference/contracts.md, section 10.
pub fn description<T: Described>() -> Json {
    let manual = T::MANUAL;
    let mut described = json!({
        "kind": manual.kind,
        "about": T::ABOUT.trim(),
        "where": match manual.place {
            Where::Anywhere => "anywhere",
            Where::Port => "port",
            Where::Link => "link",
        },
        "queues": manual.queues,
        "drains": manual.drains,
        "kept_without": manual.kept_without,
        "limits_rate": manual.limits_rate,
        "adds_delay": manual.adds_delay,
        "idle": manual.idle,
        "names": manual.names,
        "short": manual.short.map(|short| {
            let fills = short.fills.map(|(key, of, time_ns, least_bytes)| {
                json!({key: {"of": of, "time_ns": time_ns, "least_bytes": least_bytes}})
            });
            json!({"key": short.key, "example": short.example, "fills": fills})
        }),
        "parameters": T::parameters().iter().map(Parameter::to_json).collect::<Vec<_>>(),
        "rules": T::rules().iter().map(Rule::to_json).collect::<Vec<_>>(),
    });
    manual.page.describe(described.as_object_mut().expect("an object"));
    described
}
