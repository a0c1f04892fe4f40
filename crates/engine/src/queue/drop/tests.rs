//! Compares RED and WRED with a model of their source, packet by packet. The model shares only the random numbers with
//! the engine; only code in this crate can draw these again. So even random decisions must be equal, and not only
//! averages.
//!
//! Source: Floyd and Jacobson 1993, figure 2 (quoted in the model) and section 7 (its random numbers); Floyd 2000 (gentle).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::policies::{RedSpec, WredSpec};
use super::{DropSpec, RedProfile};
use crate::ecn::{Ecn, Signal};
use crate::random::Stream;
use crate::units::{Duration, Instant, Limit, Rate, Share};
use crate::{BufferSpec, DropReason, ElementSpec, Engine, LinkSpec, Outcome, Packet, Queueing};

/// A wire byte takes 8 ns.
const RATE_BPS: u64 = 1_000_000_000;
const BYTE_NS: u64 = 8;
/// A packet of 1500 IP bytes on the wire.
const FULL_PACKET_NS: f64 = 1538.0 * 8.0;
const SEED: u64 = 7;
const NAME: &str = "it";

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Fate {
    Left,
    LeftMarked,
    LostToRed,
}

/// The gateway of figure 2 before a server that takes one packet at a time, in bytes and nanoseconds.
struct Gateway {
    /// By drop precedence: (min_th, max_th, max_p).
    profiles: [(f64, f64, f64); 3],
    w_q: f64,
    marks: bool,
    random: Stream,
    avg: f64,
    q_time: u64,
    count: [i64; 3],
    /// Tags and wire bytes.
    waiting: VecDeque<(u64, u64)>,
    free_at: u64,
    fates: Vec<(u64, u64, Fate)>,
}

impl Gateway {
    fn new(spec: &WredSpec, signal: Signal) -> Gateway {
        let profile = |profile: RedProfile| {
            (profile.min_bytes as f64, profile.max_bytes as f64, f64::from(profile.probability.ppb()) / 1e9)
        };
        Gateway {
            profiles: [profile(spec.green), profile(spec.yellow), profile(spec.red)],
            w_q: f64::from(spec.weight.ppb()) / 1e9,
            marks: signal == Signal::Mark,
            random: Stream::new(SEED, NAME),
            avg: 0.0,
            q_time: 0,
            count: [-1; 3],
            waiting: VecDeque::new(),
            free_at: 0,
            fates: Vec::new(),
        }
    }

    /// Serves packets until `now`, including that instant.
    fn serve(&mut self, now: u64) {
        while self.free_at <= now {
            let Some((tag, wire_bytes)) = self.waiting.pop_front() else { return };
            if self.waiting.is_empty() {
                // "when queue becomes empty: q_time <- time"
                self.q_time = self.free_at;
            }
            self.free_at += wire_bytes * BYTE_NS;
            // Tags count arrivals.
            self.fates[tag as usize].1 = self.free_at;
        }
    }

    fn arrives(&mut self, now: u64, tag: u64, packet: &Packet) {
        self.serve(now);
        // "for each packet arrival: calculate the new average queue size avg"
        let q: u64 = self.waiting.iter().map(|&(_, wire_bytes)| wire_bytes).sum();
        if self.waiting.is_empty() {
            // "else m <- f(time - q_time), avg <- (1 - w_q)^m avg"; f counts packets of full size.
            let m = (now - self.q_time) as f64 / FULL_PACKET_NS;
            self.avg *= if m == 0.0 { 1.0 } else { libm::exp(m * libm::log1p(-self.w_q)) };
            // If this packet does not enter the queue, the same time must not be counted again.
            self.q_time = now;
        } else {
            // "if the queue is nonempty: avg <- (1 - w_q) avg + w_q q"
            self.avg = (1.0 - self.w_q) * self.avg + self.w_q * q as f64;
        }
        let precedence = [[10, 18, 26, 34], [12, 20, 28, 36], [14, 22, 30, 38]]
            .iter()
            .position(|assured| assured.contains(&packet.dscp))
            .unwrap_or(0);
        let is_told = self.is_signalled(precedence);
        let is_overload = self.avg >= 2.0 * self.profiles[precedence].1;
        let fate = match is_told {
            false => Fate::Left,
            true if self.marks && packet.ecn != Ecn::NotEct && !is_overload => Fate::LeftMarked,
            true => Fate::LostToRed,
        };
        self.fates.push((tag, now, fate));
        if fate != Fate::LostToRed {
            self.free_at = self.free_at.max(now);
            self.waiting.push_back((tag, u64::from(packet.wire_bytes())));
            self.serve(now);
        }
    }

    /// Whether congestion must be signalled to the transport of the arriving packet.
    fn is_signalled(&mut self, precedence: usize) -> bool {
        let (min_th, max_th, max_p) = self.profiles[precedence];
        let (avg, count) = (self.avg, &mut self.count[precedence]);
        if avg < min_th {
            *count = -1;
            return false;
        }
        if avg >= 2.0 * max_th {
            *count = 0;
            return true;
        }
        *count += 1;
        let p_b = if avg < max_th {
            max_p * (avg - min_th) / (max_th - min_th)
        } else {
            max_p + (1.0 - max_p) * (avg / max_th - 1.0)
        };
        let spread = *count as f64 * p_b;
        let p_a = if spread >= 1.0 { 1.0 } else { p_b / (1.0 - spread) };
        let is_told = self.random.uniform() <= p_a;
        if is_told {
            *count = 0;
        }
        is_told
    }
}

/// The end of every packet: tag, instant, fate.
fn fates(drop: DropSpec, signal: Signal, packets: &[(u64, Packet)]) -> Vec<(u64, u64, Fate)> {
    let mut engine = Engine::new(SEED);
    let queueing = Queueing::fifo(BufferSpec { limit: Limit::Unlimited, drop, signal });
    let rate = Rate::bits_per_second(RATE_BPS).unwrap();
    let link =
        engine.add(NAME, ElementSpec::Link(LinkSpec { rate, delay: Duration::ZERO, queueing })).unwrap();
    let path = engine.path(&[link]);
    for &(now, packet) in packets {
        engine.push(Instant::from_nanos(now), path, packet);
    }
    while let Some(next) = engine.next_event() {
        engine.advance(next);
    }
    let mut fates: Vec<_> = core::iter::from_fn(|| engine.pop())
        .map(|outcome| match outcome {
            Outcome::Departure { due, packet, .. } if packet.ecn == Ecn::Ce => {
                (packet.tag, due.as_nanos(), Fate::LeftMarked)
            }
            Outcome::Departure { due, packet, .. } => (packet.tag, due.as_nanos(), Fate::Left),
            Outcome::Dropped { at, packet, reason: DropReason::Red, .. } => {
                (packet.tag, at.as_nanos(), Fate::LostToRed)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    fates.sort_by_key(|fate| fate.0);
    fates
}

fn profile() -> impl Strategy<Value = RedProfile> {
    (1u64..12_000, 1u64..12_000, share()).prop_map(|(min_bytes, more, probability)| RedProfile {
        min_bytes,
        max_bytes: min_bytes + more,
        probability,
    })
}

fn share() -> impl Strategy<Value = Share> {
    let ppb = prop_oneof![1u32..=1_000_000_000, 1u32..=50_000_000, Just(1_000_000_000)];
    ppb.prop_map(|ppb| Share::parts_per_billion(ppb).unwrap())
}

/// At first more than the server can take, in every assured forwarding class and without one, with ECN and without;
/// then a pause.
fn packets() -> impl Strategy<Value = Vec<(u64, Packet)>> {
    let dscp = prop_oneof![
        1 => Just(0u8),
        1 => Just(46u8),
        6 => (1u8..=4, 1u8..=3).prop_map(|(class, precedence)| 8 * class + 2 * precedence),
    ];
    let gap = prop_oneof![20 => 0u64..12_000, 1 => 0u64..300_000];
    prop::collection::vec((gap, 1u32..=1500, dscp, any::<bool>()), 1..300).prop_map(|drawn| {
        let mut now = 0;
        let arrive = |(tag, (gap, ip_bytes, dscp, is_ect))| {
            now += gap;
            let ecn = if is_ect { Ecn::Ect0 } else { Ecn::NotEct };
            (now, Packet::real(tag, ip_bytes, dscp).with_ecn(ecn))
        };
        (0..).zip(drawn).map(arrive).collect()
    })
}

fn model(spec: &WredSpec, signal: Signal, packets: &[(u64, Packet)]) -> Vec<(u64, u64, Fate)> {
    let mut gateway = Gateway::new(spec, signal);
    for (now, packet) in packets {
        gateway.arrives(*now, packet.tag, packet);
    }
    gateway.serve(u64::MAX);
    gateway.fates
}

proptest! {
    #[test]
    fn red_decides_about_every_packet_as_figure_2_does(
        packets in packets(), profile in profile(), weight in share(), marks: bool,
    ) {
        let signal = if marks { Signal::Mark } else { Signal::Drop };
        // One profile whatever the colour, and so one count.
        let packets: Vec<_> = packets.into_iter().map(|(now, packet)| (now, Packet { dscp: 0, ..packet })).collect();
        let spec = WredSpec { green: profile, yellow: profile, red: profile, weight };
        let red = DropSpec::Red(RedSpec { profile, weight });
        prop_assert_eq!(fates(red, signal, &packets), model(&spec, signal, &packets));
    }

    #[test]
    fn wred_decides_about_every_packet_by_its_drop_precedence(
        packets in packets(), profiles in [profile(), profile(), profile()], weight in share(), marks: bool,
    ) {
        let signal = if marks { Signal::Mark } else { Signal::Drop };
        let [green, yellow, red] = profiles;
        let spec = WredSpec { green, yellow, red, weight };
        prop_assert_eq!(fates(DropSpec::Wred(spec), signal, &packets), model(&spec, signal, &packets));
    }
}
