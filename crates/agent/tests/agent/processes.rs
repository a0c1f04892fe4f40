//! Processes of the application: their environment and privileges, and how they end.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use crate::driver::{eventually, for_each_user, is_root, processes_with, Agent, User, PATIENCE};

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn exits_are_reported_with_code_or_signal() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        for (script, code, signal) in
            [("exit 3", json!(3), Value::Null), ("kill -9 $$", Value::Null, json!(9))]
        {
            let process = agent.must(agent.shell("a", "x", script))["process"].clone();
            let event = agent.event(|event| event["process"] == process);
            assert_eq!(
                (&event["event"], &event["code"], &event["signal"]),
                (&json!("exited"), &code, &signal)
            );
        }
    });
}

#[test]
fn the_pid_is_the_callers_view_of_it() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let marker = format!("6666.{}", agent.child.id());
        let started = agent.must(agent.shell("a", "x", &format!("exec sleep {marker}")));
        agent.must(json!({"do": "hello"}));
        crate::driver::eventually(Duration::from_secs(5), "the process runs under that number", || {
            processes_with(&format!("sleep\0{marker}")) == [format!("/proc/{}", started["pid"])]
        });
    });
}

#[test]
fn applications_have_no_privileges_and_a_minimal_environment() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let hello = agent.must(json!({"do": "hello"}));
        let status = agent.run("a", "status", "cat /proc/self/status");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        for capabilities in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert_eq!(field(capabilities), ["0000000000000000"], "{capabilities}");
        }
        assert_eq!(field("NoNewPrivs"), ["1"]);
        assert_eq!(field("Uid"), vec![hello["application_uid"].to_string(); 4]);
        assert_eq!(field("Gid"), vec![hello["application_gid"].to_string(); 4]);
        if is_root() {
            assert_eq!(field("Groups"), Vec::<String>::new());
        }
        assert_eq!(field("SigBlk"), ["0000000000000000"]);
        // The C library reserves signals 32 and 33, so they are as the starter of the tests set them.
        let ignored = u64::from_str_radix(&field("SigIgn")[0], 16).unwrap();
        assert_eq!(ignored & !(0b11 << 31), 0);
        let mut start = agent.shell("a", "env", "exec env");
        start["env"] = json!({"COLOUR": "blue"});
        let process = agent.must(start)["process"].clone();
        agent.event(|event| event["process"] == process);
        let mut names: Vec<_> =
            agent.read("env").lines().map(|line| line.split('=').next().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["COLOUR", "HOME", "LANG", "PATH", "PWD"], "PWD is the shell's own");
        assert_eq!(agent.run("a", "files", "ls /proc/self/fd"), "0\n1\n2\n3\n", "3 is ls reading the folder");
    });
}

#[test]
fn only_root_may_choose_another_account_and_it_is_never_root() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let mut start = agent.shell("a", "who", "grep -E '^(Uid|Gid|CapEff):' /proc/self/status");
        start["account"] = json!({"uid": 4321, "gid": 1234});
        if user == User::Own && is_root() {
            let process = agent.must(start.clone())["process"].clone();
            agent.event(|event| event["process"] == process);
            let output = agent.read("who");
            assert!(
                output.contains("Uid:\t4321\t4321\t4321\t4321\n") && output.contains("Gid:\t1234\t1234"),
                "{output}"
            );
            assert!(output.contains("CapEff:\t0000000000000000"), "{output}");
        } else {
            let (kind, message) = agent.must_not(start.clone());
            assert_eq!(kind, "preflight");
            assert!(message.contains("user 4321 is not available without root"), "{message}");
        }
        start["account"] = json!({"uid": 0, "gid": 1234});
        assert!(agent.must_not(start).1.contains("never run as root"));
    });
}

#[test]
fn output_is_appended() {
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    agent.run("a", "log", "echo one; echo two >&2");
    assert_eq!(agent.run("a", "log", "echo three"), "one\ntwo\nthree\n");
}

#[test]
fn head_and_tail_of_a_long_output_are_stored_while_it_grows() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let script = "echo first; head -c 40000000 /dev/zero | tr '\\0' x; echo last";
        let mut start = agent.shell("a", "long", script);
        start["keep"] = json!({"head_bytes": 1 << 20, "tail_bytes": 1 << 20});
        let path = start["stdout"].as_str().unwrap().to_owned();
        let process = agent.must(start)["process"].clone();
        agent.event(|event| event["process"] == process);
        eventually(PATIENCE, "the middle takes no space", || {
            let facts = fs::metadata(&path).unwrap();
            assert_eq!(facts.len(), 40_000_011);
            512 * facts.blocks() <= 4 << 20
        });
        let text = agent.read("long");
        assert!(text.starts_with("first\nxxx") && text.ends_with("xxxlast\n"));
    });
}

#[test]
fn stop_sends_sigterm_first() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let process =
            agent.must(agent.shell("a", "x", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done"))
                ["process"]
                .clone();
        agent.wait_for_output("x", "ready");
        let stopped = agent.must(json!({"do": "stop", "process": process, "grace_ns": 10 * SECOND_NS}));
        assert_eq!((&stopped["code"], &stopped["signal"]), (&json!(5), &Value::Null));
        let again = agent.must(json!({"do": "stop", "process": process, "grace_ns": 0}));
        assert_eq!(again, stopped, "stopping a process that has ended reports how it ended");
    });
}

#[test]
fn stop_kills_a_group_that_ignores_sigterm() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let marker = format!("5555.{}", agent.child.id());
        // The leader ends on SIGTERM; a member that ignores the signal stays.
        let script = format!("sh -c \"trap '' TERM; echo ready; sleep {marker}\" & wait");
        let process = agent.must(agent.shell("a", "x", &script))["process"].clone();
        agent.wait_for_output("x", "ready");
        let began = Instant::now();
        let stopped = agent.must(json!({"do": "stop", "process": process, "grace_ns": SECOND_NS / 5}));
        assert_eq!(stopped["signal"], 15, "the leader itself ended on SIGTERM");
        assert!(
            (Duration::from_millis(200)..Duration::from_secs(3)).contains(&began.elapsed()),
            "{:?}",
            began.elapsed()
        );
        assert_eq!(processes_with(&marker), Vec::<String>::new());
        let deaf =
            agent.must(agent.shell("a", "y", "trap '' TERM; echo ready; while :; do sleep 0.01; done"))
                ["process"]
                .clone();
        agent.wait_for_output("y", "ready");
        assert_eq!(
            agent.must(json!({"do": "stop", "process": deaf, "grace_ns": SECOND_NS / 10}))["signal"],
            9
        );
    });
}

#[test]
fn signals_reach_the_group() {
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    let process =
        agent.must(agent.shell("a", "x", "trap 'exit 6' USR1; echo ready; while :; do sleep 0.01; done"))
            ["process"]
            .clone();
    agent.wait_for_output("x", "ready");
    agent.must(json!({"do": "signal", "process": process, "signal": 10}));
    assert_eq!(agent.event(|event| event["process"] == process)["code"], 6);
    agent.must(json!({"do": "signal", "process": process, "signal": 10}));
    let (_, message) = agent.must_not(json!({"do": "signal", "process": process, "signal": 99}));
    assert!(message.contains("99"), "{message}");
}

#[test]
fn a_process_that_cannot_be_started_is_refused_with_the_reason() {
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    let sound = agent.shell("a", "x", "true");
    let cases = [
        ("node", json!("zz"), "nodes are a"),
        ("argv", json!([]), "argv is empty"),
        ("argv", json!(["no-such-program"]), "no-such-program: not in PATH"),
        ("argv", json!(["./no-such-program"]), "does not exist"),
        ("argv", json!(["/etc/passwd"]), "not executable"),
        ("argv", json!(["sh", "a\u{0}b"]), "zero byte"),
        ("argv", json!(["sh", "-c", "x".repeat(300_000)]), "pass a file"),
        ("cwd", json!("relative"), "relative"),
        ("cwd", json!("/no/such/folder"), "cwd /no/such/folder"),
        ("stdout", json!("/no/such/folder/out"), "open /no/such/folder/out"),
    ];
    for (key, value, expected) in cases {
        let mut request = sound.clone();
        request[key] = value;
        let (kind, message) = agent.must_not(request);
        assert!(
            kind == "invalid" && message.contains(expected) && message.starts_with("start x in"),
            "{kind}: {message}"
        );
    }
    agent.run("a", "x", "true");
}

#[test]
fn a_binary_in_a_private_folder_runs_and_a_script_there_is_refused_with_a_remedy() {
    if !is_root() {
        println!("SKIPPED: only root starts processes as another user");
        return;
    }
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    let private = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(private.path(), PermissionsExt::from_mode(0o700)).unwrap();
    fs::copy("/bin/sh", private.path().join("shell")).unwrap();
    let script = private.path().join("script");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let mut start = agent.shell("a", "x", "echo ran as $(id -u)");
    start["argv"][0] = json!(private.path().join("shell"));
    let process = agent.must(start.clone())["process"].clone();
    agent.event(|event| event["process"] == process);
    assert_eq!(agent.read("x"), "ran as 65534\n");
    start["argv"][0] = json!(script);
    let (kind, message) = agent.must_not(start);
    assert!(kind == "invalid" && message.contains("pass through its folders"), "{message}");
}

#[test]
fn orphans_are_reaped() {
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    agent.run("a", "x", "for i in 1 2 3; do (sleep 0.05 &) ; done");
    let states = "sleep 0.2; cat /proc/[0-9]*/stat | awk '$3 == \"Z\"' | wc -l";
    assert_eq!(agent.run("a", "y", states).trim(), "0");
}

#[test]
fn fifty_processes_that_ignore_sigterm_and_their_daemons_end_with_the_fabric() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b"]);
        let marker = format!("6666.{}", agent.child.id());
        // Each process ignores SIGTERM, and so does its daemon in another session.
        let script = format!("trap '' TERM; setsid sleep {marker} & while :; do sleep {marker}; done");
        let processes: Vec<_> = (0..50)
            .map(|number| {
                let node = if number % 2 == 0 { "a" } else { "b" };
                agent.must(agent.shell(node, &format!("deaf{number}"), &script))["process"].clone()
            })
            .collect();
        // A shell, its own sleep and the daemon's sleep.
        eventually(PATIENCE, "all run", || processes_with(&marker).len() == 150);
        let began = Instant::now();
        let stopped = agent.must(json!({"do": "stop", "process": processes[0], "grace_ns": SECOND_NS / 5}));
        assert_eq!(stopped["signal"], 9);
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        // A process that left the group lives until the node ends.
        assert_eq!(processes_with(&marker).len(), 148);
        let began = Instant::now();
        agent.must(json!({"do": "down"}));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert_eq!(processes_with(&marker), Vec::<String>::new());
    });
}
