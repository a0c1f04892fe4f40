//! Random valid parameters, derived from descriptions alone: for property tests, fuzzing, and round trips through
//! other readers.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::json;

use super::{verify_object, Choice, Group, Json, Object, Parameter, Presence, Problem, Quantity, Rule, Type};
use crate::random::Stream;

/// Number of attempts; if none is valid, the description is wrong.
const TRIES: usize = 10_000;

/// Draws parameters. Its ranges are cut to those of each parameter.
pub struct Sampler {
    stream: Stream,
    rate: (u64, u64),
    size: (u64, u64),
    time: (u64, u64),
}

impl Sampler {
    /// For an engine of microseconds: 1 to 20 Gbit/s, 100 B to 6 kB, up to 5 us on a grid of 100 ns.
    pub fn of_microseconds(seed: u64) -> Sampler {
        let stream = Stream::new(seed, "samples");
        Sampler { stream, rate: (1_000_000_000, 20_000_000_000), size: (100, 6_000), time: (100, 5_000) }
    }

    /// For a network with packets of up to 9000 bytes: 1 Mbit/s to 10 Gbit/s, 9 kB to 1 MB, 100 us to 100 ms.
    pub fn of_networks(seed: u64) -> Sampler {
        let stream = Stream::new(seed, "samples");
        let (rate, size) = ((1_000_000, 10_000_000_000), (9_000, 1_000_000));
        Sampler { stream, rate, size, time: (100_000, 100_000_000) }
    }

    /// A number in [0, bound).
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.stream.below(u32::try_from(bound.min(u64::from(u32::MAX))).unwrap_or(u32::MAX)))
    }

    /// One of these.
    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// A number of a quantity, within the sampler's range for it.
    pub(crate) fn number(&mut self, quantity: Quantity) -> u64 {
        let (low, high, grid) = match quantity {
            Quantity::Rate => (self.rate.0, self.rate.1, 1),
            Quantity::Size => (self.size.0, self.size.1, 1),
            Quantity::Bits => (8 * self.size.0, 32 * self.size.1, 1),
            Quantity::Duration => (self.time.0, self.time.1, 100),
            Quantity::Share => (0, 1_000_000_000, 100_000_000),
            Quantity::Number => (1, 4_000_000_000, 1),
            Quantity::Count => (1, 8, 1),
            Quantity::Dscp => (0, 4, 1),
        };
        let steps = (high - low) / grid;
        let step = (self.stream.uniform() * (steps + 1) as f64) as u64;
        low + step.min(steps) * grid
    }

    /// An object with these parameters, read; repeated until it is valid.
    pub(crate) fn sound<T>(
        &mut self,
        parameters: &[Parameter],
        rules: &[Rule],
        read: fn(Object) -> Result<T, Vec<Problem>>,
    ) -> T {
        let mut last = Vec::new();
        for _ in 0..TRIES {
            let object = self.object(parameters, rules);
            match read(object.clone()) {
                Ok(read) => return read,
                Err(wrong) => last = wrong,
            }
        }
        panic!("none of {TRIES} random sets of parameters is valid: {last:?}");
    }

    fn object(&mut self, parameters: &[Parameter], rules: &[Rule]) -> Object {
        let mut object = Object::new();
        for _ in 0..TRIES {
            object.clear();
            for parameter in parameters {
                self.fill(parameter, &mut object);
            }
            if verify_object(&object, parameters, rules).is_empty() {
                break;
            }
        }
        object
    }

    fn fill(&mut self, parameter: &Parameter, object: &mut Object) {
        let can_be_left_out = !matches!(parameter.presence, Presence::Required | Presence::As(_));
        if can_be_left_out && self.below(2) == 0 {
            return;
        }
        match &parameter.values {
            Type::Named { sample, .. } => {
                let entries = sample(self).into_iter();
                object.extend(entries.map(|(name, value)| {
                    (String::from(if name.is_empty() { parameter.name } else { name }), value)
                }));
            }
            values => drop(object.insert(parameter.name.into(), self.value(values))),
        }
    }

    fn value(&mut self, values: &Type) -> Json {
        match values {
            Type::Number { unlimited: true, .. } if self.below(5) == 0 => Json::Null,
            Type::Number { quantity, min, max, .. } => {
                let number = match (min, self.below(8)) {
                    // Values that may be zero are zero at times.
                    (0, 0) => 0,
                    _ => self.number(*quantity),
                };
                json!(number.clamp(*min, *max))
            }
            Type::Flag => json!(self.below(2) == 0),
            Type::Words(words) => json!(self.one_of(words)),
            Type::List { of, min_items, unique } => {
                let length = *min_items as u64 + self.below(3);
                let mut items: Vec<Json> = Vec::new();
                for _ in 0..length {
                    let item = self.value(of);
                    if !(*unique && items.contains(&item)) {
                        items.push(item);
                    }
                }
                Json::Array(items)
            }
            Type::Group(Group { parameters, rules, .. }) => Json::Object(self.object(parameters, rules)),
            Type::Choice(Choice { variants, .. }) => {
                let variant = self.one_of(variants);
                if variant.parameters.is_empty() {
                    return json!(variant.word);
                }
                json!({variant.word: Json::Object(self.object(&variant.parameters, &variant.rules))})
            }
            Type::Named { sample, .. } => {
                sample(self).into_iter().next().map_or(Json::Null, |(_, value)| value)
            }
        }
    }
}
