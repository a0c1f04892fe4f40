//! Processes with their own root file system.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{json, Value};

use crate::driver::{for_each_user, Agent, User};

/// A root with a tool of its own; the host's programs are visible in it but cannot be changed.
fn make_root(agent: &Agent) -> Value {
    let folder = agent.folder.path().join("root");
    let mut binds = vec![json!({"from": "/proc", "to": folder.join("proc")})];
    fs::create_dir_all(folder.join("proc")).unwrap();
    for name in ["usr", "bin", "lib", "lib64"] {
        if Path::new("/").join(name).is_dir() {
            fs::create_dir(folder.join(name)).unwrap();
            binds.push(json!({"from": format!("/{name}"), "to": folder.join(name), "read_only": true}));
        }
    }
    let tool = folder.join("own/tool");
    fs::create_dir(folder.join("own")).unwrap();
    fs::write(&tool, "#!/bin/sh\necho the tool in $(pwd)\n").unwrap();
    fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(folder.join("own"), PermissionsExt::from_mode(0o777)).unwrap();
    json!({"folder": folder, "binds": binds})
}

/// A `start` request that runs `argv` in the root.
fn within(agent: &Agent, root: &Value, name: &str, argv: Value) -> Value {
    let mut start = agent.shell("a", name, "");
    start["argv"] = argv;
    start["cwd"] = json!("/own");
    start["env"] = json!({"PATH": "/own:/usr/bin:/bin"});
    start["root"] = root.clone();
    start
}

fn run(agent: &mut Agent, root: &Value, name: &str, argv: Value) -> (Value, String) {
    let start = within(agent, root, name, argv);
    let process = agent.must(start)["process"].clone();
    let event = agent.event(|event| event["process"] == process);
    (event["code"].clone(), agent.read(name))
}

#[test]
fn a_process_sees_only_its_root_and_its_binds() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let root = make_root(&agent);
        let output = run(&mut agent, &root, "tool", json!(["tool"]));
        assert_eq!(output, (json!(0), "the tool in /own\n".to_owned()), "found in the root's PATH");
        let script = json!(["sh", "-c", "ls / && touch mine && cat /proc/self/mountinfo"]);
        let (code, seen) = run(&mut agent, &root, "ls", script);
        assert_eq!(code, 0, "{seen}");
        let (names, mounts): (Vec<_>, Vec<_>) = seen.lines().partition(|line| !line.contains(' '));
        assert!(names.contains(&"own") && !names.contains(&"etc"), "{names:?}");
        // Every remaining mount lies in the root: one for each bind and one for the root itself, or more where the
        // host has mounts below a bound folder.
        let points: Vec<_> = mounts.iter().map(|line| line.split(' ').nth(4).unwrap()).collect();
        assert!(points.iter().all(|point| *point == "/" || !point.starts_with("/tmp")), "{points:?}");
        assert!(agent.folder.path().join("root/own/mine").exists(), "a written file is in the folder");
    });
}

#[test]
fn a_read_only_bind_cannot_be_changed() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let mut root = make_root(&agent);
        let shared = agent.folder.path().join("shared");
        let seen = agent.folder.path().join("root/shared");
        for folder in [&shared, &seen] {
            fs::create_dir(folder).unwrap();
        }
        fs::set_permissions(&shared, PermissionsExt::from_mode(0o777)).unwrap();
        let bind = json!({"from": shared, "to": seen});
        root["binds"].as_array_mut().unwrap().push(bind);
        let script = json!(["sh", "-c", "touch /shared/x"]);
        assert_eq!(run(&mut agent, &root, "writable", script.clone()).0, 0);
        root["binds"].as_array_mut().unwrap().last_mut().unwrap()["read_only"] = json!(true);
        let (code, output) = run(&mut agent, &root, "read-only", script);
        assert_ne!(code, 0);
        assert!(output.contains("Read-only file system"), "{output}");
    });
}

#[test]
fn a_process_with_a_root_may_have_a_host_name_of_its_own() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let mut root = make_root(&agent);
        let read = json!(["cat", "/proc/sys/kernel/hostname"]);
        root["hostname"] = json!("the.store");
        assert_eq!(run(&mut agent, &root, "named", read.clone()), (json!(0), "the.store\n".to_owned()));
        let outside = agent.run("a", "outside", "cat /proc/sys/kernel/hostname");
        assert_eq!(outside, "a\n", "the node has its own");
        root["hostname"] = json!("x".repeat(65));
        let start = within(&agent, &root, "long", read);
        let (kind, said) = agent.must_not(start);
        assert!(kind == "invalid" && said.contains("it has 64 bytes at most"), "{said}");
    });
}

#[test]
fn a_root_is_the_process_s_own() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a"]);
        let root = make_root(&agent);
        let waiting = within(&agent, &root, "waiting", json!(["sleep", "100"]));
        let process = agent.must(waiting)["process"].clone();
        let outside = agent.run("a", "outside", "cat /proc/self/mountinfo; ls -d /etc");
        assert!(!outside.contains("/root/usr") && outside.contains("/etc"), "{outside}");
        agent.must(json!({"do": "stop", "process": process, "grace_ns": 1_000_000_000u64}));
    });
}

#[test]
fn a_root_that_cannot_be_entered_is_refused_with_the_reason() {
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    let root = make_root(&agent);
    let folder = agent.folder.path().join("root");
    let absent = folder.join("absent");
    for (root, message) in [
        (json!({"folder": absent}), "bind it to itself"),
        (json!({"folder": "relative"}), "is relative"),
        (json!({"folder": "/tmp/../etc"}), "has \"..\" in it"),
        (
            json!({"folder": folder, "binds": [{"from": "/usr", "to": "/usr"}]}),
            "binds are visible in the root only",
        ),
        (json!({"folder": folder, "binds": [{"from": "/usr", "to": absent}]}), "both must exist"),
        (json!({"folder": folder, "user": 0}), "user"),
        (json!({"folder": folder}), "program sh: not in PATH"),
    ] {
        let start = within(&agent, &root, "x", json!(["sh"]));
        let (kind, output) = agent.must_not(start);
        assert_eq!(kind, "invalid");
        assert!(output.contains(message), "{output}");
    }
    let start = within(&agent, &root, "x", json!(["nothing"]));
    assert!(agent.must_not(start).1.contains("program nothing: not in PATH=/own:/usr/bin:/bin"));
}
