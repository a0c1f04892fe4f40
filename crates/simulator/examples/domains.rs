//! Prints how many packets a second of real time one fabric takes in one domain and in two.
//!
//! One JSON line a turn, one and two domains in turns; run with `cargo run --release -p crosswind-simulator --example domains`.
//! Virtual time only. Two zones 20 ms apart have eight hosts each; of four packets of a host three stay in its zone. What hosts send is
//! shaped, what comes up is policed, the delay between zones varies and loses a little, and each zone has a neighbour that sends too.
//! CPU time is that of all threads, without building the networks.

use std::time::Instant as WallInstant;

use crosswind_engine::{Instant, Outcome, Packet};
use crosswind_fabric::{Division, Domains, Fabric, Network, Planner};
use crosswind_simulator::domains::{Lane, Lanes};
use serde_json::{json, Value};

const HOSTS: usize = 16;
const IN_ZONE: usize = HOSTS / 2;
const PACKETS: u64 = 2_000_000;
const TURNS: usize = 6;
/// Between packets of a host: 1538 wire bytes every 3 us are 4.1 Gbit/s.
const GAP_NS: u64 = 3_000;
/// What is inside at the end is not waited for.
const SETTLE_NS: u64 = 50_000_000;

fn main() {
    let fabric = fabric();
    let mut departed = Vec::new();
    for turn in 0..TURNS {
        // Neither always comes first.
        for wanted in if turn % 2 == 0 { [1, 2] } else { [2, 1] } {
            let domains = Domains::of(&fabric, &Division::Count(wanted), &[], 1).expect("a sound fabric");
            let mut planner = Planner::new(&fabric).expect("a sound fabric").divided(domains.clone());
            let lanes = (0..wanted).map(|domain| Sending::new(&mut planner, &domains, domain)).collect();
            let mut lanes = Lanes::new(&domains, lanes);
            let (began, cpu_began) = (WallInstant::now(), cpu_s());
            let end = Instant::from_nanos(PACKETS / HOSTS as u64 * GAP_NS + SETTLE_NS);
            lanes.advance(end).expect("nothing can fail");
            let (wall_s, cpu_s) = (began.elapsed().as_secs_f64(), cpu_s() - cpu_began);
            departed.push(lanes.each().iter().map(|lane| lane.departed).sum::<u64>());
            println!(
                "{}",
                json!({
                    "domains": domains.count(),
                    "packets_per_s": (PACKETS as f64 / wall_s).round(),
                    "cpu_ns_per_packet": (cpu_s * 1e9 / PACKETS as f64).round(),
                    "departed": departed.last()
                })
            );
        }
    }
    assert!(departed.iter().all(|&count| count == departed[0]), "any domains decide alike: {departed:?}");
}

/// The hosts of one domain, which send in turn.
struct Sending {
    network: Network,
    /// Those of the domain.
    senders: Vec<usize>,
    /// Packets that they have sent.
    sent: u64,
    departed: u64,
}

impl Sending {
    fn new(planner: &mut Planner, domains: &Domains, domain: usize) -> Self {
        let network = planner.domain(Instant::ZERO, domain).expect("a sound fabric");
        let senders = (0..HOSTS).filter(|&node| domains.of_node(node) == domain).collect();
        Self { network, senders, sent: 0, departed: 0 }
    }

    /// The sender of the next packet, how many each has sent before, and when.
    fn due(&self) -> Option<(usize, u64, u64)> {
        let (round, place) = (self.sent / self.senders.len() as u64, self.sent as usize % self.senders.len());
        let from = self.senders[place];
        let at_ns = round * GAP_NS + from as u64 * (GAP_NS / HOSTS as u64);
        (round < PACKETS / HOSTS as u64).then_some((from, round, at_ns))
    }
}

impl Lane for Sending {
    type Error = std::convert::Infallible;

    fn network(&mut self) -> &mut Network {
        &mut self.network
    }

    fn next(&self) -> Option<Instant> {
        let due = self.due().map(|(_, _, at_ns)| Instant::from_nanos(at_ns));
        due.into_iter().chain(self.network.engine_ref().next_event()).min()
    }

    fn advance(&mut self, to: Instant) -> Result<(), Self::Error> {
        while let Some((from, round, at_ns)) = self.due().filter(|due| due.2 <= to.as_nanos()) {
            let (zone, place) = (from / IN_ZONE, from % IN_ZONE);
            let zone = if round % 4 == 3 { 1 - zone } else { zone };
            // Every other place in turn, never its own.
            let to = zone * IN_ZONE + (place + 1 + round as usize % (IN_ZONE - 1)) % IN_ZONE;
            let (path, _) = self.network.path(from, to, 0);
            let packet = Packet::real(self.sent, 1500, 0);
            self.network.engine().push(Instant::from_nanos(at_ns), path, packet);
            self.sent += 1;
            self.take_outcomes();
        }
        self.network.engine().advance(to);
        self.take_outcomes();
        Ok(())
    }
}

impl Sending {
    fn take_outcomes(&mut self) {
        while let Some(outcome) = self.network.engine().pop() {
            self.departed += u64::from(matches!(outcome, Outcome::Departure { .. }));
        }
    }
}

fn fabric() -> Fabric {
    let link = |from: &str, to: &str, rate_bps: u64, delay_ns: u64| json!({"from": from, "to": to, "rate_bps": rate_bps, "delay_ns": delay_ns, "buffer_bytes": 1 << 20});
    let both = |a: &str, b: &str, rate_bps, delay_ns| {
        [link(a, b, rate_bps, delay_ns), link(b, a, rate_bps, delay_ns)]
    };
    let zone = |host: usize| format!("z{}", host / IN_ZONE);
    let mut links: Vec<Value> =
        (0..HOSTS).flat_map(|host| both(&format!("h{host}"), &zone(host), 10_000_000_000, 2_000)).collect();
    links.extend(both("z0", "z1", 40_000_000_000, 20_000_000));
    let hosts: Vec<String> = (0..HOSTS).map(|host| format!("h{host}")).collect();
    let nodes: Vec<Value> =
        (0..HOSTS).map(|host| json!({"name": format!("n{host}"), "host": format!("h{host}")})).collect();
    let neighbour = |a: &str, b: &str| {
        json!({"between": [a, b], "by": "ghost", "hold_ns": 10_000_000, "pacing_ns": 100_000, "packet_ip_bytes": 1500, "zero": "silence",
            "rate": {"normal": {"mean_bps": 500_000_000, "sd_bps": 200_000_000, "low_bps": 0, "high_bps": 1_000_000_000}}})
    };
    let condition = json!({
        "name": "shaped",
        "places": {
            "host.egress": [{"shape": {"rate_bps": 5_000_000_000u64, "burst_bytes": 60_000, "buffer_bytes": 1 << 20}}],
            "switch.ingress": [{"police": {"rate_bps": 8_000_000_000u64, "burst_bytes": 200_000}}],
            "wan": [
                {"delay": {"time_ns": 200_000, "random": {"law": {"normal": {"jitter_ns": 50_000}}, "depth": null, "order": "keep", "half_life_ns": 1_000_000}}},
                {"lose": {"law": {"bernoulli": {"share_ppb": 100_000}}}}
            ]
        },
        "interference": [neighbour("h0", "h1"), neighbour("h8", "h9")]
    });
    let fabric = json!({
        "seed": 7, "hosts": hosts, "switches": ["z0", "z1"], "links": links, "nodes": nodes, "mtu_bytes": 1500, "merge_window_ns": 0,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "condition": condition
    });
    serde_json::from_value(fabric).expect("a fabric of this version")
}

/// CPU time of this process, by the kernel's account.
fn cpu_s() -> f64 {
    /// Of `/proc`, on every architecture.
    const TICKS_PER_S: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    // Behind the name, which may have spaces in it: the 14th and 15th fields of all are user and system time.
    let fields = stat.rsplit(')').next().expect("a name in brackets").split_whitespace();
    let ticks: f64 =
        fields.skip(11).take(2).map(|field| field.parse::<f64>().expect("a number of ticks")).sum();
    ticks / TICKS_PER_S
}
