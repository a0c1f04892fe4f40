//! Memory and CPU time of nodes: measured everywhere, limited by control groups where these are available.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use serde_json::{json, Value};

use crate::driver::{command, eventually, fabric, Agent, User, PATIENCE};

const MIB: u64 = 1 << 20;

/// An agent with two nodes: `a` has limits, `b` has none.
fn limited(user: User, limits: Value) -> Agent {
    let mut agent = Agent::start(user);
    agent.must(json!({"do": "up", "fabric": fabric(&["a", "b"]), "limits": {"a": limits}}));
    agent
}

fn node(measurement: &Value, name: &str) -> Value {
    let nodes = measurement["nodes"].as_array().unwrap();
    nodes.iter().find(|node| node["node"] == name).unwrap().clone()
}

/// Control groups of an agent, in every tree.
pub fn groups_of(agent: i32) -> Vec<PathBuf> {
    fn walk(folder: &Path, prefix: &str, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.is_symlink() {
                if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)) {
                    found.push(path.clone());
                }
                walk(&path, prefix, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new("/sys/fs/cgroup"), &format!("crosswind-{agent}-"), &mut found);
    found
}

/// Whether the kernel enforces both limits for the user who runs the tests; prints it where it does not.
fn kept_by_groups(agent: &mut Agent) -> bool {
    let read = agent.must(json!({"do": "read"}));
    let both = ["memory_limit", "cpus_limit"].map(|limit| node(&read, "a")[limit]["kept_by"].clone());
    let kept = both.iter().all(|by| by != "checks");
    if !kept {
        println!("SKIPPED: no writable control groups here (memory, cpus: {both:?})");
    }
    kept
}

#[test]
fn usage_of_nodes_is_measured_for_every_user() {
    crate::driver::for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b"]);
        // `tail` holds the whole line in memory until its input ends, for at least a second. Two of them run in
        // sequence, so the peak is that of one.
        agent.run(
            "a",
            "x",
            "(head -c 64M /dev/zero; sleep 1) | tail | wc -c; (head -c 64M /dev/zero; sleep 1) | tail | wc -c",
        );
        agent.must(json!({"do": "measure"}));
        agent.run("a", "y", "timeout 0.6 sh -c 'while :; do :; done'; true");
        let read = agent.must(json!({"do": "read"}));
        let (busy, idle) = (node(&read, "a"), node(&read, "b"));
        let peak = busy["memory_peak_bytes"].as_u64().unwrap();
        assert!((64 * MIB..100 * MIB).contains(&peak), "{busy}");
        // With other load on the machine a spinning process gets less than one CPU.
        let used = busy["cpu_time_ns"].as_u64().unwrap();
        assert!((100_000_000..700_000_000).contains(&used), "{busy}");
        assert!(idle["cpu_time_ns"].as_u64().unwrap() <= 20_000_000, "{idle}");
        assert_eq!((&busy["memory_limit"], &busy["cpus_limit"]), (&Value::Null, &Value::Null));
    });
}

#[test]
fn a_node_beyond_its_memory_limit_loses_processes() {
    let mut agent = limited(User::Own, json!({"memory_bytes": 32 * MIB, "cpus_ppm": 1_000_000}));
    if !kept_by_groups(&mut agent) {
        return;
    }
    agent.run("a", "x", "head -c 4M /dev/zero | tail -c 1 | wc -c");
    assert_eq!(node(&agent.must(json!({"do": "read"})), "a")["memory_limit"]["kills"], 0);
    agent.run("a", "y", "head -c 100M /dev/zero | tail | wc -c");
    agent.run("b", "z", "test $(head -c 100M /dev/zero | tail | wc -c) = 104857600");
    let read = agent.must(json!({"do": "read"}));
    assert_eq!(node(&read, "a")["memory_limit"]["kills"], 1, "{}", node(&read, "a"));
    assert!(node(&read, "a")["memory_peak_bytes"].as_u64().unwrap() <= 32 * MIB);
}

#[test]
fn a_node_gets_no_more_cpu_time_than_its_limit() {
    let mut agent = limited(User::Own, json!({"memory_bytes": 64 * MIB, "cpus_ppm": 200_000}));
    if !kept_by_groups(&mut agent) {
        return;
    }
    agent.must(json!({"do": "measure"}));
    let began = Instant::now();
    agent.run("a", "x", "for i in 1 2; do timeout 1.5 sh -c 'while :; do :; done' & done; wait");
    let elapsed_ns = began.elapsed().as_nanos() as u64;
    let used = node(&agent.must(json!({"do": "read"})), "a");
    // A fifth of a CPU, plus one period of 100 ms at either end.
    let allowed = (elapsed_ns + 200_000_000) / 5;
    assert!(used["cpu_time_ns"].as_u64().unwrap() <= allowed, "{used} in {elapsed_ns} ns");
    assert!(used["cpus_limit"]["throttled_ns"].as_u64().unwrap() > 0, "{used}");
}

#[test]
fn without_groups_the_reply_asks_the_caller_to_check() {
    crate::driver::for_each_user(|user| {
        let mut agent = limited(user, json!({"memory_bytes": 32 * MIB}));
        let limit = node(&agent.must(json!({"do": "read"})), "a")["memory_limit"].clone();
        if user == User::Own && limit["kept_by"] != "checks" {
            return;
        }
        assert_eq!(limit, json!({"bytes": 32 * MIB, "kept_by": "checks", "kills": 0}));
        agent.run("a", "x", "(head -c 64M /dev/zero; sleep 1) | tail | wc -c");
        let used = node(&agent.must(json!({"do": "read"})), "a");
        assert!(used["memory_peak_bytes"].as_u64().unwrap() > 64 * MIB, "{used}");
    });
}

#[test]
fn a_command_that_enters_a_node_is_under_its_limits() {
    let mut agent = limited(User::Own, json!({"memory_bytes": 64 * MIB, "cpus_ppm": 500_000}));
    if !kept_by_groups(&mut agent) {
        return;
    }
    let groups = agent.run("a", "x", "cat /proc/self/cgroup");
    let init = agent
        .must(json!({"do": "start", "node": "a", "name": "y", "argv": ["sleep", "30"], "cwd": "/tmp",
                                 "stdout": "/dev/null", "stderr": "/dev/null"}));
    // The process's parent is the init.
    let stat = fs::read_to_string(format!("/proc/{}/stat", init["pid"])).unwrap();
    let parent = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().to_owned();
    let entered = command(User::Own, &["enter", &parent, "--", "cat", "/proc/self/cgroup"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&entered.stdout), groups);
    assert!(groups.contains("/node-a"), "{groups}");
}

#[test]
fn groups_are_removed_with_the_fabric_and_after_a_killed_agent() {
    let mut agent = limited(User::Own, json!({"memory_bytes": 64 * MIB, "cpus_ppm": 500_000}));
    if !kept_by_groups(&mut agent) {
        return;
    }
    let pid = agent.pid();
    assert!(!groups_of(pid.as_raw()).is_empty());
    agent.must(agent.shell("a", "x", "sleep 600"));
    agent.must(json!({"do": "down"}));
    assert_eq!(groups_of(pid.as_raw()), Vec::<PathBuf>::new());
    agent.must(json!({"do": "up", "fabric": fabric(&["a"]), "limits": {"a": {"cpus_ppm": 500_000}}}));
    agent.must(agent.shell("a", "x", "sleep 600"));
    kill(pid, Signal::SIGKILL).unwrap();
    eventually(PATIENCE, "the groups of a killed agent are removed", || groups_of(pid.as_raw()).is_empty());
    assert!(agent.all_gone_within(PATIENCE));
}

#[test]
fn groups_left_when_the_sweeper_was_killed_too_are_swept_by_the_next_agent() {
    let mut agent = limited(User::Own, json!({"memory_bytes": 64 * MIB, "cpus_ppm": 500_000}));
    if !kept_by_groups(&mut agent) {
        return;
    }
    let pid = agent.pid();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let sweeper = children
        .split_whitespace()
        .find(|child| {
            let line = fs::read(format!("/proc/{child}/cmdline")).unwrap();
            line.split(|&byte| byte == 0).any(|word| word == b"sweep")
        })
        .expect("a fabric with groups has a sweeper");
    kill(Pid::from_raw(sweeper.parse().unwrap()), Signal::SIGKILL).unwrap();
    kill(pid, Signal::SIGKILL).unwrap();
    assert!(agent.all_gone_within(PATIENCE));
    let _ = agent.child.wait();
    // Another test's agent may have swept already: each does before it makes its own groups.
    let swept = command(User::Own, &["sweep"]).stdin(Stdio::null()).output().unwrap();
    assert!(swept.status.success(), "{}", String::from_utf8_lossy(&swept.stderr));
    assert_eq!(groups_of(pid.as_raw()), Vec::<PathBuf>::new());
}

#[test]
fn impossible_limits_are_refused() {
    let mut agent = Agent::start(User::Own);
    let up = |limits: Value| json!({"do": "up", "fabric": fabric(&["a"]), "limits": limits});
    for (limits, expected) in [
        (json!({"z": {"cpus_ppm": 500_000}}), "no node is called \"z\""),
        (json!({"a": {"memory_bytes": 0}}), "allow at least"),
        (json!({"a": {"cpus_ppm": 1}}), "divides no finer"),
        (json!({"a": {"cpu": 1}}), "unknown field"),
    ] {
        let (kind, message) = agent.must_not(up(limits));
        assert!(kind == "invalid" && message.contains(expected), "{kind}: {message}");
    }
    agent.must(up(json!({})));
}

#[test]
fn limits_of_a_node_change_while_it_is_up_and_change_back() {
    let mut agent = limited(User::Own, json!({"memory_bytes": 256 * MIB, "changing": true}));
    if !kept_by_groups(&mut agent) {
        return;
    }
    let groups = groups_of(agent.child.id() as i32);
    // Of the two versions of control groups, whichever has the file.
    let shows = |files: [&str; 2]| {
        let read = |file: &&str| {
            groups.iter().find_map(|group| fs::read_to_string(group.join("node-a").join(file)).ok())
        };
        files.iter().find_map(read).unwrap().trim().to_owned()
    };
    let limits = || (shows(["cpu.cfs_quota_us", "cpu.max"]), shows(["memory.limit_in_bytes", "memory.max"]));
    let own = limits();
    assert!(own.0.starts_with("-1") || own.0.starts_with("max"), "{own:?}");
    assert_eq!(own.1, (256 * MIB).to_string());
    agent.must(
        json!({"do": "limit", "nodes": ["a"], "limits": {"cpus_ppm": 100_000, "memory_bytes": 64 * MIB}}),
    );
    let squeezed = limits();
    assert!(squeezed.0.starts_with("10000"), "{squeezed:?}");
    assert_eq!(squeezed.1, (64 * MIB).to_string());
    agent.must(json!({"do": "measure"}));
    agent.run("a", "spins", "timeout 1 sh -c 'while :; do :; done'; true");
    let used = node(&agent.must(json!({"do": "read"})), "a")["cpu_time_ns"].as_u64().unwrap();
    assert!(used < 250_000_000, "{used} ns of CPU time in a second at 0.1 CPUs");
    agent.must(json!({"do": "limit", "nodes": ["a"]}));
    assert_eq!(limits(), own);
    let (kind, message) =
        agent.must_not(json!({"do": "limit", "nodes": ["b"], "limits": {"cpus_ppm": 100_000}}));
    assert!(
        kind == "preflight" && message.contains("limit b: cpus: the node has no control group"),
        "{message}"
    );
    let (_, message) = agent.must_not(json!({"do": "limit", "nodes": ["a"], "limits": {"cpus_ppm": 1}}));
    assert!(message.contains("cpus_ppm 1"), "{message}");
}
