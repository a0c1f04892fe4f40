//! Fuzzing: a peer that has the key sends anything, and somebody without the key does too.

use std::collections::VecDeque;

use crosswind_engine::Class;
use crosswind_fabric::Crosses;

use crate::bytes::Reader;
use crate::datagram::{seal_in_place, Header, Key, CODE_BYTES, HEADER_BYTES};
use crate::message::Message;
use crate::peer::{Membership, Now, Peer};
use crate::record::FRAME_BYTES_MAX;

const NODES: usize = 4;
const LIMIT: usize = 1_472;

/// Steps, each of a byte for what happens, a length in two bytes, and bytes: datagrams without a code, records in a
/// datagram with one, questions and answers of the own side, another window, another fabric.
///
/// # Panics
/// Where a claim is broken: what has no code is taken, a packet comes without its frame, a datagram is too long.
pub fn anything(input: &[u8]) {
    let own = Membership { domain: 0, run: 5, key: [1; 32] };
    let key = Key::of(&own.key, 1, 0);
    let mut peer = Peer::new(&own, 1);
    let mut messages = VecDeque::new();
    let mut now = Now { at_ns: 1 << 40, generation: 1, nodes: NODES };
    let mut number = 0;
    let mut steps = Reader(input);
    while let (Some(what), Some(length)) = (steps.u8(), steps.u16()) {
        let bytes = steps.take(usize::from(length).min(steps.0.len())).unwrap_or_default();
        now.at_ns += u64::from(what) * 1_000_000;
        match what % 8 {
            0 => assert!(!peer.take_in(&own, bytes, &now, &mut messages), "it has no code"),
            1 => {
                peer.take_in_early(&now, &mut messages);
                peer.tick(now.at_ns, LIMIT);
                peer.flush(&own, now.generation, now.at_ns, |run, each| {
                    assert!(each <= LIMIT && run.len() <= 1 << 16, "{} bytes, {each} each", run.len());
                });
            }
            2 => peer.start_window(),
            3 => {
                now.generation += 1;
                peer.start_generation();
            }
            _ => {
                number += 1 + u64::from(what >> 6);
                let header = Header {
                    domain: 1,
                    run: own.run,
                    generation: now.generation - u32::from(what == 255),
                    number,
                    sent_ns: Reader(bytes).u64().unwrap_or(now.at_ns),
                    announced: what.into(),
                };
                let mut datagram = vec![0; HEADER_BYTES];
                header.write(&mut datagram);
                datagram.extend_from_slice(bytes);
                datagram.extend([0; CODE_BYTES]);
                seal_in_place(&key, &mut datagram);
                assert!(peer.take_in(&own, &datagram, &now, &mut messages), "it has a code");
            }
        }
        messages.drain(..).for_each(|message| check(&message));
        let report = peer.report(now.at_ns);
        assert!(report.received_datagrams + report.lost_datagrams <= number);
    }
}

fn check(message: &Message) {
    assert_eq!(message.from, 1);
    match &message.crosses {
        Crosses::Way(_, elements) => assert!(!elements.is_empty()),
        Crosses::Labels(..) => {}
        Crosses::Packet(crossing) => {
            assert_eq!(message.passage.is_some(), crossing.packet.class == Class::Real);
        }
    }
    if let Some(passage) = &message.passage {
        assert!(passage.from < NODES && passage.to < NODES);
        assert!((1..=FRAME_BYTES_MAX).contains(&passage.bytes.len()) && passage.train.count() >= 1);
    }
}
