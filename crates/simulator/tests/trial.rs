//! Trials in virtual time: known answers of applications over TCP and the engine's network.

use crosswind_simulator::trial::{trial, Outcome, Plan};
use serde_json::{json, Value};

/// Two hosts whose links have this rate, delay and buffer, under elements at the switch.
fn plan(rate_bps: u64, delay_ns: u64, buffer_bytes: u64, places: &Value, application: &Value) -> Value {
    let ends = [("h0", "switch"), ("switch", "h0"), ("h1", "switch"), ("switch", "h1")];
    let links: Vec<Value> = ends
        .iter()
        .map(|(from, to)| json!({"from": from, "to": to, "rate_bps": rate_bps, "delay_ns": delay_ns, "buffer_bytes": buffer_bytes}))
        .collect();
    json!({
        "fabric": {"seed": 7, "hosts": ["h0", "h1"], "switches": ["switch"], "links": links,
            "nodes": [{"name": "server", "host": "h0"}, {"name": "client", "host": "h1"}],
            "mtu_bytes": 1500, "merge_window_ns": 20_000, "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000},
            "condition": {"name": "tried", "places": places}},
        "application": application, "seed": 1, "warm_up_ns": 1_000_000_000, "duration_ns": 4_000_000_000_u64,
        "machine": {"tick_ns": 4_000_000, "reaction_ns": [20_000, 30_000], "receive_buffer_bytes": [131_072, 33_554_432],
            "send_buffer_bytes": [16_384, 4_194_304]}
    })
}

fn stream() -> Value {
    json!({"streams": [{"from": "server", "to": "client", "connections": 1, "write_bytes": 131_072}]})
}

fn calls(connections: u32, response_bytes: u32, rate_per_s: Option<f64>) -> Value {
    json!({"calls": {"client": "client", "server": "server", "request_bytes": 100, "response_bytes": response_bytes,
        "connections": connections, "rate_per_s": rate_per_s, "arrivals": "even"}})
}

fn carried_out(plan: &Value) -> Outcome {
    let plan: Plan = serde_json::from_value(plan.clone()).expect("a plan of this version");
    trial(&plan).expect("a plan that can be carried out")
}

fn goodput_bps(outcome: &Outcome) -> f64 {
    let bytes: u64 = outcome.streams.iter().map(|stream| stream.bytes).sum();
    bytes as f64 * 8e9 / (outcome.ended_ns - outcome.started_ns) as f64
}

#[test]
fn a_stream_fills_its_link() {
    // 100 Mbit/s, 20 ms round trip: 250 kB are under way, and as much fits the buffer.
    let outcome = carried_out(&plan(100_000_000, 5_000_000, 250_000, &json!({}), &stream()));
    // 1448 bytes of payload take 1538 on the wire.
    let most = 100e6 * 1448.0 / 1538.0;
    assert!((0.99..=1.001).contains(&(goodput_bps(&outcome) / most)), "{}", goodput_bps(&outcome));
    assert_eq!(outcome.tcp.timeouts, 0);
}

#[test]
fn independent_losses_leave_what_renos_formula_says() {
    let lose = |ppb: u64| json!({"host.egress": [{"lose": {"law": {"bernoulli": {"share_ppb": ppb}}, "on": ["server"]}}]});
    let mut plan = plan(1_000_000_000, 5_000_000, 2_000_000, &lose(1_000_000), &stream());
    plan["fabric"]["tcp"]["congestion_control"] = json!("reno");
    plan["duration_ns"] = json!(100_000_000_000_u64);
    let found = goodput_bps(&carried_out(&plan));
    // Mathis et al. 1997: MSS / RTT * sqrt(3/2) / sqrt(p), with every packet acknowledged; 1448 bytes, 20 ms, 0.1 %.
    let expected = 1448.0 * 8.0 / 0.020 * (1.5_f64 / 0.001).sqrt();
    assert!((0.85..=1.15).contains(&(found / expected)), "{found} of {expected}");
}

#[test]
fn a_lost_single_packet_costs_a_timeout() {
    let lose =
        json!({"switch.ingress": [{"lose": {"law": {"bernoulli": {"share_ppb": 10_000_000}}, "on": null}}]});
    let mut plan = plan(100_000_000, 5_000_000, 250_000, &lose, &calls(8, 1_000, None));
    plan["duration_ns"] = json!(60_000_000_000_u64);
    let measured = carried_out(&plan).calls.expect("calls were measured");
    let share = measured.timeouts as f64 / measured.operations as f64;
    // A request or its answer is lost: 1 - 0.99^2; some 20,000 calls, so a standard error of 0.1 %.
    assert!((share - 0.0199).abs() < 0.004, "{share}");
    // 20 ms, four times 123 us for the larger packet and less for the other, and twice the reaction.
    let p50_ms = measured.latency_ns.expect("some ended").p50 / 1e6;
    assert!((20.1..20.5).contains(&p50_ms), "{p50_ms}");
}

#[test]
fn a_policer_passes_its_rate() {
    let police =
        json!({"switch.ingress": [{"police": {"rate_bps": 20_000_000, "burst_bytes": 50_000, "on": null}}]});
    let outcome = carried_out(&plan(100_000_000, 2_500_000, 125_000, &police, &stream()));
    // IP bytes are policed: 1448 of 1500.
    let most = 20e6 * 1448.0 / 1500.0;
    assert!((0.85..=1.02).contains(&(goodput_bps(&outcome) / most)), "{}", goodput_bps(&outcome));
    assert!(outcome.tcp.dropped > 0);
}

#[test]
fn an_open_loop_that_the_network_cannot_carry_starts_late() {
    // A response of 100 kB at 10 Mbit/s takes 85 ms; 50 a second are asked for.
    let outcome =
        carried_out(&plan(10_000_000, 1_000_000, 100_000, &json!({}), &calls(4, 100_000, Some(50.0))));
    let measured = outcome.calls.expect("calls were measured");
    let response = measured.response_ns.expect("an open loop has one");
    assert!(response.p50 > 1e9, "the queue before the client grows: {response:?}");
    assert!(measured.per_s < 13.0, "{}", measured.per_s);
    let enough = carried_out(&plan(10_000_000, 1_000_000, 100_000, &json!({}), &calls(4, 1_000, Some(50.0))));
    let measured = enough.calls.expect("calls were measured");
    assert_eq!((measured.operations, measured.not_started), (200, 0));
}

#[test]
fn a_seed_gives_one_trial_and_another_seed_another() {
    let lose =
        json!({"switch.ingress": [{"lose": {"law": {"bernoulli": {"share_ppb": 5_000_000}}, "on": null}}]});
    let base = plan(50_000_000, 3_000_000, 100_000, &lose, &stream());
    let outcome = carried_out(&base);
    assert_eq!(carried_out(&base), outcome);
    let mut other = base;
    other["fabric"]["seed"] = json!(8);
    assert_ne!(carried_out(&other).streams, outcome.streams);
}

#[test]
fn interference_takes_its_part() {
    let mut plan = plan(100_000_000, 1_000_000, 100_000, &json!({}), &stream());
    plan["fabric"]["condition"]["interference"] = json!([{"between": ["h0", "h1"], "by": "ghost", "hold_ns": 1_000_000_000_u64,
        "pacing_ns": 1_000_000, "packet_ip_bytes": 1500, "zero": "silence", "rate": {"constant_bps": 50_000_000}}]);
    let found = goodput_bps(&carried_out(&plan)) / 1e6;
    // 50 Mbit/s of IP are 51.3 on the wire, in both directions; the rest is 45.9 of payload.
    assert!((35.0..=46.5).contains(&found), "{found}");
}

#[test]
fn a_network_that_passes_nothing_is_refused() {
    let lose = json!({"switch.ingress": [{"lose": {"law": {"bernoulli": {"share_ppb": 1_000_000_000}}, "on": null}}]});
    let plan: Plan = serde_json::from_value(plan(10_000_000, 1_000, 100_000, &lose, &stream()))
        .expect("a plan of this version");
    let refused = trial(&plan).expect_err("no connection is made");
    assert!(refused.contains("connections cannot be made"), "{refused}");
}
