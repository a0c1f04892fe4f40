//! Raw Ethernet to other machines: `bind`, `join` and `meet`. Two agents are in one network namespace of the test, each at
//! one end of a veth pair: sockets of Ethernet belong to their interface alone.

use std::process::Command;

use nix::sched::{unshare, CloneFlags};
use serde_json::{json, Value};

use crate::driver::{is_root, Agent, User};

const ENDS: [&str; 2] = ["one", "two"];
const ADDRESSES: [&str; 2] = ["02:00:00:00:00:01", "02:00:00:00:00:02"];
const MEETING_NS: u64 = 1_000_000_000;

fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).status().expect("ip is installed");
    assert!(done.success(), "ip {arguments}");
}

/// Runs a test in a network namespace with a veth pair; agents that it starts are there, too.
fn beside_a_pair(test: impl FnOnce() + Send + 'static) {
    if !is_root() {
        println!("SKIPPED: raw Ethernet needs CAP_NET_RAW in the namespace of its interface, so root");
        return;
    }
    let thread = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).expect("root may make a network namespace");
        ip("link add one address 02:00:00:00:00:01 type veth peer name two address 02:00:00:00:00:02");
        ip("address add 10.9.0.1/24 dev one");
        ENDS.iter().for_each(|end| ip(&format!("link set {end} up")));
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn bind(agent: &mut Agent, end: &str) -> Value {
    agent.must(json!({"do": "bind", "address": "10.9.0.1", "network": "native", "interface": end}))
}

fn join(own: usize) -> Value {
    let peer = json!({"domain": 1 - own, "address": ADDRESSES[1 - own]});
    json!({"do": "join", "domain": own, "run": 7, "key": "0f".repeat(32), "peers": [peer]})
}

/// Two agents that know each other.
fn joined() -> [Agent; 2] {
    [0, 1].map(|own| {
        let mut agent = Agent::start(User::Own);
        let bound = bind(&mut agent, ENDS[own]);
        assert_eq!(bound, json!({"address": ADDRESSES[own], "interface": ENDS[own], "mtu_bytes": 1500}));
        agent.must(join(own));
        agent
    })
}

/// Lets both meet at the same time; returns what each says of the other.
fn met(agents: &mut [Agent; 2]) -> [Value; 2] {
    for agent in agents.iter_mut() {
        agent.send(&json!({"id": 100, "do": "meet", "for_ns": MEETING_NS}).to_string());
    }
    agents.each_mut().map(|agent| agent.receive()["ok"]["peers"][0].clone())
}

#[test]
fn machines_meet_over_raw_ethernet_with_frames_of_the_largest_size() {
    beside_a_pair(|| {
        let mut agents = joined();
        for (own, peer) in met(&mut agents).iter().enumerate() {
            assert_eq!(peer["domain"], 1 - own);
            assert!(peer["received_datagrams"].as_u64() > Some(10), "{peer}");
            assert_eq!((&peer["longest_datagram"], &peer["largest_size"]), (&json!(1500), &json!(1500)));
            assert!(peer["round_trip_ns"].as_u64() > Some(0), "{peer}");
        }
    });
}

#[test]
fn a_meeting_shows_that_the_wire_does_not_carry_the_largest_frames() {
    beside_a_pair(|| {
        let mut agents = joined();
        // The kernel drops longer frames that arrive there.
        ip("link set two mtu 1400");
        let [_, of_the_first] = met(&mut agents);
        assert!(of_the_first["longest_datagram"].as_u64() < Some(1500), "{of_the_first}");
        assert!(of_the_first["round_trip_ns"].as_u64() > Some(0), "{of_the_first}");
    });
}

#[test]
fn nobody_is_met_where_no_frame_arrives() {
    beside_a_pair(|| {
        let mut agents = joined();
        let [_, second] = &mut agents;
        second.child.kill().unwrap();
        let peers = agents[0].must(json!({"do": "meet", "for_ns": 100_000_000}));
        assert_eq!(peers["peers"][0]["received_datagrams"], 0);
        assert_eq!(peers["peers"][0]["round_trip_ns"], Value::Null);
    });
}

#[test]
fn the_interface_is_the_one_with_the_address_where_none_is_named() {
    beside_a_pair(|| {
        let mut agent = Agent::start(User::Own);
        let bound = agent.must(json!({"do": "bind", "address": "10.9.0.1", "network": "native"}));
        assert_eq!(bound["interface"], "one");
    });
}

#[test]
fn an_interface_that_cannot_carry_frames_is_refused_with_a_remedy() {
    beside_a_pair(|| {
        ip("link add three type veth peer name four");
        for (interface, words) in [
            (json!("lo"), "interface lo: it is not an Ethernet interface; write one of Ethernet"),
            (json!("eth9"), "interface eth9: No such device (os error 19); write one that `ip link` shows"),
            (json!("a name that no interface can have"), "No such device"),
            (json!("three"), "interface three: Network is down (os error 100); set it up there"),
            (Value::Null, "no interface of this machine has the address 10.9.0.9; write `interface`"),
        ] {
            let mut agent = Agent::start(User::Own);
            let request =
                json!({"do": "bind", "address": "10.9.0.9", "network": "native", "interface": interface});
            let (kind, message) = agent.must_not(request);
            assert!(kind == "preflight" && message.contains(words), "{message}");
        }
    });
}

#[test]
fn requests_that_contradict_each_other_are_refused() {
    beside_a_pair(|| {
        let mut agent = Agent::start(User::Own);
        for (request, words) in [
            (
                json!({"do": "bind", "address": "10.9.0.1", "network": "native", "port": 7000}),
                "port: raw Ethernet has none",
            ),
            (
                json!({"do": "bind", "address": "10.9.0.1", "interface": "one"}),
                "request \"network\": \"native\"",
            ),
            (json!({"do": "meet", "for_ns": 1}), "no other machines are known"),
            (join(0), "no socket is open; request `bind` first"),
            (json!({"do": "meet", "for_ns": 11_000_000_000u64}), "for_ns is more than 10 s"),
        ] {
            let (kind, message) = agent.must_not(request);
            assert!(kind == "invalid" && message.contains(words), "{message}");
        }
        bind(&mut agent, "one");
        let again = json!({"do": "bind", "address": "10.9.0.1", "network": "native", "interface": "one"});
        let (_, message) = agent.must_not(again);
        assert!(message.contains("has used its socket of raw Ethernet; start another agent"), "{message}");
    });
}

#[test]
fn a_peer_that_cannot_be_reached_by_frames_is_refused() {
    beside_a_pair(|| {
        for (address, words) in [
            ("ff:ff:ff:ff:ff:ff", "it is not the address of one interface"),
            ("10.9.0.2:7000", "it is an address of another network; give all machines the same `network`"),
        ] {
            let mut agent = Agent::start(User::Own);
            bind(&mut agent, "one");
            let mut request = join(0);
            request["peers"][0]["address"] = address.into();
            let (kind, message) = agent.must_not(request);
            assert!(kind == "preflight" && message.contains(words), "{message}");
        }
        ip("link set one mtu 1279");
        let mut agent = Agent::start(User::Own);
        bind(&mut agent, "one");
        let (_, message) = agent.must_not(join(0));
        assert!(message.contains("the interface's MTU is 1279; at least 1280 is needed"), "{message}");
    });
}

#[test]
fn without_the_right_to_raw_sockets_the_remedy_is_named() {
    beside_a_pair(|| {
        let mut agent = Agent::start(User::Nobody);
        let (kind, message) = agent
            .must_not(json!({"do": "bind", "address": "10.9.0.1", "network": "native", "interface": "one"}));
        assert!(kind == "preflight" && message.contains("the agent needs CAP_NET_RAW"), "{message}");
    });
}
