//! How long the emulator waited for its CPU, with and without a thread that competes for it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sched::{sched_setaffinity, CpuSet};
use nix::unistd::Pid;
use serde_json::{json, Value};

use crate::driver::{command, fabric, is_root, Agent, User};

/// A thread that computes on one CPU, with the priority that the emulator requests, until it is dropped.
struct Competitor {
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Competitor {
    fn on(cpu: usize) -> Self {
        let enough = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&enough);
        let thread = thread::spawn(move || {
            let mut set = CpuSet::new();
            set.set(cpu).unwrap();
            sched_setaffinity(Pid::from_raw(0), &set).unwrap();
            // Both threads are refused, or neither.
            // SAFETY: plain call; 0 is the calling thread.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
            while !told.load(Ordering::Relaxed) {}
        });
        Self { enough, thread: Some(thread) }
    }
}

impl Drop for Competitor {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The /proc folder of the agent's thread that forwards.
fn emulator_thread(agent: &Agent) -> PathBuf {
    let threads = std::fs::read_dir(format!("/proc/{}/task", agent.pid())).unwrap();
    let mut threads = threads.map(|thread| thread.unwrap().path());
    let forwards = |thread: &PathBuf| std::fs::read_to_string(thread.join("comm")).unwrap() == "emulator\n";
    threads.find(forwards).expect("a thread called emulator")
}

/// The one CPU that the emulator's thread may use.
fn cpu_of(agent: &Agent) -> usize {
    let status = std::fs::read_to_string(emulator_thread(agent).join("status")).unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    allowed.trim().parse().expect("a single CPU")
}

/// The emulator's measurement of half a second.
fn measured(agent: &mut Agent) -> Value {
    agent.must(json!({"do": "measure"}));
    thread::sleep(Duration::from_millis(500));
    agent.must(json!({"do": "read"}))
}

fn ns(measured: &Value, part: &str, name: &str) -> u64 {
    measured[part][name].as_u64().unwrap_or_else(|| panic!("{part}.{name}: {measured}"))
}

fn waited_share(measured: &Value) -> f64 {
    let window_ns = ns(measured, "window", "ended_ns") - ns(measured, "window", "started_ns");
    ns(measured, "host", "run_queue_delay_ns") as f64 / window_ns as f64
}

/// Packets at intervals shorter than the emulator spins.
const TRAFFIC: &str = r#"exec perl -MIO::Socket::INET -e '
    my $socket = IO::Socket::INET->new(PeerAddr => "b:9", Proto => "udp") or die "socket: $!";
    $| = 1; print "ready\n";
    while (1) { $socket->send("x"); select(undef, undef, undef, 0.002) }'"#;

#[test]
fn with_a_competitor_the_emulator_reports_how_long_it_waited() {
    let mut agent = Agent::with_nodes(User::Own, &["a", "b"]);
    agent.must(agent.shell("a", "traffic", TRAFFIC));
    agent.wait_for_output("traffic", "ready");
    let alone = measured(&mut agent);
    if alone["wait_mode"] != "spin" {
        println!("SKIPPED the competitor: the emulator has no CPU of its own here");
        return;
    }
    if !emulator_thread(&agent).join("schedstat").exists() {
        assert_eq!(alone["host"]["run_queue_delay_ns"], Value::Null, "unknown, and not 0");
        println!("SKIPPED the competitor: the kernel does not count how long threads wait");
        return;
    }
    let competitor = Competitor::on(cpu_of(&agent));
    let beside = measured(&mut agent);
    drop(competitor);
    // Two threads that always want the same CPU, with equal priority, get half of it each.
    assert!(waited_share(&beside) > 0.25, "{:.3} of the window: {}", waited_share(&beside), beside["host"]);
    assert!(waited_share(&alone) < waited_share(&beside), "{:.3} alone", waited_share(&alone));
    // A thread that spins runs, waits, or loses its CPU to the hypervisor; there is no fourth state.
    let accounted_ns: u64 = ["emulator_cpu_ns", "run_queue_delay_ns", "steal_ns"]
        .map(|name| ns(&beside, "host", name))
        .iter()
        .sum();
    let window_ns = ns(&beside, "window", "ended_ns") - ns(&beside, "window", "started_ns");
    assert!(accounted_ns > window_ns * 9 / 10, "{accounted_ns} of {window_ns} ns: {}", beside["host"]);
    let counted_ns = ns(&beside, "host", "emulator_cpu_ns") + ns(&beside, "host", "run_queue_delay_ns");
    assert!(counted_ns < window_ns * 11 / 10, "{counted_ns} of {window_ns} ns: {}", beside["host"]);
}

/// The niceness of the session to which an agent with this fabric belongs, as the kernel shows it.
fn session_niceness(fabric: &Value, command: Command) -> String {
    let mut agent = Agent::launch(command);
    agent.must(json!({"do": "up", "fabric": fabric}));
    // Its thread answers after it has asked for what it wants.
    agent.must(json!({"do": "measure"}));
    let group = std::fs::read_to_string(format!("/proc/{}/autogroup", agent.pid())).unwrap();
    group.trim().split_once(' ').expect("a name and a niceness").1.to_owned()
}

#[test]
fn an_emulator_that_sleeps_outweighs_the_sessions_of_its_nodes() {
    let group = || std::fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    let before = group();
    if !is_root() || before.is_empty() {
        println!(
            "SKIPPED: raising a session's weight needs root, and a kernel that groups threads by session"
        );
        return;
    }
    let own_session = || {
        let agent = command(User::Own, &[]);
        let mut leader = Command::new("setsid");
        leader.arg(agent.get_program());
        leader
    };
    let (mut sleeps, mut spins) = (fabric(&["a", "b"]), fabric(&["a", "b"]));
    sleeps["wait"] = json!("sleep");
    spins["wait"] = json!("spin");
    assert_eq!(session_niceness(&sleeps, own_session()), "nice -20");
    if thread::available_parallelism().unwrap().get() > 1 {
        assert_eq!(session_niceness(&spins, own_session()), "nice 0", "it has a CPU of its own");
    }
    session_niceness(&sleeps, command(User::Own, &[]));
    assert_eq!(group(), before, "a session that the agent does not lead");
}
