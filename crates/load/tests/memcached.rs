//! The ETC mix against a real memcached, where there is one on PATH.

#[allow(dead_code)] // every test file uses a part of it
mod common;

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{load, Folder, Run, Running};

const SOON: Duration = Duration::from_secs(20);

/// A memcached with `memory_mib` of memory for items, on a free port; None where no memcached can be started.
fn memcached(memory_mib: &str) -> Option<(Running, String)> {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let child = Command::new("memcached")
        .args([
            "-l",
            "127.0.0.1",
            "-p",
            &free.port().to_string(),
            "-U",
            "0",
            "-m",
            memory_mib,
            "-u",
            "nobody",
        ])
        .stderr(Stdio::null())
        .spawn();
    match child {
        Ok(child) => Some((Running(child), free.to_string())),
        Err(error) => {
            eprintln!("SKIPPED: memcached: {error}; install Debian's package memcached");
            None
        }
    }
}

/// Stores keys as soon as the server listens; returns the exit status and what was said.
fn prepare(server: &str, keys: &str) -> (Option<i32>, String) {
    for _ in 0..200 {
        let done = load(&["memcached-prepare", "--server", server, "--keys", keys]).output().unwrap();
        if done.status.code() != Some(3) {
            return (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("memcached does not listen")
}

#[test]
fn every_key_that_was_prepared_is_found_and_sets_have_their_share() {
    finds_every_key("text");
}

#[test]
fn so_they_are_in_the_binary_protocol() {
    finds_every_key("binary");
}

fn finds_every_key(protocol: &str) {
    let Some((_server, address)) = memcached("64") else { return };
    assert_eq!(prepare(&address, "5000"), (Some(0), String::new()));
    let folder = Folder::new(&format!("memcached-{protocol}"));
    let run = Run::new(&folder);
    let arguments =
        ["memcached", "--server", &address, "--keys", "5000", "--set-share", "0.2", "--connections", "3"];
    let more = ["--protocol", protocol, "--rate", "4000", "--duration", "1", "--seed", "1"];
    let mut client = run.start(&[&arguments[..], &more].concat());
    assert_eq!(client.exit_code(SOON), Some(0));
    let rows = run.rows();
    assert_eq!(rows.len(), 4000);
    assert!(rows.iter().all(|row| row.ok));
    let sets = rows.iter().filter(|row| row.operation == "set").count();
    // 800 of 4000, standard deviation sqrt(4000 * 0.2 * 0.8) = 25; five of them.
    assert!((675..925).contains(&sets), "{sets}");
    assert!(rows.iter().all(|row| ["get", "set"].contains(&row.operation.as_str())));
}

#[test]
fn a_server_without_the_keys_fails_the_run_and_the_first_error_says_why() {
    let Some((_server, address)) = memcached("64") else { return };
    assert_eq!(prepare(&address, "10").0, Some(0));
    for protocol in ["text", "binary"] {
        let folder = Folder::new(&format!("unprepared-{protocol}"));
        let run = Run::new(&folder);
        let arguments = ["memcached", "--server", &address, "--keys", "5000", "--connections", "1"];
        let more = ["--protocol", protocol, "--duration", "0.3", "--seed", "1"];
        let mut client = run.start(&[&arguments[..], &more].concat());
        assert_eq!(client.exit_code(SOON), Some(4));
        let summary = run.summary();
        assert!(summary["first_error"].as_str().unwrap().contains("never stored, or evicted"), "{summary}");
    }
}
