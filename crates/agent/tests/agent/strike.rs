//! Nodes that are paused, resumed and killed at an instant.

use std::thread;
use std::time::Duration;

use nix::sys::signal::{kill, Signal};
use nix::time::{clock_gettime, ClockId};
use serde_json::{json, Value};

use crate::driver::{eventually, fabric, for_each_user, processes_with, Agent, User};

/// Long enough for a process to write many lines, if it can run.
const WHILE: Duration = Duration::from_millis(300);
const COUNT: &str = "while :; do echo x; sleep 0.01; done";

fn now_ns() -> u64 {
    Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap()).as_nanos() as u64
}

fn lines(agent: &Agent, name: &str) -> usize {
    agent.read(name).lines().count()
}

/// How many lines a process writes in some time.
fn written_meanwhile(agent: &Agent, name: &str) -> usize {
    let before = lines(agent, name);
    thread::sleep(WHILE);
    lines(agent, name) - before
}

#[test]
fn a_paused_node_stands_still_until_it_is_resumed_and_others_go_on() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b"]);
        // In a session of its own, so that the signal must reach more than the process group.
        agent.must(agent.shell("a", "still", &format!("setsid sh -c '{COUNT}' & wait")));
        agent.must(agent.shell("b", "going", COUNT));
        agent.wait_for_output("still", "x");
        agent.wait_for_output("going", "x");
        let before_ns = now_ns();
        let done = agent.must(json!({"do": "pause", "nodes": ["a"]}));
        assert!((before_ns..=now_ns()).contains(&done["done_ns"].as_u64().unwrap()), "{done}");
        assert_eq!(written_meanwhile(&agent, "still"), 0);
        assert!(written_meanwhile(&agent, "going") > 0);
        agent.must(json!({"do": "read"}));
        agent.must(json!({"do": "resume", "nodes": ["a"]}));
        eventually(Duration::from_secs(5), "it goes on", || written_meanwhile(&agent, "still") > 0);
    });
}

#[test]
fn the_ends_of_killed_processes_come_before_the_answer_and_the_node_can_be_used_again() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b"]);
        let marker = format!("6666.{}", agent.child.id());
        let script = format!("trap '' TERM; setsid sleep {marker} & echo there; sleep {marker}");
        let killed = agent.must(agent.shell("a", "killed", &script))["process"].clone();
        let spared = agent.must(agent.shell("b", "spared", COUNT))["process"].clone();
        agent.wait_for_output("killed", "there");
        agent.must(json!({"do": "kill", "nodes": ["a"]}));
        let exited: Vec<Value> = agent.events.drain(..).collect();
        assert_eq!(exited, [json!({"event": "exited", "process": killed, "code": null, "signal": 9})]);
        assert!(processes_with(&marker).is_empty());
        assert_eq!(agent.run("a", "again", "hostname"), "a\n");
        assert!(written_meanwhile(&agent, "spared") > 0, "{spared}");
        agent.must(json!({"do": "kill", "nodes": ["a"]}));
    });
}

#[test]
fn no_child_of_a_process_that_forks_without_end_survives() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let marker = format!("5555.{}", agent.child.id());
        let script =
            format!("n=0; while [ $n -lt 40 ]; do n=$((n + 1)); sleep {marker} & done; echo full; {COUNT}");
        agent.must(agent.shell("a", "forks", &script));
        thread::sleep(Duration::from_millis(20));
        agent.must(json!({"do": "kill", "nodes": ["a"]}));
        assert!(processes_with(&marker).is_empty());
    });
}

#[test]
fn nodes_are_struck_together_at_the_instant_and_not_before() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b", "c"]);
        for node in ["a", "b"] {
            agent.must(agent.shell(node, node, COUNT));
            agent.wait_for_output(node, "x");
        }
        let at_ns = now_ns() + 400_000_000;
        let struck = agent.must(json!({"do": "pause", "nodes": ["a", "b"], "at_ns": at_ns}));
        let done_ns = struck["done_ns"].as_u64().unwrap();
        assert!(done_ns >= at_ns, "{} ns early", at_ns - done_ns);
        println!("{} us after the instant", (done_ns - at_ns) / 1000);
        assert_eq!(written_meanwhile(&agent, "a") + written_meanwhile(&agent, "b"), 0);
    });
}

#[test]
fn a_paused_process_can_be_stopped_and_a_paused_node_killed() {
    let mut agent = Agent::with_nodes(User::Own, &["a", "b"]);
    for node in ["a", "b"] {
        agent.must(agent.shell(node, node, &format!("trap 'echo x' TERM; {COUNT}")));
        agent.wait_for_output(node, "x");
    }
    agent.must(json!({"do": "pause", "nodes": ["a", "b"]}));
    let ended = agent.must(json!({"do": "stop", "process": 1, "grace_ns": 50_000_000}));
    assert_eq!(ended["signal"], 9);
    agent.must(json!({"do": "kill", "nodes": ["b"]}));
    agent.event(|event| event["process"] == 2 && event["signal"] == 9);
}

#[test]
fn a_paused_node_ends_with_down_and_with_the_agent() {
    for_each_user(|user| {
        let paused = || {
            let mut agent = Agent::with_nodes(user, &["a", "b"]);
            let marker = format!("4444.{}", agent.child.id());
            agent.must(agent.shell("a", "x", &format!("sleep {marker} & sleep {marker}")));
            eventually(Duration::from_secs(5), "both run", || processes_with(&marker).len() == 3);
            agent.must(json!({"do": "pause", "nodes": ["a"]}));
            (agent, marker)
        };
        let gone = |marker: &str| {
            eventually(Duration::from_secs(1), "no process is left", || processes_with(marker).is_empty());
        };
        let (mut agent, marker) = paused();
        agent.must(json!({"do": "down"}));
        gone(&marker);
        let (agent, marker) = paused();
        kill(agent.pid(), Signal::SIGKILL).unwrap();
        assert!(agent.all_gone_within(Duration::from_secs(1)), "an init is left");
        gone(&marker);
        let (mut agent, marker) = paused();
        // The agent ends while it waits for the instant.
        agent.send(
            &json!({"id": 9, "do": "kill", "nodes": ["b"], "at_ns": now_ns() + 9_000_000_000}).to_string(),
        );
        thread::sleep(Duration::from_millis(50));
        agent.end_input();
        assert!(agent.all_gone_within(Duration::from_secs(2)), "an init or the agent is left");
        gone(&marker);
    });
}

#[test]
fn nodes_that_cannot_be_struck_are_refused() {
    let mut agent = Agent::start(User::Own);
    agent.must(json!({"do": "up", "fabric": fabric(&["a"])}));
    for (request, words) in [
        (json!({"do": "pause", "nodes": []}), "at least one"),
        (json!({"do": "pause", "nodes": ["c"]}), "nodes are a"),
        (json!({"do": "kill", "nodes": ["a", "a"]}), "twice"),
        (json!({"do": "kill", "nodes": ["a"], "at_ns": u64::MAX}), "within 10 s"),
    ] {
        let (kind, message) = agent.must_not(request);
        assert!(kind == "invalid" && message.contains(words), "{message}");
    }
    agent.must(json!({"do": "down"}));
    let (_, message) = agent.must_not(json!({"do": "resume", "nodes": ["a"]}));
    assert!(message.contains("`up` first"), "{message}");
}
