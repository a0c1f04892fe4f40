//! Checks values against their description: known names, ranges, and rules between parameters.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{Choice, Group, Json, Object, Parameter, Presence, Problem, Quantity, Rule, Type};

/// Source of values, by name.
type Values<'a> = dyn Fn(&str) -> Option<Json> + 'a;

/// Every name of these parameters in resolved JSON.
pub(crate) fn described_names(parameters: &[Parameter]) -> Vec<&'static str> {
    parameters.iter().flat_map(|parameter| parameter.values.names(parameter.name)).collect()
}

/// All errors of an object that must contain these parameters and nothing else.
pub(crate) fn verify_object(object: &Object, parameters: &[Parameter], rules: &[Rule]) -> Vec<Problem> {
    let names = described_names(parameters);
    let unknown = object.keys().filter(|name| !names.contains(&name.as_str()));
    let mut wrong: Vec<Problem> = unknown
        .map(|name| Problem::new(format!("unknown key {name}; keys are {}", names.join(", "))))
        .collect();
    wrong.extend(parameters.iter().filter_map(|parameter| missing(object, parameter)));
    wrong.extend(problems_of(parameters, rules, &|name| object.get(name).cloned()));
    wrong
}

fn missing(object: &Object, parameter: &Parameter) -> Option<Problem> {
    let can_be_left_out = match parameter.values {
        Type::Number { unlimited, .. } | Type::Named { word: "buffer", unlimited, .. } => unlimited,
        _ => false,
    };
    let needed = matches!(parameter.presence, Presence::Required | Presence::As(_)) && !can_be_left_out;
    let is_missing = !object.contains_key(parameter.name);
    (needed && is_missing).then(|| Problem::new(format!("{} is missing; give it", parameter.name)))
}

/// All errors of these values.
pub(crate) fn problems_of(parameters: &[Parameter], rules: &[Rule], values: &Values<'_>) -> Vec<Problem> {
    let mut wrong = Vec::new();
    for parameter in parameters {
        if matches!(parameter.values, Type::Named { .. }) {
            continue; // Its own reader checks it.
        }
        let Some(value) = values(parameter.name) else { continue };
        let can_be_null = matches!(parameter.presence, Presence::Optional | Presence::Default(_, Json::Null));
        if !(value.is_null() && can_be_null) {
            check(&parameter.values, parameter.key.unwrap_or(parameter.name), &value, &mut wrong);
        }
    }
    let mapping = Mapping { parameters, values };
    wrong.extend(rules.iter().flat_map(|rule| mapping.against(rule)));
    wrong
}

fn check(values: &Type, what: &str, value: &Json, wrong: &mut Vec<Problem>) {
    let mut refuse = |sentence: String| wrong.push(Problem::new(sentence));
    match values {
        Type::Number { unlimited: true, .. } if value.is_null() => {}
        Type::Number { quantity, min, max, packet, .. } => match value.as_u64() {
            None => refuse(format!("{what} {value} is not a whole number")),
            Some(number) if number > *max => {
                let (shown, most) = (shown(values, value), shown(values, &(*max).into()));
                refuse(match quantity {
                    Quantity::Dscp => format!("{what} {shown} is outside {min} to {max}"),
                    Quantity::Share => format!("{what} {shown} is above the whole, {most}"),
                    _ => format!("{what} {shown} is above {most}; give at most that"),
                });
            }
            Some(0) if *min == 1 => refuse(match quantity {
                Quantity::Rate => format!("{what} 0 passes nothing; give at least 1 bit/s"),
                _ if *packet => format!("{what} 0 lets no packet pass; give at least the largest packet"),
                _ => format!("{what} 0 does nothing; give more, or leave the element out"),
            }),
            Some(number) if number < *min => {
                let (shown, least) = (shown(values, value), shown(values, &(*min).into()));
                refuse(format!("{what} {shown} is below {least}; give at least that"));
            }
            Some(_) => {}
        },
        Type::Flag if value.is_boolean() => {}
        Type::Flag => refuse(format!("{what} {value} is not true or false")),
        Type::Words(words) if value.as_str().is_some_and(|word| words.contains(&word)) => {}
        Type::Words(words) => refuse(format!("{what} {value} is none of {}", words.join(", "))),
        Type::List { of, min_items, unique } => {
            let Some(items) = value.as_array() else {
                return refuse(format!("{what} {value} is not a list"));
            };
            if items.len() < *min_items {
                refuse(format!("{what} has {} entries; give at least {min_items}", items.len()));
            }
            let twice = (1..items.len()).find(|&index| items[..index].contains(&items[index]));
            if let (true, Some(index)) = (*unique, twice) {
                refuse(format!("{what} names {} twice; name each once", plain(&items[index])));
            }
            for item in items {
                check(of, what, item, wrong);
            }
        }
        Type::Group(Group { parameters, rules, .. }) => match value.as_object() {
            Some(object) => inside(what, verify_object(object, parameters, rules), wrong),
            None => refuse(format!("{what} {value} is not an object")),
        },
        Type::Choice(choice) => check_choice(choice, what, value, wrong),
        Type::Named { .. } => {}
    }
}

fn check_choice(choice: &Choice, what: &str, value: &Json, wrong: &mut Vec<Problem>) {
    let nothing = Object::new();
    let (word, parameters) = match value {
        Json::String(word) => (word.as_str(), &nothing),
        Json::Object(object) if object.len() == 1 => {
            let (word, parameters) = object.iter().next().expect("one");
            (word.as_str(), parameters.as_object().unwrap_or(&nothing))
        }
        _ => ("", &nothing),
    };
    match choice.variants.iter().find(|variant| variant.word == word) {
        Some(variant) => inside(word, verify_object(parameters, &variant.parameters, &variant.rules), wrong),
        None => {
            let words: Vec<&str> = choice.variants.iter().map(|variant| variant.word).collect();
            wrong.push(Problem::new(format!("{what} {value} is none of {}", words.join(", "))));
        }
    }
}

fn inside(what: &str, found: Vec<Problem>, wrong: &mut Vec<Problem>) {
    wrong.extend(found.into_iter().map(|problem| problem.inside(what)));
}

/// A value as written in error texts.
fn shown(values: &Type, value: &Json) -> String {
    match values {
        Type::Number { quantity, .. } => format!("{}{}", plain(value), quantity.unit()),
        _ => plain(value),
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

/// The word of a choice.
fn word_of(value: &Json) -> &str {
    match value {
        Json::Object(object) => object.keys().next().map_or("", String::as_str),
        _ => value.as_str().unwrap_or_default(),
    }
}

fn is_given(value: &Json) -> bool {
    !matches!(value, Json::Null | Json::Bool(false))
}

/// Parameters with their values.
struct Mapping<'a> {
    parameters: &'a [Parameter],
    values: &'a Values<'a>,
}

/// The value at a path, if there is one, and its type.
struct Found {
    value: Option<Json>,
    values: Type,
}

impl Found {
    fn number(&self) -> Option<u64> {
        self.value.as_ref()?.as_u64()
    }

    fn word(&self) -> Option<&str> {
        self.value.as_ref().map(word_of)
    }

    fn is_given(&self) -> bool {
        self.value.as_ref().is_some_and(is_given)
    }

    fn shown(&self) -> String {
        self.value.as_ref().map_or_else(String::new, |value| shown(&self.values, value))
    }
}

impl Mapping<'_> {
    /// Everything at a path; for a list on the path, one for each of its items.
    fn at(&self, path: &str) -> Vec<Found> {
        let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
        let Some(parameter) = self.parameters.iter().find(|parameter| parameter.key == Some(key)) else {
            return Vec::new();
        };
        let value =
            (self.values)(parameter.name).filter(|value| !value.is_null()).or_else(|| {
                match &parameter.presence {
                    Presence::Implied(value) | Presence::Default(_, value) => Some(value.clone()),
                    _ => None,
                }
            });
        let Some(rest) = rest else { return vec![Found { value, values: parameter.values.clone() }] };
        let (group, items) = match (&parameter.values, value) {
            (Type::Group(group), Some(object)) => (group, vec![object]),
            (Type::List { of, .. }, Some(Json::Array(items))) => match &**of {
                Type::Group(group) => (group, items),
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let inside = |item: Json| {
            let values = move |name: &str| item.get(name).cloned();
            Mapping { parameters: &group.parameters, values: &values }.at(rest)
        };
        items.into_iter().flat_map(inside).collect()
    }

    fn one(&self, path: &str) -> Option<Found> {
        self.at(path).into_iter().next()
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.one(path)?.number()
    }

    /// An error for every violation of a rule.
    fn against(&self, rule: &Rule) -> Vec<Problem> {
        match rule {
            Rule::AtMost { key, other, message } => {
                self.compare(key, other, message, |key, other| key <= other)
            }
            Rule::Below { key, other, message } => {
                self.compare(key, other, message, |key, other| key < other)
            }
            Rule::AtLeast { key, other, message } => {
                self.compare(key, other, message, |key, other| key >= other)
            }
            Rule::Ascending { keys } => {
                let numbers: Vec<u64> = keys.iter().filter_map(|key| self.number(key)).collect();
                let is_sound = numbers.first().is_none_or(|&first| first > 0)
                    && numbers.windows(2).all(|pair| pair[0] < pair[1]);
                let given = || {
                    let each = |key: &&str| Some(format!("{key} {}", self.one(key)?.shown()));
                    keys.iter().filter_map(each).collect::<Vec<_>>().join(" and ")
                };
                let sentence = || format!("{}; give 0 < {}", given(), keys.join(" < "));
                if is_sound {
                    Vec::new()
                } else {
                    vec![Problem::new(sentence())]
                }
            }
            Rule::NotAllZero { keys, message } => {
                let all_zero = keys.iter().all(|key| self.number(key) == Some(0));
                let last = keys.last().copied().unwrap_or_default();
                if all_zero {
                    vec![self.sentence(last, message, &[])]
                } else {
                    Vec::new()
                }
            }
            Rule::SumAtMost { keys, most, message } => {
                let sum = keys.iter().filter_map(|key| self.number(key)).fold(0, u64::saturating_add);
                if sum <= *most {
                    return Vec::new();
                }
                let percent = format!("{}", sum as f64 * 100.0 / *most as f64);
                vec![self.sentence("", message, &[("sum", &percent)])]
            }
            Rule::Needs { key, other, message } => {
                let is_there = self.one(other).is_some_and(|other| other.is_given());
                self.each(key, message, |found| found.is_given() && !is_there, "")
            }
            Rule::OnlyWith { key, other, words, message } => {
                let word =
                    self.one(other).and_then(|other| other.word().map(String::from)).unwrap_or_default();
                let is_one = words.contains(&word.as_str());
                self.each(key, message, |found| found.is_given() && !is_one, &word)
            }
            Rule::NeededWith { key, other, words, message } => {
                let word =
                    self.one(other).and_then(|other| other.word().map(String::from)).unwrap_or_default();
                let is_one = words.contains(&word.as_str());
                self.each(key, message, |found| !found.is_given() && is_one, &word)
            }
            Rule::WordsWith { key, words, other, message } => {
                let is_there = self.one(other).is_some_and(|other| other.is_given());
                let is_other = |found: &Found| found.word().is_some_and(|word| !words.contains(&word));
                self.each(key, message, |found| is_there && is_other(found), "")
            }
            Rule::Partition { key } => self.partition(key),
            // This rule concerns what files write, the others the element's site, which only the caller knows.
            Rule::OneNeeded { .. }
            | Rule::WordAt { .. }
            | Rule::WordLimited { .. }
            | Rule::WordQueue { .. } => Vec::new(),
        }
    }

    fn compare(&self, key: &str, other: &str, message: &str, holds: fn(u64, u64) -> bool) -> Vec<Problem> {
        match (self.number(key), self.number(other)) {
            (Some(one), Some(two)) if !holds(one, two) => vec![self.sentence(key, message, &[])],
            _ => Vec::new(),
        }
    }

    fn each(&self, key: &str, message: &str, is_wrong: impl Fn(&Found) -> bool, word: &str) -> Vec<Problem> {
        let found = self.at(key);
        found
            .iter()
            .filter(|found| is_wrong(found))
            .map(|_| self.sentence(key, message, &[("word", word)]))
            .collect()
    }

    /// Code points of lists; `null` means all others.
    fn partition(&self, key: &str) -> Vec<Problem> {
        let lists = self.at(key);
        let mut wrong = Vec::new();
        let others = lists.iter().filter(|list| list.value.is_none()).count();
        if others != 1 {
            wrong.push(Problem::new(format!("{others} queues take all other packets; exactly one must")));
        }
        let mut seen = Vec::new();
        for dscp in lists.iter().filter_map(|list| list.value.as_ref()?.as_array()).flatten() {
            if seen.contains(&dscp) || dscp.as_u64().is_none_or(|dscp| dscp > 63) {
                wrong.push(Problem::new(format!("dscp {dscp} is outside 0 to 63 or in two queues")));
            }
            seen.push(dscp);
        }
        if lists
            .iter()
            .any(|list| list.value.as_ref().is_some_and(|list| list.as_array().is_some_and(Vec::is_empty)))
        {
            wrong.push(Problem::new(
                "a queue lists no DSCP and would stay empty; list some, or leave the queue out",
            ));
        }
        wrong
    }

    /// A rule's error text about `key`; the value is introduced by the key itself.
    fn sentence(&self, key: &str, message: &str, words: &[(&str, &str)]) -> Problem {
        let mut sentence = String::from(message);
        for (word, shown) in words {
            sentence = sentence.replace(&format!("{{{word}}}"), shown);
        }
        let itself = format!("{{{key}}}");
        if !key.is_empty() {
            sentence = match sentence.contains(&itself) {
                true => sentence.replacen(&itself, &format!("{key} {itself}"), 1),
                false => format!("{key} {sentence}"),
            };
        }
        while let Some((before, rest)) = sentence.split_once('{') {
            let Some((path, after)) = rest.split_once('}') else { break };
            let shown = self.one(path).map_or_else(String::new, |found| found.shown());
            sentence = format!("{before}{shown}{after}");
        }
        Problem::new(sentence)
    }
}
