//! A plan says into how many domains its network is divided; the summary and the packets are the same whatever it says.

use crosswind_fabric::{star, Division};
use crosswind_simulator::offer::{offer, Plan};
use crosswind_simulator::PacketFile;
use serde_json::{json, Value};

/// Two zones 1 ms apart with two hosts each, under a condition with interference and a timeline; offers within zones and between.
fn plan(condition: &Value) -> Plan {
    let between = |from: &str, to: &str, delay_ns: u64| json!({"from": from, "to": to, "rate_bps": 100_000_000, "delay_ns": delay_ns, "buffer_bytes": 30_000});
    let ends = [
        ("h0", "z0", 2_000),
        ("h1", "z0", 2_000),
        ("h2", "z1", 2_000),
        ("h3", "z1", 2_000),
        ("z0", "z1", 1_000_000),
    ];
    let links: Vec<Value> =
        ends.iter().flat_map(|(a, b, delay)| [between(a, b, *delay), between(b, a, *delay)]).collect();
    let nodes: Vec<Value> =
        (0..4).map(|node| json!({"name": format!("n{node}"), "host": format!("h{node}")})).collect();
    let offers: Vec<Value> = [(0, 1), (0, 2), (1, 3), (3, 0), (2, 0)]
        .iter()
        .zip(["constant", "poisson"].iter().cycle())
        .map(|((from, to), law)| {
            json!({"from": format!("n{from}"), "to": format!("n{to}"), "rate_bps": 60_000_000, "packet_ip_bytes": 1500, "arrivals": law})
        })
        .collect();
    serde_json::from_value(json!({
        "fabric": {"seed": 3, "hosts": ["h0", "h1", "h2", "h3"], "switches": ["z0", "z1"], "links": links, "nodes": nodes,
            "mtu_bytes": 1500, "merge_window_ns": 0, "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "condition": condition},
        "duration_ns": 30_000_000, "offers": offers
    }))
    .expect("a plan of this version")
}

/// The summary as JSON, and the packets as CSV.
fn carried_out(plan: &Plan) -> (String, String) {
    let mut rows = Vec::new();
    let summary =
        offer(plan, Some(PacketFile::new(&mut rows).unwrap())).expect("a plan that can be carried out");
    let alone = offer(plan, None::<PacketFile<Vec<u8>>>).expect("a plan that can be carried out");
    assert_eq!(alone, summary, "whoever wants packets changes nothing");
    (serde_json::to_string(&summary).unwrap(), String::from_utf8(rows).unwrap())
}

#[test]
fn what_comes_of_a_plan_does_not_depend_on_domains() {
    let interference = json!([{"between": ["h0", "h2"], "by": "ghost", "hold_ns": 5_000_000, "pacing_ns": 1_000_000,
        "packet_ip_bytes": 1500, "zero": "silence", "rate": {"constant_bps": 30_000_000}}]);
    let police = json!([{"police": {"rate_bps": 40_000_000, "burst_bytes": 6_000, "on": null}}]);
    let outage = json!([{"capacity": {"process": {"levels": {"at_ns": [0, 20_000_000], "rate_bps": [100_000_000, 0]}}, "direction": "down", "on": ["h3"]}}]);
    for condition in [
        json!({"name": "none"}),
        json!({"name": "police", "places": {"switch.ingress": police}, "interference": interference,
            "timeline": [{"at_ns": 10_000_000, "places": {"switch.ingress": []}}, {"at_ns": 32_000_000, "places": {"switch.ingress": police}}]}),
        // Some never leave.
        json!({"name": "outage", "places": {"link": outage}}),
    ] {
        let mut plan = plan(&condition);
        let one = carried_out(&plan);
        assert!(one.1.lines().count() > 700, "{}", one.1.lines().count());
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        for division in [
            Division::Count(2),
            Division::Count(4),
            Division::Written(vec![names(&["z0", "h3"]), names(&["z1", "h0"]), names(&["h1"])]),
        ] {
            plan.fabric.domains = division;
            assert!(carried_out(&plan) == one, "{condition} {:?}", plan.fabric.domains);
        }
    }
}

#[test]
fn domains_that_cannot_be_are_refused() {
    let mut plan = plan(&json!({"name": "none"}));
    plan.fabric.links = star(&plan.fabric.hosts, None, 0, None);
    plan.fabric.switches = vec!["switch".to_owned()];
    plan.fabric.domains = serde_json::from_value(json!([["switch"], ["h0"]])).unwrap();
    let refused = offer(&plan, None::<PacketFile<Vec<u8>>>).unwrap_err().to_string();
    assert!(
        refused
            .contains("link h0->switch: is cut between domains 1 and 0, and has no delay; put h0 and switch"),
        "{refused}"
    );
    plan.fabric.domains = Division::Count(0);
    assert!(offer(&plan, None::<PacketFile<Vec<u8>>>).unwrap_err().to_string().contains("domains 0"));
}
