//! A user at the process limit: the agent reports it, whichever process or thread exceeds the limit.

use std::process::Command;

use serde_json::{json, Value};

use crate::driver::{command, fabric, is_root, Agent, User};

/// Enough for two nodes, the emulator, a recording and a capture, with a reserve for additions.
const ENOUGH: u32 = 30;

/// The agent under an account that no other process uses, with at most `limit` processes and threads; root has no such
/// limit.
fn limited(limit: u32, arguments: &[&str]) -> Command {
    let agent = command(User::Own, arguments);
    let account = 61_000 + std::process::id() % 1_000;
    let mut limited = Command::new("setpriv");
    limited.args([&format!("--reuid={account}"), &format!("--regid={account}"), "--clear-groups"]);
    limited.args(["prlimit", &format!("--nproc={limit}")]).arg(agent.get_program()).args(agent.get_args());
    limited
}

/// Whether the request succeeded; if not, it must be refused as beyond this machine, with the remedy.
fn honoured(agent: &mut Agent, request: Value) -> bool {
    let reply = agent.ask(request);
    if reply.get("ok").is_none() {
        assert_eq!(reply["error"]["kind"], "preflight", "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("`ulimit -u`"), "{reply}");
    }
    reply.get("ok").is_some()
}

#[test]
fn a_user_at_the_process_limit_is_refused_with_the_remedy() {
    if !is_root() {
        return println!("SKIPPED: only root can use an account whose processes are known");
    }
    let hello = Agent::launch(limited(ENOUGH, &[])).ask(json!({"do": "hello"}));
    if hello.get("ok").is_none() {
        return println!("SKIPPED: {hello}");
    }
    let (mut up, mut started) = (0, 0);
    for limit in 1..=ENOUGH {
        let mut agent = Agent::launch(limited(limit, &[]));
        let (record, capture) = (agent.folder.path().join("record"), agent.folder.path().join("capture"));
        let is_up = honoured(
            &mut agent,
            json!({"do": "up", "fabric": fabric(&["a", "b"]), "record": record,
                   "capture": {"to": capture, "snap_bytes": 128, "limit_bytes": 1 << 20}}),
        );
        if is_up {
            up += 1;
            let process = agent.shell("a", "true", "true");
            started += u32::from(honoured(&mut agent, process));
        }
        // Whatever was refused, the agent continues and undoes everything.
        agent.must(json!({"do": "down"}));
        agent.end_input();
        assert!(agent.child.wait().unwrap().success(), "limit {limit}");
        if started > 1 {
            break;
        }
    }
    assert!(
        up < ENOUGH && started > 1,
        "of {ENOUGH} limits {up} were enough for a network, {started} for a process"
    );
}

#[test]
fn entering_a_node_at_the_process_limit_is_refused_with_the_remedy() {
    if !is_root() {
        return println!("SKIPPED: only root can use an account whose processes are known");
    }
    let mut agent = Agent::launch(limited(ENOUGH, &[]));
    let reply = agent.ask(json!({"do": "up", "fabric": fabric(&["a"])}));
    let Some(pid) = reply["ok"]["nodes"][0]["pid"].as_u64() else {
        return println!("SKIPPED: {reply}");
    };
    let entered = limited(1, &["enter", &pid.to_string(), "--", "true"]).output().unwrap();
    let output = String::from_utf8(entered.stderr).unwrap();
    assert_eq!(entered.status.code(), Some(3), "{output}");
    assert!(output.contains("`ulimit -u`"), "{output}");
}
