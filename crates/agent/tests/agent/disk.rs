//! Disks of nodes that become full and slow, and end with their nodes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::sys::signal::{kill, Signal};
use serde_json::{json, Value};

use crate::driver::{eventually, fabric, is_root, Agent, User, PATIENCE};

const MIB: u64 = 1 << 20;

/// An agent with a node `a` whose folder `data` is on a disk of its own; `None` where this machine cannot.
fn with_disk(limits: Value) -> Option<(Agent, PathBuf)> {
    let mut agent = Agent::start(User::Own);
    let rate = limits["disk_rate"].clone();
    let able = agent.ask(json!({"do": "disks", "rate": rate == true}));
    if let Some(error) = able.get("error") {
        println!("SKIPPED: {error}");
        return None;
    }
    agent.must(json!({"do": "up", "fabric": fabric(&["a", "b"]), "limits": {"a": limits}}));
    let data = agent.folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(data.join("before"), "there").unwrap();
    agent.must(json!({"do": "mount", "node": "a", "folder": data}));
    Some((agent, data))
}

/// The loop devices whose files are, or were, below a folder.
fn devices_of(folder: &Path) -> Vec<String> {
    let blocks = fs::read_dir("/sys/block").unwrap().flatten().map(|entry| entry.path());
    let backed = blocks.filter_map(|path| fs::read_to_string(path.join("loop/backing_file")).ok());
    backed.filter(|file| file.starts_with(&*folder.to_string_lossy())).collect()
}

/// A script that writes `bytes` bytes, and prints the kernel's words when it fails.
fn write(bytes: u64) -> String {
    format!(
        "LC_ALL=C dd if=/dev/zero of=data/new bs=64k count={} conv=fsync 2>&1 | tail -1; rm -f data/new",
        bytes >> 16
    )
}

#[test]
fn a_disk_is_full_from_its_fault_until_it_is_whole_again() {
    let Some((mut agent, data)) = with_disk(json!({"disk": true})) else { return };
    let mode = fs::metadata(&data).unwrap().permissions().mode();
    let seen = agent.run("a", "sees", "cat data/before; echo; ls data; stat -c %a data; echo own > data/own");
    assert_eq!(seen, format!("there\nbefore\n{:o}\n", mode & 0o7777));
    assert!(!data.join("own").exists(), "the disk is the node's alone");
    let full = |said: &str| said.contains("No space left on device") || said.contains("0 bytes");
    assert!(!full(&agent.run("a", "whole", &write(8 * MIB))));
    let done = agent.must(json!({"do": "disk", "nodes": ["a"], "disk": {"free_bytes": 0}}));
    assert!(done["done_ns"].as_u64().is_some());
    let said = agent.run(
        "a",
        "full",
        "LC_ALL=C dd if=/dev/zero of=data/new bs=64k count=1 2>&1; rm data/new; cat data/own; :",
    );
    assert!(said.contains("No space left on device") && said.ends_with("own\n"), "{said}");
    agent.must(json!({"do": "disk", "nodes": ["a"], "disk": {"free_bytes": 4 * MIB}}));
    assert!(!full(&agent.run("a", "some", &write(2 * MIB))));
    let said = agent.run(
        "a",
        "more",
        "LC_ALL=C dd if=/dev/zero of=data/new bs=64k count=128 2>&1; stat -c %s data/new; rm data/new",
    );
    let written: u64 = said.trim().lines().last().unwrap().parse().unwrap();
    assert!(said.contains("No space left") && (3 * MIB..=4 * MIB).contains(&written), "{said}");
    agent.must(json!({"do": "disk", "nodes": ["a"]}));
    assert!(!full(&agent.run("a", "healed", &write(64 * MIB))));
    agent.must(json!({"do": "down"}));
    eventually(PATIENCE, "the device is free", || devices_of(agent.folder.path()).is_empty());
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "what the host has is as it was");
}

#[test]
fn a_disk_is_slow_from_its_fault_until_it_is_whole_again() {
    let Some((mut agent, _)) = with_disk(json!({"disk": true, "disk_rate": true})) else { return };
    let seconds = |agent: &mut Agent, name: &str, script: &str| {
        let began = Instant::now();
        agent.run("a", name, script);
        began.elapsed().as_secs_f64()
    };
    agent.must(json!({"do": "disk", "nodes": ["a"], "disk": {"bytes_per_s": 4 * MIB}}));
    // On a busy machine it may take longer.
    let took = seconds(&mut agent, "slow", &write(8 * MIB));
    assert!(took > 1.7, "8 MiB at 4 MiB/s took {took} s");
    let read = "dd if=data/read of=/dev/null bs=64k iflag=direct";
    let took =
        seconds(&mut agent, "reads", &format!("head -c 4M /dev/zero > data/read; sync data/read; {read}"));
    assert!(took > 1.7, "4 MiB written and 4 MiB read at 4 MiB/s took {took} s");
    agent.must(json!({"do": "disk", "nodes": ["a"]}));
    let took = seconds(&mut agent, "whole", &write(128 * MIB));
    assert!(took < 20.0, "128 MiB took {took} s, as if they were written at 4 MiB/s");
}

#[test]
fn nothing_is_left_of_a_disk_whose_agent_is_killed_while_a_program_waits_for_it() {
    let Some((mut agent, _)) = with_disk(json!({"disk": true, "disk_rate": true})) else { return };
    agent
        .must(json!({"do": "disk", "nodes": ["a"], "disk": {"free_bytes": 256 * MIB, "bytes_per_s": 65536}}));
    agent.must(agent.shell(
        "a",
        "waits",
        "echo begun; dd if=/dev/zero of=data/new bs=1M count=64 conv=fsync",
    ));
    agent.wait_for_output("waits", "begun");
    // Most of it waits for the disk by then: it would take a quarter of an hour.
    std::thread::sleep(std::time::Duration::from_secs(1));
    kill(agent.pid(), Signal::SIGKILL).unwrap();
    assert!(agent.all_gone_within(PATIENCE));
    eventually(PATIENCE, "the device is free", || devices_of(agent.folder.path()).is_empty());
}

#[test]
fn what_is_no_disk_is_refused() {
    crate::driver::for_each_user(|user| {
        let mut agent = Agent::start(user);
        if user == User::Nobody || !is_root() {
            let (kind, message) = agent.must_not(json!({"do": "disks"}));
            assert!(kind == "preflight" && message.contains("only root"), "{message}");
            return;
        }
        agent.must(json!({"do": "up", "fabric": fabric(&["a"])}));
        let folder = agent.folder.path().to_owned();
        for (request, expected) in [
            (json!({"do": "mount", "node": "a", "folder": folder}), "ask for `disk` in `up`"),
            (
                json!({"do": "mount", "node": "a", "folder": folder.join("none")}),
                "the node has no data there",
            ),
            (json!({"do": "mount", "node": "a", "folder": "data"}), "write it from /"),
            (json!({"do": "disk", "nodes": ["a"]}), "request `mount` first"),
            (json!({"do": "disk", "nodes": ["a"], "disk": {"bytes_per_s": 1}}), "below 4096"),
        ] {
            let (_, message) = agent.must_not(request);
            assert!(message.contains(expected), "{message}");
        }
    });
    let Some((mut agent, data)) = with_disk(json!({"disk": true})) else { return };
    let (_, message) = agent.must_not(json!({"do": "mount", "node": "a", "folder": data}));
    assert!(message.contains("has a disk already"), "{message}");
    let more = json!({"do": "disk", "nodes": ["a"], "disk": {"free_bytes": 1u64 << 40}});
    let (_, message) = agent.must_not(more);
    assert!(message.contains("disk a: free: 1099511627776 bytes are more than the"), "{message}");
    let (_, message) = agent.must_not(json!({"do": "disk", "nodes": ["a"], "disk": {"bytes_per_s": MIB}}));
    assert!(message.contains("disk_rate"), "{message}");
}
