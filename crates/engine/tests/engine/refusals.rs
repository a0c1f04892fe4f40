//! Specifications that are refused, and the error texts.

use core::num::NonZeroU64;

use crosswind_engine::{
    Arrivals, ColourAction, ColourActions, ColourMode, CongestionControl, Duration, Ecn, ElementSpec, Engine,
    Instant, Limit, MarkSpec, PoliceSpec, QueueSpec, Queueing, Rate, RateLaw, Scheduling, ShapeSpec, Sizes,
    SourceSpec, SrtcmSpec, TrtcmSpec, ZeroMeans,
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
fn a_name_is_unique() {
    let mut engine = Engine::new(7);
    engine.add("x", ElementSpec::Mark(MarkSpec { dscp: 0 })).unwrap();
    let error = engine.add("x", ElementSpec::Mark(MarkSpec { dscp: 1 })).unwrap_err();
    assert_eq!(error.to_string(), "x: the name is taken; names are unique, so choose another");
}

#[test]
fn elements_that_pass_nothing_or_have_no_effect_are_refused() {
    let burst = "h0->switch: burst 0 lets no packet pass; give at least the largest packet";
    assert_eq!(refusal(ElementSpec::Police(PoliceSpec { rate: rate(1), burst_bytes: 0 })), burst);
    assert_eq!(
        refusal(ElementSpec::Shape(ShapeSpec {
            rate: rate(1),
            burst_bytes: 0,
            buffer: Limit::Unlimited.into()
        })),
        burst
    );
    assert!(refusal(ElementSpec::Mark(MarkSpec { dscp: 64 })).contains("dscp 64 is outside 0 to 63"));
    assert_eq!(Rate::bits_per_second(0), None);
}

#[test]
fn meters_that_cannot_distinguish_colours_are_refused() {
    let rate = |bits| NonZeroU64::new(bits).expect("not 0");
    let actions =
        ColourActions { green: ColourAction::Pass, yellow: ColourAction::Remark, red: ColourAction::Drop };
    let mode = ColourMode::Blind;
    let srtcm = |cbs_bytes, ebs_bytes, actions| {
        ElementSpec::Srtcm(SrtcmSpec { cir: rate(1), cbs_bytes, ebs_bytes, mode, actions })
    };
    assert!(refusal(srtcm(0, 0, actions)).contains("ebs is zero and so is cbs, so every packet would be red"));
    let beyond = ColourActions { yellow: ColourAction::Dscp(64), ..actions };
    assert!(refusal(srtcm(1500, 0, beyond)).contains("yellow: dscp 64 is outside 0 to 63"));
    let trtcm = |pir, cbs_bytes, pbs_bytes| {
        ElementSpec::Trtcm(TrtcmSpec { cir: rate(2), cbs_bytes, pir: rate(pir), pbs_bytes, mode, actions })
    };
    assert!(refusal(trtcm(1, 1500, 1500)).contains("pir 1 bit/s is below cir 2 bit/s"));
    assert!(refusal(trtcm(2, 0, 1500)).contains("cbs 0 lets no packet pass"));
    assert!(refusal(trtcm(2, 1500, 0)).contains("pbs 0 lets no packet pass"));
}

#[test]
fn every_dscp_has_exactly_one_queue() {
    let listed = |list: &[u8]| QueueSpec {
        dscp: Some(list.to_vec()),
        weight: 1,
        buffer: Limit::Unlimited.into(),
        share: None,
    };
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
    let paced = |pacing, peak| Arrivals::Paced { pacing, peak, zero: ZeroMeans::Unlimited };
    let instant = Duration::from_nanos(1);
    let valid = SourceSpec {
        rate: RateLaw::Normal { mean: 1, sd: 1, low: 0, high: 2 },
        hold: instant,
        arrivals: paced(instant, rate(1)),
        sizes: Sizes::Fixed { ip_bytes: 1500 },
        dscp: 0,
    };
    let refusal = |spec: SourceSpec| {
        let mut engine = Engine::new(7);
        let path = engine.path(&[]);
        engine.start_source("s", spec, path, Instant::ZERO).err().map(|error| error.to_string())
    };
    let says = |spec, text: &str| refusal(spec).is_some_and(|message: String| message.contains(text));
    assert_eq!(refusal(valid.clone()), None);
    assert!(says(SourceSpec { hold: Duration::ZERO, ..valid.clone() }, "hold 0 ns"));
    let arriving = |arrivals| SourceSpec { arrivals, ..valid.clone() };
    assert!(says(arriving(paced(Duration::ZERO, rate(1))), "pacing 0 ns"));
    assert!(says(arriving(paced(instant, Rate::Unlimited)), "bound the peak"));
    for ip_bytes in [0, 65_536] {
        let message = format!("packets of {ip_bytes} IP bytes");
        assert!(says(SourceSpec { sizes: Sizes::Fixed { ip_bytes }, ..valid.clone() }, &message));
    }
    assert!(says(SourceSpec { dscp: 64, ..valid.clone() }, "DSCP 64"));
    let on_off = |off, shape| Arrivals::OnOff { on: instant, off, shape_thousandths: Some(shape) };
    assert!(says(arriving(on_off(Duration::ZERO, 1_500)), "on or off for 0 ns"));
    assert!(says(arriving(on_off(instant, 1_000)), "Pareto index 1 is not in 1.001..=100"));
    let acks = Engine::new(7).path(&[]);
    let tcp = |flows| {
        let (control, rto_min) = (CongestionControl::Reno, Duration::ZERO);
        SourceSpec {
            arrivals: Arrivals::Responsive {
                pacing: instant,
                flows,
                control,
                ecn: Ecn::NotEct,
                rto_min,
                acks,
            },
            ..valid.clone()
        }
    };
    assert_eq!(refusal(tcp(1)), None);
    assert!(says(tcp(0), "0 flows"));
    assert!(says(tcp(1_001), "1001 flows"));
    assert!(says(SourceSpec { sizes: Sizes::Imix, ..tcp(1) }, "packets of mixed sizes"));
    let reversed = RateLaw::Normal { mean: 1, sd: 1, low: 3, high: 2 };
    assert!(says(SourceSpec { rate: reversed, ..valid }, "rate range 3..2 bit/s is empty"));
}

#[test]
fn the_name_of_a_running_source_is_taken() {
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    let spec = SourceSpec {
        rate: RateLaw::Constant { bits_per_second: 1 },
        hold: Duration::from_secs(1),
        arrivals: Arrivals::Poisson,
        sizes: Sizes::Imix,
        dscp: 0,
    };
    engine.start_source("s", spec.clone(), path, Instant::ZERO).unwrap();
    let error = engine.start_source("s", spec, path, Instant::ZERO).unwrap_err();
    assert_eq!(error.to_string(), "s: the name is taken; names are unique, so choose another");
}

#[test]
fn only_a_source_with_acknowledgements_takes_another_path_for_them() {
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    let spec = SourceSpec {
        rate: RateLaw::Constant { bits_per_second: 1 },
        hold: Duration::from_secs(1),
        arrivals: Arrivals::Poisson,
        sizes: Sizes::Imix,
        dscp: 0,
    };
    let id = engine.start_source("s", spec, path, Instant::ZERO).unwrap();
    let error = engine.redirect_acks(Instant::ZERO, id, path).unwrap_err();
    assert_eq!(error.to_string(), "s: sends no acknowledgements that could take another path");
}
