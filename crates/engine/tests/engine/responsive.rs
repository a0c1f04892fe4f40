//! Responsive sources against known properties of TCP: they fill a link, share it, and yield to losses by TCP's
//! formulas.

use crosswind_engine::{
    Arrivals, BernoulliLaw, BufferSpec, CodelSpec, CongestionControl, CorruptSpec, DelaySpec, DropSpec,
    Duration, Ecn, ElementId, ElementSpec, Engine, Instant, Limit, LinkSpec, LoseSpec, LossLaw, MarkSpec,
    PathId, PoliceSpec, Queueing, RateLaw, Share, Signal, Sizes, SourceSpec,
};

use crate::common::{at, fifo_link, rate};

const SECOND_NS: u64 = 1_000_000_000;
/// IP bits per second that full packets get out of 100 Mbit/s of wire: 1500 / 1538.
const GOODPUT_BPS: f64 = 100e6 * 1500.0 / 1538.0;

/// A link of 100 Mbit/s with `buffer`, and a delay in each direction that gives the round trip.
struct Dumbbell {
    engine: Engine,
    link: ElementId,
    back: ElementId,
    forth: Vec<ElementId>,
    ecn: Ecn,
}

impl Dumbbell {
    fn new(round_trip_ms: u64, buffer: Limit) -> Dumbbell {
        let mut engine = Engine::new(7);
        let one_way_ns = round_trip_ms * 500_000;
        let link = engine.add("link", fifo_link(100_000_000, one_way_ns, buffer)).unwrap();
        let back = engine.add("back", fifo_link(100_000_000, one_way_ns, Limit::Unlimited)).unwrap();
        Dumbbell { engine, link, back, forth: vec![link], ecn: Ecn::NotEct }
    }

    /// Puts an element before the link.
    fn before(mut self, spec: ElementSpec) -> Dumbbell {
        let id = self.engine.add("before", spec).unwrap();
        self.forth.insert(0, id);
        self
    }

    fn path(&mut self) -> PathId {
        let forth = self.forth.clone();
        self.engine.path(&forth)
    }

    /// Starts connections that always have data.
    fn start(&mut self, name: &str, flows: u16, control: CongestionControl) {
        self.start_at_rate(name, flows, control, 1_000_000_000);
    }

    fn start_at_rate(&mut self, name: &str, flows: u16, control: CongestionControl, bits_per_second: u64) {
        let (path, acks) = (self.path(), self.engine.path(&[self.back]));
        let spec = SourceSpec {
            rate: RateLaw::Constant { bits_per_second },
            hold: Duration::from_secs(3_600),
            arrivals: Arrivals::Responsive {
                pacing: Duration::from_millis(10),
                flows,
                control,
                ecn: self.ecn,
                rto_min: Duration::from_millis(200),
                acks,
            },
            sizes: Sizes::Fixed { ip_bytes: 1500 },
            dscp: 0,
        };
        self.engine.start_source(name, spec, path, Instant::ZERO).unwrap();
    }

    /// IP bits per second that left the link between two instants.
    fn carried_bps(&mut self, from_s: u64, to_s: u64) -> f64 {
        self.engine.advance(at(from_s * SECOND_NS));
        let before = self.engine.counters(self.link).ghost.departed.bytes;
        self.engine.advance(at(to_s * SECOND_NS));
        let bytes = self.engine.counters(self.link).ghost.departed.bytes - before;
        bytes as f64 * 8.0 / (to_s - from_s) as f64
    }
}

/// Loses each packet with this probability in parts per billion.
fn lose(ppb: u32) -> ElementSpec {
    ElementSpec::Lose(LoseSpec {
        law: LossLaw::Bernoulli(BernoulliLaw {
            share: Share::parts_per_billion(ppb).expect("a part of the whole"),
        }),
    })
}

#[test]
fn one_connection_fills_a_link_that_buffers_a_bandwidth_delay_product() {
    // 100 Mbit/s x 20 ms = 250 kB. Reno needs such a buffer to stay busy when its window is halved, CUBIC less.
    for control in [CongestionControl::Reno, CongestionControl::Cubic] {
        let mut net = Dumbbell::new(20, Limit::Bytes(250_000));
        net.start("a", 1, control);
        let share = net.carried_bps(5, 35) / GOODPUT_BPS;
        // The window of measurement may cut through a packet.
        assert!((0.97..1.0001).contains(&share), "{control:?} {share}");
    }
}

#[test]
fn the_queue_holds_the_excess_of_the_window_over_the_link() {
    // Without a loss, slow start would fill any buffer: the window ends between one and two times the buffer's size.
    let mut net = Dumbbell::new(20, Limit::Bytes(250_000));
    net.start("a", 1, CongestionControl::Cubic);
    let mut most = 0;
    for step in 1..2_000 {
        net.engine.advance(at(step * SECOND_NS / 100));
        most = most.max(net.engine.queued_bytes(net.link));
    }
    assert!((200_000..=250_000).contains(&most), "{most}");
}

#[test]
fn an_application_limited_source_gets_its_rate_and_loses_nothing() {
    let mut net = Dumbbell::new(20, Limit::Bytes(250_000));
    net.start_at_rate("a", 4, CongestionControl::Cubic, 30_000_000);
    let carried = net.carried_bps(2, 12);
    assert!((carried / 30e6 - 1.0).abs() < 0.01, "{carried}");
    assert_eq!(net.engine.totals().ghost.dropped, 0);
}

#[test]
fn many_connections_share_a_link() {
    // One connection against three from another source: a quarter of the link within the noise of drop-tail.
    let mut net = Dumbbell::new(20, Limit::Bytes(250_000));
    let probe = net.engine.add("probe", ElementSpec::Mark(MarkSpec { dscp: 1 })).unwrap();
    net.start("three", 3, CongestionControl::Reno);
    net.forth.insert(0, probe);
    net.start("one", 1, CongestionControl::Reno);
    net.engine.advance(at(10 * SECOND_NS));
    let before = net.engine.counters(probe).ghost.departed.bytes;
    let all = net.carried_bps(10, 70);
    let one = (net.engine.counters(probe).ghost.departed.bytes - before) as f64 * 8.0 / 60.0;
    assert!(all / GOODPUT_BPS > 0.97, "{all}");
    assert!((0.12..0.45).contains(&(one / all)), "{}", one / all);
}

#[test]
fn under_random_loss_reno_has_the_window_of_mathis() {
    // Mathis et al. 1997: window = sqrt(3 / (2 b p)) packets, b = 2 packets per acknowledgement there; here the window
    // counts acknowledged packets (RFC 3465), which is b = 1. At p = 1 %: 12.2 packets in a round trip of 100 ms, 1.47
    // Mbit/s.
    let mut net = Dumbbell::new(100, Limit::Unlimited).before(lose(10_000_000));
    net.start("a", 1, CongestionControl::Reno);
    let carried = net.carried_bps(20, 220);
    let mathis = (1.5f64 / 0.01).sqrt() * 1500.0 * 8.0 / 0.1;
    assert!((0.75..1.25).contains(&(carried / mathis)), "{}", carried / mathis);
}

#[test]
fn a_policer_makes_connections_yield_but_not_a_paced_source() {
    // A bucket of 50 Mbit/s, 15 kB, before the link. A paced source that offers 90 Mbit/s loses 44 %; connections with
    // the same demand stay below the bucket's rate and lose a few per cent.
    let policed = || {
        let police = ElementSpec::Police(PoliceSpec { rate: rate(50_000_000), burst_bytes: 15_000 });
        Dumbbell::new(20, Limit::Bytes(250_000)).before(police)
    };
    let mut tcp = policed();
    tcp.start_at_rate("a", 4, CongestionControl::Cubic, 90_000_000);
    let carried = tcp.carried_bps(5, 25);
    assert!((20e6..50e6).contains(&carried), "{carried}");
    let totals = tcp.engine.totals().ghost;
    let lost = totals.dropped as f64 / totals.entered as f64;
    assert!((0.001..0.08).contains(&lost), "{lost}");
}

#[test]
fn later_acknowledgements_make_up_for_lost_ones() {
    // Half the acknowledgements are lost on the way back; each reports everything that earlier ones reported.
    let mut net = Dumbbell::new(20, Limit::Bytes(250_000));
    let lossy = net.engine.add("lossy", lose(500_000_000)).unwrap();
    net.back = lossy;
    net.start("a", 1, CongestionControl::Cubic);
    let share = net.carried_bps(5, 25) / GOODPUT_BPS;
    assert!(share > 0.95, "{share}");
}

#[test]
fn a_path_that_drops_everything_is_tried_with_growing_intervals() {
    // The initial window, and then one packet after 1 s (no round trip was measured), 2 s later, 4, 8, 16: five in 40
    // s.
    let nothing = ElementSpec::Police(PoliceSpec { rate: rate(1), burst_bytes: 1 });
    let mut net = Dumbbell::new(20, Limit::Unlimited).before(nothing);
    net.start("a", 1, CongestionControl::Cubic);
    net.engine.advance(at(40 * SECOND_NS));
    assert_eq!(net.engine.totals().ghost.entered, 10 + 5);
}

#[test]
fn the_same_seed_sends_the_same_packets() {
    let run = || {
        let mut net = Dumbbell::new(20, Limit::Bytes(50_000));
        net.start("a", 3, CongestionControl::Cubic);
        net.engine.advance(at(3 * SECOND_NS));
        (*net.engine.counters(net.link), *net.engine.counters(net.back))
    };
    assert_eq!(run(), run());
}

#[test]
fn a_stopped_source_ignores_later_acknowledgements() {
    let mut net = Dumbbell::new(20, Limit::Unlimited);
    let (path, acks) = (net.path(), net.engine.path(&[net.back]));
    let spec = SourceSpec {
        rate: RateLaw::Constant { bits_per_second: 10_000_000 },
        hold: Duration::from_secs(1),
        arrivals: Arrivals::Responsive {
            pacing: Duration::from_millis(10),
            flows: 1,
            control: CongestionControl::Reno,
            ecn: Ecn::NotEct,
            rto_min: Duration::from_millis(200),
            acks,
        },
        sizes: Sizes::Fixed { ip_bytes: 1500 },
        dscp: 0,
    };
    let id = net.engine.start_source("a", spec, path, Instant::ZERO).unwrap();
    net.engine.advance(at(5_000_000));
    net.engine.stop_source(at(5_000_000), id);
    let sent = net.engine.counters(net.link).ghost.arrived.packets;
    net.engine.advance(at(5 * SECOND_NS));
    assert_eq!(net.engine.counters(net.link).ghost.arrived.packets, sent);
    assert_eq!(net.engine.totals().ghost.inside, 0);
}

#[test]
fn marks_make_a_source_yield_without_a_loss() {
    // CoDel accepts waits of 5 ms, 62 500 bytes. With marks, the connections use about that and nothing is lost;
    // Not-ECT packets are dropped instead.
    let run = |ecn| {
        let codel = CodelSpec { target: Duration::from_millis(5), interval: Duration::from_millis(100) };
        let buffer =
            BufferSpec { limit: Limit::Unlimited, drop: DropSpec::Codel(codel), signal: Signal::Mark };
        let mut net = Dumbbell::new(20, Limit::Unlimited);
        let queueing = Queueing::fifo(buffer);
        let link = ElementSpec::Link(LinkSpec {
            rate: rate(100_000_000),
            delay: Duration::from_millis(10),
            queueing,
        });
        net.link = net.engine.add("marking link", link).unwrap();
        net.forth = vec![net.link];
        net.ecn = ecn;
        net.start("a", 2, CongestionControl::Cubic);
        let share = net.carried_bps(5, 25) / GOODPUT_BPS;
        (share, net.engine.totals().ghost.dropped, net.engine.queued_bytes(net.link))
    };
    let (share, dropped, queued) = run(Ecn::Ect0);
    assert!(share > 0.95, "{share}");
    assert_eq!(dropped, 0);
    assert!(queued < 200_000, "{queued}");
    let (_, dropped, _) = run(Ecn::NotEct);
    assert!(dropped > 10, "{dropped}");
}

#[test]
fn damaged_packets_are_not_acknowledged() {
    // A receiver drops packets with a wrong checksum, so damage has the effect of loss: 1 % of it, the window of
    // Mathis.
    let share = Share::parts_per_billion(10_000_000).expect("a part of the whole");
    let mut net = Dumbbell::new(100, Limit::Unlimited).before(ElementSpec::Corrupt(CorruptSpec { share }));
    net.start("a", 1, CongestionControl::Reno);
    let carried = net.carried_bps(20, 120);
    let mathis = (1.5f64 / 0.01).sqrt() * 1500.0 * 8.0 / 0.1;
    assert!((0.6..1.4).contains(&(carried / mathis)), "{}", carried / mathis);
}

#[test]
fn the_first_windows_match_a_table_by_hand() {
    // Constant delays, 10 ms in each direction, and no link to spread packets. The initial window is 10 packets. They
    // arrive at 10 ms, and every second one is acknowledged, so five acknowledgements are back at 20 ms. Each reports
    // two packets, for which slow start sends four: 20 packets, and 40 another round trip later.
    let mut engine = Engine::new(7);
    let forth = engine
        .add("forth", ElementSpec::Delay(DelaySpec { time: Duration::from_millis(10), random: None }))
        .unwrap();
    let back = engine
        .add("back", ElementSpec::Delay(DelaySpec { time: Duration::from_millis(10), random: None }))
        .unwrap();
    let mut net = Dumbbell { engine, link: forth, back, forth: vec![forth], ecn: Ecn::NotEct };
    net.start("a", 1, CongestionControl::Reno);
    let mut table = Vec::new();
    let mut sent = (0, 0);
    for ms in [0, 10, 20, 30, 40, 50] {
        net.engine.advance(at(ms * 1_000_000));
        let arrived = |id| net.engine.counters(id).ghost.arrived.packets;
        let now = (arrived(net.link), arrived(net.back));
        table.push((ms, now.0 - sent.0, now.1 - sent.1));
        sent = now;
    }
    assert_eq!(table, [(0, 10, 0), (10, 0, 5), (20, 20, 0), (30, 0, 10), (40, 40, 0), (50, 0, 20)]);
}

#[test]
fn under_rare_regular_loss_cubic_has_the_window_of_its_rfc() {
    // RFC 9438, 5.1, figure 7: average window 1.054 (RTT^3 / p^3)^(1/4) with C = 0.4. One packet in 10 000 lost, 100
    // ms: 187 packets in a round trip, 22.5 Mbit/s.
    let mut net = Dumbbell::new(100, Limit::Unlimited).before(lose(100_000));
    net.start("a", 1, CongestionControl::Cubic);
    let carried = net.carried_bps(50, 450);
    let law = 1.054 * (0.1f64 / 1e-4).powf(0.75) * 1500.0 * 8.0 / 0.1;
    assert!((0.75..1.25).contains(&(carried / law)), "{}", carried / law);
}
