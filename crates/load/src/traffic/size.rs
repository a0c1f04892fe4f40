//! The length of messages: a constant, or a distribution from which each message is drawn.
//!
//! Written `1000` (bytes), `uniform:LEAST:MOST`, `exponential:MEAN`, `pareto:MEAN:SHAPE` (shape above 1) or `web-search`.
//! Draws are rounded to whole bytes and lie within 1 B to [`BYTES_MAX`]; a message is never shorter than its header.

use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::random::Random;

/// Largest size: a terabyte.
pub const BYTES_MAX: u64 = 1_000_000_000_000;
/// Packets of 1460 bytes and the share of flows that have at most that number, linear between.
///
/// Source: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM '10, figure 4, as tabulated for "pFabric", SIGCOMM '13.
const WEB_SEARCH: [(f64, f64); 12] = [
    (6.0, 0.0),
    (6.0, 0.15),
    (13.0, 0.2),
    (19.0, 0.3),
    (33.0, 0.4),
    (53.0, 0.53),
    (133.0, 0.6),
    (667.0, 0.7),
    (1333.0, 0.8),
    (3333.0, 0.9),
    (6667.0, 0.97),
    (20000.0, 1.0),
];
const WEB_SEARCH_PACKET_BYTES: f64 = 1460.0;

/// A distribution of sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    Constant(u64),
    /// All whole numbers from the first to the second.
    Uniform(u64, u64),
    /// Of this mean.
    Exponential(f64),
    /// Of this mean and this shape, which is above 1.
    Pareto(f64, f64),
    /// Flows of a web search cluster.
    WebSearch,
}

impl Size {
    /// Draws a size.
    pub fn draw(self, random: &mut Random) -> u64 {
        let drawn = match self {
            Size::Constant(bytes) => return bytes,
            Size::Uniform(least, most) => return least + random.below(most - least + 1),
            // 1 - u lies in (0, 1]: neither logarithm nor power meets a 0.
            Size::Exponential(mean) => -mean * (1.0 - random.unit()).ln(),
            Size::Pareto(mean, shape) => {
                let least = mean * (shape - 1.0) / shape;
                least * (1.0 - random.unit()).powf(-1.0 / shape)
            }
            Size::WebSearch => WEB_SEARCH_PACKET_BYTES * interpolated(&WEB_SEARCH, random.unit()),
        };
        (drawn.round() as u64).clamp(1, BYTES_MAX)
    }
}

/// The value at this share of a cumulative table.
fn interpolated(table: &[(f64, f64)], share: f64) -> f64 {
    let upper = table.iter().position(|(_, at)| *at > share).unwrap_or(table.len() - 1).max(1);
    let ((low, from), (high, to)) = (table[upper - 1], table[upper]);
    low + (high - low) * (share - from) / (to - from)
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let refused = || {
            format!(
                "must be bytes from 1 to {BYTES_MAX}, uniform:LEAST:MOST, exponential:MEAN, pareto:MEAN:SHAPE \
                 (shape above 1) or web-search, not \"{text}\""
            )
        };
        let bytes = |part: &str| {
            part.parse().ok().filter(|bytes| (1..=BYTES_MAX).contains(bytes)).ok_or_else(refused)
        };
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["web-search"] => Ok(Size::WebSearch),
            ["uniform", least, most] => match (bytes(least)?, bytes(most)?) {
                (least, most) if least <= most => Ok(Size::Uniform(least, most)),
                _ => Err(refused()),
            },
            ["exponential", mean] => Ok(Size::Exponential(bytes(mean)? as f64)),
            ["pareto", mean, shape] => match shape.parse::<f64>() {
                Ok(shape) if shape > 1.0 && shape.is_finite() => Ok(Size::Pareto(bytes(mean)? as f64, shape)),
                _ => Err(refused()),
            },
            [constant] => Ok(Size::Constant(bytes(constant)?)),
            _ => Err(refused()),
        }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Size::Constant(bytes) => write!(formatter, "{bytes}"),
            Size::Uniform(least, most) => write!(formatter, "uniform:{least}:{most}"),
            Size::Exponential(mean) => write!(formatter, "exponential:{mean}"),
            Size::Pareto(mean, shape) => write!(formatter, "pareto:{mean}:{shape}"),
            Size::WebSearch => formatter.write_str("web-search"),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    const DRAWS: usize = 200_000;

    fn mean(size: Size) -> f64 {
        let mut random = Random::stream(1, Purpose::Connection, 0);
        (0..DRAWS).map(|_| size.draw(&mut random) as f64).sum::<f64>() / DRAWS as f64
    }

    #[test]
    fn laws_have_the_mean_that_they_are_asked_for() {
        assert_eq!(mean(Size::Constant(1000)), 1000.0);
        // Standard errors of 200 000 draws: 2582/447 = 6, 10 000/447 = 22, and 10 000/sqrt(3)/447 = 13 (variance of
        // a Pareto distribution of shape 3: mean^2 / 3). Five of them.
        assert!((mean(Size::Uniform(1, 8999)) - 4500.0).abs() < 30.0);
        assert!((mean(Size::Exponential(10_000.0)) - 10_000.0).abs() < 110.0);
        assert!((mean(Size::Pareto(10_000.0, 3.0)) - 10_000.0).abs() < 65.0);
    }

    #[test]
    fn web_search_has_the_published_quantiles() {
        let at = |share| interpolated(&WEB_SEARCH, share);
        assert_eq!((at(0.0), at(0.15), at(0.3), at(0.53), at(0.9)), (6.0, 6.0, 19.0, 53.0, 3333.0));
        // Halfway from 667 packets at 0.7 to 1333 at 0.8.
        assert!((at(0.75) - 1000.0).abs() < 1e-6);
        assert!(at(1.0 - f64::EPSILON) <= 20_000.0);
    }

    #[test]
    fn the_same_seed_draws_the_same_sizes() {
        let drawn = || {
            let mut random = Random::stream(7, Purpose::Connection, 3);
            (0..100).map(|_| Size::WebSearch.draw(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(), drawn());
    }

    #[test]
    fn a_law_is_written_as_it_is_read() {
        for text in ["1000", "uniform:1:9", "exponential:1000000", "pareto:5000:1.5", "web-search"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_forms_to_write() {
        for text in ["0", "-1", "1kB", "uniform:9:1", "pareto:1000:1", "pareto:1000", "normal:5", ""] {
            assert!(text.parse::<Size>().unwrap_err().contains("pareto:MEAN:SHAPE"), "{text}");
        }
    }
}
