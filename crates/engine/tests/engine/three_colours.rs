//! Three-colour meters: golden tables, the RFCs' rules one token at a time as oracle, and every window of passed
//! packets.

use core::num::NonZeroU64;

use crosswind_engine::{
    ColourAction, ColourActions, ColourMode, DropReason, ElementSpec, Engine, Outcome, Packet, PathId,
    SrtcmSpec, TrtcmSpec,
};
use proptest::prelude::*;

use crate::common::{at, fates, push_full, single, Fate};
use crate::meters::{conforms, traffic};

const AF41: u8 = 34;
const AF42: u8 = 36;
const AF43: u8 = 38;

/// Shows the meter's result, whatever the packet's initial colour.
const SHOW: ColourActions = ColourActions {
    green: ColourAction::Dscp(Seen::Green as u8),
    yellow: ColourAction::Dscp(Seen::Yellow as u8),
    red: ColourAction::Dscp(Seen::Red as u8),
};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Seen {
    Green = 1,
    Yellow = 2,
    Red = 3,
}
use Seen::{Green, Red, Yellow};

fn bps(bits_per_second: u64) -> NonZeroU64 {
    NonZeroU64::new(bits_per_second).expect("not 0")
}

fn srtcm(cir: u64, cbs_bytes: u64, ebs_bytes: u64, mode: ColourMode, actions: ColourActions) -> ElementSpec {
    ElementSpec::Srtcm(SrtcmSpec { cir: bps(cir), cbs_bytes, ebs_bytes, mode, actions })
}

fn trtcm(committed: (u64, u64), peak: (u64, u64), mode: ColourMode, actions: ColourActions) -> ElementSpec {
    let ((cir, cbs_bytes), (pir, pbs_bytes)) = (committed, peak);
    ElementSpec::Trtcm(TrtcmSpec { cir: bps(cir), cbs_bytes, pir: bps(pir), pbs_bytes, mode, actions })
}

/// Pushes a packet and returns the DSCP with which it leaves at once, or `None`.
fn leaves_with(engine: &mut Engine, path: PathId, now: u64, ip_bytes: u32, dscp: u8) -> Option<u8> {
    engine.push(at(now), path, Packet::real(0, ip_bytes, dscp));
    match engine.pop().expect("a meter never holds a packet") {
        Outcome::Departure { due, packet, .. } => {
            assert_eq!(due, at(now));
            Some(packet.dscp)
        }
        Outcome::Dropped { .. } => None,
        Outcome::Duplicated { .. } => panic!("a meter does not duplicate"),
    }
}

/// The colours of packets (instant, IP bytes, DSCP) at a meter that shows them.
fn colours(spec: ElementSpec, packets: &[(u64, u32, u8)]) -> Vec<Seen> {
    let (mut engine, path) = single(spec);
    let colour =
        |&(now, ip_bytes, dscp): &(u64, u32, u8)| match leaves_with(&mut engine, path, now, ip_bytes, dscp) {
            Some(1) => Green,
            Some(2) => Yellow,
            _ => Red,
        };
    packets.iter().map(colour).collect()
}

#[test]
fn a_single_rate_meter_fills_the_excess_bucket_only_from_a_full_committed_one() {
    // 8 Mbit/s bring one byte a microsecond. C = 3000 B, E = 1500 B, packets of 1500 B.
    //   0 ms: C 3000 -> 1500 -> 0: green, green; E 1500 -> 0: yellow; then red.
    //   1 499 999 ns: C 1499.999: red.  1 500 000 ns: C 1500 -> 0: green.
    //   4.5 ms: C is full again, E still empty: green, green, red.
    //   8.999 999 ms: C was full at 7.5, E has 1499.999: green, green, red.
    //   13.5 ms: C was full at 11.999 999 ms, and what overflowed since fills E to 1500: green, green, yellow, red.
    let table = [
        (0, [Green, Green, Yellow, Red].as_slice()),
        (1_499_999, &[Red]),
        (1_500_000, &[Green]),
        (4_500_000, &[Green, Green, Red]),
        (8_999_999, &[Green, Green, Red]),
        (13_500_000, &[Green, Green, Yellow, Red]),
    ];
    let packets: Vec<_> =
        table.iter().flat_map(|&(now, found)| found.iter().map(move |_| (now, 1500, 0))).collect();
    let expected: Vec<_> = table.iter().flat_map(|&(_, found)| found).copied().collect();
    assert_eq!(colours(srtcm(8_000_000, 3000, 1500, ColourMode::Blind, SHOW), &packets), expected);
}

#[test]
fn a_single_rate_meter_may_have_only_one_of_its_bursts() {
    let spec = |cbs, ebs| srtcm(8_000_000, cbs, ebs, ColourMode::Blind, SHOW);
    let packets = [(0, 1500, 0), (0, 1500, 0), (1_500_000, 1500, 0)];
    assert_eq!(colours(spec(1500, 0), &packets), [Green, Red, Green]);
    assert_eq!(colours(spec(0, 1500), &packets), [Yellow, Red, Yellow]);
}

#[test]
fn a_two_rate_meter_is_green_within_both_rates_and_yellow_within_the_peak() {
    // C: 8 Mbit/s (a byte a microsecond), 1500 B. P: 16 Mbit/s (two), 3000 B. Packets of 1500 B.
    //   0:      P 3000 -> 1500, C 1500 -> 0: green; P 1500 -> 0, C 0: yellow; P 0: red.
    //   0.75 ms: P 1500 -> 0, C 750: yellow, which spends nothing of C.
    //   1.5 ms:  P 1500 -> 0, C 1500 -> 0: green.
    //   1.5 ms:  P 0: red.
    let packets = [0, 0, 0, 750_000, 1_500_000, 1_500_000].map(|now| (now, 1500, 0));
    let spec = trtcm((8_000_000, 1500), (16_000_000, 3000), ColourMode::Blind, SHOW);
    assert_eq!(colours(spec, &packets), [Green, Yellow, Red, Yellow, Green, Red]);
}

#[test]
fn a_colour_aware_meter_never_improves_a_colour() {
    // Buckets of two packets each, and no time to refill. srTCM: a yellow packet spends E although C is full, a red one
    // spends nothing; so two greens still pass green, and the third takes what is left of E.
    let with = |dscps: &[u8]| dscps.iter().map(|&dscp| (0, 1500, dscp)).collect::<Vec<_>>();
    let packets = with(&[AF42, AF43, AF41, AF41, AF41, AF41]);
    let single_rate = |mode| srtcm(8, 3000, 3000, mode, SHOW);
    assert_eq!(colours(single_rate(ColourMode::Aware), &packets), [Yellow, Red, Green, Green, Yellow, Red]);
    assert_eq!(colours(single_rate(ColourMode::Blind), &packets), [Green, Green, Yellow, Yellow, Red, Red]);
    // trTCM: C holds one packet, P three. Yellow spends P alone; the green behind it both; the next green finds C empty.
    let packets = with(&[AF42, AF43, AF41, AF41, AF41]);
    let two_rate = |mode| trtcm((8, 1500), (8, 4500), mode, SHOW);
    assert_eq!(colours(two_rate(ColourMode::Aware), &packets), [Yellow, Red, Green, Yellow, Red]);
    assert_eq!(colours(two_rate(ColourMode::Blind), &packets), [Green, Yellow, Yellow, Red, Red]);
}

#[test]
fn a_packet_without_a_colour_counts_as_green() {
    for mode in [ColourMode::Blind, ColourMode::Aware] {
        for dscp in [0, 46] {
            assert_eq!(colours(srtcm(8, 1500, 1500, mode, SHOW), &[(0, 1500, dscp)]), [Green]);
        }
    }
}

#[test]
fn remarking_leaves_the_class_and_sets_the_drop_precedence() {
    let remark = ColourActions {
        green: ColourAction::Remark,
        yellow: ColourAction::Remark,
        red: ColourAction::Remark,
    };
    let (mut engine, path) = single(srtcm(8, 1500, 1500, ColourMode::Blind, remark));
    let mut leaves = |dscp| leaves_with(&mut engine, path, 0, 1500, dscp);
    // Green, then yellow, then always red: AF13 becomes AF11, AF21 becomes AF22, AF32 AF33. EF and CS0 have no
    // precedence.
    assert_eq!([14, 18, 28, 46, 0].map(&mut leaves), [Some(10), Some(20), Some(30), Some(46), Some(0)]);
}

#[test]
fn each_colour_has_its_configured_action() {
    let actions =
        ColourActions { green: ColourAction::Pass, yellow: ColourAction::Dscp(8), red: ColourAction::Drop };
    let (mut engine, path) = single(trtcm((8, 1500), (8, 3000), ColourMode::Blind, actions));
    assert_eq!(leaves_with(&mut engine, path, 0, 1500, AF42), Some(AF42));
    assert_eq!(leaves_with(&mut engine, path, 0, 1500, AF42), Some(8));
    push_full(&mut engine, path, &[0]);
    assert_eq!(fates(&mut engine), [(0, 0, Fate::Lost(DropReason::Colour))]);
}

#[test]
fn new_bursts_cut_the_tokens_of_both_buckets() {
    // 8 bit/s bring no token in this time. Full with 3000 + 3000 B, cut to 1500 + 1500 B and enlarged again: one
    // packet each.
    let spec = |bytes| srtcm(8, bytes, bytes, ColourMode::Blind, SHOW);
    let mut engine = Engine::new(7);
    let id = engine.add("it", spec(3000)).unwrap();
    let path = engine.path(&[id]);
    engine.reconfigure(at(1), id, spec(1500)).unwrap();
    engine.reconfigure(at(2), id, spec(3000)).unwrap();
    let mut leaves = |_| leaves_with(&mut engine, path, 3, 1500, 0);
    assert_eq!([0, 1, 2].map(&mut leaves), [Some(Green as u8), Some(Yellow as u8), Some(Red as u8)]);
}

/// RFC 2697, section 3, literally: one token per byte, added one at a time; instants and rates in microseconds.
fn rfc_2697(aware: bool, cir: u64, cbs: u64, ebs: u64, packets: &[(u64, u32, u8)]) -> Vec<Seen> {
    let (mut tc, mut te, mut time) = (cbs, ebs, 0);
    let judge = |&(now, b, dscp): &(u64, u32, u8)| {
        for _ in 0..(now - time) * cir {
            if tc < cbs {
                tc += 1;
            } else if te < ebs {
                te += 1;
            }
        }
        time = now;
        let (b, pre) = (u64::from(b), if aware { dscp } else { AF41 });
        if pre == AF41 && tc >= b {
            tc -= b;
            Green
        } else if pre != AF43 && te >= b {
            te -= b;
            Yellow
        } else {
            Red
        }
    };
    packets.iter().map(judge).collect()
}

/// RFC 2698, section 3, literally, in the same way.
fn rfc_2698(aware: bool, c: (u64, u64), p: (u64, u64), packets: &[(u64, u32, u8)]) -> Vec<Seen> {
    let ((cir, cbs), (pir, pbs)) = (c, p);
    let (mut tc, mut tp, mut time) = (cbs, pbs, 0);
    let judge = |&(now, b, dscp): &(u64, u32, u8)| {
        (tc, tp) = (cbs.min(tc + (now - time) * cir), pbs.min(tp + (now - time) * pir));
        time = now;
        let (b, pre) = (u64::from(b), if aware { dscp } else { AF41 });
        if pre == AF43 || tp < b {
            return Red;
        }
        tp -= b;
        if pre == AF42 || tc < b {
            return Yellow;
        }
        tc -= b;
        Green
    };
    packets.iter().map(judge).collect()
}

/// Packets at whole microseconds, each with a colour.
fn coloured() -> impl Strategy<Value = Vec<(u64, u32, u8)>> {
    let dscp = prop_oneof![Just(AF41), Just(AF42), Just(AF43)];
    prop::collection::vec((0u64..40, 1u32..=1500, dscp), 1..80).prop_map(|packets| {
        let mut now = 0;
        let arrive = |(gap, ip_bytes, dscp)| {
            now += gap;
            (now, ip_bytes, dscp)
        };
        packets.into_iter().map(arrive).collect()
    })
}

fn in_nanoseconds(packets: &[(u64, u32, u8)]) -> Vec<(u64, u32, u8)> {
    packets.iter().map(|&(micros, ip_bytes, dscp)| (micros * 1000, ip_bytes, dscp)).collect()
}

fn mode_of(aware: bool) -> ColourMode {
    if aware {
        ColourMode::Aware
    } else {
        ColourMode::Blind
    }
}

/// A byte per microsecond in bits per second.
const BYTE_A_MICROSECOND: u64 = 8_000_000;

proptest! {
    #[test]
    fn a_single_rate_meter_equals_rfc_2697_applied_literally(
        packets in coloured(), aware: bool, cir in 1u64..100, cbs in 0u64..5000, ebs in 1u64..5000,
    ) {
        let spec = srtcm(cir * BYTE_A_MICROSECOND, cbs, ebs, mode_of(aware), SHOW);
        prop_assert_eq!(colours(spec, &in_nanoseconds(&packets)), rfc_2697(aware, cir, cbs, ebs, &packets));
    }

    #[test]
    fn a_two_rate_meter_equals_rfc_2698_applied_literally(
        packets in coloured(), aware: bool, cir in 1u64..100, more in 0u64..100, cbs in 1u64..5000, pbs in 1u64..5000,
    ) {
        let pir = cir + more;
        let peak = (pir * BYTE_A_MICROSECOND, pbs);
        let spec = trtcm((cir * BYTE_A_MICROSECOND, cbs), peak, mode_of(aware), SHOW);
        prop_assert_eq!(
            colours(spec, &in_nanoseconds(&packets)),
            rfc_2698(aware, (cir, cbs), (pir, pbs), &packets)
        );
    }

    #[test]
    fn green_is_exactly_the_committed_curve_and_yellow_stays_within_the_excess(
        traffic in traffic(),
        cir in 10_000_000u64..20_000_000_000,
        cbs in 64u64..6000,
        ebs in 64u64..6000,
    ) {
        let packets: Vec<_> = traffic.iter().map(|&(now, bytes)| (now, bytes, 0)).collect();
        let found = colours(srtcm(cir, cbs, ebs, ColourMode::Blind, SHOW), &packets);
        let (mut green, mut not_red) = (Vec::new(), Vec::new());
        for (&(now, bytes), colour) in traffic.iter().zip(found) {
            prop_assert_eq!(colour == Green, conforms(&green, now, bytes, cir, cbs), "at {} ns, {} B", now, bytes);
            if colour == Green {
                green.push((now, bytes));
            }
            if colour != Red {
                prop_assert!(conforms(&not_red, now, bytes, cir, cbs + ebs), "at {} ns, {} B", now, bytes);
                not_red.push((now, bytes));
            }
        }
    }

    #[test]
    fn a_packet_is_red_exactly_if_the_peak_curve_refuses_it(
        traffic in traffic(),
        cir in 10_000_000u64..10_000_000_000,
        more in 0u64..10_000_000_000,
        cbs in 64u64..6000,
        pbs in 64u64..6000,
    ) {
        let pir = cir + more;
        let packets: Vec<_> = traffic.iter().map(|&(now, bytes)| (now, bytes, 0)).collect();
        let found = colours(trtcm((cir, cbs), (pir, pbs), ColourMode::Blind, SHOW), &packets);
        let (mut green, mut not_red) = (Vec::new(), Vec::new());
        for (&(now, bytes), colour) in traffic.iter().zip(found) {
            prop_assert_eq!(colour != Red, conforms(&not_red, now, bytes, pir, pbs), "at {} ns, {} B", now, bytes);
            if colour != Red {
                not_red.push((now, bytes));
                prop_assert_eq!(colour == Green, conforms(&green, now, bytes, cir, cbs), "at {} ns, {} B", now, bytes);
            }
            if colour == Green {
                green.push((now, bytes));
            }
        }
    }
}
