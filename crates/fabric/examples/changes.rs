//! Measures what a change of condition costs the packet thread: applying a plan, with every path in use before.
//!
//! Prints one JSON line: nodes, and for each kind of change, in nanoseconds: the median and largest time of its
//! applications, the largest time for making 32 of its new elements before the first application, and the planning
//! time. `python -m bench changes` runs it.
//!
//! usage: changes NODES CHANGES

use std::time::Instant as Clock;

use crosswind_engine::Instant;
use crosswind_fabric::{star, Condition, Fabric, Planner};
use serde_json::{json, Value};

fn fabric(nodes: usize) -> Fabric {
    let hosts: Vec<String> = (0..nodes).map(|host| format!("h{host}")).collect();
    let nodes: Vec<Value> =
        hosts.iter().map(|host| json!({"name": format!("n-{host}"), "host": host})).collect();
    serde_json::from_value(json!({
        "seed": 7, "hosts": hosts, "switches": ["switch"],
        "links": star(&hosts, Some(1_000_000_000), 2_000, Some(1_000_000)), "nodes": nodes, "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000, "condition": {"name": "none"},
    }))
    .expect("a fabric of this version")
}

/// Conditions that alternate.
fn pairs() -> [(&'static str, [Value; 2]); 4] {
    let delay = |time_ns: u64| json!({"link": [{"delay": {"time_ns": time_ns}}]});
    let shaped = json!({
        "host.egress": [{"shape": {"rate_bps": 100_000_000, "burst_bytes": 15_000, "buffer_bytes": 100_000}}],
        "link": [{"delay": {"time_ns": 5_000_000}}, {"lose": {"law": {"bernoulli": {"share_ppb": 1_000_000}}}}],
        "switch.egress": [{"queue": {"drop": {"codel": {"target_ns": 5_000_000, "interval_ns": 100_000_000}}}}],
    });
    let monitor = json!({"monitor": {"what": ["queue-delay", "utilisation"], "window_ns": 1_000_000}});
    let watched = json!({"link": [monitor, {"delay": {"time_ns": 1_000_000}}]});
    [
        ("one-delay", [json!({"link": [{"delay": {"time_ns": 1_000_000, "on": ["h0"]}}]}), json!({})]),
        ("every-delay", [delay(1_000_000), delay(2_000_000)]),
        ("shaped-or-not", [shaped, json!({})]),
        ("monitored-or-not", [watched, json!({})]),
    ]
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let (nodes, changes): (usize, usize) =
        (arguments.next().unwrap_or(100), arguments.next().unwrap_or(1_000));
    let mut figures = json!({"nodes": nodes, "changes": changes});
    for (name, conditions) in pairs() {
        let conditions = conditions.map(|places| {
            let condition = json!({"name": name, "places": places});
            serde_json::from_value::<Condition>(condition).expect("a condition of this version")
        });
        let mut planner = Planner::new(&fabric(nodes)).expect("a sound fabric");
        let mut network = planner.network(Instant::ZERO).expect("a sound condition");
        let (mut applied, mut planned, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..changes {
            for from in 0..nodes {
                network.path(from, (from + 1 + number) % nodes, 0);
            }
            let began = Clock::now();
            let mut plan = planner.condition(&conditions[number % 2]).expect("a sound condition");
            planned.push(began.elapsed());
            // In parts, as the packet thread does between packets.
            let mut all = false;
            while !all {
                let began = Clock::now();
                all = network.make(&mut plan, 32);
                made.push(began.elapsed());
            }
            let at = Instant::from_nanos(1_000_000 * (number as u64 + 1));
            let began = Clock::now();
            let done = network.apply(at, plan);
            applied.push(began.elapsed());
            drop(done);
        }
        let first_ns = applied[0].as_nanos() as u64;
        applied.sort_unstable();
        planned.sort_unstable();
        let nanos = |of: &[std::time::Duration], part: f64| {
            of[((of.len() - 1) as f64 * part) as usize].as_nanos() as u64
        };
        figures[name] = json!({
            "first_ns": first_ns, "p50_ns": nanos(&applied, 0.5), "p99_ns": nanos(&applied, 0.99), "max_ns": nanos(&applied, 1.0),
            "planning_p50_ns": nanos(&planned, 0.5), "making_max_ns": made.iter().max().map(|longest| longest.as_nanos() as u64),
        });
    }
    println!("{figures}");
}
