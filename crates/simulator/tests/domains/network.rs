//! Random networks: graphs, conditions, interference, timelines, and packets on a coarse grid of instants.
//!
//! At 12.304 Gbit/s a full packet (1538 wire bytes) takes exactly 1 us, delays are whole microseconds, and packets come at whole
//! microseconds: so several things happen at one instant.

use crosswind_engine::{Sampler, Treatment};
use crosswind_fabric::{
    samples, Answer, Condition, Division, ElementEntry, Fabric, Interference, Link, Node, NodeCut, Place,
    Places, Routing, Step,
};
use proptest::prelude::*;
use serde_json::json;

pub const MICROSECOND: u64 = 1_000;
pub const FULL_PACKET_A_MICROSECOND: u64 = 12_304_000_000;

/// Everything that happens to a network.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub fabric: Fabric,
    /// In the order of their instants.
    pub arrivals: Vec<Arrival>,
    /// Another condition, from an instant on.
    pub change: Option<(u64, Condition)>,
    /// Where an advance ends, and whether everything is done on one thread until then; ascending.
    pub stops: Vec<(u64, bool)>,
    pub end_ns: u64,
    /// A domain for every host and switch, if they can be divided so.
    pub written: Division,
}

/// A train of wire packets, or one.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub at_ns: u64,
    pub from: usize,
    pub to: usize,
    pub count: u32,
    pub ip_bytes: u32,
    pub dscp: u8,
    pub port: u16,
}

pub fn scenario() -> impl Strategy<Value = Scenario> {
    (graph(), prop::collection::vec(0u64..4, 24)).prop_flat_map(|(graph, of)| {
        let nodes = graph.nodes.len();
        let written = written(&graph, &of);
        let condition = || condition(graph.clone());
        let change = prop::option::weighted(0.5, (grid(400), condition()));
        let arrivals = prop::collection::vec(arrival(nodes), 1..200);
        let stops = prop::collection::vec((grid(600), any::<bool>()), 0..3);
        (Just(graph.clone()), Just(written), condition(), change, arrivals, stops).prop_map(
            |(graph, written, condition, change, mut arrivals, mut stops)| {
                let fabric = Fabric { condition, ..graph };
                arrivals.retain(|arrival| arrival.from != arrival.to);
                arrivals.sort_by_key(|arrival| arrival.at_ns);
                stops.sort_unstable();
                Scenario { fabric, arrivals, change, stops, end_ns: 3_000 * MICROSECOND, written }
            },
        )
    })
}

fn grid(microseconds: u64) -> impl Strategy<Value = u64> {
    (0..microseconds).prop_map(|grid| grid * MICROSECOND)
}

fn arrival(nodes: usize) -> impl Strategy<Value = Arrival> {
    let size = prop_oneof![4 => Just(1500u32), 1 => Just(46u32), 1 => Just(700u32)];
    let count = prop_oneof![4 => Just(1u32), 1 => 2u32..5];
    let dscp = prop_oneof![4 => Just(0u8), 1 => Just(10u8), 1 => Just(12u8), 1 => Just(46u8)];
    // Often at the same few instants.
    let at = prop_oneof![1 => grid(400), 2 => grid(40).prop_map(|at| at * 10)];
    (at, 0..nodes, 0..nodes, count, size, dscp, 0u16..6).prop_map(
        |(at_ns, from, to, count, ip_bytes, dscp, port)| Arrival {
            at_ns,
            from,
            to,
            count,
            ip_bytes,
            dscp,
            port,
        },
    )
}

/// A fabric without a condition: a star, zones in a full mesh, or leaves and spines.
fn graph() -> impl Strategy<Value = Fabric> {
    let star = (2usize..6).prop_map(|hosts| (vec![0; hosts], 1, Vec::new()));
    let zones = prop::collection::vec(1usize..4, 2..5).prop_map(|zones| {
        let hosts = zones.iter().enumerate().flat_map(|(zone, &hosts)| vec![zone; hosts]).collect();
        let mesh = (0..zones.len()).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
        (hosts, zones.len(), mesh)
    });
    let leaves = (1usize..4, 1usize..4, 1usize..3).prop_map(|(first, second, spines)| {
        let hosts = [vec![0; first], vec![1; second]].concat();
        let joined = (0..2).flat_map(|leaf| (2..2 + spines).map(move |spine| (leaf, spine))).collect();
        (hosts, 2 + spines, joined)
    });
    let link = (rate(), prop_oneof![1 => Just(0u64), 6 => Just(1u64), 3 => 1u64..8], buffer(), 0u32..40);
    let links = prop::collection::vec(link, 48);
    let routes = prop_oneof![Just(Routing::Shortest), Just(Routing::Ecmp)];
    let shape = prop_oneof![star, zones, leaves];
    // Over links without a rate, trains are carried as one.
    let unlimited = prop::bool::weighted(0.2);
    (shape, links, routes, any::<u64>(), 0usize..4, unlimited, any::<bool>()).prop_map(
        |((hosts, switches, joined), links, routes, seed, more, unlimited, faults)| {
            let both = |a: String, b: String| [(a.clone(), b.clone()), (b, a)];
            let ends =
                hosts.iter().enumerate().flat_map(|(host, at)| both(format!("h{host}"), format!("s{at}")));
            let ends = ends.chain(joined.iter().flat_map(|(a, b)| both(format!("s{a}"), format!("s{b}"))));
            let links =
                ends.zip(links.into_iter().cycle()).map(|((from, to), (rate, delay, buffer, special))| {
                    let mut link = Link::new(&from, &to, rate, delay * MICROSECOND, buffer);
                    // A few vary, and a few lose.
                    if unlimited {
                        link.rate_bps = None;
                    }
                    link.jitter_ns = (special == 0).then_some(300);
                    link.loss_ppb = (special == 1).then_some(100_000_000);
                    link
                });
            let name = |letter: &str, number: usize| format!("{letter}{number}");
            let on = |number: usize| Node { name: name("n", number), host: name("h", number % hosts.len()) };
            Fabric {
                seed,
                faults,
                links: links.collect(),
                switches: (0..switches).map(|number| name("s", number)).collect(),
                routes,
                // Some hosts have two nodes.
                nodes: (0..hosts.len() + more.min(hosts.len())).map(on).collect(),
                hosts: (0..hosts.len()).map(|number| name("h", number)).collect(),
                ..empty()
            }
        },
    )
}

fn rate() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![1 => Just(None), 5 => Just(Some(FULL_PACKET_A_MICROSECOND)), 1 => Just(Some(1_000_000_000))]
}

/// Wire bytes: few full packets, or no bound.
fn buffer() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![1 => Just(None), 3 => (1u64..6).prop_map(|packets| Some(packets * 1538))]
}

pub fn empty() -> Fabric {
    serde_json::from_value(json!({
        "seed": 1, "hosts": [], "switches": [], "links": [], "nodes": [], "mtu_bytes": 1500, "merge_window_ns": 0,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200}, "condition": {"name": "none"}
    }))
    .expect("a fabric of this version")
}

fn written(graph: &Fabric, of: &[u64]) -> Division {
    let mut names = vec![Vec::new(); 4];
    for (name, &domain) in graph.switches.iter().chain(&graph.hosts).zip(of.iter().cycle()) {
        names[domain as usize].push(name.clone());
    }
    names.retain(|names| !names.is_empty());
    Division::Written(names)
}

/// A condition that fits the graph: what does not is left out.
fn condition(graph: Fabric) -> impl Strategy<Value = Condition> {
    let places = || prop::collection::vec(entry(), 0..5);
    let interference = prop::collection::vec((any::<prop::sample::Index>(), interference()), 0..3);
    let cuts = prop::option::weighted(0.5, prop::collection::vec(cut(graph.nodes.len()), 0..3));
    let timeline = prop::collection::vec((grid(300), places(), cuts), 0..3);
    (places(), interference, timeline).prop_map(move |(places, interference, timeline)| {
        let hosts = &graph.hosts;
        let mut condition =
            Condition { name: "random".to_owned(), places: fitting(&graph, places), ..Condition::default() };
        for (pair, mut interference) in interference {
            let first = pair.index(hosts.len());
            interference.between = [first, (first + 1) % hosts.len()].map(|host| hosts[host].clone());
            condition.interference.push(interference);
        }
        condition.timeline = timeline
            .into_iter()
            .map(|(at_ns, places, cuts)| {
                let named = |node: usize| graph.nodes[node].name.clone();
                let cut = |(from, to): (usize, usize)| NodeCut {
                    from: vec![named(from)],
                    to: vec![named(to)],
                    answer: Answer::Silence,
                };
                let cuts = cuts.filter(|_| graph.faults).map(|cuts| cuts.into_iter().map(cut).collect());
                Step { at_ns, places: fitting(&graph, places), cuts }
            })
            .collect();
        let tried = Fabric { condition: condition.clone(), ..graph.clone() };
        if tried.check().is_err() {
            // What fits by itself may not fit together.
            condition.timeline.clear();
        }
        let tried = Fabric { condition: condition.clone(), ..graph.clone() };
        assert_eq!(tried.check(), Ok(()));
        condition
    })
}

/// Two different nodes.
fn cut(nodes: usize) -> impl Strategy<Value = (usize, usize)> {
    (0..nodes, 1..nodes).prop_map(move |(from, other)| (from, (from + other) % nodes))
}

/// An element, and whether it is restricted to one name.
type Drawn = (Place, ElementEntry, Option<prop::sample::Index>);

fn entry() -> impl Strategy<Value = Drawn> {
    let any_place = prop::sample::select(&Place::ALL[..]);
    let of_networks = any::<u64>().prop_flat_map(|seed| prop::sample::select(samples(1, seed)));
    let of_microseconds = (0..Treatment::KINDS.len(), any::<u64>()).prop_map(|(kind, seed)| {
        Treatment::sample(Treatment::KINDS[kind], &mut Sampler::of_microseconds(seed))
            .expect("a kind of its own")
    });
    let of_microseconds = (any_place.clone(), of_microseconds)
        .prop_map(|(place, treatment)| (place, ElementEntry { treatment, on: None }));
    let on_the_grid = (any_place, prop::sample::select(on_the_grid()));
    let drawn = prop_oneof![1 => of_networks, 2 => of_microseconds, 3 => on_the_grid];
    (drawn, prop::option::weighted(0.3, any::<prop::sample::Index>()))
        .prop_map(|((place, entry), on)| (place, entry, on))
}

/// Elements whose instants meet those of packets, and those that need few packets to do something.
fn on_the_grid() -> Vec<ElementEntry> {
    let entries = json!([
        {"delay": {"time_ns": 3000}},
        {"delay": {"time_ns": 5000, "random": {"law": {"uniform": {"jitter_ns": 2000}}, "depth": 4, "order": "free", "half_life_ns": null}}},
        {"shape": {"rate_bps": 12_000_000_000u64, "burst_bytes": 1500, "buffer_bytes": 9000, "drop": "tail"}},
        {"police": {"rate_bps": 6_000_000_000u64, "burst_bytes": 3000}},
        {"pace": {"rate_bps": 12_000_000_000u64, "horizon_ns": 20000}},
        {"lose": {"law": {"bernoulli": {"share_ppb": 100_000_000}}}},
        {"duplicate": {"share_ppb": 300_000_000}},
        {"corrupt": {"share_ppb": 100_000_000}},
        {"reorder": {"share_ppb": 300_000_000, "time_ns": 4000}},
        {"queue": {"memory_bytes": 12304}},
        {"queue": {"buffer_packets": 3, "drop": "head"}},
        {"queue": {"drop": {"codel": {"target_ns": 2000, "interval_ns": 5000}}, "ecn": true}},
        {"schedule": {"by": "drr", "queues": [{"dscp": [10], "weight": 2, "buffer_bytes": 9000}, {"dscp": null, "weight": 1}]}},
        {"schedule": {"by": "strict", "memory_bytes": 15000, "queues": [{"dscp": [46], "alpha_ppb": 2_000_000_000u64}, {"dscp": null}]}},
        {"capacity": {"process": {"levels": {"at_ns": [0, 50000, 70000], "rate_bps": [FULL_PACKET_A_MICROSECOND, 0, null], "repeat_ns": 100_000}}}},
        {"capacity": {"process": {"opportunities": {"at_ns": [1000, 4000], "ip_bytes": [3000, 1500], "repeat_ns": 7000}}}},
        {"capacity": {"process": {"markov": {"states": [{"rate_bps": null, "next_ppb": [500_000_000, 500_000_000]}, {"rate_bps": 1_000_000_000, "next_ppb": [500_000_000, 500_000_000]}], "hold_ns": 10000}}}},
        {"monitor": {"what": ["ipg", "burst", "interarrival", "packet-rate"], "window_ns": 100_000, "burst_gap_ns": 100, "match": {}, "start": {"after_ns": 0}}},
        {"monitor": {"what": ["queue-depth", "queue-delay", "drops"], "window_ns": 100_000, "burst_gap_ns": 100, "match": {}, "start": {"after_ns": 0}}},
        {"monitor": {"what": ["packet-size"], "match": {"source_port": 1}}},
        {"monitor": {"what": ["packet-rate", "drops"], "match": {"source_port": 2}, "start": {"packet": {"source_port": 3}}}}
    ]);
    serde_json::from_value(entries).expect("entries of this version")
}

fn fitting(graph: &Fabric, drawn: Vec<Drawn>) -> Places {
    let mut places = Places::default();
    for (place, mut entry, on) in drawn {
        let names: Vec<String> = graph
            .hosts
            .iter()
            .chain(&graph.switches)
            .cloned()
            .chain(graph.links.iter().map(Link::name))
            .collect();
        entry.on = on.map(|on| vec![names[on.index(names.len())].clone()]);
        let mut more = places.clone();
        let list = match place {
            Place::HostEgress => &mut more.host_egress,
            Place::HostIngress => &mut more.host_ingress,
            Place::Link => &mut more.link,
            Place::SwitchIngress => &mut more.switch_ingress,
            Place::SwitchEgress => &mut more.switch_egress,
            Place::Wan => &mut more.wan,
        };
        list.get_or_insert_default().push(entry);
        let condition = Condition { places: more.clone(), ..Condition::default() };
        if (Fabric { condition, ..graph.clone() }).check().is_ok() {
            places = more;
        }
    }
    places
}

fn interference() -> impl Strategy<Value = Interference> {
    let kinds = [
        json!({"rate": {"constant_bps": 2_000_000_000u64}}),
        json!({"rate": {"normal": {"mean_bps": 500_000_000, "sd_bps": 500_000_000, "low_bps": 0, "high_bps": 3_000_000_000u64}}}),
        json!({"rate": {"constant_bps": 1_000_000_000}, "arrivals": "poisson"}),
        json!({"rate": {"constant_bps": 1_000_000_000}, "arrivals": {"on_off": {"on_ns": 20000, "off_ns": 20000}}}),
        json!({"arrivals": {"replay": {"packets": [[1000, 1500], [0, 700], [3000, 1500]], "repeat": true}}}),
        json!({"rate": {"constant_bps": 3_000_000_000u64}, "tcp": {"flows": 2, "congestion_control": "cubic", "ecn": true}}),
        json!({"rate": {"constant_bps": 3_000_000_000u64}, "tcp": {"flows": 1, "congestion_control": "reno"}}),
    ];
    let whole = |mut kind: serde_json::Value| -> Interference {
        let usual = json!({"between": ["", ""], "by": "ghost", "hold_ns": 50_000, "pacing_ns": 10_000, "packet_ip_bytes": 1500, "zero": "silence"});
        let serde_json::Value::Object(usual) = usual else { unreachable!("an object") };
        kind.as_object_mut().expect("an object").extend(usual);
        serde_json::from_value(kind).expect("interference of this version")
    };
    prop::sample::select(kinds.map(whole).to_vec())
}
