//! Rules between parameters, as data: checked here, and by every other reader of a description.
//!
//! A key is a path from the mapping that has the rule; a list on the path means every item of it. In a message `{key}`
//! is replaced by the value of that parameter, and `{word}` by the word that violates the rule.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::json;

use super::Json;

/// A rule between parameters.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // `key`, `other` and `keys` are the parameters, `message` is the error text.
pub enum Rule {
    /// `key` is at most `other`.
    AtMost { key: &'static str, other: &'static str, message: &'static str },
    /// `key` is less than `other`.
    Below { key: &'static str, other: &'static str, message: &'static str },
    /// `key` is at least `other`.
    AtLeast { key: &'static str, other: &'static str, message: &'static str },
    /// All are above zero, and each is above the one before it.
    Ascending { keys: &'static [&'static str] },
    /// One of them, by their keys in files, is given.
    OneNeeded { keys: &'static [&'static str], message: &'static str },
    /// One of them is above zero.
    NotAllZero { keys: &'static [&'static str], message: &'static str },
    /// Their sum is at most `most`.
    SumAtMost { keys: &'static [&'static str], most: u64, message: &'static str },
    /// If `key` is given, so is `other`.
    Needs { key: &'static str, other: &'static str, message: &'static str },
    /// If `key` is given, the word of `other` is one of these.
    OnlyWith { key: &'static str, other: &'static str, words: Vec<&'static str>, message: String },
    /// If the word of `other` is one of these, `key` is given.
    NeededWith { key: &'static str, other: &'static str, words: Vec<&'static str>, message: String },
    /// If `other` is given, the word of `key` is one of these.
    WordsWith { key: &'static str, words: Vec<&'static str>, other: &'static str, message: String },
    /// This word of `key` is allowed only at these places.
    WordAt { key: &'static str, word: &'static str, places: &'static [&'static str], message: &'static str },
    /// This word of `key` needs an uplink with a rate.
    WordLimited { key: &'static str, word: &'static str, message: &'static str },
    /// These words of `key` need a queue after the element.
    WordQueue { key: &'static str, words: &'static [&'static str], message: &'static str },
    /// Each code point is in at most one list, and exactly one list takes all others.
    Partition { key: &'static str },
}

impl Rule {
    pub(super) fn to_json(&self) -> Json {
        match self {
            Rule::AtMost { key, other, message } => {
                json!({"rule": "at_most", "key": key, "other": other, "message": message})
            }
            Rule::Below { key, other, message } => {
                json!({"rule": "below", "key": key, "other": other, "message": message})
            }
            Rule::AtLeast { key, other, message } => {
                json!({"rule": "at_least", "key": key, "other": other, "message": message})
            }
            Rule::Ascending { keys } => json!({"rule": "ascending", "keys": keys}),
            Rule::OneNeeded { keys, message } => {
                json!({"rule": "one_needed", "keys": keys, "message": message})
            }
            Rule::NotAllZero { keys, message } => {
                json!({"rule": "not_all_zero", "keys": keys, "message": message})
            }
            Rule::SumAtMost { keys, most, message } => {
                json!({"rule": "sum_at_most", "keys": keys, "most": most, "message": message})
            }
            Rule::Needs { key, other, message } => {
                json!({"rule": "needs", "key": key, "other": other, "message": message})
            }
            Rule::OnlyWith { key, other, words, message } => {
                json!({"rule": "only_with", "key": key, "other": other, "words": words, "message": message})
            }
            Rule::NeededWith { key, other, words, message } => {
                json!({"rule": "needed_with", "key": key, "other": other, "words": words, "message": message})
            }
            Rule::WordsWith { key, words, other, message } => {
                json!({"rule": "words_with", "key": key, "words": words, "other": other, "message": message})
            }
            Rule::WordAt { key, word, places, message } => {
                json!({"rule": "word_at", "key": key, "word": word, "places": places, "message": message})
            }
            Rule::WordLimited { key, word, message } => {
                json!({"rule": "word_limited", "key": key, "word": word, "message": message})
            }
            Rule::WordQueue { key, words, message } => {
                json!({"rule": "word_queue", "key": key, "words": words, "message": message})
            }
            Rule::Partition { key } => json!({"rule": "partition", "key": key}),
        }
    }
}
