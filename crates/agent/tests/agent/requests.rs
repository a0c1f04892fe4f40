//! Requests and replies.

use serde_json::{json, Value};

use crate::driver::{command, fabric, for_each_user, is_root, Agent, User};

#[test]
fn the_version_is_printed() {
    let output = command(User::Own, &["--version"]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("crosswind-agent {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn wrong_usage_is_status_2() {
    for arguments in [&["--verbose"][..], &["enter"], &["enter", "1", "sh"]] {
        assert_eq!(command(User::Own, arguments).output().unwrap().status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn hello_reports_version_and_user() {
    for_each_user(|user| {
        let mut agent = Agent::start(user);
        let hello = agent.must(json!({"do": "hello"}));
        let own = nix::unistd::geteuid().as_raw();
        assert_eq!(hello["protocol"], 1);
        assert_eq!(hello["pid"], agent.child.id());
        assert_eq!(hello["rootless"], user == User::Nobody || !is_root());
        assert_eq!(hello["application_uid"], if is_root() { 65_534 } else { own });
    });
}

#[test]
fn malformed_requests_are_answered_and_end_nothing() {
    let mut agent = Agent::start(User::Own);
    for nonsense in ["nonsense", "[]", "{\"id\": 3", "{}", "\u{0}\u{1}", "{\"id\": \"x\", \"do\": \"hello\"}"]
    {
        agent.send(nonsense);
        let reply = agent.receive();
        assert_eq!(
            (&reply["id"], &reply["error"]["kind"]),
            (&Value::Null, &json!("invalid")),
            "{nonsense}: {reply}"
        );
    }
    let (kind, message) = agent.must_not(json!({"do": "hello", "loudly": true}));
    assert!(kind == "invalid" && message.contains("loudly"), "{message}");
    agent.must(json!({"do": "hello"}));
}

#[test]
fn requests_that_need_a_fabric_are_refused_without_one() {
    let mut agent = Agent::start(User::Own);
    let start = json!({"do": "start", "node": "a", "name": "x", "argv": ["true"], "cwd": "/", "stdout": "/dev/null", "stderr": "/dev/null"});
    for request in [
        json!({"do": "measure"}),
        json!({"do": "read"}),
        json!({"do": "set", "condition": {"name": "none"}}),
        start,
    ] {
        let (kind, message) = agent.must_not(request);
        assert!(kind == "invalid" && message.contains("`up`"), "{message}");
    }
    let (_, message) = agent.must_not(json!({"do": "stop", "process": 1, "grace_ns": 0}));
    assert!(message.contains("process 1"), "{message}");
    agent.must(json!({"do": "down"}));
}

#[test]
fn a_wrong_fabric_is_refused_and_a_right_one_may_follow() {
    let mut agent = Agent::start(User::Own);
    let mut wrong = fabric(&["a", "b"]);
    wrong["nodes"][1]["host"] = "nowhere".into();
    let (kind, message) = agent.must_not(json!({"do": "up", "fabric": wrong}));
    assert!(kind == "invalid" && message.contains("nowhere"), "{message}");
    let mut fine_grained = fabric(&["a"]);
    fine_grained["tcp"]["rto_min_us"] = 1500.into();
    let (kind, message) = agent.must_not(json!({"do": "up", "fabric": fine_grained}));
    assert!(kind == "invalid" && message.contains("1500"), "{message}");
    agent.must(json!({"do": "up", "fabric": fabric(&["a"])}));
    let (_, message) = agent.must_not(json!({"do": "up", "fabric": fabric(&["a"])}));
    assert!(message.contains("`down` first"), "{message}");
}

#[test]
fn requests_that_wait_in_the_pipe_are_answered_before_its_end_counts() {
    let mut agent = Agent::start(User::Own);
    agent.send(&json!({"id": 1, "do": "up", "fabric": fabric(&["a"])}).to_string());
    agent.send(&json!({"id": 2, "do": "hello"}).to_string());
    agent.end_input();
    assert!(agent.receive().get("ok").is_some());
    assert!(agent.receive().get("ok").is_some());
    assert!(agent.child.wait().unwrap().success());
}

#[test]
fn conditions_can_be_set_and_measured() {
    let mut agent = Agent::with_nodes(User::Own, &["a", "b"]);
    agent.must(json!({"do": "measure"}));
    let condition = json!({"name": "slow", "places": {"link": [{"delay": {"time_ns": 1_000_000}}]}});
    assert!(agent.must(json!({"do": "set", "condition": condition}))["effective_ns"].as_u64() > Some(0));
    assert!(agent.must(json!({"do": "read"}))["conservation"]["holds"].as_bool().unwrap());
    let unknown = json!({"name": "x", "places": {"link": [{"delay": {"time_ns": 1, "on": ["nowhere"]}}]}});
    let (kind, message) = agent.must_not(json!({"do": "set", "condition": unknown}));
    assert!(kind == "invalid" && message.contains("nowhere"), "{message}");
}

#[test]
fn sockets_that_listen_are_those_of_the_node() {
    let python = "import socket; server = socket.create_server((\"0.0.0.0\", 8080)); print(\"ready\", flush=True); input()";
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b"]);
        assert_eq!(agent.must(json!({"do": "listening", "node": "a"}))["sockets"], json!([]));
        agent.must(agent.shell("a", "server", &format!("sleep 60 | python3 -c '{python}'")));
        agent.wait_for_output("server", "ready");
        let found = agent.must(json!({"do": "listening", "node": "a"}));
        assert_eq!(found["sockets"], json!([{"protocol": "tcp", "address": "0.0.0.0", "port": 8080}]));
        assert_eq!(agent.must(json!({"do": "listening", "node": "b"}))["sockets"], json!([]));
        let (kind, message) = agent.must_not(json!({"do": "listening", "node": "c"}));
        assert!(kind == "invalid" && message.contains("nodes are a, b"), "{message}");
    });
}

#[test]
fn the_wall_clock_is_that_of_the_machine() {
    let mut agent = Agent::start(User::Own);
    let wall = agent.must(json!({"do": "wall"}));
    let now_ns = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let shown_ns = u128::from(wall["wall_ns"].as_u64().unwrap());
    assert!(shown_ns <= now_ns && now_ns - shown_ns < 10_000_000_000, "{wall}");
    assert!(wall["now_ns"].as_u64().unwrap() > 0);
}
