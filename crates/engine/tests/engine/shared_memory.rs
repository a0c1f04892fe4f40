//! Queues that share a memory with a dynamic threshold: their sizes, computed by hand.

use crosswind_engine::{
    ElementId, ElementSpec, Engine, Limit, MemoryId, MemoryShare, PathId, Queueing, Scheduling,
};
use proptest::prelude::*;

use crate::common::{at, departures, push_full, queues, scheduled_link, FULL_PACKET_A_MICROSECOND};

const ALPHA_1: u64 = 1_000_000_000;

/// A link of one full packet per microsecond, whose queue has a part in the memory.
fn link(memory: MemoryId, alpha_ppb: u64) -> ElementSpec {
    let mut queueing = Queueing::fifo(Limit::Unlimited);
    queueing.queues[0].share = Some(MemoryShare { memory, alpha_ppb });
    scheduled_link(FULL_PACKET_A_MICROSECOND, 0, queueing)
}

/// An engine with a memory of this number of full packets, and links that share it.
fn sharing(packets: u64, alphas_ppb: &[u64]) -> (Engine, MemoryId, Vec<(ElementId, PathId)>) {
    let mut engine = Engine::new(7);
    let memory = engine.add_memory(packets * 1538);
    let add = |(index, &alpha_ppb): (usize, &u64)| {
        let id = engine.add(&format!("link {index}"), link(memory, alpha_ppb)).expect("a valid link");
        (id, engine.path(&[id]))
    };
    let links = alphas_ppb.iter().enumerate().map(add).collect();
    (engine, memory, links)
}

#[test]
fn one_busy_queue_takes_alpha_over_one_plus_alpha() {
    // Of 10 packets: alpha 1: 5; alpha 1/4: 2; alpha 8: 8.9, and the ninth arrives while 8 are below 8 x 2.
    for (alpha_ppb, waiting) in [(ALPHA_1, 5), (ALPHA_1 / 4, 2), (8 * ALPHA_1, 9)] {
        let (mut engine, _, links) = sharing(10, &[alpha_ppb]);
        push_full(&mut engine, links[0].1, &[0; 20]);
        assert_eq!(departures(&mut engine).len(), 1 + waiting, "alpha {alpha_ppb} ppb");
    }
}

#[test]
fn queues_of_several_links_share_one_memory() {
    // The first takes 5 of 10. The second finds 5, 4, 3 free while it holds 0, 1, 2, and 2 while it holds 3.
    let (mut engine, _, links) = sharing(10, &[ALPHA_1, ALPHA_1]);
    push_full(&mut engine, links[0].1, &[0; 20]);
    push_full(&mut engine, links[1].1, &[0; 20]);
    assert_eq!(departures(&mut engine).len(), 2 + 5 + 3);
}

#[test]
fn a_queue_shares_with_others_of_its_scheduler_and_its_own_buffer_applies_too() {
    let mut engine = Engine::new(7);
    let memory = engine.add_memory(10 * 1538);
    let mut queueing = queues(Scheduling::Strict, &[1, 1]);
    for queue in &mut queueing.queues {
        queue.share = Some(MemoryShare { memory, alpha_ppb: ALPHA_1 });
    }
    queueing.queues[0].buffer = Limit::Packets(1).into();
    let id = engine.add("it", scheduled_link(FULL_PACKET_A_MICROSECOND, 0, queueing)).unwrap();
    let path = engine.path(&[id]);
    push_full(&mut engine, path, &[0; 20]);
    for tag in 20..30 {
        engine.push(at(0), path, crosswind_engine::Packet::real(tag, 1500, 1));
    }
    assert_eq!(departures(&mut engine).len(), 1 + 5 + 1);
}

#[test]
fn leaving_packets_free_memory_even_after_the_link_stops_sharing() {
    let (mut engine, _, links) = sharing(10, &[ALPHA_1, ALPHA_1]);
    push_full(&mut engine, links[0].1, &[0; 20]);
    let alone = scheduled_link(FULL_PACKET_A_MICROSECOND, 0, Queueing::fifo(Limit::Unlimited));
    engine.reconfigure(at(100), links[0].0, alone).unwrap();
    push_full(&mut engine, links[1].1, &[100; 20]);
    assert_eq!(departures(&mut engine).len(), 6 + 6);
    push_full(&mut engine, links[1].1, &[100_000; 20]);
    assert_eq!(departures(&mut engine).len(), 6, "all of it is free");
}

#[test]
fn a_smaller_memory_drops_no_waiting_packet_and_admits_no_new_one() {
    let (mut engine, memory, links) = sharing(10, &[ALPHA_1]);
    push_full(&mut engine, links[0].1, &[0; 4]);
    engine.resize_memory(at(0), memory, 1538);
    push_full(&mut engine, links[0].1, &[0; 4]);
    assert_eq!(departures(&mut engine).len(), 4);
}

#[test]
fn a_share_of_nothing_is_refused() {
    let mut engine = Engine::new(7);
    let memory = engine.add_memory(1);
    let refused = engine.add("it", link(memory, 0)).unwrap_err();
    assert!(refused.to_string().contains("queue 0 has alpha 0"), "{refused}");
}

proptest! {
    #[test]
    fn busy_queues_reach_equal_parts_and_leave_one_free(count in 1u64..8, alpha in 1u64..5) {
        // Choudhury and Hahne, section II: n busy queues hold alpha B / (1 + n alpha) each, here within a packet.
        let packets = 200;
        let (mut engine, _, links) = sharing(packets, &vec![alpha * ALPHA_1; count as usize]);
        for _ in 0..packets {
            for &(_, path) in &links {
                push_full(&mut engine, path, &[0]);
            }
        }
        let fair = (alpha * packets) as f64 / (1 + count * alpha) as f64;
        for &(id, _) in &links {
            let waiting = engine.queued_bytes(id) as f64 / 1500.0;
            prop_assert!((waiting - fair).abs() <= 1.0 + alpha as f64, "{waiting} of {fair}");
        }
    }
}
