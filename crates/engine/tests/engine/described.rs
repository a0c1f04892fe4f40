//! Tests that every element must pass, with random parameters from their descriptions.

use crosswind_engine::{
    Duration, ElementSpec, Engine, Instant, Json, Limit, LinkSpec, MonitorSpec, Object, PaceSpec, Packet,
    Quantity, QueueParameters, Sampler, Selection, Start, Treatment,
};

use crate::common::{at, rate};

const OF_EACH_KIND: usize = 40;

fn samples() -> Vec<Treatment> {
    let mut sampler = Sampler::of_microseconds(7);
    let kinds = Treatment::KINDS.iter().flat_map(|kind| std::iter::repeat_n(kind, OF_EACH_KIND));
    kinds.map(|kind| Treatment::sample(kind, &mut sampler).expect("a kind of its own")).collect()
}

fn parameters(treatment: &Treatment) -> (String, Object) {
    let Json::Object(object) = treatment.to_json() else { panic!("an object") };
    let (kind, parameters) = object.into_iter().next().expect("one kind");
    let Json::Object(parameters) = parameters else { panic!("parameters") };
    (kind, parameters)
}

#[test]
fn written_parameters_read_back_and_an_unknown_key_is_refused() {
    for treatment in samples() {
        let (kind, mut said) = parameters(&treatment);
        assert_eq!(Treatment::read(&kind, said.clone()).as_ref(), Ok(&treatment));
        said.insert("speling".into(), Json::Null);
        let wrong = Treatment::read(&kind, said).expect_err("is refused");
        assert!(wrong[0].to_string().contains("unknown key speling"), "{wrong:?}");
    }
}

#[test]
fn every_word_of_every_choice_is_sampled() {
    let said: String = samples().iter().map(|treatment| treatment.to_json().to_string()).collect();
    let described = Treatment::descriptions().to_string();
    for word in described.split(r#""word":""#).skip(1).map(|rest| rest.split('"').next().expect("a word")) {
        assert!(said.contains(&format!("\"{word}\"")), "no {word} among the samples");
    }
}

#[test]
fn every_packet_leaves_an_element() {
    let queues = samples().into_iter().filter_map(|treatment| match treatment {
        Treatment::Queue(QueueParameters { limit, drop, signal, .. }) => {
            let queue = QueueParameters { limit, drop, signal, alpha_ppb: None, memory_bytes: None };
            let queueing = queue.queueing(Limit::Unlimited, None);
            Some(ElementSpec::Link(LinkSpec { rate: rate(1_000_000_000), delay: Duration::ZERO, queueing }))
        }
        treatment => treatment.element(),
    });
    for spec in queues {
        let mut engine = Engine::new(7);
        let element = engine.add("it", spec.clone()).expect("is sound");
        let path = engine.path(&[element]);
        for tag in 0..200 {
            engine.push(at(tag * 300), path, Packet::real(tag, 100 + 7 * tag as u32, 0));
        }
        assert!(engine.totals().holds());
        while let Some(next) = engine.next_event().filter(|_| engine.real_inside() > 0) {
            engine.advance(next);
        }
        assert_eq!(engine.real_inside(), 0, "{spec:?}");
    }
}

/// 12 000 bit at 12 Gbit/s: packets leave every microsecond; of four at once, three wait 1, 2 and 3 us.
#[test]
fn a_queue_monitor_sees_packets_that_wait_in_a_pacer() {
    let mut engine = Engine::new(7);
    let monitor = MonitorSpec {
        what: vec![Quantity::QueueDepth, Quantity::QueueDelay],
        window: MonitorSpec::WINDOW_MIN,
        burst_gap: Duration::ZERO,
        line_rate: rate(12_000_000_000),
        select: Selection::ALL,
        start: Start::After(Duration::ZERO),
        reports_packets: false,
    };
    let monitor = engine.add("monitor", ElementSpec::Monitor(monitor)).unwrap();
    let pace = PaceSpec { rate: rate(12_000_000_000), horizon: Duration::from_micros(100) };
    let pace = engine.add("pace", ElementSpec::Pace(pace)).unwrap();
    assert!(engine.has_queue(pace));
    engine.watch(Instant::ZERO, monitor, Some(pace), &[]);
    let path = engine.path(&[monitor, pace]);
    for tag in 0..4 {
        engine.push(at(0), path, Packet::real(tag, 1500, 0));
    }
    assert_eq!(engine.queued_bytes(pace), 4500);
    engine.advance(at(10_000));
    let readings = engine.readings(monitor).expect("a monitor");
    let delays =
        &readings.histograms.iter().find(|named| named.what == "queue-delay").expect("measured").histogram;
    assert_eq!((delays.count(), delays.sum()), (4, 6_000));
}
