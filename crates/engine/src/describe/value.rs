//! Values of parameters: read from resolved JSON and written to it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::num::NonZeroU64;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Json, Object, Parameter, Parameters, Presence, Problem};
use crate::units::{Duration, Limit, Rate, Share};

/// A type of parameter values.
pub(crate) trait Value: Sized + Serialize {
    /// Reads a value.
    fn from_json(json: &Json) -> Result<Self, Problem>;

    /// The value when none is given, if that is allowed.
    fn absent() -> Option<Self> {
        None
    }

    /// Removes it from the object that contains it.
    fn take(object: &mut Object, parameter: &Parameter) -> Result<Self, Problem> {
        match (object.remove(parameter.name), &parameter.presence) {
            (Some(json), _) => Self::from_json(&json).map_err(|problem| problem.inside(parameter.name)),
            (None, Presence::Default(_, value) | Presence::Implied(value)) => Self::from_json(value),
            (None, _) => {
                Self::absent().ok_or_else(|| Problem::new(format!("{} is missing; give it", parameter.name)))
            }
        }
    }

    /// Writes it into the object that contains it.
    fn put<M: SerializeMap>(&self, parameter: &Parameter, object: &mut M) -> Result<(), M::Error> {
        object.serialize_entry(parameter.name, self)
    }

    /// Errors that its description cannot express.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

fn whole(json: &Json) -> Result<u64, Problem> {
    json.as_u64()
        .ok_or_else(|| Problem::new(format!("{json} is not a whole number; give one from 0 to {}", u64::MAX)))
}

fn narrow<T: TryFrom<u64>>(json: &Json) -> Result<T, Problem> {
    let number = whole(json)?;
    T::try_from(number).map_err(|_| Problem::new(format!("{number} is too large")))
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn from_json(json: &Json) -> Result<Self, Problem> {
                narrow(json)
            }
        }
    )*};
}
whole_numbers!(u8, u16, u32, u64);

impl Value for i64 {
    fn from_json(json: &Json) -> Result<i64, Problem> {
        json.as_i64().ok_or_else(|| Problem::new(format!("{json} is not a whole number of 64 bits")))
    }
}

impl Value for bool {
    fn from_json(json: &Json) -> Result<bool, Problem> {
        json.as_bool().ok_or_else(|| Problem::new(format!("{json} is not true or false")))
    }
}

impl Value for String {
    fn from_json(json: &Json) -> Result<Self, Problem> {
        json.as_str().map(ToOwned::to_owned).ok_or_else(|| Problem::new(format!("{json} is not a string")))
    }
}

impl Value for NonZeroU64 {
    fn from_json(json: &Json) -> Result<NonZeroU64, Problem> {
        NonZeroU64::new(whole(json)?).ok_or_else(|| Problem::new("0 is no rate; give at least 1"))
    }
}

impl Value for Rate {
    fn from_json(json: &Json) -> Result<Rate, Problem> {
        if json.is_null() {
            return Ok(Rate::Unlimited);
        }
        let refusal = "0 passes nothing; leave the rate out for unlimited";
        Rate::bits_per_second(whole(json)?).ok_or_else(|| Problem::new(refusal))
    }

    fn absent() -> Option<Rate> {
        Some(Rate::Unlimited)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Rate::Unlimited => serializer.serialize_none(),
            Rate::BitsPerSecond(rate) => rate.serialize(serializer),
        }
    }
}

impl Value for Duration {
    fn from_json(json: &Json) -> Result<Duration, Problem> {
        whole(json).map(Duration::from_nanos)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_nanos().serialize(serializer)
    }
}

impl Value for Share {
    fn from_json(json: &Json) -> Result<Share, Problem> {
        let ppb = narrow(json)?;
        let refusal = || Problem::new(format!("{ppb} ppb is above the whole, {} ppb", Share::WHOLE.ppb()));
        Share::parts_per_billion(ppb).ok_or_else(refusal)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ppb().serialize(serializer)
    }
}

/// A buffer has one of three names; without any it has no bound.
impl Value for Limit {
    fn from_json(json: &Json) -> Result<Limit, Problem> {
        match json {
            Json::Null => Ok(Limit::Unlimited),
            _ => whole(json).map(Limit::Bytes),
        }
    }

    fn take(object: &mut Object, _: &Parameter) -> Result<Limit, Problem> {
        let mut found = Limit::Unlimited;
        for name in ["buffer_bytes", "buffer_packets", "buffer_ns"] {
            let Some(json) = object.remove(name).filter(|json| !json.is_null()) else { continue };
            let number = whole(&json).map_err(|problem| problem.inside(name))?;
            if number == 0 {
                return Err(Problem::new("a buffer of 0 holds no packet; give one of at least a packet"));
            }
            if found != Limit::Unlimited {
                let refusal = "two buffers; give one of buffer_bytes, buffer_packets and buffer_ns";
                return Err(Problem::new(refusal));
            }
            found = match name {
                "buffer_bytes" => Limit::Bytes(number),
                "buffer_packets" => Limit::Packets(number),
                _ => Limit::Time(Duration::from_nanos(number)),
            };
        }
        Ok(found)
    }

    fn put<M: SerializeMap>(&self, _: &Parameter, object: &mut M) -> Result<(), M::Error> {
        match self {
            Limit::Unlimited => object.serialize_entry("buffer_bytes", &()),
            Limit::Bytes(bytes) => object.serialize_entry("buffer_bytes", bytes),
            Limit::Packets(packets) => object.serialize_entry("buffer_packets", packets),
            Limit::Time(time) => object.serialize_entry("buffer_ns", time),
        }
    }
}

/// It cannot be written without a name, which gives its unit.
impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("a buffer is written under one of its names"))
    }
}

impl<T: Value> Value for Option<T> {
    fn from_json(json: &Json) -> Result<Option<T>, Problem> {
        if json.is_null() {
            return Ok(None);
        }
        T::from_json(json).map(Some)
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }

    fn take(object: &mut Object, parameter: &Parameter) -> Result<Option<T>, Problem> {
        let is_given = |name| object.get(name).is_some_and(|json: &Json| !json.is_null());
        if !parameter.values.names(parameter.name).into_iter().any(is_given) {
            for name in parameter.values.names(parameter.name) {
                object.remove(name);
            }
            return Ok(None);
        }
        T::take(object, parameter).map(Some)
    }

    fn put<M: SerializeMap>(&self, parameter: &Parameter, object: &mut M) -> Result<(), M::Error> {
        match (self, &parameter.presence) {
            (Some(value), _) => value.put(parameter, object),
            (None, Presence::Optional) => Ok(()),
            (None, _) => object.serialize_entry(parameter.name, &()),
        }
    }

    fn problems(&self) -> Vec<Problem> {
        self.as_ref().map(Value::problems).unwrap_or_default()
    }
}

impl<T: Value> Value for Vec<T> {
    fn from_json(json: &Json) -> Result<Vec<T>, Problem> {
        let refusal = || Problem::new(format!("{json} is not a list"));
        json.as_array().ok_or_else(refusal)?.iter().map(T::from_json).collect()
    }
}

impl<T: Parameters> Value for T {
    fn from_json(json: &Json) -> Result<T, Problem> {
        let object = json.as_object().ok_or_else(|| Problem::new(format!("{json} is not an object")))?;
        T::read(object.clone()).map_err(|wrong| {
            let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            Problem::new(wrong.join("; "))
        })
    }

    fn problems(&self) -> Vec<Problem> {
        Parameters::problems(self)
    }
}
