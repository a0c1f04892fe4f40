//! CUBIC in nodes whose clocks are slower.
#![cfg(target_arch = "x86_64")]

use std::fs;

use nix::sys::signal::{kill, Signal};
use serde_json::{json, Value};

use crate::driver::{eventually, fabric, for_each_user, Agent, User, PATIENCE};

fn dilated(user: User, congestion_control: &str) -> (Agent, Value) {
    let mut agent = Agent::start(user);
    let mut fabric = fabric(&["a", "b"]);
    fabric["tcp"]["congestion_control"] = json!(congestion_control);
    let up = agent.must(json!({"do": "up", "fabric": fabric, "dilation": {"factor": 10}}));
    (agent, up)
}

/// Whether CUBIC is slower; prints it where this machine does not allow it.
fn slowed(up: &Value) -> bool {
    let slowed = up["dilation"]["tcp"].as_array().unwrap().contains(&json!("cubic"));
    if !slowed {
        println!("SKIPPED: no slower CUBIC without root, or in this kernel");
    }
    slowed
}

/// The congestion control of a connection between nodes, after it has carried 1 MB.
fn in_use(agent: &mut Agent) -> String {
    let server = "import socket; server = socket.create_server((\"\", 7000)); print(\"listens\", flush=True); connection, _ = server.accept()
while connection.recv(1 << 20): pass";
    agent.must(agent.shell("b", "server", &format!("python3 -c '{server}'")));
    agent.wait_for_output("server", "listens");
    let client =
        "import socket; client = socket.create_connection((\"b\", 7000)); client.sendall(bytes(1000000))
print(client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).decode())";
    agent.run("a", "client", &format!("python3 -c '{client}'")).trim_matches(['\0', '\n']).to_owned()
}

fn known(name: &str) -> bool {
    let all = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    all.split_whitespace().any(|known| known == name)
}

#[test]
fn connections_between_nodes_have_it_where_this_machine_allows_it() {
    for_each_user(|user| {
        let (mut agent, up) = dilated(user, "cubic");
        let expected = if slowed(&up) { format!("cw10.{}", agent.pid()) } else { "cubic".to_owned() };
        assert_eq!(in_use(&mut agent), expected);
    });
}

#[test]
fn another_congestion_control_is_left_alone() {
    let (mut agent, up) = dilated(User::Own, "reno");
    assert!(!up["dilation"]["tcp"].as_array().unwrap().contains(&json!("cubic")));
    assert_eq!(in_use(&mut agent), "reno");
}

#[test]
fn it_ends_with_the_fabric_and_with_a_killed_agent() {
    let (mut agent, up) = dilated(User::Own, "cubic");
    if !slowed(&up) {
        return;
    }
    let (pid, name) = (agent.pid(), format!("cw10.{}", agent.pid()));
    assert!(known(&name));
    agent.must(json!({"do": "down"}));
    assert!(!known(&name));
    agent.must(json!({"do": "up", "fabric": fabric(&["a", "b"]), "dilation": {"factor": 10}}));
    assert_eq!(in_use(&mut agent), name);
    kill(pid, Signal::SIGKILL).unwrap();
    eventually(PATIENCE, "the machine forgets it", || !known(&name));
    assert!(agent.all_gone_within(PATIENCE));
}
