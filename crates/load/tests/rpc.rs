//! The request-response workload end to end, over loopback.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use common::{load, Folder, Row, Run, Running};

const SOON: Duration = Duration::from_secs(20);

fn server() -> (Running, String) {
    let mut child = load(&["rpc-serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening ").expect("a line that says where").to_string();
    (Running(child), address)
}

fn call(server: &str, connections: &str, duration: &str, more: &[&str]) -> Vec<String> {
    let arguments = [
        "rpc",
        "--server",
        server,
        "--request-bytes",
        "100",
        "--response-bytes",
        "1000",
        "--connections",
        connections,
        "--duration",
        duration,
        "--seed",
        "1",
    ];
    arguments.iter().chain(more).map(|text| text.to_string()).collect()
}

fn start(run: &Run, arguments: &[String]) -> Running {
    run.start(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_closed_loop_calls_on_every_connection_and_marks_the_warm_up() {
    let (_server, address) = server();
    let folder = Folder::new("closed");
    let run = Run::new(&folder);
    assert_eq!(start(&run, &call(&address, "3", "0.3", &["--warm-up", "0.1"])).exit_code(SOON), Some(0));
    let (rows, summary) = (run.rows(), run.summary());
    let measured: Vec<&Row> = rows.iter().filter(|row| row.measured).collect();
    assert!(measured.len() < rows.len());
    assert!(rows.iter().all(|row| row.ok && row.operation == "call" && row.intended_ns == row.started_ns));
    assert!((0..3).all(|connection| measured.iter().any(|row| row.connection == connection)));
    assert_eq!(summary["operations"], measured.len());
    assert_eq!(summary["ended_by"], "plan");
    assert_eq!(summary["connections"][2]["remote"], address);
    let started_ns = summary["started_ns"].as_u64().unwrap();
    assert!(measured.iter().all(|row| (started_ns..started_ns + 300_000_000).contains(&row.started_ns)));
}

#[test]
fn what_is_shown_while_it_runs_adds_up_to_the_samples() {
    let (_server, address) = server();
    let folder = Folder::new("live");
    let (run, live) = (Run::new(&folder), folder.0.join("live"));
    let more = ["--warm-up", "0.1", "--rate", "500", "--live", live.to_str().unwrap()];
    assert_eq!(start(&run, &call(&address, "3", "0.4", &more)).exit_code(SOON), Some(0));
    let rows = run.rows();
    let text = std::fs::read_to_string(live).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| -> Vec<u64> { lines.iter().map(|line| line[name].as_u64().unwrap()).collect() };
    let ends: Vec<u64> =
        of("at_ns").iter().zip(of("length_ns")).map(|(at_ns, length)| at_ns + length).collect();
    assert!(lines.len() >= 5 && of("at_ns")[1..] == ends[..ends.len() - 1], "{text}");
    assert_eq!((of("ended").iter().sum::<u64>(), of("failed").iter().sum::<u64>()), (rows.len() as u64, 0));
    let slowest_ns = rows.iter().map(|row| row.finished_ns - row.intended_ns).max().unwrap();
    let shown_ns = lines.iter().filter_map(|line| line["slowest_ns"].as_u64()).max().unwrap();
    assert!(shown_ns.abs_diff(slowest_ns) <= slowest_ns / 32, "{shown_ns} and {slowest_ns}");
    assert!(run.summary()["parameters"].get("live").is_none(), "it is no parameter of what was measured");
}

#[test]
fn an_open_loop_makes_every_call_at_its_rate_whoever_is_late() {
    let (_server, address) = server();
    let folder = Folder::new("open");
    let run = Run::new(&folder);
    assert_eq!(start(&run, &call(&address, "2", "0.5", &["--rate", "400"])).exit_code(SOON), Some(0));
    let mut intended: Vec<u64> = run.rows().iter().map(|row| row.intended_ns).collect();
    intended.sort_unstable();
    assert_eq!(intended.len(), 200);
    assert!(intended.windows(2).all(|pair| pair[1] - pair[0] == 2_500_000));
    assert_eq!(run.summary()["not_started"], 0);
}

#[test]
fn a_server_that_dies_ends_the_run_at_once_with_what_was_measured() {
    let (mut server, address) = server();
    let folder = Folder::new("dying");
    let run = Run::new(&folder);
    let mut client = start(&run, &call(&address, "2", "600", &[]));
    std::thread::sleep(Duration::from_millis(300));
    server.0.kill().unwrap();
    assert_eq!(client.exit_code(SOON), Some(4));
    let summary = run.summary();
    assert_eq!((&summary["ended_by"], &summary["errors"]), (&"connections-lost".into(), &2.into()));
    assert!(summary["first_error"].as_str().unwrap().contains("call: "), "{summary}");
    assert!(run.rows().len() > 10);
}

#[test]
fn sigterm_ends_a_run_that_waits_for_a_silent_server_and_keeps_its_files() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap(); // the kernel accepts, nobody answers
    let folder = Folder::new("silent");
    let run = Run::new(&folder);
    let mut client = start(&run, &call(&silent.local_addr().unwrap().to_string(), "2", "600", &[]));
    std::thread::sleep(Duration::from_millis(300));
    client.signal(libc::SIGTERM);
    assert_eq!(client.exit_code(SOON), Some(128 + libc::SIGTERM));
    assert_eq!(run.summary()["ended_by"], "signal");
    assert!(run.rows().is_empty());
}

#[test]
fn nobody_there_is_exit_3_and_the_message_names_the_address() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let folder = Folder::new("nobody");
    let mut client = start(&Run::new(&folder), &call(&free, "2", "1", &[]));
    assert_eq!(client.exit_code(SOON), Some(3));
    let mut message = String::new();
    client.0.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert!(message.contains(&free) && message.contains("is it running"), "{message}");
}

#[test]
fn the_server_drops_a_hostile_peer_and_goes_on_serving_others() {
    let (mut server, address) = server();
    let mut hostile = TcpStream::connect(&address).unwrap();
    hostile.write_all(&[0xff; 64]).unwrap();
    let mut answer = Vec::new();
    let _ = hostile.read_to_end(&mut answer); // closed or reset, either will do
    assert!(answer.is_empty());
    let folder = Folder::new("hostile");
    assert_eq!(start(&Run::new(&folder), &call(&address, "1", "0.1", &[])).exit_code(SOON), Some(0));
    server.signal(libc::SIGINT);
    assert_eq!(server.exit_code(SOON), Some(0));
}
