//! Compares monitors with tables that were computed by hand, and with oracles of a few lines.

use crosswind_engine::{
    Class, Duration, ElementSpec, Engine, Limit, LinkSpec, MonitorSpec, Packet, PathId, Quantity, Rate,
    Readings, Selection, ShapeSpec, Start,
};
use proptest::prelude::*;

use crate::common::{at, fifo_link, push_full, rate, single, FULL_PACKET_A_MICROSECOND};

const WINDOW_NS: u64 = 100_000;

fn spec(what: &[Quantity]) -> MonitorSpec {
    MonitorSpec {
        what: what.to_vec(),
        window: Duration::from_nanos(WINDOW_NS),
        burst_gap: Duration::from_nanos(100),
        line_rate: rate(FULL_PACKET_A_MICROSECOND),
        select: Selection::ALL,
        start: Start::After(Duration::ZERO),
        reports_packets: false,
    }
}

/// Passes full packets (1 us of wire each) and reads the monitor at `until`.
fn read(spec: MonitorSpec, instants: &[u64], until: u64) -> Readings {
    let packets: Vec<_> = instants.iter().map(|&nanos| (nanos, Packet::real(0, 1500, 0))).collect();
    read_packets(spec, &packets, until)
}

fn read_packets(spec: MonitorSpec, packets: &[(u64, Packet)], until: u64) -> Readings {
    let (mut engine, path, element) = monitored(spec);
    for &(nanos, packet) in packets {
        engine.push(at(nanos), path, packet);
    }
    engine.advance(at(until));
    engine.readings(element).expect("a monitor")
}

fn monitored(spec: MonitorSpec) -> (Engine, PathId, crosswind_engine::ElementId) {
    let mut engine = Engine::new(7);
    engine.label_set(&[2]);
    let element = engine.add("it", ElementSpec::Monitor(spec)).expect("a valid monitor");
    let path = engine.path(&[element]);
    (engine, path, element)
}

/// (low, count) of every bin that is not empty.
fn bins(readings: &Readings, what: &str) -> Vec<(u64, u64)> {
    let named =
        readings.histograms.iter().find(|named| named.what == what).expect("the quantity is measured");
    named.histogram.bins().map(|bin| (bin.low, bin.count)).collect()
}

fn courses(readings: &Readings, what: &str) -> Vec<u64> {
    let named = readings.trends.iter().find(|named| named.what == what).expect("the quantity is measured");
    named.trend.steps().map(|step| step.sum).collect()
}

#[test]
fn gaps_are_the_time_between_packets_minus_the_wire_time_of_the_second() {
    // Packets of 1 us pass at 0, 1, 2.05, 4 and 4.5 us: gaps of 0, 50 and 950 ns, and one packet that came 500 ns too
    // early for the wire. Above 64 the bins are 2 to 32 wide: 950 is in 944..960, 1050 in 1024..1056.
    let readings =
        read(spec(&[Quantity::Ipg, Quantity::Interarrival]), &[0, 1_000, 2_050, 4_000, 4_500], 5_000);
    assert_eq!(bins(&readings, "ipg"), [(0, 2), (50, 1), (944, 1)]);
    assert_eq!(bins(&readings, "interarrival"), [(496, 1), (992, 1), (1024, 1), (1920, 1)]);
}

#[test]
fn a_burst_ends_with_a_gap_above_its_threshold() {
    // Gaps of 0 and exactly 100 ns join packets, 101 ns separates them: bursts of 3, 1 and (unfinished) 2 packets.
    let instants = [0, 1_000, 2_100, 3_201, 10_000, 11_000];
    let readings = read(spec(&[Quantity::Burst]), &instants, 20_000);
    assert_eq!(bins(&readings, "burst-packets"), [(1, 1), (2, 1), (3, 1)]);
    // 1500 in 1472..1504, 3000 in 2944..3008, 4500 in 4480..4608.
    assert_eq!(bins(&readings, "burst-bytes"), [(1472, 1), (2944, 1), (4480, 1)]);
}

#[test]
fn a_packet_across_a_border_gives_each_window_its_part() {
    // The packet passes at 100.25 us, so it was on the wire from 99.25: 0.75 us in the first window of 100 us, 7.5 per
    // mille, and 0.25 in the second, 2.5. The third window is empty and the fourth is not over.
    let readings = read(spec(&[Quantity::Utilisation]), &[100_250], 399_999);
    assert_eq!(courses(&readings, "utilisation"), [7, 2, 0]);
    assert_eq!(bins(&readings, "utilisation"), [(0, 2), (5, 1)]);
}

#[test]
fn a_full_wire_has_a_utilisation_of_1000_and_an_overload_more() {
    let back_to_back: Vec<u64> = (1..=200).map(|packet| packet * 1_000).collect();
    let full = read(spec(&[Quantity::Utilisation]), &back_to_back, 200_000);
    assert_eq!(courses(&full, "utilisation"), [1000, 1000]);
    // 150 packets at one instant offer 150 us of wire time in a window of 100.
    let overload = read(spec(&[Quantity::Utilisation]), &[50_000; 150], 200_000);
    assert_eq!(courses(&overload, "utilisation"), [1500, 0]);
}

#[test]
fn windows_without_packets_count_too() {
    let readings = read(spec(&[Quantity::PacketRate]), &[10, 20, 99_999, 100_000, 1_000_000], 1_200_000);
    assert_eq!(courses(&readings, "packet-rate"), [3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(bins(&readings, "packet-rate"), [(0, 9), (1, 2), (3, 1)]);
}

#[test]
fn sizes_are_in_bins_of_eight_bytes() {
    let packets: Vec<_> = [40, 47, 48, 1500, 9_500].map(|size| (0, Packet::real(0, size, 0))).into();
    let readings = read_packets(spec(&[Quantity::PacketSize]), &packets, 0);
    assert_eq!(bins(&readings, "packet-size"), [(40, 2), (48, 1), (1496, 1), (9008, 1)]);
}

#[test]
fn only_selected_packets_count() {
    let packets = [
        (0, Packet::real(0, 1500, 46)),
        (1, Packet::real(0, 1500, 0)),
        (2, Packet::ghost(1500)),
        (3, Packet::real(0, 1500, 0).with_labels(Engine::new(7).label_set(&[2]).expect("the first"))),
    ];
    let counted = |select| {
        let readings = read_packets(MonitorSpec { select, ..spec(&[Quantity::PacketSize]) }, &packets, 10);
        readings.histograms[0].histogram.count()
    };
    assert_eq!(counted(Selection::ALL), 4);
    assert_eq!(counted(Selection { dscps: 1 << 46, ..Selection::ALL }), 1);
    assert_eq!(counted(Selection { class: Some(Class::Ghost), ..Selection::ALL }), 1);
    assert_eq!(counted(Selection { label: Some(2), ..Selection::ALL }), 1);
    assert_eq!(counted(Selection { label: Some(1), ..Selection::ALL }), 0);
}

#[test]
fn a_monitor_starts_at_its_instant_or_with_its_packet() {
    let read = |start, until| {
        let packets =
            [(500, Packet::real(0, 1500, 0)), (900, Packet::real(0, 1500, 46)), (950, Packet::ghost(60))];
        let readings = read_packets(MonitorSpec { start, ..spec(&[Quantity::PacketSize]) }, &packets, until);
        let counted = readings.histograms.first().map(|named| named.histogram.count());
        (readings.started.map(|started| started.as_nanos()), counted)
    };
    assert_eq!(read(Start::After(Duration::from_nanos(900)), 1_000), (Some(900), Some(2)));
    assert_eq!(read(Start::After(Duration::from_nanos(2_000)), 1_000), (None, None));
    let urgent = Selection { dscps: 1 << 46, ..Selection::ALL };
    assert_eq!(read(Start::FirstPacket(urgent), 1_000), (Some(900), Some(2)));
    let unseen = Selection { dscps: 1 << 10, ..Selection::ALL };
    assert_eq!(read(Start::FirstPacket(unseen), 1_000), (None, None));
}

#[test]
fn the_same_parameters_do_not_disturb_a_monitor_and_new_ones_restart_it() {
    let (mut engine, path, element) = monitored(spec(&[Quantity::PacketSize]));
    engine.push(at(0), path, Packet::real(0, 1500, 0));
    let counted = |engine: &Engine| engine.readings(element).unwrap().histograms[0].histogram.count();
    engine.reconfigure(at(10), element, ElementSpec::Monitor(spec(&[Quantity::PacketSize]))).unwrap();
    assert_eq!(counted(&engine), 1);
    engine.reconfigure(at(20), element, ElementSpec::Monitor(spec(&[Quantity::Ipg]))).unwrap();
    assert_eq!(counted(&engine), 0);
    assert_eq!(engine.readings(element).unwrap().started, Some(at(20)));
    engine.advance(at(30));
    engine.reset_counters();
    assert_eq!(engine.readings(element).unwrap().started, Some(at(30)));
}

#[test]
fn a_monitor_that_reports_packets_reports_the_selected_real_ones() {
    let select = Selection { dscps: 1 << 5, ..Selection::ALL };
    let (mut engine, path) =
        single(ElementSpec::Monitor(MonitorSpec { select, reports_packets: true, ..spec(&[]) }));
    engine.push(at(7), path, Packet::real(1, 1500, 5));
    engine.push(at(8), path, Packet::real(2, 1500, 0));
    let seen: Vec<_> = std::iter::from_fn(|| engine.pop_sighting())
        .map(|sighting| (sighting.packet.tag, sighting.at))
        .collect();
    assert_eq!(seen, [(1, at(7))]);
}

/// A monitor before an element that it watches.
fn watching(spec: MonitorSpec, behind: ElementSpec) -> (Engine, PathId, crosswind_engine::ElementId) {
    let mut engine = Engine::new(7);
    let monitor = engine.add("it", ElementSpec::Monitor(spec)).expect("a valid monitor");
    let behind = engine.add("behind", behind).expect("a valid element");
    let queue = engine.has_queue(behind).then_some(behind);
    engine.watch(at(0), monitor, queue, &[behind]);
    let path = engine.path(&[monitor, behind]);
    (engine, path, monitor)
}

const QUEUE: [Quantity; 3] = [Quantity::QueueDepth, Quantity::QueueDelay, Quantity::Drops];

#[test]
fn the_queue_of_a_link_has_packets_that_wait_for_its_transmitter() {
    // Four full packets at 0 on a link that takes 1 us for each, with room for two: waits of 0, 1 and 2 us and one
    // drop. Until 1 us two wait (3000 B), until 2 us one (1500 B), then none; at 10 us another arrives, which does not
    // wait.
    let link = fifo_link(FULL_PACKET_A_MICROSECOND, 5_000, Limit::Bytes(2 * 1538));
    let (mut engine, path, monitor) = watching(spec(&QUEUE), link);
    push_full(&mut engine, path, &[0, 0, 0, 0, 10_000]);
    engine.advance(at(100_000));
    let readings = engine.readings(monitor).unwrap();
    assert_eq!(bins(&readings, "queue-delay"), [(0, 2), (992, 1), (1984, 1)]);
    assert_eq!(bins(&readings, "queue-depth"), [(0, 98_000), (1472, 1_000), (2944, 1_000)]);
    assert_eq!(courses(&readings, "queue-depth"), [3_000]);
    assert_eq!(courses(&readings, "drops"), [1]);
    let dropped: Vec<_> = readings.counts.iter().map(|named| (named.what, named.name, named.count)).collect();
    assert_eq!(dropped, [("drops", "queue-full", 1)]);
}

#[test]
fn the_queue_of_a_shaper_has_packets_that_wait_for_tokens() {
    // 12 Mbit/s are 1500 B a millisecond; the bucket holds one packet. The second waits 1 ms, the third 2 ms.
    let shape = ElementSpec::Shape(ShapeSpec {
        rate: rate(12_000_000),
        burst_bytes: 1500,
        buffer: Limit::Unlimited.into(),
    });
    let (mut engine, path, monitor) = watching(spec(&QUEUE), shape);
    push_full(&mut engine, path, &[0, 0, 0]);
    engine.advance(at(5_000_000));
    let readings = engine.readings(monitor).unwrap();
    let delays = &readings.histograms.iter().find(|named| named.what == "queue-delay").unwrap().histogram;
    assert_eq!((delays.count(), delays.sum(), delays.range()), (3, 3_000_000, Some((0, 2_000_000))));
    assert_eq!(bins(&readings, "queue-depth"), [(0, 3_000_000), (1472, 1_000_000), (2944, 1_000_000)]);
}

#[test]
fn no_packet_waits_before_a_link_without_a_rate() {
    let unlimited = ElementSpec::Link(LinkSpec {
        rate: Rate::Unlimited,
        delay: Duration::from_micros(3),
        queueing: crosswind_engine::Queueing::fifo(Limit::Bytes(3000)),
    });
    let (mut engine, path, monitor) = watching(spec(&QUEUE), unlimited);
    push_full(&mut engine, path, &[0, 0, 10]);
    engine.advance(at(100_000));
    assert_eq!(bins(&engine.readings(monitor).unwrap(), "queue-delay"), [(0, 3)]);
}

#[test]
fn a_watch_ends_when_another_starts_and_survives_a_reset() {
    let link = fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Unlimited);
    let (mut engine, path, monitor) = watching(spec(&QUEUE), link);
    push_full(&mut engine, path, &[0, 0, 0]);
    engine.advance(at(500));
    engine.reset_counters();
    engine.advance(at(100_500));
    // Since the reset: 500 ns with two waiting, 1 us with one, and the waits of the second and third packet.
    let readings = engine.readings(monitor).unwrap();
    assert_eq!(bins(&readings, "queue-depth"), [(0, 98_500), (1472, 1_000), (2944, 500)]);
    assert_eq!(bins(&readings, "queue-delay"), [(992, 1), (1984, 1)]);
    engine.watch(at(100_500), monitor, None, &[]);
    engine.push(at(100_500), path, Packet::real(0, 1500, 0));
    engine.advance(at(200_500));
    assert_eq!(bins(&engine.readings(monitor).unwrap(), "queue-delay").len(), 2);
}

#[test]
fn monitors_that_cannot_measure_are_refused() {
    let refusal = |spec| Engine::new(7).add("it", ElementSpec::Monitor(spec)).unwrap_err().to_string();
    assert_eq!(
        refusal(MonitorSpec { window: Duration::from_micros(99), ..spec(&[Quantity::Ipg]) }),
        "it: window 99000 ns is too short to count in; give at least 100000 ns"
    );
    assert_eq!(refusal(spec(&[])), "it: monitors nothing; name at least one quantity");
    assert_eq!(
        refusal(spec(&[Quantity::Ipg, Quantity::Ipg])),
        "it: monitors ipg twice; name each quantity once"
    );
    let unlimited = MonitorSpec { line_rate: Rate::Unlimited, ..spec(&[Quantity::Utilisation]) };
    assert!(refusal(unlimited).starts_with("it: utilisation of a link without a rate"));
}

/// Packets close together, of random sizes.
fn crowd() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0u64..1_500, 40u32..=1500), 1..60).prop_map(|steps| {
        let mut now = 0;
        steps
            .iter()
            .map(|&(gap, size)| {
                now += gap;
                (now, size)
            })
            .collect()
    })
}

/// Packets with random gaps, often small ones, and random sizes.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let gap = prop_oneof![3 => 0u64..2_000, 1 => 0u64..500_000];
    prop::collection::vec((gap, 40u32..=1500), 1..80).prop_map(|steps| {
        let mut now = 0;
        steps
            .iter()
            .map(|&(gap, size)| {
                now += gap;
                (now, size)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn the_utilisation_of_all_windows_is_the_wire_time_of_all_packets(traffic in traffic()) {
        // One window more than the traffic needs, so that all of it is in windows that have ended.
        let until = (traffic.last().unwrap().0 / WINDOW_NS + 1) * WINDOW_NS;
        let packets: Vec<_> = traffic.iter().map(|&(at, size)| (at, Packet::real(0, size, 0))).collect();
        let readings = read_packets(spec(&[Quantity::Utilisation]), &packets, until);
        let wire_ns: u64 = packets.iter().map(|(_, packet)| u64::from(packet.wire_bytes()) * 1_000 / 1_538).sum();
        let busy_ns: u64 = courses(&readings, "utilisation").iter().sum::<u64>() * WINDOW_NS / 1_000;
        // Each window is rounded down by less than a per mille.
        let windows = until / WINDOW_NS;
        prop_assert!(busy_ns <= wire_ns + traffic.len() as u64 && wire_ns < busy_ns + windows * WINDOW_NS / 1_000 + 80);
    }

    #[test]
    fn rates_are_counts_of_packets_by_window(traffic in traffic(), later in 0u64..1_000_000) {
        let until = traffic.last().unwrap().0 + later;
        let instants: Vec<u64> = traffic.iter().map(|&(at, _)| at).collect();
        let mut oracle = vec![0; (until / WINDOW_NS) as usize + 1];
        instants.iter().for_each(|at| oracle[(at / WINDOW_NS) as usize] += 1);
        oracle.pop(); // The last window is not over.
        let readings = read(spec(&[Quantity::PacketRate]), &instants, until);
        prop_assert_eq!(courses(&readings, "packet-rate"), oracle);
    }

    #[test]
    fn waits_follow_lindley_and_the_mean_depth_follows_little(crowd in crowd()) {
        let packets: Vec<_> = crowd.iter().map(|&(at, size)| (at, Packet::real(0, size, 0))).collect();
        // Lindley in picoseconds of work; the engine rounds each service's end up to whole nanoseconds.
        let (mut free_ps, mut waits_ns, mut area) = (0u64, 0u64, 0u64);
        for (at, packet) in &packets {
            let start_ps = free_ps.max(at * 1_000);
            let wait_ns = start_ps.div_ceil(1_000) - at;
            waits_ns += wait_ns;
            area += wait_ns * u64::from(packet.ip_bytes);
            free_ps = start_ps + u64::from(packet.wire_bytes()) * 1_000_000 / 1_538;
        }
        let link = fifo_link(FULL_PACKET_A_MICROSECOND, 0, Limit::Unlimited);
        let (mut engine, path, monitor) = watching(spec(&QUEUE), link);
        for &(nanos, packet) in &packets { engine.push(at(nanos), path, packet); }
        engine.advance(at(10_000_000));
        let readings = engine.readings(monitor).unwrap();
        let sum = |what| readings.histograms.iter().find(|named| named.what == what).unwrap().histogram.sum() as u64;
        let rounding = packets.len() as u64 * packets.len() as u64;
        prop_assert!(sum("queue-delay").abs_diff(waits_ns) <= rounding, "{} {waits_ns}", sum("queue-delay"));
        // Little's law, exactly: bytes times nanoseconds of waiting.
        prop_assert!(sum("queue-depth").abs_diff(area) <= rounding * 1_500, "{} {area}", sum("queue-depth"));
    }

    #[test]
    fn bursts_are_the_parts_between_long_gaps(traffic in traffic()) {
        let instants: Vec<u64> = traffic.iter().map(|&(at, _)| at).collect();
        // A full packet takes 1000 ns of wire, so a gap above 100 is a distance above 1100.
        let mut bursts = vec![1u64];
        for pair in instants.windows(2) {
            if pair[1] - pair[0] > 1_100 { bursts.push(1) } else { *bursts.last_mut().unwrap() += 1 }
        }
        let readings = read(spec(&[Quantity::Burst]), &instants, *instants.last().unwrap());
        let burst_packets = &readings.histograms[0].histogram;
        prop_assert_eq!(burst_packets.count(), bursts.len() as u64);
        prop_assert_eq!(burst_packets.sum(), u128::from(instants.len() as u64));
        prop_assert_eq!(burst_packets.range().unwrap().1, *bursts.iter().max().unwrap());
    }
}
