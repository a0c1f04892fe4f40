//! Specifications that are refused, and what the refusal says.

use crosswind_engine::{
    Duration, ElementSpec, Engine, Instant, Limit, QueueSpec, Queueing, Rate, RateLaw, Scheduling,
    SourceSpec, ZeroMeans,
};

use crate::common::{queues, rate, scheduled_link};

fn refusal(spec: ElementSpec) -> String {
    Engine::new(7).add("h0->switch", spec).expect_err("an invalid element").to_string()
}

fn refused_queueing(change: impl FnOnce(&mut Queueing)) -> String {
    let mut queueing = queues(Scheduling::Drr, &[1, 1]);
    change(&mut queueing);
    refusal(scheduled_link(1, 0, queueing))
}

#[test]
fn a_name_is_given_once() {
    let mut engine = Engine::new(7);
    engine.add("x", ElementSpec::Mark { dscp: 0 }).unwrap();
    let error = engine.add("x", ElementSpec::Mark { dscp: 1 }).unwrap_err();
    assert_eq!(error.to_string(), "x: the name is taken; names are unique, so choose another");
}

#[test]
fn elements_that_would_pass_nothing_or_mean_nothing_are_refused() {
    let burst = "h0->switch: burst 0 B lets no packet pass; give at least the largest packet";
    assert_eq!(refusal(ElementSpec::Police { rate: rate(1), burst_bytes: 0 }), burst);
    assert_eq!(
        refusal(ElementSpec::Shape { rate: rate(1), burst_bytes: 0, buffer: Limit::Unlimited }),
        burst
    );
    assert!(refusal(ElementSpec::Mark { dscp: 64 }).contains("DSCP 64 is not in 0..=63"));
    assert_eq!(Rate::bits_per_second(0), None);
}

#[test]
fn every_dscp_has_exactly_one_queue() {
    let listed = |list: &[u8]| QueueSpec { dscp: Some(list.to_vec()), weight: 1, buffer: Limit::Unlimited };
    assert!(refused_queueing(|q| q.queues.push(listed(&[1])))
        .contains("DSCP 1 is in queue 0 and again in queue 2"));
    assert!(refused_queueing(|q| q.queues.push(listed(&[64]))).contains("DSCP 64 is not in 0..=63"));
    assert!(refused_queueing(|q| q.queues.push(listed(&[]))).contains("queue 2 lists no DSCP"));
    assert!(refused_queueing(|q| drop(q.queues.pop())).contains("0 queues take every other DSCP"));
    assert!(refused_queueing(|q| q.queues[0].dscp = None).contains("2 queues take every other DSCP"));
    assert!(refused_queueing(|q| q.queues.clear()).contains("0 queues take every other DSCP"));
}

#[test]
fn schedulers_have_the_queues_and_weights_they_need() {
    assert!(refused_queueing(|q| q.by = Scheduling::Fifo).contains("fifo with 2 queues"));
    assert!(refused_queueing(|q| q.queues[1].weight = 0).contains("queue 1 has weight 0"));
    let mut strict = queues(Scheduling::Strict, &[1, 1]);
    strict.queues[0].weight = 0;
    assert!(Engine::new(7).add("strict has no weights", scheduled_link(1, 0, strict)).is_ok());
}

#[test]
fn sources_that_would_stop_time_are_refused() {
    let valid = SourceSpec {
        rate: RateLaw::Normal { mean: 1, sd: 1, low: 0, high: 2 },
        hold: Duration::from_nanos(1),
        pacing: Duration::from_nanos(1),
        packet_ip_bytes: 1500,
        peak: rate(1),
        zero: ZeroMeans::Unlimited,
    };
    let refusal = |spec: SourceSpec| {
        let mut engine = Engine::new(7);
        let path = engine.path(&[]);
        engine.start_source("s", spec, path, Instant::ZERO).err().map(|error| error.to_string())
    };
    let says = |spec, text| refusal(spec).is_some_and(|message: String| message.contains(text));
    assert_eq!(refusal(valid.clone()), None);
    assert!(says(SourceSpec { hold: Duration::ZERO, ..valid.clone() }, "hold 0 ns"));
    assert!(says(SourceSpec { pacing: Duration::ZERO, ..valid.clone() }, "pacing 0 ns"));
    assert!(says(SourceSpec { packet_ip_bytes: 0, ..valid.clone() }, "packets of 0 IP bytes"));
    assert!(says(SourceSpec { packet_ip_bytes: 65_536, ..valid.clone() }, "packets of 65536 IP bytes"));
    assert!(says(SourceSpec { peak: Rate::Unlimited, ..valid.clone() }, "bound the peak"));
    let reversed = RateLaw::Normal { mean: 1, sd: 1, low: 3, high: 2 };
    assert!(says(SourceSpec { rate: reversed, ..valid }, "rate range 3..2 bit/s is empty"));
}

#[test]
fn a_running_source_keeps_its_name() {
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    let spec = SourceSpec {
        rate: RateLaw::Constant { bits_per_second: 1 },
        hold: Duration::from_secs(1),
        pacing: Duration::from_secs(1),
        packet_ip_bytes: 100,
        peak: Rate::Unlimited,
        zero: ZeroMeans::Silence,
    };
    engine.start_source("s", spec.clone(), path, Instant::ZERO).unwrap();
    let error = engine.start_source("s", spec, path, Instant::ZERO).unwrap_err();
    assert_eq!(error.to_string(), "s: the name is taken; names are unique, so choose another");
}
