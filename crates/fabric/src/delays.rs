//! Delays, from a condition's words to the engine's: what they must satisfy, and what they are there.

use std::num::NonZeroU32;

use crosswind_engine::{
    DelayBin, DelayHistogram, DelayLaw, DelaySamples, Depth, Duration, ElementSpec, Order, RandomDelay, Sigma,
};

use crate::spec::{BinEntry, DelayLawEntry, OrderEntry, RandomEntry};

/// Entries of the deepest table: NRG has 8 192, and what is beyond this is better drawn from the law itself.
const DEPTH_MAX: u32 = 65_536;

/// Checks a delay.
pub(crate) fn check_delay(time_ns: u64, random: Option<&RandomEntry>, what: &str, wrong: &mut Vec<String>) {
    let Some(RandomEntry { law, depth, half_life_ns, .. }) = random else {
        if time_ns == 0 {
            wrong.push(format!("{what}: time 0 does nothing; leave the element out"));
        }
        return;
    };
    if *depth == Some(0) {
        wrong
            .push(format!("{what}: a table of 0 entries has no delay; give at least 1, or null for the law"));
    }
    if depth.is_some_and(|entries| entries > DEPTH_MAX) {
        wrong.push(format!(
            "{what}: a table of {} entries; give at most {DEPTH_MAX}, or null for the law",
            depth.unwrap_or_default()
        ));
    }
    if *half_life_ns == Some(0) {
        wrong.push(format!("{what}: half-life 0 correlates nothing; leave it out"));
    }
    if engine_law(law).is_none() {
        wrong.push(format!(
            "{what}: the law needs a jitter of at least 1 ns, a sigma of 1 to 4000000 ppm, a sample, or ascending \
             bins that hold some"
        ));
    }
}

/// The engine's element for a delay that has been checked.
pub(crate) fn delay(time_ns: u64, random: Option<&RandomEntry>) -> ElementSpec {
    let time = Duration::from_nanos(time_ns);
    let Some(RandomEntry { law, depth, order, half_life_ns }) = random else {
        return ElementSpec::Delay { time };
    };
    ElementSpec::RandomDelay(RandomDelay {
        time,
        law: engine_law(law).expect("checked"),
        depth: depth.and_then(NonZeroU32::new).map_or(Depth::Exact, Depth::Entries),
        order: match order {
            OrderEntry::Keep => Order::Keep,
            OrderEntry::Free => Order::Free,
        },
        half_life: half_life_ns.map(Duration::from_nanos),
    })
}

/// `None` where the engine could not draw from it.
fn engine_law(law: &DelayLawEntry) -> Option<DelayLaw> {
    let spread = |nanos: u64| (nanos > 0).then_some(Duration::from_nanos(nanos));
    Some(match *law {
        DelayLawEntry::Uniform { jitter_ns } => DelayLaw::Uniform { jitter: spread(jitter_ns)? },
        DelayLawEntry::Normal { jitter_ns } => DelayLaw::Normal { jitter: spread(jitter_ns)? },
        DelayLawEntry::Pareto { jitter_ns } => DelayLaw::Pareto { jitter: spread(jitter_ns)? },
        DelayLawEntry::ParetoNormal { jitter_ns } => DelayLaw::ParetoNormal { jitter: spread(jitter_ns)? },
        DelayLawEntry::Lognormal { jitter_ns, sigma_ppm } => {
            DelayLaw::Lognormal { jitter: spread(jitter_ns)?, sigma: Sigma::millionths(sigma_ppm)? }
        }
        DelayLawEntry::Samples { ref samples_ns } => {
            DelayLaw::Samples(DelaySamples::new(samples_ns.clone())?)
        }
        DelayLawEntry::Histogram { ref bins } => {
            let bin = |&BinEntry { low_ns, high_ns, count }: &BinEntry| DelayBin { low_ns, high_ns, count };
            DelayLaw::Histogram(DelayHistogram::new(&bins.iter().map(bin).collect::<Vec<_>>())?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(time_ns: u64, random: Option<&str>) -> Vec<String> {
        let mut wrong = Vec::new();
        let random = random.map(|json| serde_json::from_str::<RandomEntry>(json).expect("reads"));
        check_delay(time_ns, random.as_ref(), "link: delay", &mut wrong);
        if wrong.is_empty() {
            delay(time_ns, random.as_ref());
        }
        wrong
    }

    #[test]
    fn what_python_sends_is_carried_out() {
        for law in [
            r#"{"uniform": {"jitter_ns": 1}}"#,
            r#"{"pareto_normal": {"jitter_ns": 1000}}"#,
            r#"{"lognormal": {"jitter_ns": 1000, "sigma_ppm": 500000}}"#,
            r#"{"samples": {"samples_ns": [-5, 3]}}"#,
            r#"{"histogram": {"bins": [{"low_ns": -5, "high_ns": 3, "count": 7}]}}"#,
        ] {
            let random = format!(r#"{{"law": {law}, "depth": null, "order": "keep", "half_life_ns": null}}"#);
            assert_eq!(wrong(0, Some(&random)), [""; 0], "{law}");
        }
        assert_eq!(wrong(1, None), [""; 0]);
    }

    #[test]
    fn delays_that_mean_nothing_are_refused() {
        assert!(wrong(0, None)[0].contains("time 0 does nothing"));
        let all = r#"{"law": {"normal": {"jitter_ns": 0}}, "depth": 0, "order": "free", "half_life_ns": 0}"#;
        assert_eq!(wrong(0, Some(all)).len(), 3);
        let none =
            r#"{"law": {"samples": {"samples_ns": []}}, "depth": null, "order": "free", "half_life_ns": 5}"#;
        assert_eq!(wrong(0, Some(none)).len(), 1);
    }
}
