//! What TCP does, with the numbers that follow from its rules. The pipe takes 10 ms each way.

use crosswind_tcp::{Algorithm, Segment};

use crate::pipe::{settings, Fate, Pipe, MS};

const PACKET: u64 = 1_448;

fn delays(_: usize, _: &Segment) -> Fate {
    Some(10 * MS)
}

/// Loses the first transmissions of data packets from side 0 whose positions (in packets) are named.
fn loses(positions: &'static [u64]) -> impl FnMut(usize, &Segment) -> Fate {
    let mut left: Vec<u64> = positions.iter().map(|position| position * PACKET).collect();
    move |side, segment| {
        let named =
            left.iter().position(|&sequence| side == 0 && segment.bytes > 0 && segment.sequence == sequence);
        match named {
            Some(place) => {
                left.remove(place);
                None
            }
            None => Some(10 * MS),
        }
    }
}

#[test]
fn slow_start_sends_ten_packets_and_doubles_them_every_round_trip() {
    let mut pipe = Pipe::made(settings(Algorithm::Cubic), delays);
    let start = pipe.now_ns;
    pipe.write(0, 100 * PACKET);
    pipe.until(start + 100 * MS);
    let sent = pipe.data(0, start);
    let in_round = |round: u64| sent.iter().filter(|(us, _)| us / 20_000 == round).count();
    assert_eq!([0, 1, 2].map(in_round), [10, 20, 40]);
    assert_eq!(pipe.read[1], 100 * PACKET);
}

#[test]
fn a_lost_packet_is_sent_again_after_a_round_trip_when_three_others_overtook_it() {
    let mut pipe = Pipe::made(settings(Algorithm::Reno), loses(&[3]));
    let start = pipe.now_ns;
    pipe.write(0, 10 * PACKET);
    pipe.until(start + 1_000 * MS);
    let again: Vec<_> = pipe.data(0, start).into_iter().skip(10).collect();
    assert_eq!(again, [(20_000, 3 * PACKET)]);
    // Three acknowledgements before the gap had made it 13.
    assert_eq!(pipe.ends[0].window_packets(), 6, "half of 13");
    assert_eq!(pipe.read[1], 10 * PACKET);
}

#[test]
fn cubic_leaves_seven_tenths() {
    let mut pipe = Pipe::made(settings(Algorithm::Cubic), loses(&[3]));
    let start = pipe.now_ns;
    pipe.write(0, 10 * PACKET);
    pipe.until(start + 1_000 * MS);
    assert_eq!(pipe.ends[0].window_packets(), 9, "0.7 of 13");
}

#[test]
fn the_last_packet_of_several_is_probed_after_two_round_trips() {
    let mut pipe = Pipe::made(settings(Algorithm::Cubic), loses(&[9]));
    let start = pipe.now_ns;
    pipe.write(0, 10 * PACKET);
    pipe.until(start + 1_000 * MS);
    // The acknowledgement of the ninth came after 20 ms; then one packet is out. Its probe waits 2 x 20 ms and the 200 ms of
    // a delayed acknowledgement, and the timeout of 220 ms is before that; timers take up to two ticks more.
    let again: Vec<_> = pipe.data(0, start).into_iter().skip(10).collect();
    let [(us, sequence)] = again[..] else { panic!("{again:?}") };
    assert_eq!(sequence, 9 * PACKET);
    assert!((240_000..=252_000).contains(&us), "{us}");
    assert_eq!(pipe.ends[0].counts().probes, 1);
    assert_eq!(pipe.ends[0].counts().timeouts, 0);
}

#[test]
fn two_lost_at_the_end_are_probed_after_two_round_trips() {
    let mut pipe = Pipe::made(settings(Algorithm::Cubic), loses(&[8, 9]));
    let start = pipe.now_ns;
    pipe.write(0, 10 * PACKET);
    pipe.until(start + 1_000 * MS);
    // 20 ms until the last acknowledgement, 2 x 20 ms, 2 ms more, in ticks of 4 ms.
    let probe = pipe.data(0, start)[10];
    assert_eq!(probe.1, 9 * PACKET);
    assert!((62_000..=72_000).contains(&probe.0), "{probe:?}");
    // Its block shows that the other is lost.
    let repair = pipe.data(0, start)[11];
    assert_eq!(repair, (probe.0 + 20_000, 8 * PACKET));
    assert_eq!(pipe.read[1], 10 * PACKET);
}

#[test]
fn timeouts_double() {
    // Nothing arrives after the handshake.
    let mut packets = 0;
    let mut pipe = Pipe::made(settings(Algorithm::Cubic), move |side, segment: &Segment| {
        packets += u32::from(side == 0 && segment.bytes > 0);
        (packets == 0).then_some(10 * MS)
    });
    let start = pipe.now_ns;
    pipe.write(0, 100);
    pipe.until(start + 5_000 * MS);
    let ms: Vec<u64> = pipe.data(0, start).iter().map(|(us, _)| us / 1_000).collect();
    // First the probe at the time of the timeout (20 + 200 ms), then timeouts of 220, 440, 880 ms and so on: each up to a tick, or
    // a group of eight ticks, late.
    let gaps: Vec<u64> = ms.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (gap, (least, most)) in
        gaps.iter().zip([(220, 232), (220, 232), (440, 480), (880, 930), (1_760, 2_048)])
    {
        assert!((least..=most).contains(gap), "{gaps:?}");
    }
    assert_eq!(gaps.len(), 5, "{gaps:?}");
}

#[test]
fn a_receiver_whose_window_does_not_grow_acknowledges_every_second_packet() {
    let mut config = settings(Algorithm::Reno);
    config.receive_buffer.most_bytes = config.receive_buffer.initial_bytes;
    let mut pipe = Pipe::made(config, delays);
    let start = pipe.now_ns;
    pipe.write(0, 1_000 * PACKET);
    pipe.until(start + 2_000 * MS);
    assert_eq!(pipe.read[1], 1_000 * PACKET);
    // The first packets of a connection are acknowledged one by one, and so are those that end a train.
    let acks = pipe.acks(1, start).len();
    assert!((500..=600).contains(&acks), "{acks}");
}

#[test]
fn a_single_small_packet_is_acknowledged_after_40_ms() {
    let mut pipe = Pipe::made(settings(Algorithm::Cubic), delays);
    pipe.answers = 1;
    // The first packets of a connection are acknowledged at once; answers make the server interactive.
    for _ in 0..20 {
        pipe.write(0, 100);
        let until = pipe.now_ns + 300 * MS;
        pipe.until(until);
    }
    pipe.answers = 0;
    let start = pipe.now_ns;
    pipe.write(0, 100);
    pipe.until(start + 300 * MS);
    let acks = pipe.acks(1, start);
    assert_eq!(acks.len(), 1);
    assert!((50_000..=58_000).contains(&acks[0]), "10 ms, 40 ms and up to two ticks: {acks:?}");
}

#[test]
fn a_mark_shrinks_the_window_without_a_retransmission() {
    let mut config = settings(Algorithm::Reno);
    config.ecn = true;
    let mut pipe = Pipe::made(config, delays);
    let start = pipe.now_ns;
    pipe.write(0, 10 * PACKET);
    assert!(pipe.left.iter().filter(|left| left.segment.bytes > 0).all(|left| left.segment.markable));
    pipe.marks = vec![0];
    pipe.until(start + 500 * MS);
    // The reduction ends with the next data, which announce it.
    pipe.write(0, PACKET);
    pipe.until(start + 1_000 * MS);
    assert_eq!(pipe.ends[0].window_packets(), 5, "half of ten");
    let acks = pipe.left.iter().filter(|left| left.side == 1 && left.segment.echoes_mark);
    assert_eq!(acks.count(), 10, "until the sender has announced its reduction");
    assert_eq!(pipe.ends[0].counts().retransmitted, 0);
}

#[test]
fn a_socket_buffer_bounds_what_is_under_way() {
    let mut config = settings(Algorithm::Cubic);
    config.send_buffer.most_bytes = 262_144;
    let mut pipe = Pipe::made(config, delays);
    let start = pipe.now_ns;
    pipe.write(0, 100_000_000);
    pipe.until(start + 2_000 * MS);
    // Data and the overhead of their buffers fill 256 KiB every 20 ms.
    let bits_per_s = pipe.read[1] as f64 * 8.0 / 2.0;
    assert!((0.85..=1.0).contains(&(bits_per_s / (262_144.0 * 8.0 / 0.020))), "{bits_per_s}");
}
