//! What single values must be, where clap's own readers do not say it. Errors are the rule that was broken.

use crosswind_history::event::Workload;

use crate::plan::{RATE_MAX_PER_S, SECONDS_MAX};
use crate::traffic::control::Answer;
use crate::traffic::coordinator::{NodeClock, NodeSocket};
use crate::traffic::elsewhere::ClockLine;

const CONNECTIONS_MAX: usize = 10_000;
const BITS_PER_S_MAX: f64 = 1e12; // far above what one core copies

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("must be a plain decimal number".into()),
    }
}

pub fn seconds(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if (0.0..=SECONDS_MAX).contains(&value) {
        Ok(value)
    } else {
        Err(format!("must be between 0 and {SECONDS_MAX} seconds"))
    }
}

pub fn seconds_above_zero(text: &str) -> Result<f64, String> {
    match seconds(text)? {
        0.0 => {
            Err("must be more than 0 seconds; leave the option out for no limit where that is allowed".into())
        }
        value => Ok(value),
    }
}

pub fn workload(text: &str) -> Result<Workload, String> {
    [Workload::Register, Workload::Set, Workload::Append]
        .into_iter()
        .find(|workload| workload.name() == text)
        .ok_or_else(|| "must be register, set or append".into())
}

pub fn rate(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value > 0.0 && value <= RATE_MAX_PER_S {
        Ok(value)
    } else {
        Err(format!(
            "must be above 0 and at most {RATE_MAX_PER_S} per second; leave it out for a closed loop"
        ))
    }
}

pub fn bits_per_second(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value > 0.0 && value <= BITS_PER_S_MAX {
        Ok(value)
    } else {
        Err(format!("must be above 0 and at most {BITS_PER_S_MAX:e} bits per second"))
    }
}

pub fn share(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err("must be a share between 0 and 1".into())
    }
}

pub fn traffic_node(text: &str) -> Result<NodeSocket, String> {
    match text.split_once('=') {
        Some((name, control)) if !name.is_empty() && !control.is_empty() => {
            Ok(NodeSocket { name: name.into(), control: control.into() })
        }
        _ => Err("must be NAME=FILE".into()),
    }
}

pub fn clock(text: &str) -> Result<NodeClock, String> {
    let wrong = || String::from("must be NAME=HERE_NS,THERE_NS,GAINED_NS,OVER_NS");
    let (name, line) = text.split_once('=').ok_or_else(wrong)?;
    let [here, there, gained, over] = line.split(',').collect::<Vec<_>>()[..] else { return Err(wrong()) };
    let instant = |text: &str| text.parse().map_err(|_| wrong());
    let gained_ns: i64 = gained.parse().map_err(|_| wrong())?;
    let over_ns: u64 = instant(over)?;
    if over_ns == 0 || i128::from(over_ns) + i128::from(gained_ns) <= 0 {
        return Err("OVER_NS must be above 0, and the clock must not go backwards in it".into());
    }
    let (here_ns, there_ns) = (instant(here)?, instant(there)?);
    Ok(NodeClock { name: name.into(), line: ClockLine { here_ns, there_ns, gained_ns, over_ns } })
}

pub fn answer(text: &str) -> Result<Answer, String> {
    match text {
        "same" => Ok(Answer::Same),
        law => law.parse().map(Answer::Drawn),
    }
}

pub fn connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=CONNECTIONS_MAX).contains(&count) => Ok(count),
        _ => Err(format!("must be a whole number between 1 and {CONNECTIONS_MAX}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_zero_is_refused_and_not_taken_for_unlimited() {
        assert!(rate("0").unwrap_err().contains("closed loop"));
        assert!(rate("-1").is_err() && rate("inf").is_err() && rate("nan").is_err());
        assert_eq!(rate("0.5"), Ok(0.5));
    }

    #[test]
    fn a_number_with_a_unit_is_refused() {
        assert!(seconds("10s").is_err() && rate("10/s").is_err());
    }
}
