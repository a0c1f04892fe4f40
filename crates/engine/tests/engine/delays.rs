//! Constant delays, and paths of several stages.

use crosswind_engine::{DelaySpec, Duration, ElementSpec, Engine, Limit, Packet};

use crate::common::{at, departures, fifo_link, push_full, single, FULL_PACKET_A_MICROSECOND};

#[test]
fn every_packet_is_delayed_by_the_same_time() {
    let (mut engine, path) =
        single(ElementSpec::Delay(DelaySpec { time: Duration::from_micros(1), random: None }));
    push_full(&mut engine, path, &[0, 0, 7]);
    assert_eq!(departures(&mut engine), [(0, 1000), (1, 1000), (2, 1007)]);
}

#[test]
fn a_delay_of_zero_passes_packets_at_once() {
    let (mut engine, path) = single(ElementSpec::Delay(DelaySpec { time: Duration::ZERO, random: None }));
    push_full(&mut engine, path, &[4]);
    assert_eq!(departures(&mut engine), [(0, 4)]);
}

#[test]
fn an_empty_path_leads_straight_to_the_exit() {
    let mut engine = Engine::new(7);
    let path = engine.path(&[]);
    push_full(&mut engine, path, &[4]);
    assert_eq!(departures(&mut engine), [(0, 4)]);
}

#[test]
fn paths_that_share_an_element_share_its_queue() {
    // Two senders with cables of 0 and 500 ns, one 1000 ns packet each at 0, into one link:
    //   the near one is sent from 0 to 1000, the far one comes at 500 and is sent from 1000 to 2000.
    let mut engine = Engine::new(7);
    let mut add = |name: &str, spec| engine.add(name, spec).expect("a valid element");
    let near = add("near", ElementSpec::Delay(DelaySpec { time: Duration::ZERO, random: None }));
    let far = add("far", ElementSpec::Delay(DelaySpec { time: Duration::from_nanos(500), random: None }));
    let shared = add("shared", fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Unlimited));
    let from_near = engine.path(&[near, shared]);
    let from_far = engine.path(&[far, shared]);
    engine.push(at(0), from_far, Packet::real(1, 1500, 0));
    engine.push(at(0), from_near, Packet::real(0, 1500, 0));
    assert_eq!(departures(&mut engine), [(0, 1000), (1, 2000)]);
}

#[test]
fn stages_pass_on_ideal_instants_however_late_the_caller_is() {
    // Three links of 1000 ns per packet with cables of 10 ns, advanced only once, long afterwards: 3 x 1010.
    let mut engine = Engine::new(7);
    let links = ["a", "b", "c"].map(|name| {
        engine.add(name, fifo_link(FULL_PACKET_A_MICROSECOND, 10, Limit::Unlimited)).expect("a valid link")
    });
    let path = engine.path(&links);
    push_full(&mut engine, path, &[0, 0]);
    engine.advance(at(1_000_000_000));
    assert_eq!(departures(&mut engine), [(0, 3030), (1, 4030)]);
}

#[test]
fn an_event_that_only_moves_a_packet_on_has_no_departure() {
    // 500 ns on each of two cables: at 500 it changes from one to the other, and at 1000 it leaves.
    let mut engine = Engine::new(7);
    let mut add = |name: &str, spec| engine.add(name, spec).expect("a valid element");
    let near = add("near", ElementSpec::Delay(DelaySpec { time: Duration::from_nanos(500), random: None }));
    let far = add("far", ElementSpec::Delay(DelaySpec { time: Duration::from_nanos(500), random: None }));
    let path = engine.path(&[near, far]);
    assert_eq!(engine.lookahead(), None);
    push_full(&mut engine, path, &[0]);
    assert_eq!((engine.next_event(), engine.lookahead()), (Some(at(500)), Some(at(1000))));
    // A shorter way out also changes the present lookahead.
    engine
        .reconfigure(
            at(200),
            far,
            ElementSpec::Delay(DelaySpec { time: Duration::from_nanos(100), random: None }),
        )
        .expect("valid");
    assert_eq!((engine.next_event(), engine.lookahead()), (Some(at(500)), Some(at(600))));
    assert_eq!(departures(&mut engine), [(0, 600)]);
}
