//! One parameter: its names, its meaning, when it is required, and the values that it takes.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use serde_json::json;

use super::{Json, Page, Parameters, Rule, Sampler};

/// One parameter of an element, a group or a variant.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its key in files; `None` if its own keys are among those of the other parameters.
    pub key: Option<&'static str>,
    /// Its name in resolved JSON.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// When it is required.
    pub presence: Presence,
    /// Whether a scaled experiment multiplies it.
    pub scale: bool,
    /// The values that it takes.
    pub values: Type,
}

/// When a parameter is required.
#[derive(Clone, PartialEq, Debug)]
pub enum Presence {
    /// Always.
    Required,
    /// Never; it may be absent from resolved JSON as well.
    Optional,
    /// Never; if absent it has this value, as written in files and in resolved JSON.
    Default(Json, Json),
    /// Never; if absent it has this value, and it may be absent from resolved JSON as well.
    Implied(Json),
    /// Never; if absent it has the value of that parameter.
    As(&'static str),
}

/// The quantity of a number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Bits.
    Bits,
    /// Nanoseconds.
    Duration,
    /// Parts per billion of a whole.
    Share,
    /// A number of items.
    Count,
    /// Billionths, written as a decimal number.
    Number,
    /// A code point.
    Dscp,
}

impl Quantity {
    const fn word(self) -> &'static str {
        match self {
            Quantity::Rate => "rate",
            Quantity::Size => "size",
            Quantity::Bits => "bits",
            Quantity::Duration => "duration",
            Quantity::Share => "share",
            Quantity::Count => "count",
            Quantity::Number => "number",
            Quantity::Dscp => "dscp",
        }
    }

    /// The unit of resolved numbers.
    pub const fn unit(self) -> &'static str {
        match self {
            Quantity::Rate => " bit/s",
            Quantity::Size => " bytes",
            Quantity::Bits => " bit",
            Quantity::Duration => " ns",
            Quantity::Share => " ppb",
            Quantity::Number => " billionths",
            Quantity::Count | Quantity::Dscp => "",
        }
    }
}

/// The values that a parameter takes.
#[derive(Clone, Debug)]
pub enum Type {
    /// Whole numbers.
    Number {
        /// Their quantity.
        quantity: Quantity,
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
        /// Whether `null`, no bound, is allowed.
        unlimited: bool,
        /// Whether it must be at least a packet, unless it is 0.
        packet: bool,
    },
    /// Yes or no.
    Flag,
    /// One of these words.
    Words(Vec<&'static str>),
    /// Several values.
    List {
        /// Type of each.
        of: Box<Type>,
        /// The smallest number of values.
        min_items: usize,
        /// Whether no value may occur twice.
        unique: bool,
    },
    /// A group of parameters.
    Group(Group),
    /// A word, with the parameters of that word.
    Choice(Choice),
    /// A type with its own form in files.
    Named {
        /// The form's name.
        word: &'static str,
        /// For a buffer: whether it may have no bound.
        unlimited: bool,
        /// For a buffer: the parameter that empties it; `None`: the link.
        rate: Option<&'static str>,
        /// A random resolved value: the entries for the object that contains it; one without a name has the
        /// parameter's.
        sample: fn(&mut Sampler) -> Vec<(&'static str, Json)>,
    },
}

/// A group of parameters.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name in the reference.
    pub title: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Rules between them.
    pub rules: Vec<Rule>,
}

/// Words with parameters of their own.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its name in the reference.
    pub title: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// The words.
    pub variants: Vec<Variant>,
}

/// One word of a choice.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The word.
    pub word: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// Its page of the manual.
    pub page: Option<Page>,
    /// Its name in the reference, if it has parameters.
    pub title: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Rules between them.
    pub rules: Vec<Rule>,
    /// Whether files write its one parameter instead of a mapping.
    pub bare: bool,
}

impl Parameter {
    fn new(key: Option<&'static str>, name: &'static str, values: Type) -> Parameter {
        Parameter { key, name, about: "", presence: Presence::Required, scale: false, values }
    }

    fn number(key: &'static str, name: &'static str, quantity: Quantity, min: u64, max: u64) -> Parameter {
        let scale = matches!(quantity, Quantity::Rate | Quantity::Size | Quantity::Bits);
        let values = Type::Number { quantity, min, max, unlimited: false, packet: false };
        Parameter { scale, ..Parameter::new(Some(key), name, values) }
    }

    /// A rate above zero.
    pub fn rate(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Rate, 1, u64::MAX)
    }

    /// A size above zero.
    pub fn size(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Size, 1, u64::MAX)
    }

    /// An amount of data above zero, in bits.
    pub fn bits(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Bits, 1, u64::MAX)
    }

    /// A time above zero.
    pub fn time(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Duration, 1, u64::MAX)
    }

    /// A share above zero.
    pub fn share(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Share, 1, 1_000_000_000)
    }

    /// A number of items, at least one.
    pub fn count(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Count, 1, u64::MAX)
    }

    /// A decimal number above zero, in billionths.
    pub fn decimal(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Number, 1, u64::MAX)
    }

    /// A code point.
    pub fn dscp(key: &'static str, name: &'static str) -> Parameter {
        Parameter::number(key, name, Quantity::Dscp, 0, 63)
    }

    /// Yes or no.
    pub fn flag(key: &'static str, name: &'static str) -> Parameter {
        Parameter::new(Some(key), name, Type::Flag)
    }

    /// Several numbers, words or groups.
    pub fn list(key: &'static str, name: &'static str, of: Type, min_items: usize) -> Parameter {
        Parameter::new(Some(key), name, Type::List { of: Box::new(of), min_items, unique: false })
    }

    /// A word, or a word with parameters; see `choice!`.
    pub fn choice(key: impl Into<Option<&'static str>>, name: &'static str, values: Type) -> Parameter {
        Parameter::new(key.into(), name, values)
    }

    /// A group of parameters.
    pub fn group<T: Parameters>(key: &'static str, name: &'static str, title: &'static str) -> Parameter {
        Parameter::new(Some(key), name, Type::group::<T>(title))
    }

    /// A type for which readers of files have their own form.
    pub fn named(
        key: impl Into<Option<&'static str>>,
        name: &'static str,
        word: &'static str,
        sample: fn(&mut Sampler) -> Vec<(&'static str, Json)>,
    ) -> Parameter {
        Parameter::new(key.into(), name, Type::Named { word, unlimited: false, rate: None, sample })
    }

    /// With an explanation.
    pub(crate) fn about(self, about: &'static str) -> Parameter {
        Parameter { about: about.trim(), ..self }
    }

    /// It may be absent.
    pub fn optional(self) -> Parameter {
        Parameter { presence: Presence::Optional, ..self }
    }

    /// It may be absent and then has this value, as written in files and in resolved JSON.
    pub fn or(self, written: &str, resolved: impl Into<Json>) -> Parameter {
        Parameter { presence: Presence::Default(written.into(), resolved.into()), ..self }
    }

    /// It may be absent and then has this value, which files and resolved JSON write in the same way.
    pub fn or_nothing(self, value: Json) -> Parameter {
        Parameter { presence: Presence::Default(value.clone(), value), ..self }
    }

    /// It may be absent, in files and in resolved JSON, and then has this value.
    pub fn implied(self, value: impl Into<Json>) -> Parameter {
        Parameter { presence: Presence::Implied(value.into()), ..self }
    }

    /// It may be absent and then has the value of that parameter.
    pub fn or_as(self, key: &'static str) -> Parameter {
        Parameter { presence: Presence::As(key), ..self }
    }

    /// Within this range instead.
    pub fn within(mut self, least: u64, greatest: u64) -> Parameter {
        if let Type::Number { min, max, .. } = &mut self.values {
            (*min, *max) = (least, greatest);
        }
        self
    }

    /// Zero is allowed as well.
    pub fn or_zero(self) -> Parameter {
        match self.values {
            Type::Number { max, .. } => self.within(0, max),
            _ => self,
        }
    }

    /// No bound is allowed as well.
    pub fn or_unlimited(mut self) -> Parameter {
        if let Type::Number { unlimited, .. } | Type::Named { unlimited, .. } = &mut self.values {
            *unlimited = true;
        }
        self
    }

    /// It must be at least a packet, unless it is 0.
    pub fn of_a_packet(mut self) -> Parameter {
        if let Type::Number { packet, .. } = &mut self.values {
            *packet = true;
        }
        self
    }

    /// For a buffer: emptied by that parameter.
    pub fn emptied_by(mut self, key: &'static str) -> Parameter {
        if let Type::Named { rate, .. } = &mut self.values {
            *rate = Some(key);
        }
        self
    }

    /// For a list: no value may occur twice.
    pub fn unique(mut self) -> Parameter {
        if let Type::List { unique, .. } = &mut self.values {
            *unique = true;
        }
        self
    }

    /// A scaled experiment multiplies it.
    pub fn scaled(self) -> Parameter {
        Parameter { scale: true, ..self }
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({
            "key": self.key,
            "name": self.name,
            "about": self.about,
            "presence": match &self.presence {
                Presence::Required => json!("required"),
                Presence::Optional => json!("optional"),
                Presence::Default(written, _) => json!({"default": written}),
                Presence::Implied(value) => json!({"implied": value}),
                Presence::As(key) => json!({"as": key}),
            },
            "scale": self.scale,
            "type": self.values.to_json(),
        })
    }
}

impl Type {
    /// A group of parameters.
    pub(crate) fn group<T: Parameters>(title: &'static str) -> Type {
        let about = T::ABOUT.trim();
        Type::Group(Group { title, about, parameters: T::parameters(), rules: T::rules() })
    }

    fn to_json(&self) -> Json {
        match self {
            Type::Number { quantity: Quantity::Dscp, .. } => json!({"quantity": "dscp"}),
            // The limits in files are decimal numbers.
            Type::Number { quantity: Quantity::Number, min, max, .. } => json!({
                "quantity": "number", "min": *min as f64 / 1e9, "max": *max as f64 / 1e9, "times": 1_000_000_000,
            }),
            Type::Number { quantity, min, max, unlimited, packet } => {
                let mut number = json!({"quantity": quantity.word(), "min": min});
                let whole = *quantity == Quantity::Share && *max == 1_000_000_000;
                if *max != u64::MAX && !whole {
                    number["max"] = json!(max);
                }
                if *unlimited {
                    number["unlimited"] = json!(true);
                }
                if *packet {
                    number["packet"] = json!(true);
                }
                number
            }
            Type::Flag => json!({"flag": true}),
            Type::Words(words) => json!({"words": words}),
            Type::List { of, min_items, unique } => {
                json!({"list": of.to_json(), "min_items": min_items, "unique": unique})
            }
            Type::Group(Group { title, about, parameters, rules }) => json!({
                "title": title,
                "about": about,
                "group": parameters.iter().map(Parameter::to_json).collect::<Vec<_>>(),
                "rules": rules.iter().map(Rule::to_json).collect::<Vec<_>>(),
            }),
            Type::Choice(Choice { title, about, variants }) => json!({
                "title": title,
                "about": about.trim(),
                "choice": variants.iter().map(Variant::to_json).collect::<Vec<_>>(),
            }),
            Type::Named { word: "buffer", unlimited, rate, .. } => {
                json!({"named": "buffer", "unlimited": unlimited, "rate": rate})
            }
            Type::Named { word, .. } => json!({"named": word}),
        }
    }

    /// Its names in resolved JSON, as the parameter `name`.
    pub(crate) fn names(&self, name: &'static str) -> Vec<&'static str> {
        match self {
            Type::Named { word: "buffer", .. } => vec!["buffer_bytes", "buffer_packets", "buffer_ns"],
            _ => vec![name],
        }
    }
}

impl Variant {
    fn to_json(&self) -> Json {
        let mut described = json!({
            "word": self.word,
            "about": self.about,
            "parameters": self.parameters.iter().map(Parameter::to_json).collect::<Vec<_>>(),
            "rules": self.rules.iter().map(Rule::to_json).collect::<Vec<_>>(),
            "bare": self.bare,
        });
        if !self.parameters.is_empty() && !self.bare {
            described["title"] = json!(self.title);
        }
        if let Some(page) = self.page {
            page.describe(described.as_object_mut().expect("an object"));
        }
        described
    }
}
