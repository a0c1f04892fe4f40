//! `crosswind-agent enter`: a command in a node.

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::driver::{command, eventually, fabric, for_each_user, processes_with, Agent, User};

fn with_node(user: User) -> (Agent, String) {
    let mut agent = Agent::start(user);
    let up = agent.must(json!({"do": "up", "fabric": fabric(&["a"])}));
    let init = up["nodes"][0]["pid"].to_string();
    (agent, init)
}

#[test]
fn a_command_runs_in_the_node_with_the_callers_streams_and_its_own_status() {
    for_each_user(|user| {
        let (_agent, init) = with_node(user);
        let output = command(
            user,
            &["enter", &init, "--", "sh", "-c", "hostname; pwd; ip -o -4 address show dev eth0; exit 7"],
        )
        .current_dir("/usr")
        .output()
        .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("a\n/usr\n") && text.contains("10.77.0.1/16"), "{text}");
        assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
        let status = |arguments: &[&str]| {
            let all = [&["enter", &init, "--"], arguments].concat();
            // A folder in PATH that the user may not search would turn "not found" into "not permitted", as in any
            // shell.
            command(user, &all).env("PATH", "/usr/bin:/bin").stderr(Stdio::null()).status().unwrap().code()
        };
        assert_eq!(status(&["sh", "-c", "kill -9 $$"]), Some(137));
        assert_eq!(status(&["no-such-program"]), Some(127));
        assert_eq!(status(&["/etc/passwd"]), Some(126));
    });
}

#[test]
fn a_command_does_not_run_on_the_emulators_cpu() {
    for_each_user(|user| {
        let (_agent, init) = with_node(user);
        let allowed = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("Cpus_allowed_list:"));
            line.expect("every kernel has this line").to_owned()
        };
        let enter = ["enter", &init, "--", "cat", "/proc/self/status"];
        let output = command(user, &enter).output().unwrap();
        let of_init = std::fs::read_to_string(format!("/proc/{init}/status")).unwrap();
        assert_eq!(allowed(&String::from_utf8(output.stdout).unwrap()), allowed(&of_init));
    });
}

fn sleeper(user: User, init: &str, marker: &str) -> Child {
    let child = command(user, &["enter", init, "--", "sleep", marker]).spawn().unwrap();
    // The words are also in the command line of the process that entered.
    eventually(Duration::from_secs(5), "the command runs", || processes_with(marker).len() == 2);
    child
}

#[test]
fn the_command_dies_with_the_node() {
    for_each_user(|user| {
        let (mut agent, init) = with_node(user);
        let mut child = sleeper(user, &init, &format!("4444.{init}"));
        agent.must(json!({"do": "down"}));
        assert_eq!(child.wait().unwrap().code(), Some(137));
    });
}

#[test]
fn the_command_dies_with_the_process_that_entered() {
    for_each_user(|user| {
        let (_agent, init) = with_node(user);
        let marker = format!("3333.{init}");
        let mut child = sleeper(user, &init, &marker);
        child.kill().unwrap();
        child.wait().unwrap();
        eventually(Duration::from_secs(1), "the command is gone", || processes_with(&marker).is_empty());
    });
}

#[test]
fn signals_from_other_processes_reach_the_command() {
    let (_agent, init) = with_node(User::Own);
    let mut child = sleeper(User::Own, &init, &format!("2222.{init}"));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), nix::sys::signal::Signal::SIGTERM)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
}

#[test]
fn a_process_that_is_no_node_cannot_be_entered() {
    for (pid, expected) in
        [("abc", "not a number"), (&std::process::id().to_string(), "no node"), ("4194305", "must be up")]
    {
        let output = command(User::Own, &["enter", pid, "--", "true"]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert!(message.contains(expected), "{message}");
    }
}
