//! Slower clocks of nodes: requested with `up`, the same in all nodes, reported with `read`. And wrong ones of a node.
#![cfg(target_arch = "x86_64")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use crate::driver::{command, eventually, fabric, for_each_user, Agent, User};

fn dilated(user: User, dilation: Value) -> (Agent, Value) {
    let mut agent = Agent::start(user);
    let up = agent.must(json!({"do": "up", "fabric": fabric(&["a", "b"]), "dilation": dilation}));
    (agent, up)
}

fn report(agent: &mut Agent) -> Value {
    agent.must(json!({"do": "read"}))["nodes"][0]["dilation"].clone()
}

/// The process id of the init of the first node.
fn pid_of(up: &Value) -> String {
    up["nodes"][0]["pid"].to_string()
}

fn seconds(text: &str) -> f64 {
    text.trim().parse().unwrap_or_else(|_| panic!("{text:?}"))
}

#[test]
fn programs_sleep_longer_and_do_not_notice() {
    for_each_user(|user| {
        let (mut agent, _) = dilated(user, json!({"factor": 5}));
        let began = Instant::now();
        let script = "a=$(date +%s%N); sleep 0.1; b=$(date +%s%N); echo $((b - a))e-9";
        let perceived = seconds(&agent.run("a", "sleep", script));
        assert!((0.1..0.2).contains(&perceived), "{perceived}");
        assert!(began.elapsed() >= Duration::from_millis(500));
        let report = report(&mut agent);
        // sh, date, sleep, date.
        assert_eq!(report["execs"], 4, "{report}");
        for none in ["killed", "refused", "undilated", "counters"] {
            assert_eq!(report[none], json!([]), "{report}");
        }
    });
}

#[test]
fn no_page_of_the_image_is_both_writable_and_executable() {
    let (mut agent, _) = dilated(User::Own, json!({"factor": 5}));
    let maps = agent.run("a", "maps", "grep ^2000000 /proc/self/maps");
    let rights: Vec<_> = maps.lines().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(rights, ["rw-p", "r-xp"], "{maps}");
}

#[test]
fn all_nodes_have_the_clock_of_the_anchor() {
    let anchor = json!({"monotonic_ns": 1_000_000_000_u64, "realtime_ns": 1_000_000_000_000_000_000_u64});
    let (mut agent, up) = dilated(User::Own, json!({"factor": 100, "anchor": anchor}));
    assert_eq!((&up["dilation"]["factor"], &up["dilation"]["anchor"]), (&json!(100), &anchor));
    let uptime = |agent: &mut Agent| seconds(agent.run("a", "uptime", "cut -d' ' -f1 /proc/uptime").as_str());
    let [first, second] = ["a", "b"].map(|node| seconds(&agent.run(node, node, "date +%s.%N")));
    // /proc has real times; perceived ones began at the anchor.
    let expected = 1e9 + (uptime(&mut agent) - 1.0) / 100.0;
    assert!(first <= second && second - first < 0.1, "{first}, {second}");
    assert!((expected - second).abs() < 0.2, "{second} instead of {expected}");
}

#[test]
fn without_a_request_nothing_is_slower() {
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    assert!(agent.run("a", "status", "cat /proc/self/status").contains("Seccomp:\t0"));
    assert_eq!(report(&mut agent), Value::Null);
}

#[test]
fn the_emulator_sleeps_where_cpus_are_few() {
    let (_agent, up) = dilated(User::Own, json!({"factor": 10}));
    let mut spins = fabric(&["a", "b"]);
    spins["wait"] = json!("spin");
    let mut agent = Agent::start(User::Own);
    let asked = agent.must(json!({"do": "up", "fabric": spins, "dilation": {"factor": 10}}));
    let cpus = std::thread::available_parallelism().unwrap().get();
    assert_eq!(up["wait_mode"], if cpus < 8 { "sleep" } else { "spin" });
    assert_eq!(asked["wait_mode"], if cpus == 1 { "sleep" } else { "spin" });
}

#[test]
fn a_factor_that_makes_no_sense_is_refused() {
    let mut agent = Agent::start(User::Own);
    for factor in [0, 1001] {
        let request = json!({"do": "up", "fabric": fabric(&["a"]), "dilation": {"factor": factor}});
        let (kind, message) = agent.must_not(request);
        assert!(kind == "invalid" && message.contains(&factor.to_string()), "{kind}: {message}");
    }
    agent.must(json!({"do": "up", "fabric": fabric(&["a"]), "dilation": {"factor": 1}}));
}

#[test]
fn running_processes_are_counted_and_strangers_are_named() {
    let (mut agent, up) = dilated(User::Own, json!({"factor": 2}));
    agent.must(agent.shell("a", "three", "sleep 60 & sleep 60 & echo there; wait"));
    agent.wait_for_output("three", "there");
    eventually(Duration::from_secs(10), "the shell and two sleeps are dilated", || {
        report(&mut agent)["processes"] == 3
    });
    // Not with `enter`, which would slow it.
    let words = ["--target", &pid_of(&up), "--pid", "sleep", "60"];
    let mut stranger = Command::new("nsenter").args(words).spawn().unwrap();
    eventually(Duration::from_secs(10), "a program from outside is named", || {
        report(&mut agent)["undilated"][0]["program"]
            .as_str()
            .is_some_and(|path| path.contains("sleep") || path.contains("coreutils"))
    });
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn programs_that_enter_a_node_sleep_longer_and_do_not_notice() {
    for_each_user(|user| {
        let (mut agent, up) = dilated(user, json!({"factor": 5}));
        let began = Instant::now();
        let script = "a=$(date +%s%N); sleep 0.1; b=$(date +%s%N); echo $((b - a))e-9; exit 7";
        let output = command(user, &["enter", &pid_of(&up), "--", "sh", "-c", script]).output().unwrap();
        assert_eq!(output.status.code(), Some(7));
        let perceived = seconds(&String::from_utf8_lossy(&output.stdout));
        assert!((0.1..0.2).contains(&perceived), "{perceived}");
        assert!(began.elapsed() >= Duration::from_millis(500));
        let report = report(&mut agent);
        // sh, date, sleep, date.
        assert_eq!(report["execs"], 4, "{report}");
        assert_eq!(report["undilated"], json!([]), "{report}");
    });
}

/// A program that ends at once, loaded at an address.
fn loaded_at(address: u64, path: &Path) {
    // ELF64 of x86-64, executable, version 1; the entry, where program headers are, none of sections, flags; sizes.
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    for word in [address + 120, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(b"\0\0\0\0\x40\0\x38\0\x01\0\0\0\0\0\0\0");
    // One segment to load, which can be read and executed: place in the file, addresses, sizes, alignment.
    file.extend(b"\x01\0\0\0\x05\0\0\0");
    for word in [0, address, address, 129, 129, 4096] {
        file.extend(word.to_le_bytes());
    }
    // xor edi, edi; mov eax, 60; syscall.
    file.extend(b"\x31\xff\xb8\x3c\0\0\0\x0f\x05");
    std::fs::write(path, file).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn a_program_that_enters_and_cannot_be_slowed_is_named_with_the_reason() {
    let (mut agent, up) = dilated(User::Own, json!({"factor": 2}));
    let [elsewhere, taken] = ["elsewhere", "taken"].map(|name| agent.folder.path().join(name));
    loaded_at(0x40_0000, &elsewhere);
    loaded_at(0x2000_0000_0000, &taken);
    let enter = |script: String| {
        let output =
            command(User::Own, &["enter", &pid_of(&up), "--", "sh", "-c", &script]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(enter(elsewhere.display().to_string()), (Some(0), String::new()));
    let why = "its clock cannot be slowed down, so it was ended: the address of the image is taken";
    let (status, said) = enter(format!("exec {}", taken.display()));
    assert_eq!(status, Some(128 + 9));
    assert!(said.contains(&format!("crosswind-agent enter: {}: {why}", taken.display())), "{said}");
    // Also when the command itself goes on.
    let (status, said) = enter(format!("{}; exit 7", taken.display()));
    assert!(status == Some(7) && said.contains(why), "{said}");
    assert_eq!(report(&mut agent)["killed"][0]["count"], 2);
}

#[test]
fn programs_of_a_node_cannot_disturb_what_slows_them() {
    let (mut agent, _) = dilated(User::Own, json!({"factor": 2}));
    let script = r#"python3 -c '
import os, socket
door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
door.connect("\0crosswind-clocks")
for text in (b"", b"x", b"\"Report\"", b"{\"Strike\": 9}", b"\"Listen\""):
    door.send(text)
    socket.send_fds(door, [text], [0, 1])
    socket.send_fds(door, [text], [os.memfd_create("x")])
print("sent")
'"#;
    assert_eq!(agent.run("a", "rude", script), "sent\n");
    assert_eq!(agent.run("a", "after", "sleep 0.01; echo still there"), "still there\n");
    assert_eq!(report(&mut agent)["undilated"], json!([]));
}

#[test]
fn a_program_that_does_not_exist_is_refused_as_ever() {
    let (mut agent, _) = dilated(User::Own, json!({"factor": 2}));
    let mut start = agent.shell("a", "x", "true");
    start["argv"] = json!(["/nowhere/program"]);
    assert!(agent.must_not(start).1.contains("does not exist"));
    // A file that is no program is found out by the exec itself.
    let path = agent.folder.path().join("empty");
    std::fs::write(&path, "neither a script nor a program").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let mut start = agent.shell("a", "x", "true");
    start["argv"] = json!([path]);
    assert!(agent.must_not(start).1.contains("Exec format error"));
    assert_eq!(agent.run("a", "after", "echo still there"), "still there\n");
}

#[test]
fn what_slows_the_clocks_survives_a_pause_and_a_kill() {
    for_each_user(|user| {
        let (mut agent, _) = dilated(user, json!({"factor": 3}));
        let process = agent.must(agent.shell("a", "x", "echo there; sleep 60 & wait"))["process"].clone();
        agent.wait_for_output("x", "there");
        agent.must(json!({"do": "pause", "nodes": ["a"]}));
        assert_eq!(report(&mut agent)["processes"], 2);
        agent.must(json!({"do": "kill", "nodes": ["a"]}));
        agent.event(|event| event["process"] == process && event["signal"] == 9);
        assert_eq!(report(&mut agent)["processes"], 0);
        // The caller's clock is the perceived one.
        let perceived_ns = |text: &str| (seconds(text) * 1e9) as u64;
        let uptime = "python3 -c 'import time; print(time.monotonic())'";
        let at_ns = perceived_ns(&agent.run("a", "before", uptime)) + 200_000_000;
        let done = agent.must(json!({"do": "resume", "nodes": ["a", "b"], "at_ns": at_ns}));
        let late_ns = done["done_ns"].as_u64().unwrap() - at_ns;
        assert!(late_ns < 100_000_000, "{late_ns}");
        assert!(perceived_ns(&agent.run("a", "after", uptime)) > at_ns);
    });
}

/// Dates in two nodes, of which the first may be wrong: how far it is ahead, and how long both took, in seconds.
fn ahead(agent: &mut Agent, name: &str) -> (f64, f64) {
    let began = Instant::now();
    let [first, second] =
        ["a", "b"].map(|node| seconds(&agent.run(node, &format!("{name}-{node}"), "date +%s.%N")));
    (first - second, began.elapsed().as_secs_f64())
}

#[test]
fn a_node_has_a_wrong_clock_until_it_has_the_right_one_again() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b"]);
        let clock = json!({"offset_ns": 5_000_000_000_u64, "rate_ppb": 1_100_000_000});
        agent.must(json!({"do": "clock", "nodes": ["a"], "clock": clock}));
        let began = Instant::now();
        let (off, took) = ahead(&mut agent, "off");
        // It gains a tenth of what passed since, and the other date was taken later.
        let gained = 0.1 * began.elapsed().as_secs_f64();
        assert!((5.0 - took..5.0 + gained).contains(&off), "{off} s ahead, {took} s");
        let script = "a=$(date +%s%N); sleep 1; b=$(date +%s%N); echo $((b - a))e-9";
        let began = Instant::now();
        let perceived = seconds(&agent.run("a", "sleep", script));
        let real = began.elapsed().as_secs_f64();
        assert!(perceived >= 1.0 && real >= 1.0 / 1.1 && perceived <= 1.1 * real, "{perceived}, {real}");
        let nodes = agent.must(json!({"do": "read"}))["nodes"].clone();
        assert_eq!(nodes[1]["dilation"], Value::Null, "{nodes}");
        for none in ["killed", "refused", "undilated", "counters"] {
            assert_eq!(nodes[0]["dilation"][none], json!([]), "{nodes}");
        }
        agent.must(json!({"do": "kill", "nodes": ["a", "b"]}));
        agent.must(json!({"do": "clock", "nodes": ["a", "b"]}));
        let (off, took) = ahead(&mut agent, "right");
        assert!(off <= 0.0 && -off <= took, "{off} s ahead, {took} s");
        assert_eq!(agent.must(json!({"do": "read"}))["nodes"][1]["dilation"], Value::Null);
    });
}

#[test]
fn a_wrong_clock_is_off_from_the_slower_one_that_the_others_have_at_the_instant_that_is_named() {
    let (mut agent, _) = dilated(User::Own, json!({"factor": 10}));
    let uptime = "python3 -c 'import time; print(time.monotonic())'";
    let at_s = seconds(&agent.run("a", "before", uptime)) - 100.0;
    let clock = json!({"offset_ns": -1_000_000_000, "rate_ppb": 1_010_000_000});
    let at_ns = (at_s * 1e9) as u64;
    agent.must(json!({"do": "clock", "nodes": ["a"], "clock": clock, "at_ns": at_ns}));
    // It gained 1 % in the 100 s since the instant, as much as it was behind: both dates are the same.
    let (off, took) = ahead(&mut agent, "off");
    assert!(off.abs() < 1e-3 + took / 10.0, "{off} s ahead, {took} s");
    // The clock that counts from a start is not off, and gains likewise.
    let [first, second] = ["a", "b"].map(|node| seconds(&agent.run(node, &format!("up-{node}"), uptime)));
    assert!((first - second - 1.0).abs() < 0.2, "{first}, {second}");
}

#[test]
fn a_clock_that_makes_no_sense_is_refused() {
    let mut agent = Agent::with_nodes(User::Own, &["a"]);
    for (request, words) in [
        (json!({"do": "clock", "nodes": ["a"], "clock": {"rate_ppb": 2_000_000_001}}), "2000000001"),
        (json!({"do": "clock", "nodes": ["a"], "clock": {"offset_ns": i64::MIN}}), "ten years"),
        (json!({"do": "clock", "nodes": ["a"], "clock": {"rate_ppb": 0}}), "nonzero"),
        (json!({"do": "clock", "nodes": ["c"], "clock": {}}), "nodes are a"),
        (json!({"do": "clock", "nodes": ["a"], "clock": {}, "at_ns": u64::MAX}), "within 10 s"),
    ] {
        let (kind, message) = agent.must_not(request);
        assert!(kind == "invalid" && message.contains(words), "{kind}: {message}");
    }
}
