//! The first timeouts of connections between nodes whose clocks are slower.
#![cfg(target_arch = "x86_64")]

use std::process::Output;

use nix::sys::signal::{kill, Signal};
use serde_json::{json, Value};

use crate::driver::{command, eventually, fabric, for_each_user, Agent, User, PATIENCE};
use crate::limits::groups_of;

fn dilated(user: User, factor: u64) -> (Agent, Value) {
    let mut agent = Agent::start(user);
    let up = agent.must(json!({"do": "up", "fabric": fabric(&["a", "b"]), "dilation": {"factor": factor}}));
    (agent, up)
}

/// Whether this machine allows longer first timeouts; prints it where it does not.
fn handshakes(up: &Value) -> bool {
    let slowed = up["dilation"]["tcp"].as_array().unwrap().contains(&json!("handshake"));
    if !slowed {
        println!("SKIPPED: no control group of version 2 here for a program of the kernel");
    }
    slowed
}

/// The timeout that a socket has while nobody answers its SYN, in microseconds as its program perceives them.
fn timeout_us(agent: &mut Agent) -> u64 {
    let script = "python3 -c '
import socket, struct
client = socket.socket()
client.setblocking(False)
client.connect_ex((\"10.77.0.200\", 7000))
print(struct.unpack_from(\"I\", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 8)[0])'";
    agent.run("a", "connects", script).trim().parse().unwrap()
}

#[test]
fn a_syn_has_its_first_timeout_in_perceived_time() {
    for_each_user(|user| {
        let (mut agent, up) = dilated(user, 10);
        let perceived_us = if handshakes(&up) { 1_000_000 } else { 100_000 };
        assert_eq!(timeout_us(&mut agent), perceived_us);
    });
}

#[test]
fn the_kernel_bounds_it_by_120_s() {
    let (mut agent, up) = dilated(User::Own, 480);
    if handshakes(&up) {
        assert_eq!(timeout_us(&mut agent), 250_000);
    }
}

/// Runs a program of Python in a node with the rights of this test.
fn enter(up: &Value, node: usize, script: &str) -> Output {
    let pid = up["nodes"][node]["pid"].to_string();
    command(User::Own, &["enter", &pid, "--", "python3", "-c", script]).output().unwrap()
}

#[test]
fn the_answer_to_a_syn_has_it_too() {
    let (mut agent, up) = dilated(User::Own, 10);
    if !handshakes(&up) {
        return;
    }
    let server = "import socket, time; server = socket.create_server((\"\", 7000)); print(\"listens\", flush=True); time.sleep(60)";
    agent.must(agent.shell("a", "server", &format!("python3 -c '{server}'")));
    agent.wait_for_output("server", "listens");
    // From an address that no node has, so nobody gets the answer.
    let syn = "
import socket, struct
source, target = map(socket.inet_aton, ('10.77.0.200', '10.77.0.1'))
tcp = struct.pack('!HHIIBBHHH', 4000, 7000, 1, 0, 5 << 4, 2, 8192, 0, 0)
words = struct.unpack('!16H', source + target + struct.pack('!HH', 6, len(tcp)) + tcp)
total = sum(words)
total = (total & 0xffff) + (total >> 16)
checksum = ~(total + (total >> 16)) & 0xffff
tcp = tcp[:16] + struct.pack('!H', checksum) + tcp[18:]
ip = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + source + target
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW).sendto(ip + tcp, ('10.77.0.1', 0))
";
    let sent = enter(&up, 1, syn);
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    // State 3 is SYN_RECV. What is left of its timer is real, in hundredths of a second.
    let left = |table: &str| {
        let line = table.lines().find(|line| line.split_whitespace().nth(3) == Some("03"))?.to_owned();
        let (_, left) = line.split_whitespace().nth(5)?.split_once(':')?;
        u64::from_str_radix(left, 16).ok()
    };
    let mut found = None;
    eventually(PATIENCE, "the SYN comes", || {
        found = left(&agent.run("a", "table", "cat /proc/net/tcp"));
        found.is_some()
    });
    assert!((101..=1000).contains(&found.unwrap()), "{found:?}");
}

#[test]
fn a_program_that_enters_is_in_the_group_of_its_node() {
    let (mut agent, up) = dilated(User::Own, 10);
    if !handshakes(&up) {
        return;
    }
    let group = |text: &str| text.lines().find(|line| line.starts_with("0::")).unwrap().to_owned();
    let own = group(&agent.run("a", "own", "cat /proc/self/cgroup"));
    let entered = enter(&up, 0, "print(open('/proc/self/cgroup').read())");
    assert_eq!(group(&String::from_utf8_lossy(&entered.stdout)), own);
    assert!(own.ends_with("/node-a"), "{own}");
}

#[test]
fn groups_and_the_program_are_removed_with_the_fabric_and_after_a_killed_agent() {
    let (mut agent, up) = dilated(User::Own, 7);
    if !handshakes(&up) {
        return;
    }
    let pid = agent.pid();
    assert!(!groups_of(pid.as_raw()).is_empty());
    agent.must(json!({"do": "down"}));
    assert!(groups_of(pid.as_raw()).is_empty());
    agent.must(json!({"do": "up", "fabric": fabric(&["a"]), "dilation": {"factor": 7}}));
    agent.must(agent.shell("a", "x", "sleep 600"));
    kill(pid, Signal::SIGKILL).unwrap();
    eventually(PATIENCE, "the groups of a killed agent are removed", || groups_of(pid.as_raw()).is_empty());
    assert!(agent.all_gone_within(PATIENCE));
}
